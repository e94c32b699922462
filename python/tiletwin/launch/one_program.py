"""One program of a compiled launch, run by Python from its start: it has come to a breakpoint_if.

Here:      preparing the run that the extension finishes (EagerRun.h).
Not here:  what the user reads about it (tiletwin.debug), whole launches in eager mode (eager_launch.py).
Invariant: the program has written no memory yet, so that it does everything once.
"""

from __future__ import annotations

from typing import Any

from tiletwin.gpu_target import DEFAULT_TARGET
from tiletwin.kernels.jit import JITFunction
from tiletwin.kernels.options import parse_options
from tiletwin.launch.eager_launch import EagerRun


def launch(
    fn: JITFunction, arguments: dict[str, Any], options: dict[str, Any], grid: tuple[int, int, int], one: tuple
) -> EagerRun:
    """Prepares the run of one program. one: the launch's session, and the program's id (x, y, z)."""
    import tiletwin.language  # noqa: F401  registers the types of the language

    session, (x, y, z) = one
    session.set_options(parse_options(options, DEFAULT_TARGET, fn.debug, launched=True))
    return EagerRun(fn, session, grid, iter([x + grid[0] * (y + grid[1] * z)]), None, None)
