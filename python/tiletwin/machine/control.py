"""Jumps, barriers, other lanes, special registers: opcodes as PTX.

Here:      a function for each opcode; TABLE.
Where lanes meet again is the simulator's to know: BSSY and BSYNC do nothing.
"""

from __future__ import annotations

from tiletwin.machine.operands import NUMBER, PREDICATE, ZERO
from tiletwin.machine.writer import Unknown, Writer

_SPECIAL = {
    "SR_TID.X": "%tid.x", "SR_TID.Y": "%tid.y", "SR_TID.Z": "%tid.z",
    "SR_CTAID.X": "%ctaid.x", "SR_CTAID.Y": "%ctaid.y", "SR_CTAID.Z": "%ctaid.z",
    "SR_CgaCtaId": "%cluster_ctarank", "SR_LANEID": "%laneid",
    "SR_CLOCKLO": "%clock", "SR_CLOCKHI": "%clock_hi",
    "SR_EQMASK": "%lanemask_eq", "SR_LTMASK": "%lanemask_lt", "SR_LEMASK": "%lanemask_le",
    "SR_GTMASK": "%lanemask_gt", "SR_GEMASK": "%lanemask_ge",
}  # fmt: skip


def mark(w: Writer) -> None:
    w.mark()


def s2r(w: Writer) -> None:
    d, source = w.one.operands
    if source.text == "SR_SWINHI":  # the high half of addresses of shared memory
        window = w.op("cvta.shared.u64", "0", kind="d")
        return w.put(f"mov.b64 {{%nowhere, {w.result(d)}}}, {window}")
    if source.text not in _SPECIAL:
        raise Unknown(source.text)
    return w.put(f"mov.u32 {w.result(d)}, {_SPECIAL[source.text]}")


def cs2r(w: Writer) -> None:
    d, source = w.one.operands
    value = "0" if source.text == "SRZ" else ""
    if not value:
        raise Unknown(source.text)
    w.move(d, value)
    if "32" not in w.one.words:
        w.put(f"mov.b32 {w.result(d, 1)}, {value}")


def label(name: str) -> str:
    """As PTX may write it."""
    return "$" + name.replace(".", "_")


def bra(w: Writer) -> None:
    """The guard and another predicate must both hold."""
    given = [one for one in w.one.operands if one.kind == PREDICATE and not (one.number == ZERO and not one.inverted)]
    if not w.one.target or set(w.one.words) - {"U"}:
        raise Unknown("this jump")
    if given:
        w.guard = ""
        first = w.predicate(w.one.guard) if w.one.guard is not None else "%true"
        w.guard = f"@{w.op('and.pred', first, w.predicate(given[0]), kind='q')} "
    w.put(f"bra {label(w.one.target)}")


def exit_(w: Writer) -> None:
    w.put("exit")


def bar(w: Writer) -> None:
    words, numbers = w.one.words, [w.plain(one) for one in w.one.operands if one.kind != PREDICATE]
    if words[0] == "RED":
        return _vote_at_barrier(w, words[1].lower(), ", ".join((*numbers, w.predicate(w.one.operands[-1]))))
    if words[0] not in ("SYNC", "ARV"):
        raise Unknown(f"BAR.{'.'.join(words)}")
    return w.put(f"{'bar.sync' if words[0] == 'SYNC' else 'bar.arrive'} {', '.join(numbers)}")


def _vote_at_barrier(w: Writer, way: str, read: str) -> None:
    """B2R fetches what comes out."""
    if way == "popc":
        return w.put(f"bar.red.popc.u32 %voted, {read}")
    return w.put(f"selp.b32 %voted, 1, 0, {w.op(f'bar.red.{way}.pred', read, kind='q')}")


def b2r(w: Writer) -> None:
    d, *predicates = w.one.operands
    if w.one.words != ("RESULT",):
        raise Unknown(f"B2R.{'.'.join(w.one.words)}")
    w.move(d, "%voted")
    for one in predicates:
        w.put(f"setp.ne.u32 {w.predicate_result(one)}, %voted, 0")


def depbar(w: Writer) -> None:
    if w.one.words[:1] != ("LE",) or w.one.operands[0].text != "SB0":
        return w.mark()
    if "UTMACMDFLUSH" in w.opcodes:
        w.put(f"cp.async.bulk.wait_group {w.one.operands[1].number}")
    return w.put(f"cp.async.wait_group {w.one.operands[1].number}")


