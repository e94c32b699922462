"""Forms of operators and of functions that act on each element alone.

Excluded by construction: division of integers by zero and of the smallest one by -1 (divisors are 1 to 64), shifts by
the width or more (amounts are masked), constants that do not fit into the tensor's type.
"""

from __future__ import annotations

from math import prod

from tiletwin.fuzz import types
from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.table import form, template_form
from tiletwin.fuzz.types import ALL, FLOATS, INTEGERS, NUMBERS, SIGNED, UNSIGNED, Type

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def pair(g: Builder, element: str, *, exact: bool = False):
    """Two operands of one type; their shape."""
    shape = g.shape()
    return g.value(element, shape, exact=exact), g.value(element, shape, exact=exact), shape


def _may_be_fused(element: str, text: str) -> bool:
    """A product of floats that is added to something may be rounded with the sum."""
    return types.is_float(element) and "*" in text


template_form("arithmetic", NUMBERS, "{} <op> {}", operands=2, op="+-*", soft=_may_be_fused, weight=3)
template_form("arithmetic of int1", ["int1"], "{} <op> {}", operands=2, op="+-*")


@form("promotion", [*NUMBERS, "int1"], in_helpers=True, weight=2)
def promotion(g: Builder, element: str):
    shape = g.shape()
    other = g.pick([name for name in (*NUMBERS, "int1") if name != element])
    a, b = g.value(element, shape), g.value(other, shape)
    a, b = (a, b) if g.chance(0.5) else (b, a)
    result = types.promoted(element, other)
    assert result is not None
    soft = types.is_float(result)
    return g.asserted(g.define(f"{{}} {g.pick('+-*')} {{}}", [a, b], Type(result, shape), soft=soft))


@form("number beside a tensor", NUMBERS, in_helpers=True)
def with_number(g: Builder, element: str):
    shape = g.shape()
    a = g.value(element, shape)
    number = g.pick(["0", "1", "2", "3", "5", "7", "17", "100", "127"])
    if types.is_float(element):
        number = g.pick(["0.0", "1.0", "-1.0", "0.5", "3", "1.25", "1000.0", "0.1"])
    text = f"{{}} {g.pick('+-*')} {number}" if g.chance(0.7) else f"{number} {g.pick('+-*')} {{}}"
    return g.define(text, [a], Type(element, shape), soft=types.is_float(element))


@form("whole division", INTEGERS, in_helpers=True, weight=2)
def whole_division(g: Builder, element: str):
    a, b, shape = pair(g, element)
    operator = g.pick(["//", "%"])
    if g.chance(0.5):
        return g.define(f"{{}} {operator} {g.pick([1, 2, 3, 4, 7, 8, 10, 16, 64, 100])}", [a], Type(element, shape))
    return g.define(f"{{}} {operator} (({{}} & 63) + 1)", [a, b], Type(element, shape))


@form("division", NUMBERS, in_helpers=True)
def division(g: Builder, element: str):
    a, b, shape = pair(g, element)
    return g.asserted(g.define("{} / {}", [a, b], Type(types.divided(element), shape), soft=True))


template_form("remainder of floats", types.WIDE_FLOATS, "{} % {}", operands=2, exact=True)


@form("bits", [*INTEGERS, "int1"], in_helpers=True)
def bitwise(g: Builder, element: str):
    a, b, shape = pair(g, element)
    if g.chance(0.2):
        return g.define("~{}", [a], Type(element, shape))
    return g.define(f"{{}} {g.pick('&|^')} {{}}", [a, b], Type(element, shape))


@form("shift", INTEGERS, in_helpers=True)
def shift(g: Builder, element: str):
    a, b, shape = pair(g, element)
    operator, most = g.pick(["<<", ">>"]), types.bits(element) - 1
    if g.chance(0.5):
        return g.define(f"{{}} {operator} {g.rng.randint(0, most)}", [a], Type(element, shape))
    return g.define(f"{{}} {operator} ({{}} & {most})", [a, b], Type(element, shape))


@form("comparison", NUMBERS, in_helpers=True, weight=2)
def comparison(g: Builder, element: str):
    a, b, shape = pair(g, element, exact=g.chance(0.8))
    return g.define(f"{{}} {g.pick(COMPARISONS)} {{}}", [a, b], Type("int1", shape))


@form("mixed comparison", NUMBERS, in_helpers=True)
def mixed_comparison(g: Builder, element: str):
    shape, other = g.shape(), g.pick(NUMBERS)
    a, b = g.value(element, shape, exact=True), g.value(other, shape, exact=True)
    return g.define(f"{{}} {g.pick(COMPARISONS)} {{}}", [a, b], Type("int1", shape))


@form("where", ALL, in_helpers=True, weight=2)
def where(g: Builder, element: str):
    a, b, shape = pair(g, element)
    condition = g.value("int1", shape if g.chance(0.8) else (), exact=True)
    return g.define("tl.where({}, {}, {})", [condition, a, b], Type(element, shape))


