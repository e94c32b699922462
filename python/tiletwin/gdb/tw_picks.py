"""Which programs the breakpoints ask for, so that gdb need not stop in all others to find that out: GdbState::picks.

Runs inside gdb. Here: what conditions say about pid0, pid1 and pid2; which breakpoints may lie in kernels.
Invariant: whatever is not understood counts as asking for every program.
"""

import re
import struct

import gdb
import tw_state

OFFSET_OF_PICKS = 88
MOST = 16
EVERY = struct.pack("<i", -1)
TERM = re.compile(r"\(*(?:pid([012])==(\d+)|(\d+)==pid([012]))\)*")
# What may turn a term's meaning round, or stand in an expression that is no conjunction.
UNSURE = re.compile(r"\|\||\?|,|!\(|~|\)(?!&&|\)|$)|(?<![&(])\((?!\()|=(?<![=!<>]=)(?!=)")


def of_condition(condition):
    """[x, y, z] that a program's id must be, -1 for any; None: the condition may hold in every program."""
    text = re.sub(r"\s+", "", condition or "")
    if not text or UNSURE.search(text.lstrip("(")):
        return None
    found = [-1, -1, -1]
    for term in text.split("&&"):
        match = TERM.fullmatch(term)
        if match:
            axis, number = (match[1], match[2]) if match[1] else (match[4], match[3])
            found[int(axis)] = int(number)
    return found if found != [-1, -1, -1] else None


def may_be_in_a_kernel(breakpoint):
    """Kernels are Python files, and their code is in no library."""
    locations = getattr(breakpoint, "locations", None)
    if not locations:
        return True
    for place in locations:
        if (place.fullname or ".py").endswith(".py") and gdb.solib_name(place.address) is None:
            return True
    return False


def wanted():
    """The picks of all breakpoints that may stop in a kernel; None if one of them may stop in every program."""
    picks = []
    for breakpoint in gdb.breakpoints():
        if not breakpoint.enabled or not breakpoint.is_valid():
            continue
        if breakpoint.type != gdb.BP_BREAKPOINT:
            return None
        if not may_be_in_a_kernel(breakpoint):
            continue
        pick = of_condition(breakpoint.condition)
        if pick is None:
            return None
        picks.append(pick)
    return picks if len(picks) <= MOST else None


def packed(picks):
    return struct.pack("<i", len(picks)) + b"".join(struct.pack("<3i", *pick) for pick in picks)


def tell(bytes_of_picks):
    at = tw_state.address()
    if at is None:
        return
    memory = gdb.selected_inferior()
    if memory.read_memory(at + OFFSET_OF_PICKS, len(bytes_of_picks)).tobytes() != bytes_of_picks:
        memory.write_memory(at + OFFSET_OF_PICKS, bytes_of_picks)


def update(*_):
    """Tells the program, if it can be told now. Without any breakpoint every program runs as gdb can see it."""
    try:
        picks = wanted()
        tell(packed(picks) if picks else EVERY)
    except (gdb.error, RuntimeError):
        pass  # no process, or it is running


def update_for_run():
    """The same for a run to one program: the others need no native code unless a breakpoint asks for them."""
    picks = wanted()
    tell(EVERY if picks is None else packed(picks))


def register():
    for event in (gdb.events.before_prompt, gdb.events.breakpoint_created, gdb.events.breakpoint_modified):
        event.connect(update)
    update()