def shfl(w: Writer) -> None:
    p, d, a, b, c = w.one.operands
    mode = w.one.words[0].lower()
    mask = w.op("activemask.b32")
    both = w.result(d) if p.number == ZERO else f"{w.result(d)}|{w.predicate_result(p)}"
    w.put(f"shfl.sync.{mode}.b32 {both}, {w.plain(a)}, {w.plain(b)}, {w.plain(c)}, {mask}")


def vote(w: Writer) -> None:
    d = next((one for one in w.one.operands if one.kind not in (PREDICATE, NUMBER)), None)
    predicates = [one for one in w.one.operands if one.kind == PREDICATE]
    mask = w.op("activemask.b32")
    source = w.predicate(predicates[-1])
    if d is not None:
        w.put(f"vote.sync.ballot.b32 {w.result(d)}, {source}, {mask}")
    if len(predicates) > 1 and predicates[0].number != ZERO:
        way = {"ANY": "any", "ALL": "all", "EQ": "uni"}[w.one.words[0]]
        w.put(f"vote.sync.{way}.pred {w.predicate_result(predicates[0])}, {source}, {mask}")


def match(w: Writer) -> None:
    *predicates, d, a = w.one.operands
    wide = "U64" in w.one.words
    value = w.pair(a) if wide else w.op("mov.b32", w.plain(a))
    mask = w.op("activemask.b32")
    both = f"{w.result(d)}|{w.predicate_result(predicates[0])}" if predicates else w.result(d)
    w.put(f"match.{w.one.words[0].lower()}.sync.b{'64' if wide else '32'} {both}, {value}, {mask}")


def redux(w: Writer) -> None:
    d, a = w.one.operands[:2]
    words = w.one.words
    name = next((word.lower() for word in words if word in ("SUM", "MIN", "MAX", "AND", "OR", "XOR")), "and")
    kind = "b32" if name in ("and", "or", "xor") else ("s32" if "S32" in words else "u32")
    mask = w.op("activemask.b32")
    w.put(f"redux.sync.{'add' if name == 'sum' else name}.{kind} {w.result(d)}, {w.op('mov.b32', w.plain(a))}, {mask}")


def fence(w: Writer) -> None:
    w.put("fence.proxy.async") if "ASYNC" in w.one.words else w.mark()


def membar(w: Writer) -> None:
    scope = {"CTA": "cta", "GPU": "gl", "SYS": "sys"}[next(one for one in w.one.words if one in ("CTA", "GPU", "SYS"))]
    w.put(f"membar.{scope}")


def elect(w: Writer) -> None:
    p, d, _ = w.one.operands
    mask = w.op("activemask.b32")
    w.put(f"elect.sync {w.result(d)}|{w.predicate_result(p)}, {mask}")


def setmaxreg(w: Writer) -> None:
    """Registers are there without being asked for."""
    p = w.one.operands[0]
    if p.kind == PREDICATE:
        return w.put(f"setp.eq.u32 {w.predicate_result(p)}, 0, 0")
    return w.mark()


def call(w: Writer) -> None:
    w.put(f"bra {label(w.one.target)}")


def ret(w: Writer) -> None:
    """To where a register says: one of the places behind calls."""
    for place in w.returns:
        here = w.op("setp.eq.u32", w.name(w.one.operands[0]), str(16 * place), kind="q")
        w.lines.append(f"\t@{here} bra $return_{place};")
    if not w.returns:
        raise Unknown("a return without a call")


def commit(w: Writer) -> None:
    w.put("cp.async.commit_group")


def commit_tiles(w: Writer) -> None:
    w.put("cp.async.bulk.commit_group")


TABLE = {
    "B2R": b2r, "BAR": bar, "BMOV": mark, "BRA": bra, "BREAK": mark, "BSSY": mark, "BSYNC": mark,
    "CALL": call, "CCTL": mark, "CGAERRBAR": mark,
    "CS2R": cs2r, "DEPBAR": depbar, "ELECT": elect, "ERRBAR": mark, "EXIT": exit_, "FENCE": fence, "LDGDEPBAR": commit,
    "MATCH": match,
    "MEMBAR": membar, "NANOSLEEP": mark, "NOP": mark, "REDUX": redux, "RET": ret, "S2R": s2r, "S2UR": s2r, "SHFL": shfl,
    "USETMAXREG": setmaxreg, "UTMACCTL": mark, "UTMACMDFLUSH": commit_tiles,
    "VOTE": vote, "VOTEU": vote, "WARPSYNC": mark, "YIELD": mark,
}  # fmt: skip
"""By opcode."""
