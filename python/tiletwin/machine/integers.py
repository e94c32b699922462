"""Integers, bits and predicates: opcodes as PTX.

Here:      a function for each opcode; TABLE.
Names:     those of the operands are a, b, c in the order of the listing, d the result.
"""

from __future__ import annotations

from tiletwin.machine.operands import PREDICATE, REGISTER, ZERO, Operand
from tiletwin.machine.writer import Unknown, Writer

_COMPARE = {"LT": "lt", "LE": "le", "GT": "gt", "GE": "ge", "EQ": "eq", "NE": "ne"}
_JOIN = {"AND": "and", "OR": "or", "XOR": "xor"}


def parts(operands: list[Operand]) -> tuple[Operand, list[Operand], list[Operand], list[Operand]]:
    """The result, predicates that are written behind it, what is read, predicates that are read at the end."""
    d, rest = operands[0], operands[1:]
    written = 0
    while written < len(rest) and rest[written].kind == PREDICATE:
        written += 1
    read = len(rest)
    while read > written and rest[read - 1].kind == PREDICATE:
        read -= 1
    return d, rest[:written], rest[written:read], rest[read:]


def _total(w: Writer, d: Operand, carries: list[Operand], terms: list[Operand], more: list[str]) -> None:
    """d is the sum of terms and of small numbers; carries are set to whether it has gone beyond 2^32 once, twice."""
    if all(one.number == ZERO for one in carries):
        values = [value for value in [*map(w.word, terms), *more] if value != "0"] or ["0"]
        total = values[0]
        for value in values[1:]:
            total = w.op("add.s32", total, value)
        w.move(d, total)
        return
    wide = [_unsigned(w, one) for one in terms] + [w.op("cvt.u64.u32", value, kind="d") for value in more]
    _carried(w, d, carries, wide)


def _unsigned(w: Writer, one: Operand) -> str:
    return _wide(w, w.plain(one), one)


def _wide(w: Writer, value: str, one: Operand) -> str:
    """64 bits, with the operand's sign; -x is ~x and 1, as a subtraction's carry wants it."""
    if one.negative or one.inverted:
        value = w.op("not.b32", value)
    wide = w.op("cvt.u64.u32", value, kind="d")
    return w.op("add.s64", wide, "1", kind="d") if one.negative else wide


def _carried(w: Writer, d: Operand, carries: list[Operand], wide: list[str]) -> None:
    total = wide[0]
    for value in wide[1:]:
        total = w.op("add.s64", total, value, kind="d")
    high = w.op("shr.u64", total, "32", kind="d")
    w.put(f"cvt.u32.u64 {w.result(d)}, {total}")
    for times, one in enumerate(carries, 1):
        w.put(f"setp.ge.u64 {w.predicate_result(one)}, {high}, {times}")


def iadd3(w: Writer) -> None:
    d, carries, terms, given = parts(w.one.operands)
    more = [w.carry(one) for one in given if not (one.number == ZERO and one.inverted)] if "X" in w.one.words else []
    if "64" in w.one.words:
        values = [w.pair(one) for one in terms if not one.is_zero]
        total = values[0]
        for value in values[1:]:
            total = w.op("add.s64", total, value, kind="d")
        return w.set_pair(d, total)
    return _total(w, d, carries, terms, more)


def imad(w: Writer) -> None:
    d, carries, (a, b, c), given = parts(w.one.operands)
    words = w.one.words
    sign = "u32" if "U32" in words else "s32"
    if "WIDE" in words:
        wide = "u" if "U32" in words else "s"
        product = w.op(f"mul.wide.{wide}32", w.word(a), w.word(b), kind="d")
        added = w.pair(c)
        total = product if added == "0" else w.op("add.s64", product, added, kind="d")
        if "X" in words:
            more = w.op("cvt.u64.u32", w.carry(given[0]), kind="d")
            total = w.op("add.s64", total, more, kind="d")
        for one in carries[:1]:
            w.put(f"setp.lt.u64 {w.predicate_result(one)}, {total}, {product}")
        return w.set_pair(d, total)
    if "HI" in words:
        letter = "u" if "U32" in words else "s"
        product = w.op(f"mul.wide.{letter}32", w.word(a), w.word(b), kind="d")
        added = w.pair(c)
        total = product if added == "0" else w.op("add.s64", product, added, kind="d")
        high = w.op("shr.u64", total, "32", kind="d")
        for one in carries[:1]:
            w.put(f"setp.lt.u64 {w.predicate_result(one)}, {total}, {product}")
        return w.put(f"cvt.u32.u64 {w.result(d)}, {high}")
    if any(one.number != ZERO for one in carries):
        raise Unknown("IMAD with a carry")
    if a.is_zero or b.is_zero:
        total = w.word(c)
    elif c.is_zero:
        total = w.op("mul.lo.s32", w.word(a), w.word(b))
    else:
        total = w.op(f"mad.lo.{sign}", w.word(a), w.word(b), w.word(c))
    if "X" in words:
        total = w.op("add.s32", total, w.carry(given[0]))
    return w.move(d, total)


