"""The native part of code generation, opened when GPU code is first asked for."""

from __future__ import annotations

from typing import Any


def extension() -> Any:
    """tiletwin._codegen. Errors: RuntimeError, this build has none, or it cannot be loaded."""
    try:
        from tiletwin import _codegen
    except ImportError as error:
        raise RuntimeError(
            f"GPU code needs tiletwin's code generator, which cannot be loaded: {error}. Stages source and ttir, and "
            "everything that runs on the CPU, work without it"
        ) from None
    return _codegen
