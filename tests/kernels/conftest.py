"""`import triton` means tiletwin in these tests (Triton with TILETWIN_TEST_TRITON=1), and the kernels beside this
file are importable."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
if os.environ.get("TILETWIN_TEST_TRITON") != "1":
    from tiletwin import _activate

    if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _activate.TritonFinder())


@pytest.fixture
def same_in_eager(monkeypatch: pytest.MonkeyPatch, capfd) -> Callable[[Callable], None]:
    """Runs a function that returns a tensor or several, compiled and eager, and compares the bytes of the results."""
    from checking import COMPILED, bits

    def check(run: Callable) -> None:
        compiled = bits(run())
        if COMPILED:
            return
        monkeypatch.setenv("TILETWIN_EAGER", "1")
        assert bits(run()) == compiled

    return check
