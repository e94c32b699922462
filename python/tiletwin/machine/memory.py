"""Loads, stores, copies and atomic operations: opcodes as PTX.

Here:      a function for each opcode; TABLE.
Shared memory lies where machine code has it: lift.py keeps the 1,024 bytes free that the system has in front.
"""

from __future__ import annotations

from tiletwin.machine.operands import ADDRESS, PREDICATE
from tiletwin.machine.writer import Unknown, Writer

_NARROW = {"U8": "u8", "S8": "s8", "U16": "u16", "S16": "s16"}
_VECTORS = {"64": 2, "128": 4}
_ATOMIC = {
    "ADD": "add", "MIN": "min", "MAX": "max", "AND": "and", "OR": "or", "XOR": "xor", "EXCH": "exch", "INC": "inc",
    "DEC": "dec", "CAS": "cas", "CAST": "cas",
}  # fmt: skip


def _access(w: Writer) -> tuple[str, int]:
    """The type of an access and how many words of 32 bits it has."""
    words = w.one.words
    narrow = next((_NARROW[word] for word in words if word in _NARROW), "")
    vector = next((_VECTORS[word] for word in words if word in _VECTORS), 1)
    return narrow or "b32", vector


def _dot(space: str) -> str:
    """As PTX names a space; none: an address says which."""
    return f".{space}" if space else ""


def _load(space: str):
    def put(w: Writer) -> None:
        d, address = [one for one in w.one.operands if one.kind != PREDICATE][:2]
        kind, words = _access(w)
        form = f"ld{_dot(space)}{f'.v{words}' if words > 1 else ''}.{kind}"
        w.put(f"{form} {w.vector(d, words, reads=False)}, [{w.address(address, space)}]")

    return put


def _store(space: str):
    def put(w: Writer) -> None:
        address = next(one for one in w.one.operands if one.kind == ADDRESS)
        value = next(one for one in w.one.operands if one.kind not in (ADDRESS, PREDICATE))
        kind, words = _access(w)
        if kind[0] in "us" and kind != "b32":
            kind = "b" + kind[1:]
        form = f"st{_dot(space)}{f'.v{words}' if words > 1 else ''}.{kind}"
        source = w.vector(value, words, reads=True)
        if kind in ("b8", "b16"):
            source = w.op("cvt.u16.u32", source, kind="h")
        w.put(f"{form} [{w.address(address, space)}], {source}")

    return put


def ldgsts(w: Writer) -> None:
    to, source, *given = w.one.operands
    _, words = _access(w)
    size = 4 * words
    way = "cg" if "BYPASS" in w.one.words else "ca"
    read = ""
    if given:
        read = ", " + w.op(
            "selp.b32", *(("0", str(size)) if given[0].inverted else (str(size), "0")), w.predicate_name(given[0])
        )
    w.put(f"cp.async.{way}.shared.global [{w.address(to, 'shared')}], [{w.address(source, 'global')}], {size}{read}")


