"""A progress bar on stderr for launches that last long; called from the extension's poll hook."""

from __future__ import annotations

import sys
from typing import Any

from tiletwin import variables

_bar: Any = None


def begin(kernel: str, done: int, total: int) -> None:
    """A launch has lasted a few seconds. Shows a bar if stderr is a terminal, not gdb's, and tqdm is installed."""
    global _bar
    if _bar is not None or variables.is_on("TILETWIN_GDB"):
        return
    if sys.stderr is None or getattr(sys.stderr, "closed", False) or not sys.stderr.isatty():
        return
    try:
        from tqdm import tqdm
    except ImportError:
        return
    _bar = tqdm(total=total, initial=done, desc=kernel, unit=" programs", file=sys.stderr, leave=False)


def update(done: int, total: int) -> None:
    if _bar is not None:
        _bar.update(done - _bar.n)


def end() -> None:
    global _bar
    if _bar is not None:
        _bar.close()
        _bar = None
