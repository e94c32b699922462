"""The native part of the simulator, opened when it is first asked for."""

from __future__ import annotations

from typing import Any

from tiletwin.native import opened


def extension() -> Any:
    """tiletwin._sim. Errors: RuntimeError, this CPU has no AVX2, this build has none, or it cannot be loaded."""
    from tiletwin import _C

    _C.instruction_set()  # says what is missing
    return opened("tiletwin._sim", "the simulator")