def _atomic(space: str, returns: bool):
    def put(w: Writer) -> None:
        words = w.one.words
        address = next(one for one in w.one.operands if one.kind == ADDRESS)
        place = w.one.operands.index(address)
        d = w.one.operands[place - 1] if returns and place else None
        name = next((_ATOMIC[word] for word in words if word in _ATOMIC), "")
        sources = w.one.operands[place + 1 :]
        if "POPC" in words:  # each lane adds 1
            assert d is not None
            return w.put(f"atom.{space}.add.u32 {w.result(d)}, [{w.address(address, space)}], 1")
        kind, vector = _kind(words, name)
        if not name or "RED" in words:
            raise Unknown(f"{w.one.opcode}.{'.'.join(words)}")
        if kind.endswith("64"):
            values = [w.pair(one) for one in sources if one.kind != PREDICATE]
        else:
            values = [
                w.vector(one, vector, True) if vector > 1 else w.plain(one) for one in sources if one.kind != PREDICATE
            ]
        lanes = f".v{vector}" if vector > 1 else ""
        form = f"{name}{'.noftz' if kind in ('f16x2', 'bf16x2') else ''}{lanes}"
        where = w.address(address, space)
        if words[:2] == ("CAST", "SPIN"):
            assert d is not None
            wide = kind.endswith("64")
            old = w.op(f"atom{_dot(space)}.cas.{kind}", f"[{where}]", *values, kind="d" if wide else "t")
            same = w.op(f"setp.eq.{kind}", old, values[0], kind="q")
            w.put(f"selp.b32 {w.result(d)}, 1, 0, {same}")
            return w.put(f"mov.b32 {w.result(d, 1)}, 0") if wide else None
        if d is None or (vector > 1 and d.is_zero):
            return w.put(f"red{_dot(space)}.{form}.{kind} [{where}], {', '.join(values)}")
        if kind.endswith("64"):
            made = w.op(f"atom{_dot(space)}.{form}.{kind}", f"[{where}]", *values, kind="d")
            return w.set_pair(d, made)
        made = w.vector(d, vector, False)
        return w.put(f"atom{_dot(space)}.{form}.{kind} {made}, [{where}], {', '.join(values)}")

    return put


def _kind(words: tuple[str, ...], name: str) -> tuple[str, int]:
    for word in words:
        kind, _, lanes = word.partition("x")
        if kind == "F32":
            return "f32", int(lanes or 1)
        if kind in ("F16", "BF16"):
            return f"{kind.lower()}x2", int(lanes or 2) // 2
        if kind == "F64":
            return "f64", 1
        if kind in ("S32", "S64"):
            return kind.lower(), 1
    wide = "64" if "64" in words else "32"
    return ("b" if name in ("cas", "exch", "and", "or", "xor") else "u") + wide, 1


def _matrices(w: Writer) -> tuple[str, int]:
    words = w.one.words
    number = next((int(word) for word in words if word in ("2", "4")), 1)
    if "16" not in words or not {"M88", "MT88"} & set(words):
        raise Unknown(f"{w.one.opcode}.{'.'.join(words)}")
    return f"x{number}{'.trans' if 'MT88' in words else ''}.shared.b16", number


def _braces(text: str) -> str:
    return text if text[0] == "{" else f"{{{text}}}"


def ldsm(w: Writer) -> None:
    d, address = w.one.operands
    form, number = _matrices(w)
    registers = _braces(w.vector(d, number, reads=False))
    w.put(f"ldmatrix.sync.aligned.m8n8.{form} {registers}, [{w.address(address, 'shared')}]")


def stsm(w: Writer) -> None:
    address, value = w.one.operands
    form, number = _matrices(w)
    registers = _braces(w.vector(value, number, reads=True))
    w.put(f"stmatrix.sync.aligned.m8n8.{form} [{w.address(address, 'shared')}], {registers}")


_PHASES = 0x100000
"""What a barrier's word counts down from: it holds twice this less the number of arrivals."""


def syncs(w: Writer) -> None:
    """Barriers in shared memory."""
    words = w.one.words
    where = next(one for one in w.one.operands if one.kind == ADDRESS)
    place = f"[{w.address(where, 'shared')}]"
    if words == ("EXCH", "64"):
        half = w.op("shr.u32", w.plain(w.one.operands[2]), "1")
        return w.put(f"mbarrier.init.shared.b64 {place}, {w.op('sub.u32', str(_PHASES), half)}")
    if words == ("ARRIVE", "TRANS64"):
        return w.put(f"mbarrier.arrive.expect_tx.shared.b64 _, {place}, {w.plain(w.one.operands[2])}")
    if words == ("ARRIVE", "TRANS64", "A1T0"):
        return w.put(f"mbarrier.arrive.shared.b64 _, {place}")
    if words[:2] == ("PHASECHK", "TRANS64"):
        p, _, phase = w.one.operands
        parity = w.op("shr.u32", w.op("mov.b32", w.plain(phase)), "31")
        way = "try_wait" if "TRYWAIT" in words else "test_wait"
        return w.put(f"mbarrier.{way}.parity.shared.b64 {w.predicate_result(p)}, {place}, {parity}")
    raise Unknown(f"SYNCS.{'.'.join(words)}")


