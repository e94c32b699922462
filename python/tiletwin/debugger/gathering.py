"""`gather`: the other warps of a block come to where the one that is looked at stands, so that tiles are whole.

Not here:  tiles (kernel_variables.py), stepping as a user does it (session.py).
Idea:      each of them is let run alone to that instruction; others run only while it waits for them.
"""

from __future__ import annotations

from tiletwin.debugger.connection import Refused
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
    for warp, places in _places(session, focus["block"]).items():
        if warp == focus["warp"] or places <= {at}:
            continue
        session.focus(warp=warp, lane="")
        where = _bring(session, warp, at, ends)
        if where != at:
            said.append(f"warp {warp} does not come here" if where in ends else f"warp {warp} waits elsewhere")
    if _places(session, focus["block"]).get(focus["warp"]) != {at}:
        said.append(f"warp {focus['warp']} had to go on, as others wait for it")
    session.focus(warp=focus["warp"], lane=focus["lane"])
    return said


def _places(session: Session, block: list[int]) -> dict[int, set[int]]:
    """Lines of the PTX where warps of a block stand."""
    rows = session.ask("warps")["warps"]
    return {row["warp"]: {g["ptx"] for g in row["groups"]} for row in rows if row["block"] == block and row["groups"]}


def _bring(session: Session, warp: int, at: int, ends: list[int]) -> int:
    """Lets the warp that is looked at run to a line of the PTX; the line where it stands then."""
    assert session.stop is not None
    block = ",".join(map(str, session.stop.facts["focus"]["block"]))
    wanted = {_FIRST + i: line for i, line in enumerate([at, *ends])}
    for number, line in wanted.items():
        session.ask("break", number, "line", session.launch["file"], line, block, "", warp)
    session.ask("option", "locking", "warp")
    try:
        for _ in range(_STOPS):
            stop = session.run_on("finish")
            if stop is None or stop.reason != "breakpoint" or not wanted.keys().isdisjoint(stop.facts["breakpoints"]):
                break
        return session.stop.facts.get("ptx", 0) if session.stop else 0
    finally:
        if session.stop is not None:
            for number in wanted:
                session.ask("remove", number)
            session.ask("option", "locking", session.options.get("locking", "warp"))
