"""The native part of code generation, opened when GPU code is first asked for."""

from __future__ import annotations

from typing import Any

from tiletwin.native import opened


def extension() -> Any:
    """tiletwin._codegen. Errors: RuntimeError, this build has none, or it cannot be loaded."""
    return opened("tiletwin._codegen", "the code generator for GPUs")
