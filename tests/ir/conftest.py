"""Where the developer tools are: $TILETWIN_TOOLS, else the newest build."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tiletwin_opt() -> pathlib.Path:
    if folder := os.environ.get("TILETWIN_TOOLS"):
        return pathlib.Path(folder) / "tiletwin-opt"
    built = sorted(ROOT.glob("build/*/tests/tools/tiletwin-opt"), key=lambda p: p.stat().st_mtime)
    assert built, "tiletwin-opt is not built: `make build` builds all that tests need"
    return built[-1]