@form("minimum", NUMBERS, in_helpers=True)
def minimum(g: Builder, element: str):
    a, b, shape = pair(g, element)
    nan = ", propagate_nan=tl.PropagateNan.ALL" if types.is_float(element) and g.chance(0.5) else ""
    return g.define(f"tl.{g.pick(['minimum', 'maximum'])}({{}}, {{}}{nan})", [a, b], Type(element, shape))


_NAN = ["", ", propagate_nan=tl.PropagateNan.ALL"]
template_form(
    "clamp", FLOATS, "tl.clamp({}, <ends><nan>)", ends=["-1.0, 1.0", "0.0, 0.0", "0.25, 3.5", "-100.0, -2.0"], nan=_NAN
)
# The lower end is a number, and no larger than the upper one: else the result is open.
template_form(
    "clamp by tensors", types.WIDE_FLOATS,
    "tl.clamp({0}, -2.0, tl.where(tl.abs({1}) < 100.0, tl.abs({1}), 1.0)<nan>)", operands=2, nan=_NAN,
)  # fmt: skip
template_form("abs", NUMBERS, "tl.abs({})")
template_form("negation", [*SIGNED, *UNSIGNED, *FLOATS], "-{}")
template_form("not", ["int1"], "<text>", operands=2, text=["not {0}", "{0} and {1}", "{0} or {1}", "{0} and not {1}"])
template_form("umulhi", ["int32", "int64", "uint32", "uint64"], "tl.umulhi({}, {})", operands=2)
template_form("cdiv", ["int32", "int64", "uint32"], "tl.cdiv({}, <by>)", by=["1", "2", "3", "16"])
template_form(
    "add without overflow check", INTEGERS, "tl.<function>({}, {}, sanitize_overflow=False)", operands=2,
    function=["add", "sub", "mul"],
)  # fmt: skip


_ASSEMBLY = {
    "int8": "and.b32 or.b32 xor.b32",
    "uint8": "and.b32 or.b32 xor.b32",
    "float8e5": "and.b32 or.b32",
    "float8e4nv": "and.b32 or.b32",
    "int16": "min.s16 add.s16 xor.b16 mul.lo.s16",
    "uint16": "max.u16 sub.u16 and.b16",
    "float16": "add.rn.f16 mul.rn.f16 xor.b16",
    "bfloat16": "xor.b16 and.b16",
    "int32": "min.s32 add.s32 sub.s32 xor.b32 mul.lo.s32",
    "uint32": "max.u32 and.b32 add.u32",
    "float32": "add.rn.f32 mul.rz.f32 max.f32 sub.rp.f32",
    "int64": "min.s64 add.s64 xor.b64 mul.lo.s64",
    "uint64": "max.u64 sub.u64 and.b64",
    "float64": "add.rn.f64 mul.rz.f64 max.f64 sub.rp.f64",
}
_REGISTERS = {8: "r", 16: "h", 32: "r", 64: "l"}


@form("inline assembly", tuple(_ASSEMBLY), weight=0.5)
def inline_assembly(g: Builder, element: str):
    a, b, shape = pair(g, element)
    instruction, width = g.pick(_ASSEMBLY[element].split()), types.bits(element)
    pack = 4 if width == 8 else 1
    if pack > 1 and prod(shape) % pack:
        shape = (16,)
        a, b = g.value(element, shape), g.value(element, shape)
    if element in types.FLOATS and ".b" in instruction:  # the bits of a NaN are open
        clean = "tl.where({0} == {0}, {0}, 1.0)"
        a, b = (g.define(clean, [value], Type(element, shape)) for value in (a, b))
    letter = {"float32": "f", "float64": "d"}.get(element, _REGISTERS[width])
    text = f'tl.inline_asm_elementwise("{instruction} $0, $1, $2;", "={letter},{letter},{letter}", [{{}}, {{}}], '
    return g.define(f"{text}dtype=tl.{element}, is_pure=True, pack={pack})", [a, b], Type(element, shape))


@form("arithmetic of 8-bit floats", types.SMALL_FLOATS, weight=0.2)
def arithmetic_of_small_floats(g: Builder, element: str):
    """What Triton's front end takes and its compiler refuses; numbers are small, so that most results are exact."""
    shape = g.shape()
    a, b = g.load(element, shape, "small"), g.load(element, shape, "small")
    text = g.pick(["{0} + {1}", "{0} * {1}", "tl.maximum({0}, {1})", "tl.clamp({0}, {1}, {1})", "-{0}", "{0} < {1}"])
    compares = "<" in text
    operands = [a, b] if "{1}" in text else [a]
    return g.define(text, operands, Type("int1" if compares else element, shape), soft=not compares)
