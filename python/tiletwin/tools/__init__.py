"""Helpers on the host side, under the names of `triton.tools`; what is for GPU binaries says so."""

from typing import Any

from tiletwin._refused import refuse


class LinearLayout:
    """Would be a map from a GPU's registers, lanes and warps to the elements of a tile."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse("triton.tools.LinearLayout")


__all__ = ["LinearLayout"]
