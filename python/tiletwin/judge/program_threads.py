"""Threads of one program that meet in global memory with no barrier between them.

Here:      which launches are looked at, on the simulator; what of its findings counts.
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


def reads_what_it_writes(module: Any, launch: Any) -> bool:
    """Whether programs of a launch may read memory that they write. module: of the launch's TTIR."""
    effects = module.argument_effects()
    arguments = [value for _, value in launch.kept()]
    if effects is None or len(effects) != len(arguments):
        return False  # pointers that come from memory: the simulator would not find what they point to
    read, written = set(), set()
    for value, (reads, writes) in zip(arguments, effects):
        storage = getattr(getattr(value, "base", value), "storage", None)
        if storage is not None:
            read |= {storage} if reads else set()
            written |= {storage} if writes else set()
    return bool(read & written)


def meetings(launch: Any) -> tuple[list[Any], str]:
    """Findings about threads of one program, and why none could be looked for."""
    from tiletwin import _C
    from tiletwin.diff.backends import SimBackend

    module = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir")
    if not reads_what_it_writes(module, launch) or 0 in launch.grid:
        return [], ""
    unseen = f"{launch.name}: whether barriers are missing between a load and a later store was not looked at: "
    if sum(data.size for data in launch.memory) > MOST_BYTES:
        return [], unseen + f"its memory has more than {MOST_BYTES >> 20} MiB"
    last = prod(launch.grid) - 1
    waits = module.plan()["may_wait"]  # for any other one
    chosen = [] if waits else sorted({0, last // 2, last})
    outcome = SimBackend().checked(launch, checks="races", clusters=chosen, limit=MOST_INSTRUCTIONS, threads=1)
    found = [one for one in outcome.findings if _is_between_warps(one.message)]
    why = outcome.unsupported or outcome.error
    return found, unseen + why if why and not found else ""


def _is_between_warps(message: str) -> bool:
    """Lanes of one warp load all together before they store, as nothing in between sends them different ways."""
    return " global memory that another warp " in message