def qspc(w: Writer) -> None:
    p, _, address = w.one.operands
    space = {"S": "shared", "G": "global", "L": "local"}[w.one.words[-1]]
    base, _, offset = w.address(address, "").partition("+")
    place = w.op("add.s64", base, offset or "0", kind="d")
    w.put(f"isspacep.{space} {w.predicate_result(p)}, {place}")


def movm(w: Writer) -> None:
    d, a = w.one.operands
    if w.one.words != ("16", "MT88"):
        raise Unknown(f"MOVM.{'.'.join(w.one.words)}")
    w.put(f"movmatrix.sync.aligned.m8n8.trans.b16 {w.result(d)}, {w.op('mov.b32', w.name(a))}")


def _tensor(w: Writer, before: int, others: int = 0) -> tuple[int, int, str]:
    """Of a copy of a tile: its first register, its rank, the tensor map with coordinates, as PTX writes it. Registers
    in a row: `before` of them, then coordinates; and a pair with the map's address. A warp does it once, whatever lanes
    are there. others: words behind the rank."""
    what, tensor = (one.terms[0][1] for one in w.one.operands[:2])
    if len(w.one.words) != 1 + others:
        raise Unknown(f"{w.one.opcode}.{'.'.join(w.one.words)}")
    rank = int(w.one.words[0][0])
    coordinates = ", ".join(f"%u{what + before + at}" for at in range(rank))
    address = w.op("mov.b64", f"{{%u{tensor}, %u{tensor + 1}}}", kind="d")
    guard, w.guard = w.guard, ""
    one = w.op("setp.ne.u32", "0", "0", kind="q")
    w.guard = guard
    w.put(f"elect.sync %nowhere|{one}, {w.op('activemask.b32')}")
    w.guard = f"@{one} "
    return what, rank, f"[{address}, {{{coordinates}}}]"


def utmaldg(w: Writer) -> None:
    what, rank, tile = _tensor(w, 2)
    w.put(
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        f"[%u{what}], {tile}, [%u{what + 1}]"
    )


def utmastg(w: Writer) -> None:
    what, rank, tile = _tensor(w, 1)
    w.put(f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group {tile}, [%u{what}]")


def utmaredg(w: Writer) -> None:
    what, rank, tile = _tensor(w, 1, others=1)
    name = _ATOMIC[w.one.words[1]]
    w.put(f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{name}.tile.bulk_group {tile}, [%u{what}]")


def ldc(w: Writer) -> None:
    d, a = w.one.operands
    if "64" in w.one.words:
        low, high = w.constant(a, 8)
        w.move(d, low)
        return w.put(f"mov.b32 {w.result(d, 1)}, {high}")
    if set(w.one.words):
        raise Unknown(f"LDC.{'.'.join(w.one.words)}")
    return w.move(d, w.constant(a, 4)[0])


TABLE = {
    "ATOM": _atomic("", True), "ATOMG": _atomic("global", True), "ATOMS": _atomic("shared", True), "LD": _load(""),
    "LDC": ldc, "LDG": _load("global"),
    "LDGSTS": ldgsts, "LDL": _load("local"), "LDS": _load("shared"), "LDSM": ldsm, "MOVM": movm,
    "QSPC": qspc, "RED": _atomic("", False), "REDG": _atomic("global", False),
    "ST": _store(""), "STG": _store("global"), "STL": _store("local"), "STS": _store("shared"), "STSM": stsm,
    "SYNCS": syncs, "UTMALDG": utmaldg, "UTMAREDG": utmaredg, "UTMASTG": utmastg,
}  # fmt: skip
"""By opcode."""
