"""`info shared` and `info tensormaps`: memory as tiles.

Not here:  what a tile is (tiles.py), the other commands that show something (show.py).
"""

from __future__ import annotations

import re

import numpy as np

from tiletwin.debugger import tiles
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.expressions import Address
from tiletwin.debugger.session import Session
from tiletwin.debugger.thread import Thread
from tiletwin.debugger.tiles import SharedTile, TensorMap

_TILE = re.compile(
    r"(?P<kind>[a-z]+\d+)\s+(?P<rows>\d+)x(?P<columns>\d+)(\s+swizzle\s+(?P<swizzle>0|32|64|128))?(\s+at\s+(?P<at>\w+))?"
    r"(?P<column>\s+columns)?"
)


def shared(session: Session, thread: Thread, words: list[str]) -> list[str]:
    """Without words: what is in shared memory. With a number: that tile, or with two that of its several. With a type
    and a shape: bytes as such a tile. Errors: Refused."""
    known = tiles.shared_tiles(session.sources.lines(session.launch["file"]))
    if not words:
        return _overview(session, thread, known)
    if words[0].isdigit():
        number, which = int(words[0]), int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        if number >= len(known):
            raise Refused(f"tile {number} is not known: `info shared` lists those that are")
        tile = known[number]
        count = int(np.prod(tile.shape[:-2]))
        if which >= count:
            raise Refused(f"there are {count} of these tiles, from 0")
        data = thread.memory(Address("shared", tile.offset), tile.bytes)
        return [f"{tile}" + (f", number {which}" if count > 1 else ""), *tiles.table(tile.of(data, which))]
    found = _TILE.fullmatch(" ".join(words))
    if found is None:
        raise Refused("info shared [NUMBER [WHICH]], or info shared f16 64x64 [swizzle 128] [at 0x400] [columns]")
    tile = SharedTile(
        int(found["at"] or "0", 0), (int(found["rows"]), int(found["columns"])), found["kind"],
        0 if found["column"] else 1, int(found["swizzle"] or 0),
    )  # fmt: skip
    return [str(tile), *tiles.table(tile.of(thread.memory(Address("shared", tile.offset), tile.bytes)))]


def _overview(session: Session, thread: Thread, known: list[SharedTile]) -> list[str]:
    lines = [
        f"{number}  {tile}" + (f", {', '.join(tile.names)}" if tile.names else "") for number, tile in enumerate(known)
    ]
    variables = [(name, at) for name, at in thread.symbols().items() if at.space == "shared" and at.size]
    lines += [f"{name}  @shared 0x{at.at:x}: {at.size} bytes, {at.kind}" for name, at in variables]
    lines.append(f"{session.launch['shared']} bytes in all")
    if not known:
        lines.append(
            "the kernel does not say what lies there; `info shared f16 64x64 swizzle 128 at 0` shows it as a tile"
        )
    return lines


def tensor_maps(session: Session, thread: Thread, words: list[str]) -> list[str]:
    """The kernel's parameters that are tensor maps. With a name, and coordinates of a block (the contiguous dimension
    last): its numbers in global memory. Errors: Refused."""
    found: dict[str, TensorMap] = {}
    kernel = session.launch["kernel"]
    for name, at in thread.symbols().items():
        if at.space == "param" and at.size == 128 and (described := TensorMap.of(thread.memory(at, 128))):
            found[name.removeprefix(f"{kernel}_")] = described
    if not words:
        return [f"{name}: {one}" for name, one in found.items()] or ["no parameter is a tensor map"]
    if words[0] not in found:
        raise Refused(f"{words[0]} is no tensor map; those are {', '.join(found) or 'none'}")
    one = found[words[0]]
    at = [int(n) for n in re.findall(r"\d+", " ".join(words[1:]))] or [0] * len(one.sizes)
    if len(at) != len(one.sizes):
        raise Refused(f"{words[0]} has {len(one.sizes)} dimensions")
    return [f"{words[0]}: {one}, block at {tuple(at)}", *tiles.table(_block(thread, one, at[::-1]))]


def _block(thread: Thread, one: TensorMap, first: list[int]) -> np.ndarray:
    """The last two dimensions of a block, what is outside of the tensor as zeros. first: the contiguous one first."""
    size = tiles.element_bytes(one.kind)
    columns = max(0, min(one.box[0], one.sizes[0] - first[0]))
    rows = one.box[1] if len(one.box) > 1 else 1
    base = one.address + sum(at * stride for at, stride in zip(first, one.strides))
    shown = []
    for row in range(rows):
        is_inside = columns and (len(one.box) == 1 or first[1] + row < one.sizes[1])
        start = base + (row * one.strides[1] if len(one.box) > 1 else 0)
        data = thread.memory(Address("global", start), columns * size) if is_inside else b""
        line = tiles.numbers(data, one.kind)
        shown.append(np.pad(line, (0, one.box[0] - len(line))))
    return np.stack(shown)
