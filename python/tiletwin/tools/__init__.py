"""Helpers on the host side, under the names of `triton.tools`, and `cuda_source`."""

from typing import Any

from tiletwin._refused import refuse


class LinearLayout:
    """Would be a map from a GPU's registers, lanes and warps to the elements of a tile."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse("triton.tools.LinearLayout")


def cuda_source(compiled: Any, name: str | None = None) -> str:
    """A compiled kernel, or PTX text, as CUDA C++ that nvcc compiles: see tools/cuda_export.py."""
    from tiletwin.tools import cuda_export

    return cuda_export.cuda_source(compiled, name)


__all__ = ["LinearLayout", "cuda_source"]
