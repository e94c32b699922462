"""pdb's `display x` of a tile: it is shown again when one of its elements has changed.

Here:      what pdb keeps of a tile and compares with.
Not here:  the text of a tile (looks.py).
Idea:      pdb asks `new != old`, which is a tile for tiles, and a tile is neither true nor false. So `display` gets an
           object that is equal where all elements are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiletwin import _C

if TYPE_CHECKING:
    import pdb


class Displayed:
    """A tile as `display` shows and compares it."""

    def __init__(self, tile: Any) -> None:
        self._tile = tile
        self._elements = tile.numpy().tobytes()

    def __repr__(self) -> str:
        return repr(self._tile)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Displayed) and self._elements == other._elements

    __hash__ = None  # type: ignore[assignment]


def prepare() -> None:
    """From now on pdb's `display` knows tiles. It evaluates its expressions, and nothing else, with this function."""
    import pdb  # costs 20 ms, which only those pay who look at a kernel

    evaluate = getattr(pdb.Pdb, "_getval_except", None)
    if evaluate is None or hasattr(evaluate, "_tiletwin"):
        return

    def value_or_text(self: pdb.Pdb, *args: Any, **kwargs: Any) -> Any:
        value = evaluate(self, *args, **kwargs)
        return Displayed(value) if isinstance(value, _C.tensor) else value

    value_or_text._tiletwin = True  # type: ignore[attr-defined]
    pdb.Pdb._getval_except = value_or_text  # type: ignore[attr-defined]