def lea(w: Writer) -> None:
    d, carries, read, given = parts(w.one.operands)
    words, shift = w.one.words, read[-1].number & 31
    a, b = read[:2]
    if a.inverted or ("HI" in words and a.negative):
        raise Unknown("the sign of what is shifted")
    low = w.plain(a)
    if "HI" in words:
        high = w.op("shr.s32", low, "31") if "SX32" in words else w.word(read[2])
        low = w.op("shf.l.wrap.b32", low, high, str(shift))
    elif shift:
        low = w.op("shl.b32", low, str(shift))
    more = [w.carry(one) for one in given if not (one.number == ZERO and one.inverted)] if "X" in words else []
    if all(one.number == ZERO for one in carries):
        low = w.op("neg.s32", low) if a.negative else low
        total = low if b.is_zero else w.op("add.s32", low, w.word(b))
        for value in more:
            total = w.op("add.s32", total, value)
        return w.move(d, total)
    wide = [w.op("cvt.u64.u32", value, kind="d") for value in more]
    return _carried(w, d, carries, [_wide(w, low, a), _unsigned(w, b), *wide])


def viadd(w: Writer) -> None:
    d, a, b = w.one.operands
    w.put(f"{'add.u16x2' if '16x2' in w.one.words else 'add.s32'} {w.result(d)}, {w.word(a)}, {w.word(b)}")


def iabs(w: Writer) -> None:
    d, a = w.one.operands
    w.put(f"abs.s32 {w.result(d)}, {w.word(a)}")


def shf(w: Writer) -> None:
    d, a, shift, c = w.one.operands
    words = w.one.words
    left, high, wraps = "L" in words, "HI" in words, "W" in words
    wide = next((word for word in words if word in ("U64", "S64")), "")
    amount = w.word(shift)
    if wraps:
        amount = w.op("and.b32", amount, "63" if wide else "31")
    if not wide and not wraps and (c.is_zero if left else a.is_zero):
        what = "shl.b32" if left else ("shr.s32" if "S32" in words else "shr.u32")
        return w.put(f"{what} {w.result(d)}, {w.word(a if left else c)}, {amount}")
    if not wide and not wraps:
        amount = w.op("min.u32", amount, "32")
    both = w.op("mov.b64", f"{{{w.word(a)}, {w.word(c)}}}", kind="d")
    signed = "S64" in words or ("S32" in words and high)
    moved = w.op("shl.b64" if left else ("shr.s64" if signed else "shr.u64"), both, amount, kind="d")
    takes_high = high if left else high and not wide
    return w.put(
        f"mov.b64 {{{'%nowhere' if takes_high else w.result(d)}, {w.result(d) if takes_high else '%nowhere'}}}, {moved}"
    )


def lop3(w: Writer) -> None:
    operands = list(w.one.operands)
    p = operands.pop(0) if operands[0].kind == PREDICATE else None
    d, a, b, c, table, *given = operands
    value = w.op("lop3.b32", w.word(a), w.word(b), w.word(c), f"0x{table.number & 255:x}")
    if p is not None and p.number != ZERO:
        joined = given and not (given[0].number == ZERO and given[0].inverted)
        if joined:
            made = w.op("setp.ne.u32", value, "0", kind="q")
            w.put(f"or.pred {w.predicate_result(p)}, {made}, {w.predicate(given[0])}")
        else:
            w.put(f"setp.ne.u32 {w.predicate_result(p)}, {value}, 0")
    w.move(d, value)


