"""f16 and bf16, two in a register: opcodes as PTX.

Here:      a function for each opcode; TABLE.
"""

from __future__ import annotations

from tiletwin.machine.floats import ending, extremum, ordering
from tiletwin.machine.integers import joined_with, write_joined
from tiletwin.machine.operands import NUMBER, Operand
from tiletwin.machine.writer import Unknown, Writer, bf16_bits, f16_bits


def _kind(w: Writer) -> str:
    return "bf16x2" if any(word.startswith("BF16") for word in w.one.words) else "f16x2"


def _halves(w: Writer, one: Operand) -> str:
    """Two halves, with the sign and in the order that the operand has."""
    if one.kind == NUMBER and "0x" not in one.text:
        raise Unknown("halves of one number")
    value = w.plain(one)
    if "H0_H0" in one.words:
        value = w.op("prmt.b32", value, "0", "0x1010")
    elif "H1_H1" in one.words:
        value = w.op("prmt.b32", value, "0", "0x3232")
    if one.absolute:
        value = w.op("and.b32", value, "0x7fff7fff")
    return w.op("xor.b32", value, "0x80008000") if one.negative else value


def _packed(w: Writer, read: list[Operand]) -> list[str]:
    """Operands of two halves; two numbers behind each other are one of them, the high half first."""
    found: list[str] = []
    bits = bf16_bits if _kind(w) == "bf16x2" else f16_bits
    at = 0
    while at < len(read):
        one = read[at]
        if one.kind == NUMBER and "0x" not in one.text:
            found.append(f"0x{bits(one.text) << 16 | bits(read[at + 1].text):x}")
            at += 1
        else:
            found.append(_halves(w, one))
        at += 1
    return [w.op("mov.b32", value) if value[:1] != "%" else value for value in found]


def _half_arithmetic(name: str):
    def put(w: Writer) -> None:
        d, *read = w.one.operands
        words = w.one.words
        if "F32" in words:  # a conversion: -0 + x
            if name != "add" or not read[0].is_zero:
                raise Unknown("sums of halves in f32")
            return _widen(w, d, read[1])
        more = ending(w) + (".relu" if "RELU" in words else "")
        if name != "fma" and _kind(w) == "bf16x2":
            more = ""
        return w.put(f"{name}.rn{more}.{_kind(w)} {w.result(d)}, {', '.join(_packed(w, read))}")

    return put


def _widen(w: Writer, d: Operand, one: Operand) -> None:
    """A half as f32."""
    high = "H1_H1" in one.words
    half = w.new("h")
    both = w.op("mov.b32", w.plain(one))
    w.put(f"mov.b32 {{{'_' if high else half}, {half if high else '_'}}}, {both}")
    if not one.negative and not one.absolute:
        return w.put(f"cvt.f32.f16 {w.result(d)}, {half}")
    value = w.op("cvt.f32.f16", half)
    if one.absolute:
        value = w.op("and.b32", value, "0x7fffffff")
    return w.put(f"xor.b32 {w.result(d)}, {value}, 0x{0x80000000 if one.negative else 0:x}")


def hmnmx2(w: Writer) -> None:
    d, a, b, p = w.one.operands
    w.move(d, extremum(w, a, b, p, _kind(w), lambda one: _packed(w, [one])[0]))


def _hold(w: Writer, read: list[Operand]) -> list[str]:
    """Whether a comparison holds: of the low halves, of the high ones."""
    made = [w.new("q"), w.new("q")]
    flushes = ".ftz" if "FTZ" in w.one.words else ""
    w.put(f"setp.{ordering(w)}{flushes}.{_kind(w)} {made[0]}|{made[1]}, {', '.join(_packed(w, read))}")
    return made


def hsetp2(w: Writer) -> None:
    p, second, *read, joined = w.one.operands
    low, high = _hold(w, read)
    write_joined(w, [(p, low), (second, high)], joined)


def hset2(w: Writer) -> None:
    """BF: 1 or 0, else all bits or none."""
    d, *read, joined = w.one.operands
    one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}[_kind(w)] if "BF" in w.one.words else 0xFFFF
    low, high = (joined_with(w, made, joined) for made in _hold(w, read))
    chosen = w.op("selp.b32", f"0x{one:x}", "0", low), w.op("selp.b32", f"0x{one << 16:x}", "0", high)
    w.put(f"or.b32 {w.result(d)}, {', '.join(chosen)}")


TABLE = {
    "HADD2": _half_arithmetic("add"), "HFMA2": _half_arithmetic("fma"), "HMNMX2": hmnmx2,
    "HMUL2": _half_arithmetic("mul"), "HSET2": hset2, "HSETP2": hsetp2,
}  # fmt: skip
"""By opcode."""
