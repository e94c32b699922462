"""TILETWIN_PROGRAM: which programs of a grid Python runs.

Here:      reading the variable's value for a grid; saying so if no launch has a program of that id.
Not here:  what is done with the programs (eager_launch.py).
Invariant: a value that means nothing is an error that says what is expected; random picks leave the user's random
           numbers alone.
"""

from __future__ import annotations

import atexit
import random
import sys
from functools import cache

EXPECTED = "expected ids such as 3,0,0, ranges such as 0-7, *, random:8, or several of these joined by ;"


def bad(text: str, why: str) -> ValueError:
    return ValueError(f"TILETWIN_PROGRAM is {text!r}: {why}; {EXPECTED}")


def axis_range(part: str, size: int, text: str) -> range:
    """One part of a program id: "3", "2-5" or "*"."""
    part = part.strip()
    if part in ("*", ""):
        return range(size)
    low, dash, high = (piece.strip() for piece in part.partition("-"))
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise bad(text, f"{part!r} is no number and no range")
    first, last = int(low), int(high) if dash else int(low)
    if last < first:
        raise bad(text, f"the range {part!r} ends before it begins")
    return range(first, min(last + 1, size))


@cache
def picks(text: str, count: int, total: int) -> tuple[int, ...]:
    """Programs picked at random; the same for every launch of a grid of that size, and said once."""
    picked = tuple(sorted(random.Random().sample(range(total), min(count, total))))
    ids = ";".join(map(str, picked[:16])) + (";..." if len(picked) > 16 else "")
    print(f"tiletwin: {text} picked the programs (counted along x, y, z) {ids}", file=sys.stderr)
    return picked


def selected_programs(text: str, grid: tuple[int, int, int]) -> list[int]:
    """Linear ids (x fastest, ascending) that a value of TILETWIN_PROGRAM names in a grid.

    "3,0,0": one program (missing parts are 0); "0-7": a range; "*,2": a row; several are joined by ";";
    "random:8": that many at random. Programs outside the grid are left out; if no launch has any, that is said at exit.
    Errors: ValueError, text that is none of these.
    """
    x, y, z = grid
    total = x * y * z
    chosen: set[int] = set()
    for item in filter(None, (part.strip() for part in text.split(";"))):
        kind, colon, count = item.partition(":")
        if colon:
            if kind.strip() != "random" or not count.strip().isdecimal() or int(count) == 0:
                raise bad(text, f"{item!r} is not random:N with a number N of at least 1")
            chosen.update(picks(item, int(count), total))
            continue
        parts = item.split(",")
        if len(parts) > 3:
            raise bad(text, "a program id has at most three parts")
        parts += ["0"] * (3 - len(parts))
        along_x, along_y, along_z = (axis_range(part, size, text) for part, size in zip(parts, grid))
        chosen.update(a + x * (b + y * c) for c in along_z for b in along_y for a in along_x)
    note(text, grid, bool(chosen))
    return sorted(chosen)


_without: dict[str, tuple[int, int, int]] = {}  # text -> the largest grid that had no such program
_found: set[str] = set()


def note(text: str, grid: tuple[int, int, int], found: bool) -> None:
    """Remembers whether some launch has the programs."""
    if found:
        _found.add(text)
    elif grid[0] * grid[1] * grid[2]:
        if not _without:
            atexit.register(say_what_was_missed)
        _without[text] = max(_without.get(text, grid), grid, key=lambda g: g[0] * g[1] * g[2])


def say_what_was_missed() -> None:
    for text, grid in _without.items():
        if text not in _found:
            print(
                f"tiletwin: no launch had a program {text} (TILETWIN_PROGRAM); the largest grid was {grid}",
                file=sys.stderr,
            )
