"""The native part, opened when a GPU is first asked for."""

from __future__ import annotations

from typing import Any


def extension() -> Any:
    """tiletwin._cuda. It needs no driver to be opened; its functions do."""
    from tiletwin import _cuda

    return _cuda
