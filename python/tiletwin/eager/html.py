"""What notebooks show of the values of eager mode.

Here:      tiles, pointers; `show` (a tile with a mask over it).
Not here:  the picture of a tile (pages/tiles.py), kernels (kernel_html.py), text (looks.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.eager import looks
from tiletwin.elements import is_pointer, numpy_of, pointee_of
from tiletwin.pages.tiles import tile_html


class Shown:
    """A tile with a mask over it, as notebooks show it."""

    def __init__(self, tile: Any, mask: Any) -> None:
        self.tile, self.mask = tile, mask

    def _repr_html_(self) -> str:
        import numpy

        array = numpy.asarray(self.tile)
        mask = None if self.mask is None else numpy.broadcast_to(numpy.asarray(self.mask, bool), array.shape)
        return tile_html(array, str(self.tile.dtype), None, mask)

    def __repr__(self) -> str:
        import numpy

        if self.mask is None:
            return repr(self.tile)
        mask = numpy.broadcast_to(numpy.asarray(self.mask, bool), tuple(int(n) for n in self.tile.shape))
        return f"{self.tile!r}, {int((~mask).sum())} of {mask.size} lanes masked off"


def show(tile: Any, mask: Any = None) -> Shown:
    """A tile as a heat map in a notebook, its masked-off lanes hatched.

    Args:
        tile: a tensor outside compiled kernels.
        mask: a tensor or array of bools that broadcasts to its shape.
    """
    return Shown(tile, mask)


def html_of(data: bytes, type_name: str, shape: tuple[int, ...], origin: int = -1) -> str:
    """What a notebook shows of a tile."""
    array = numpy_of(data, type_name, shape)
    if is_pointer(type_name):
        return tile_html(array, type_name, looks.pointer_text(array, pointee_of(type_name), origin))
    return tile_html(array, type_name, None)
