"""Helpers to call inside kernels while debugging them; they make the launch eager.

Both are plain Python functions that look at values, so a kernel that uses them runs in CPython (eager mode); where a
program runs compiled, the calls are dropped.
"""

from __future__ import annotations

from typing import Any


def _holds(condition: Any) -> bool:
    """True if the condition, a number or a block, holds anywhere."""
    import numpy

    value = getattr(condition, "value", condition)
    if isinstance(value, (bool, int, float)):
        return bool(value)
    return bool(numpy.any(numpy.asarray(value)))


def print_if(condition: Any, *values: Any, **kwargs: Any) -> None:
    """`print(*values, **kwargs)` if `condition` holds (a block: in any element)."""
    if _holds(condition):
        print(*values, **kwargs)


def breakpoint_if(condition: Any) -> None:
    """Stops in the debugger, in the caller's frame, if `condition` holds (a block: in any element)."""
    if _holds(condition):
        import pdb
        import sys

        debugger = pdb.Pdb()
        debugger.set_trace(sys._getframe(1))