def _mask(w: Writer, one: Operand) -> str:
    """All bits where a predicate holds, or where a register is negative."""
    if one.kind == REGISTER:
        if one.words != ("SIGN",):
            raise Unknown(f"a predicate {one.text}")
        sign = w.op("shr.s32", w.name(one), "31")
        return w.op("not.b32", sign) if one.inverted else sign
    return w.op("selp.b32", *(("0", "-1") if one.inverted else ("-1", "0")), w.predicate_name(one))


def plop3(w: Writer) -> None:
    p, second, a, b, c, table, other = w.one.operands
    masks = [_mask(w, one) for one in (a, b, c)]
    for one, bits in ((p, table), (second, other)):
        if one.number != ZERO:
            value = w.op("lop3.b32", *masks, f"0x{bits.number & 255:x}")
            w.put(f"setp.ne.u32 {w.predicate_result(one)}, {value}, 0")


def isetp(w: Writer) -> None:
    p, second, a, b, joined, *low = w.one.operands
    words = w.one.words
    compare, kind = _COMPARE[words[0]], "u32" if "U32" in words or words[0] in ("EQ", "NE") else "s32"
    x, y = w.word(a), w.word(b)
    made = w.op(f"setp.{compare}.{kind}", x, y, kind="q")
    if "EX" in words:
        below = w.predicate(low[0])
        equal = w.op("setp.eq.u32", x, y, kind="q")
        if compare == "ne":
            made = w.op("or.pred", made, below, kind="q")
        elif compare == "eq":
            made = w.op("and.pred", made, below, kind="q")
        else:
            strict = w.op(f"setp.{compare[0]}t.{kind}", x, y, kind="q")
            tie = w.op("and.pred", equal, below, kind="q")
            made = w.op("or.pred", strict, tie, kind="q")
    set_joined(w, made, p, second, joined)


def joined_with(w: Writer, made: str, joined: Operand) -> str:
    """A comparison joined with a predicate, in a register of its own."""
    join = next(_JOIN[word] for word in w.one.words if word in _JOIN)
    if joined.number == ZERO and not joined.inverted and join == "and":
        return made
    return w.op(f"{join}.pred", made, w.predicate(joined), kind="q")


def write_joined(w: Writer, results: list[tuple[Operand, str]], joined: Operand) -> None:
    """Predicates that an instruction writes: each a comparison joined with the predicate that it reads."""
    made = [(one, joined_with(w, value, joined)) for one, value in results if one.number != ZERO]
    for one, value in made:
        w.put(f"mov.pred {w.predicate_result(one)}, {value}")


def set_joined(w: Writer, made: str, p: Operand, second: Operand, joined: Operand) -> None:
    """p is the comparison joined with a predicate, the second one its opposite joined with that."""
    opposite = w.op("not.pred", made, kind="q") if second.number != ZERO else ""
    write_joined(w, [(p, made), (second, opposite)], joined)


def sel(w: Writer) -> None:
    d, a, b, p = w.one.operands
    x, y = w.word(a), w.word(b)
    w.put(f"selp.b32 {w.result(d)}, {', '.join((y, x) if p.inverted else (x, y))}, {w.predicate_name(p)}")


def least(w: Writer, kind: str, a: str, b: str, p: Operand) -> str:
    """The smaller one where p holds, else the larger one. kind: what PTX has behind min and max."""
    if p.number == ZERO:
        return w.op(f"{'max' if p.inverted else 'min'}.{kind}", a, b)
    low, high = w.op(f"min.{kind}", a, b), w.op(f"max.{kind}", a, b)
    return w.op("selp.b32", *((high, low) if p.inverted else (low, high)), w.predicate_name(p))


def _integers(w: Writer) -> str:
    """Of an instruction that takes extremes."""
    return next((word.lower() for word in w.one.words if word in ("U32", "S16x2", "U16x2")), "s32")


def _extreme(w: Writer, a: str, b: str, p: Operand) -> str:
    kind = _integers(w)
    value = least(w, kind, a, b, p)
    return w.op(f"max.{kind}", value, w.op("mov.b32", "0")) if "RELU" in w.one.words else value


