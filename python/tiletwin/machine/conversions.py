"""Conversions: opcodes as PTX.

Here:      a function for each opcode; TABLE.
Not here:  sums with f32 that widen a half (halves.py).
"""

from __future__ import annotations

from tiletwin.machine.floats import ending, rounding
from tiletwin.machine.operands import Operand
from tiletwin.machine.writer import Unknown, Writer

_TO_INTEGER = {"TRUNC": "rzi", "FLOOR": "rmi", "CEIL": "rpi"}
_FLOATS = ("F16", "BF16", "F32", "F64")
_INTEGERS = ("U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64")


def _kinds(w: Writer, among: tuple[str, ...]) -> list[str]:
    return [word.lower() for word in w.one.words if word in among]


def _integral(w: Writer) -> str:
    return next((_TO_INTEGER[word] for word in w.one.words if word in _TO_INTEGER), "rni")


def _read(w: Writer, kind: str, one: Operand) -> str:
    """A float of one of _FLOATS, in what PTX has for it."""
    if kind == "f64":
        return w.double(one)
    return w.float(one) if kind == "f32" else w.half(one)


def _write(w: Writer, kind: str, text: str, *values: str) -> None:
    """Puts a conversion to `kind`; what is narrower than a register is at its end, with zeros or its sign in front."""
    d = w.one.operands[0]
    if kind[1:] == "64":
        return w.set_pair(d, w.op(text, *values, kind="d"))
    if kind in ("f16", "bf16"):
        return w.put(f"cvt.u32.u16 {w.result(d)}, {w.op(text, *values, kind='h')}")
    return w.put(f"{text} {', '.join((w.result(d), *values))}")


def frnd(w: Writer) -> None:
    kind = next(iter(_kinds(w, _FLOATS)), "f32")
    text = f"cvt.{_integral(w)}{'.ftz' if 'FTZ' in w.one.words else ''}.{kind}.{kind}"
    _write(w, kind, text, _read(w, kind, w.one.operands[1]))


def f2i(w: Writer) -> None:
    source = next(iter(_kinds(w, _FLOATS)), "f32")
    to = next(iter(_kinds(w, _INTEGERS)), "s32")
    flushes = ".ftz" if "FTZ" in w.one.words and source == "f32" else ""
    _write(w, to, f"cvt.{_integral(w)}{flushes}.{to}.{source}", _read(w, source, w.one.operands[1]))


def f2ip(w: Writer) -> None:
    """Two floats as bytes, the second one the low one; c comes in front of both."""
    d, *read, c = w.one.operands
    (to,) = _kinds(w, ("U8", "S8"))
    high, low = (w.op(f"cvt.{_integral(w)}.{to}.f32", w.float(one)) for one in read)
    both = w.op("prmt.b32", low, high, "0x40")
    w.put(f"prmt.b32 {w.result(d)}, {both}, {w.word(c)}, 0x5410")


def i2f(w: Writer) -> None:
    a = w.one.operands[1]
    source = next(iter(_kinds(w, _INTEGERS)), "s32")
    to = next(iter(_kinds(w, _FLOATS)), "f32")
    if a.words:
        raise Unknown(f"a part of a register, {a.text}")
    value = w.pair(a) if source.endswith("64") else w.word(a)
    _write(w, to, f"cvt.{rounding(w)}.{to}.{source}", value)


def f2f(w: Writer) -> None:
    to, source = _kinds(w, _FLOATS)
    widens = to == "f64" or (to == "f32" and source != "f64")
    text = f"cvt{'' if widens else '.' + rounding(w)}{ending(w)}.{to}.{source}"
    _write(w, to, text, _read(w, source, w.one.operands[1]))


def f2fp(w: Writer) -> None:
    """Of one float or of two, the second one the low one. MERGE_C: what it makes are 16 bits, c comes in front."""
    d, a, *rest = w.one.operands
    words = w.one.words
    relu = ".relu" if "RELU" in words else ""
    kinds = _kinds(w, (*_FLOATS, "E4M3", "E5M2", "TF32"))
    merges = any("MERGE_C" in word for word in words)
    if len(kinds) != 2 or len(rest) > 2:
        raise Unknown(f"F2FP.{'.'.join(words)}")
    to, source = kinds
    if to == "tf32":
        return w.put(f"cvt.{rounding(w)}{relu}.tf32.f32 {w.result(d)}, {w.float(a)}")
    if source in ("e4m3", "e5m2"):
        return w.put(f"cvt.rn{relu}.{to}x2.{source}x2 {w.result(d)}, {w.half(a)}")
    if not merges:
        return w.put(f"cvt.{rounding(w)}{relu}.{to}x2.f32 {w.result(d)}, {w.float(a)}, {w.float(rest[0])}")
    if to in ("e4m3", "e5m2"):
        values = [w.op("mov.b32", w.plain(a))] if source == "f16" else [w.float(a), w.float(rest[0])]
        made = w.op(f"cvt.rn.satfinite{relu}.{to}x2.{source}{'x2' if source == 'f16' else ''}", *values, kind="h")
    else:
        made = w.op(f"cvt.{rounding(w)}{relu}.{to}.f32", w.float(a), kind="h")
    high = w.op("shl.b32", w.word(rest[-1]), "16")
    return w.put(f"or.b32 {w.result(d)}, {w.op('cvt.u32.u16', made)}, {high}")


def i2i(w: Writer) -> None:
    d, a = w.one.operands
    to, source = _kinds(w, _INTEGERS)
    w.put(f"cvt{'.sat' if 'SAT' in w.one.words else ''}.{to}.{source} {w.result(d)}, {w.word(a)}")


def i2ip(w: Writer) -> None:
    d, a, b, c = w.one.operands
    to, source = _kinds(w, _INTEGERS)
    values = [w.op("mov.b32", w.word(one)) for one in (a, b)]
    if to.endswith("8"):
        return w.put(f"cvt.pack.sat.{to}.{source}.b32 {w.result(d)}, {', '.join(values)}, {w.word(c)}")
    if not c.is_zero:
        raise Unknown("16 bits in front of 32")
    return w.put(f"cvt.pack.sat.{to}.{source} {w.result(d)}, {', '.join(values)}")


TABLE = {
    "F2F": f2f, "F2FP": f2fp, "F2I": f2i, "F2IP": f2ip, "FRND": frnd, "I2F": i2f, "I2FP": i2f, "I2I": i2i, "I2IP": i2ip,
}  # fmt: skip
"""By opcode."""
