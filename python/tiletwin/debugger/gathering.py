"""`gather`: the other warps of a block come to where the one that is looked at stands, so that tiles are whole.

Not here:  tiles (kernel_variables.py), stepping as a user does it (session.py).
Idea:      each of them is let run alone to that instruction; others run only while it waits for them.
"""

from __future__ import annotations

import itertools

from tiletwin.debugger.connection import Refused
from tiletwin.debugger.kernel_notes import kernel_notes
from tiletwin.debugger.session import Session

_FIRST = 1 << 20
"""Numbers of the breakpoints that are set for it; a user's begin at 1."""
_STOPS = 100
"""Of one warp on its way, at breakpoints of the user's."""


def gather(session: Session) -> list[str]:
    """What there is to say of warps that did not come. Errors: Refused, no kernel runs, or its end."""
    facts = session.stop.facts if session.stop else {}
    if "ptx" not in facts:
        raise Refused("no kernel runs, or the thread has ended")
    focus, at = facts["focus"], facts["ptx"]
    lines = session.text.splitlines()
    ends = [n for n, line in enumerate(lines, 1) if line.strip().removesuffix(";") in ("ret", "exit")]
    said = []
    program = kernel_notes(session.text).warps
    for warp, places in _places(session, focus["block"]).items():
        if warp == focus["warp"] or places <= {at} or (program and warp >= program):
            continue
        session.focus(warp=warp, lane="")
        where = _bring(session, warp, focus["warp"], [at, *ends])
        if where is None:
            said.append(f"warp {focus['warp']} has come round once more, as others wait for it")
            break
        if where != at:
            said.append(f"warp {warp} does not come here" if where in ends else f"warp {warp} waits elsewhere")
    if session.stop is None:
        raise Refused("the program has ended")
    if _places(session, focus["block"]).get(focus["warp"]) != {at}:
        said.append(f"warp {focus['warp']} had to go on, as others wait for it")
    session.focus(warp=focus["warp"], lane=focus["lane"])
    return said


def _places(session: Session, block: list[int]) -> dict[int, set[int]]:
    """Lines of the PTX where warps of a block stand."""
    rows = session.ask("warps")["warps"]
    return {row["warp"]: {g["ptx"] for g in row["groups"]} for row in rows if row["block"] == block and row["groups"]}


def _bring(session: Session, warp: int, stays: int, lines: list[int]) -> int | None:
    """Lets the warp that is looked at run to one of these lines of the PTX; the line where it stands then. None: the
    one that is to stay has come round to one of them."""
    assert session.stop is not None
    block = ",".join(map(str, session.stop.facts["focus"]["block"]))
    numbers = {_FIRST + i: (line, one) for i, (line, one) in enumerate(itertools.product(lines, (warp, stays)))}
    for number, (line, one) in numbers.items():
        session.ask("break", number, "line", session.launch["file"], line, block, "", one)
    session.ask("option", "locking", "warp")
    try:
        for _ in range(_STOPS):
            stop = session.run_on("finish")
            if stop is None or stop.reason != "breakpoint":
                break
            hit = [numbers[number][1] for number in stop.facts["breakpoints"] if number in numbers]
            if stays in hit:
                return None
            if hit:
                break
        return session.stop.facts.get("ptx", 0) if session.stop else None
    finally:
        if session.stop is not None:
            for number in numbers:
                session.ask("remove", number)
            session.ask("option", "locking", session.options.get("locking", "warp"))
