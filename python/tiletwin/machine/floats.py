"""Floats of 32 and 64 bits: opcodes as PTX.

Here:      a function for each opcode; TABLE.
Not here:  halves (halves.py), conversions (conversions.py).
Without FTZ an opcode keeps subnormal numbers, as PTX does without .ftz; MUFU never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tiletwin.machine.integers import joined_with, least, set_joined, write_joined
from tiletwin.machine.operands import Operand
from tiletwin.machine.writer import Unknown, Writer

_ROUNDINGS = {"RN": "rn", "RZ": "rz", "RM": "rm", "RP": "rp"}
_UNARY = {"EX2": "ex2", "LG2": "lg2", "RCP": "rcp", "RSQ": "rsqrt", "SQRT": "sqrt"}
_TURNS = {"0x3e22f983": "0", "0xbe22f983": "0x80000000"}
"""1 / 2 pi and its negative. SIN and COS take turns: the product of an angle with this, toward zero, which is a part of
PTX's sin. By each, what the sign of the angle changes by."""
_ORDERED = {"LT", "LE", "GT", "GE", "EQ", "NE", "LTU", "LEU", "GTU", "GEU", "EQU", "NEU", "NUM", "NAN"}


def rounding(w: Writer) -> str:
    return next((_ROUNDINGS[word] for word in w.one.words if word in _ROUNDINGS), "rn")


def ending(w: Writer) -> str:
    return (".ftz" if "FTZ" in w.one.words else "") + (".sat" if "SAT" in w.one.words else "")


def _arithmetic(name: str):
    def put(w: Writer) -> None:
        d, *read = w.one.operands
        values = ", ".join(map(w.float, read))
        if name == "mul" and "RZ" in w.one.words and w.plain(read[1]) in _TURNS:
            angle = w.float_bits(read[0])
            w.put(f"xor.b32 {w.angle(d)}, {angle}, {_TURNS[w.plain(read[1])]}")
        w.put(f"{name}.{rounding(w)}{ending(w)}.f32 {w.result(d)}, {values}")

    return put


def _wide_arithmetic(name: str):
    def put(w: Writer) -> None:
        d, *read = w.one.operands
        w.set_pair(d, w.op(f"{name}.{rounding(w)}.f64", *map(w.double, read), kind="d"))

    return put


def fsel(w: Writer) -> None:
    d, a, b, p = w.one.operands
    x, y = w.float_bits(a), w.float_bits(b)
    w.put(f"selp.b32 {w.result(d)}, {', '.join((y, x) if p.inverted else (x, y))}, {w.predicate_name(p)}")


def extremum(w: Writer, a: Operand, b: Operand, p: Operand, kind: str, read: Callable[[Operand], str]) -> str:
    """The smaller one of two floats where p holds, else the larger one. kind: f32, f16x2, bf16x2. XORSIGN takes it of
    the absolute values, and the sign of the product."""
    words = w.one.words
    if "XORSIGN" in words:
        if not (a.absolute and b.absolute) or a.negative or b.negative:
            raise Unknown("XORSIGN of these signs")
        a, b = (replace(one, absolute=False) for one in (a, b))
    modifiers = {"FTZ": "ftz", "NAN": "NaN", "XORSIGN": "xorsign.abs"}
    given = [modifiers[word] for word in modifiers if word in words]
    return least(w, ".".join((*given, kind)), read(a), read(b), p)


def fmnmx(w: Writer) -> None:
    d, a, b, p = w.one.operands
    w.move(d, extremum(w, a, b, p, "f32", w.float))


def ordering(w: Writer) -> str:
    """How a comparison compares, as PTX says it."""
    name = next((word for word in w.one.words if word in _ORDERED), "")
    if not name:
        raise Unknown("this comparison")
    return name.lower()


def fsetp(w: Writer) -> None:
    p, second, a, b, joined = w.one.operands
    set_joined(w, _holds(w, a, b), p, second, joined)


def _holds(w: Writer, a: Operand, b: Operand) -> str:
    return w.op(f"setp.{ordering(w)}{'.ftz' if 'FTZ' in w.one.words else ''}.f32", w.float(a), w.float(b), kind="q")


def fset(w: Writer) -> None:
    """BF: 1 or 0, else all bits or none."""
    d, a, b, joined = w.one.operands
    made = joined_with(w, _holds(w, a, b), joined)
    w.put(f"selp.b32 {w.result(d)}, {'0x3f800000' if 'BF' in w.one.words else '-1'}, 0, {made}")


def dsetp(w: Writer) -> None:
    p, second, a, b, joined = w.one.operands
    extreme = next((word for word in w.one.words if word in ("MIN", "MAX")), "")
    if not extreme:
        compared = w.op(f"setp.{ordering(w)}.f64", w.double(a), w.double(b), kind="q")
        return set_joined(w, compared, p, second, joined)
    # Whether a is it; whether neither is a number.
    x, y = w.double(a), w.double(b)
    found = w.op(f"{extreme.lower()}.f64", x, y, kind="d")
    neither = w.op("setp.nan.f64", found, found, kind="q")
    is_first = w.op("setp.eq.b64", found, w.op("mov.b64", x, kind="d"), kind="q")
    chosen = w.op("and.pred", is_first, w.op("not.pred", neither, kind="q"), kind="q")
    return write_joined(w, [(p, chosen), (second, neither)], joined)


def mufu(w: Writer) -> None:
    d, a = w.one.operands
    name = w.one.words[0]
    if w.one.words in (("SIN",), ("COS",)) and not (a.negative or a.absolute):
        return w.put(f"{name.lower()}.approx.ftz.f32 {w.result(d)}, {w.angle(a)}")
    if w.one.words in (("RCP64H",), ("RSQ64H",)):  # the high half of a number whose low half is 0
        number = w.op("mov.b64", f"{{0, {w.float(a)}}}", kind="d")
        made = w.op(f"{_UNARY[name[:3]]}.approx.ftz.f64", number, kind="d")
        return w.put(f"mov.b64 {{%nowhere, {w.result(d)}}}, {made}")
    if w.one.words[1:] in (("F16",), ("BF16",)) and name in ("EX2", "TANH"):
        kind = w.one.words[1].lower()
        flushes = ".ftz" if (name, kind) == ("EX2", "bf16") else ""
        made = w.op(f"{name.lower()}.approx{flushes}.{kind}", w.half(a), kind="h")
        return w.put(f"cvt.u32.u16 {w.result(d)}, {made}")
    if len(w.one.words) > 1 or name not in (*_UNARY, "TANH"):
        raise Unknown(f"MUFU.{'.'.join(w.one.words)}")
    what = "tanh.approx.f32" if name == "TANH" else f"{_UNARY[name]}.approx.ftz.f32"
    return w.put(f"{what} {w.result(d)}, {w.float(a)}")


TABLE = {
    "DADD": _wide_arithmetic("add"), "DFMA": _wide_arithmetic("fma"), "DMUL": _wide_arithmetic("mul"), "DSETP": dsetp,
    "FADD": _arithmetic("add"), "FFMA": _arithmetic("fma"), "FMNMX": fmnmx, "FMUL": _arithmetic("mul"), "FSEL": fsel,
    "FSET": fset, "FSETP": fsetp, "MUFU": mufu,
}  # fmt: skip
"""By opcode."""
