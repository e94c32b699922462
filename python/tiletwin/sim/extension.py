"""The native part of the simulator, opened when it is first asked for."""

from __future__ import annotations

from typing import Any


def extension() -> Any:
    """tiletwin._sim. Errors: RuntimeError, this CPU has no AVX2."""
    from tiletwin import _C

    _C.instruction_set()  # says what is missing
    from tiletwin import _sim

    return _sim
