"""Every test has a cache folder of its own, and none of the variables that dump or replace stages."""

import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("TRITON_", "TILETWIN_DUMP", "TILETWIN_OVERRIDE", "TILETWIN_CACHE_DIR")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TILETWIN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def doubles(monkeypatch):
    import stage_doubles

    return stage_doubles.both(monkeypatch)
