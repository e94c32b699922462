"""What debuggers show of a tile besides its text: pdb's `display x`, and the rows below `x` in an editor.

Here:      what pdb keeps of a value with tiles in it and compares with; what pydevd (debugpy, PyCharm) lists of a tile.
Not here:  the text of a tile (looks.py).
Idea:      pdb asks `new != old`, which is a tile for tiles, and a tile is neither true nor false. So `display` gets an
           object that is equal where all elements are.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tiletwin import _C

if TYPE_CHECKING:
    import pdb

ROWS = 100
"""How many rows of a tile an editor lists."""


class Displayed:
    """A value with tiles in it, as `display` shows and compares it."""

    def __init__(self, value: Any) -> None:
        self._text = repr(value)
        self._elements = _elements(value)

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Displayed) and self._elements == other._elements

    __hash__ = None  # type: ignore[assignment]


def _is_tile(value: Any) -> bool:
    return isinstance(value, _C.tensor)


def _elements(value: Any) -> Any:
    """The value with bytes in place of its tiles."""
    if _is_tile(value):
        return value.numpy().tobytes()
    if isinstance(value, (tuple, list)):
        return [_elements(item) for item in value]
    if isinstance(value, dict):
        return {key: _elements(item) for key, item in value.items()}
    return value


def _has_tile(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_tile, value))
    if isinstance(value, dict):
        return any(map(_has_tile, value.values()))
    return _is_tile(value)


class TileRows:
    """What pydevd asks for what it lists below a tile: rows, which are elements where the tile has one dimension."""

    def can_provide(self, type_object: type, _type_name: str) -> bool:
        return issubclass(type_object, _C.tensor)

    def get_contents_debug_adapter_protocol(self, tile: Any, fmt: Any = None) -> list[tuple[str, Any, str | None]]:
        """Name, value, and what to write behind the tile's expression to get the value."""
        listed: list[tuple[str, Any, str | None]] = [("dtype", str(tile.dtype), None)]
        if tile.shape:
            count = len(tile)
            listed += [(f"[{row}]", tile[row], f"[{row}]") for row in range(min(count, ROWS))]
            if count > ROWS:
                listed.append(("...", f"{count - ROWS} more: evaluate a part, such as x[{ROWS}:{count}]", None))
        return listed

    def get_dictionary(self, tile: Any) -> dict[str, Any]:
        return {name: value for name, value, _ in self.get_contents_debug_adapter_protocol(tile)}

    def resolve(self, tile: Any, attribute: str) -> Any:
        return self.get_dictionary(tile)[attribute]


def prepare() -> None:
    """From now on pdb's `display` knows tiles, and pydevd, where it runs, lists their rows."""
    _prepare_pydevd()
    import pdb  # costs 20 ms, which only those pay who look at a kernel

    evaluate = getattr(pdb.Pdb, "_getval_except", None)
    if evaluate is None or hasattr(evaluate, "_tiletwin"):
        return

    def value_or_text(self: pdb.Pdb, *args: Any, **kwargs: Any) -> Any:  # `display` evaluates with it, and nothing else
        value = evaluate(self, *args, **kwargs)
        return Displayed(value) if _has_tile(value) else value

    value_or_text._tiletwin = True  # type: ignore[attr-defined]
    pdb.Pdb._getval_except = value_or_text  # type: ignore[attr-defined]


def _prepare_pydevd() -> None:
    extensions = sys.modules.get("_pydevd_bundle.pydevd_extension_utils")
    interfaces = sys.modules.get("_pydevd_bundle.pydevd_extension_api")
    if extensions is None or interfaces is None:
        return
    providers = extensions.extensions_of_type(interfaces.TypeResolveProvider)
    if not any(isinstance(provider, TileRows) for provider in providers):
        providers.append(TileRows())