def vimnmx(w: Writer) -> None:
    d, a, b, p = w.one.operands
    w.move(d, _extreme(w, w.word(a), w.word(b), p))


def viaddmnmx(w: Writer) -> None:
    d, a, b, c, p = w.one.operands
    total = w.op("add.u16x2" if "x2" in _integers(w) else "add.s32", w.word(a), w.word(b))
    w.move(d, _extreme(w, total, w.word(c), p))


def sgxt(w: Writer) -> None:
    d, a, bits = w.one.operands
    kind = "u32" if "U32" in w.one.words else "s32"
    w.put(f"szext.{_beyond(w)}.{kind} {w.result(d)}, {w.word(a)}, {w.word(bits)}")


def bmsk(w: Writer) -> None:
    d, a, bits = w.one.operands
    w.put(f"bmsk.{_beyond(w)}.b32 {w.result(d)}, {w.word(a)}, {w.word(bits)}")


def _beyond(w: Writer) -> str:
    """What becomes of a number of bits beyond 31."""
    return "wrap" if "W" in w.one.words else "clamp"


def prmt(w: Writer) -> None:
    d, a, selector, c = w.one.operands
    mode = "".join(f".{word.lower()}" for word in w.one.words)
    w.put(f"prmt.b32{mode} {w.result(d)}, {w.word(a)}, {w.word(c)}, {w.word(selector)}")


def popc(w: Writer) -> None:
    d, a = w.one.operands
    w.put(f"popc.b32 {w.result(d)}, {w.word(a)}")


def brev(w: Writer) -> None:
    d, a = w.one.operands
    w.put(f"brev.b32 {w.result(d)}, {w.word(a)}")


def flo(w: Writer) -> None:
    d, a = w.one.operands
    kind = "u32" if "U32" in w.one.words else "s32"
    w.put(f"bfind{'.shiftamt' if 'SH' in w.one.words else ''}.{kind} {w.result(d)}, {w.word(a)}")


def p2r(w: Writer) -> None:
    d, _, a, mask = w.one.operands
    value = w.op("and.b32", w.word(a), f"0x{~mask.number & 0xFFFFFFFF:x}")
    for bit in range(7):
        if mask.number >> bit & 1:
            one = w.op("selp.b32", str(1 << bit), "0", f"%p{bit}")
            value = w.op("or.b32", value, one)
    w.move(d, value)


def r2p(w: Writer) -> None:
    _, a, mask = w.one.operands
    for bit in range(7):
        if mask.number >> bit & 1:
            one = w.op("and.b32", w.word(a), str(1 << bit))
            w.put(f"setp.ne.u32 %p{bit}, {one}, 0")


def mov(w: Writer) -> None:
    w.move(w.one.operands[0], w.word(w.one.operands[1]))


def idp(w: Writer) -> None:
    d, a, b, c = w.one.operands
    kinds = ".".join(f"{word[0].lower()}32" for word in w.one.words if word in ("S8", "U8", "S16", "U16"))
    form = "dp4a" if "4A" in w.one.words else f"dp2a.{'hi' if 'HI' in w.one.words else 'lo'}"
    w.put(f"{form}.{kinds} {w.result(d)}, {w.word(a)}, {w.word(b)}, {w.word(c)}")


def vabsdiff(w: Writer) -> None:
    d, a, b, c = w.one.operands
    w.put(f"sad.{'u32' if 'U32' in w.one.words else 's32'} {w.result(d)}, {w.word(a)}, {w.word(b)}, {w.word(c)}")


TABLE = {
    "BMSK": bmsk, "BREV": brev, "FLO": flo, "IABS": iabs, "IADD3": iadd3, "IDP": idp, "IMAD": imad, "ISETP": isetp,
    "LEA": lea,
    "LOP3": lop3, "MOV": mov, "P2R": p2r, "PLOP3": plop3, "POPC": popc, "PRMT": prmt, "R2P": r2p, "R2UR": mov,
    "SEL": sel, "SGXT": sgxt, "SHF": shf, "VABSDIFF": vabsdiff, "VIADD": viadd,
    "VIADDMNMX": viaddmnmx, "VIMNMX": vimnmx,
}  # fmt: skip
"""By opcode; those of uniform registers have a U in front."""
