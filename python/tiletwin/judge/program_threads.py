"""Threads of one program that meet in global memory with no barrier between them.

Here:      which memory a launch may read and write; which launches are looked at, on the simulator; what of its
           findings counts.
Not here:  programs that meet (the interpreter's check of races); reads behind stores, whoever has the elements (its
           check of barriers).
Idea:      the interpreter runs a line for all elements before the next one, so a store over what another thread has
           still to read does no harm there. In compiled code each element has its thread, and the simulator's check of
           races says whether a barrier lies between accesses of two warps, in whatever order it happens to run them.
"""

from __future__ import annotations

from math import prod
from typing import Any

MOST_BYTES = 1 << 20
"""Of a launch's memory."""
MOST_INSTRUCTIONS = 1 << 21
"""Of warps."""


def effects_of(launch: Any) -> tuple[set[int], set[int]] | None:
    """Numbers of the storages that programs of a launch may read, and of those that they may write. None: nobody can
    tell, as where pointers come from memory or in tuples."""
    from tiletwin import _C

    effects = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir").argument_effects()
    arguments = [value for _, value in launch.kept()]
    if effects is None or len(effects) != len(arguments) or any(isinstance(value, tuple) for value in arguments):
        return None
    read, written = set[int](), set[int]()
    for value, (reads, writes) in zip(arguments, effects):
        storage = getattr(getattr(value, "base", value), "storage", None)
        if storage is not None:
            read |= {storage} if reads else set()
            written |= {storage} if writes else set()
    return read, written


def meetings(launch: Any) -> tuple[list[Any], str]:
    """Findings about threads of one program, and why none could be looked for."""
    from tiletwin import _C
    from tiletwin.diff.backends import SimBackend

    effects = effects_of(launch)
    if effects is None or not effects[0] & effects[1] or 0 in launch.grid:
        return [], ""  # the simulator would not find what pointers from memory lead to
    unseen = f"{launch.name}: whether barriers are missing between a load and a later store was not looked at: "
    if sum(data.size for data in launch.memory) > MOST_BYTES:
        return [], unseen + f"its memory has more than {MOST_BYTES >> 20} MiB"
    last = prod(launch.grid) - 1
    waits = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir").plan()["may_wait"]  # for any other one
    chosen = [] if waits else sorted({0, last // 2, last})
    outcome = SimBackend().checked(launch, checks="races", clusters=chosen, limit=MOST_INSTRUCTIONS, threads=1)
    found = [one for one in outcome.findings if _is_between_warps(one.message)]
    why = outcome.unsupported or outcome.error
    return found, unseen + why if why and not found else ""


def _is_between_warps(message: str) -> bool:
    """Lanes of one warp load all together before they store, as nothing in between sends them different ways."""
    return " global memory that another warp " in message
