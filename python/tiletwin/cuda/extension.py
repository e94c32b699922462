"""The native part, opened when a GPU is first asked for."""

from __future__ import annotations

from typing import Any

from tiletwin.native import opened


def extension() -> Any:
    """tiletwin._cuda. It needs no driver to be opened; its functions do. Errors: RuntimeError, as opened()."""
    return opened("tiletwin._cuda", "what runs kernels on NVIDIA GPUs")
