"""Every test has a cache folder of its own, and none of the variables that dump or replace stages."""

import os
import sys

import children
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    children.clean(monkeypatch)
    monkeypatch.setenv("TILETWIN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def doubles(monkeypatch):
    import stage_doubles

    return stage_doubles.both(monkeypatch)
