"""Forms of reductions and scans, with the language's own functions and with combine functions.

Excluded: NaN where its place decides (argmax and combine functions that compare; operands are cleaned); combine
functions of reductions that are not commutative, because no order is promised; tie_break_left=False.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiletwin.fuzz import types
from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.tree import Helper, Value
from tiletwin.fuzz.types import ALL, INTEGERS, NUMBERS, Type

_COMBINES = {
    "plus": ("ab", ["return a + b"]),
    "larger": ("ab", ["return tl.where(a > b, a, b)"]),
    "exclusive": ("ab", ["return a ^ b"]),
    "by_bits": (
        "ab",
        ["first = a.to(tl.uint8, bitcast=True) > b.to(tl.uint8, bitcast=True)", "return tl.where(first, a, b)"],
    ),
    "best": (
        "aibj",
        ["first = (a > b) | ((a == b) & (i < j))", "return tl.where(first, a, b), tl.where(first, i, j)"],
    ),
    "both": ("aibj", ["return a + b, tl.minimum(i, j)"]),
    "affine": ("aibj", ["return a * b, i * b + j"]),
}


def combine(g: Builder, name: str) -> str:
    letters, lines = _COMBINES[name]
    named = [Value(letter, Type("int32")) for letter in letters]
    g.helper(Helper(name, named, [], [], lines=list(lines)))
    return name


def numbers(g: Builder, element: str, shape: tuple[int, ...]) -> Value:
    """An exact operand without NaN."""
    value = g.value(element, shape, exact=True)
    return g.define("tl.where({0} == {0}, {0}, 0.0)", [value], value.type) if types.is_float(element) else value


def _along(g: Builder, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Text of an axis; the shape without it."""
    axis = g.rng.randrange(len(shape))
    return str(axis if g.chance(0.8) else axis - len(shape)), shape[:axis] + shape[axis + 1 :]


def _keeping(g: Builder, axis: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Text of keep_dims or nothing, for the axis that `shape` is without; the shape of the result."""
    if not g.chance(0.3):
        return "", shape
    at = int(axis) % (len(shape) + 1)
    return ", keep_dims=True", (*shape[:at], 1, *shape[at:])


@form("sum", [*NUMBERS, "int1"], weight=2)
def total(g: Builder, element: str):
    shape = g.shape(tile=True)
    value, soft = g.value(element, shape), types.is_float(element)
    if g.chance(0.2):
        return g.define("tl.sum({})", [value], Type(types.summed(element)), soft=soft)
    axis, rest = _along(g, shape)
    more, rest = _keeping(g, axis, rest)
    result = Type(types.summed(element), rest)
    return g.asserted(g.define(f"tl.sum({{}}, axis={axis}{more})", [value], result, soft=soft))


@form("max", NUMBERS, weight=2)
def extreme(g: Builder, element: str):
    shape, name = g.shape(tile=True), g.pick(["max", "min"])
    value = g.value(element, shape)
    if g.chance(0.2):
        return g.define(f"tl.{name}({{}})", [value], Type(types.extreme(element)))
    axis, rest = _along(g, shape)
    more, rest = _keeping(g, axis, rest)
    return g.define(f"tl.{name}({{}}, axis={axis}{more})", [value], Type(types.extreme(element), rest))


@form("max with its index", NUMBERS)
def extreme_with_index(g: Builder, element: str):
    shape, name = g.shape(tile=True), g.pick(["max", "min"])
    value = numbers(g, element, shape)
    axis, rest = _along(g, shape)
    results = [Type(element, rest), Type("int32", rest)]
    return g.define_all(f"tl.{name}({{}}, axis={axis}, return_indices=True)", [value], results)[1]


@form("argmax", NUMBERS)
def place_of_extreme(g: Builder, element: str):
    shape, name = g.shape(tile=True), g.pick(["argmax", "argmin"])
    value = numbers(g, element, shape)
    axis, rest = _along(g, shape)
    return g.define(f"tl.{name}({{}}, axis={axis})", [value], Type("int32", rest))


def _of_bits(name: str, elements: Sequence[str]) -> None:
    @form(name, elements)
    def make(g: Builder, element: str):
        shape = g.shape(tile=True)
        axis, rest = _along(g, shape)
        return g.define(f"tl.{name}({{}}, axis={axis})", [g.value(element, shape)], Type(element, rest))


_of_bits("xor_sum", INTEGERS)
_of_bits("reduce_or", [*INTEGERS, "int1"])


def _combines(element: str) -> list[str]:
    """Combine functions that are associative and commutative."""
    kind = types.kind(element)
    return {"8": ["by_bits"], "b": ["exclusive"], "f": ["plus", "larger"]}.get(kind, ["plus", "larger", "exclusive"])


def _combined(g: Builder, element: str) -> tuple[Value, str, bool]:
    """A tile; the name of a function that combines its elements; whether rounding of what that gives is free."""
    shape = g.shape(tile=True)
    name = g.pick(_combines(element))
    value = numbers(g, element, shape) if name == "larger" else g.value(element, shape)
    return value, name, types.is_float(element) and name == "plus"


@form("reduce", ALL, weight=2)
def custom(g: Builder, element: str):
    value, name, soft = _combined(g, element)
    axis, rest = _along(g, value.type.shape)
    more, rest = _keeping(g, axis, rest)
    return g.define(f"tl.reduce({{}}, {axis}, {combine(g, name)}{more})", [value], Type(element, rest), soft=soft)


@form("reduce a pair", [*INTEGERS, "float32", "float64"])
def custom_pair(g: Builder, element: str):
    shape = g.shape(tile=True)
    name = g.pick(["best", "both"])
    value, other = numbers(g, element, shape), g.value("int32", shape)
    axis, rest = _along(g, shape)
    if name == "best":  # ties are only settled by indices that differ
        other = g.lanes(shape)
    results = [Type(element, rest), Type("int32", rest)]
    call = f"tl.reduce(({{}}, {{}}), {axis}, {combine(g, name)})"
    return g.define_all(call, [value, other], results, soft=types.is_float(element) and name == "both")[1]


_DIRECTIONS = ["", ", reverse=True"]


def _running(name: str) -> None:
    @form(name, NUMBERS)
    def make(g: Builder, element: str):
        shape = g.shape(tile=True)
        axis, _ = _along(g, shape)
        reverse = g.pick(_DIRECTIONS)
        value, result = g.value(element, shape), Type(types.summed(element), shape)
        return g.define(f"tl.{name}({{}}, axis={axis}{reverse})", [value], result, soft=types.is_float(element))


_running("cumsum")
_running("cumprod")


@form("associative_scan", ALL)
def scan(g: Builder, element: str):
    value, name, soft = _combined(g, element)
    axis, _ = _along(g, value.type.shape)
    reverse = g.pick(_DIRECTIONS)
    return g.define(f"tl.associative_scan({{}}, {axis}, {combine(g, name)}{reverse})", [value], value.type, soft=soft)


@form("scan a pair", ["int32", "int64", "uint32", "uint64"])
def scan_pair(g: Builder, element: str):
    """Compositions of affine maps: the order of operands matters."""
    shape = g.shape(tile=True)
    axis, _ = _along(g, shape)
    values = [g.value(element, shape), g.value(element, shape)]
    call = f"tl.associative_scan(({{}}, {{}}), {axis}, {combine(g, 'affine')}{g.pick(_DIRECTIONS)})"
    return g.define_all(call, values, [Type(element, shape)] * 2)[1]
