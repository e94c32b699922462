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


def _without(shape: tuple[int, ...], axis: int, keep: bool) -> tuple[int, ...]:
    return (*shape[:axis], *([1] if keep else []), *shape[axis + 1 :])


def _numbers_only(g: Builder, value: Value) -> Value:
    """A float without NaN."""
    if not types.is_float(value.type.element):
        return value
    return g.define("tl.where({0} == {0}, {0}, 0.0)", [value], value.type)


def axis_of(g: Builder, shape: tuple[int, ...]) -> tuple[int, str]:
    axis = g.rng.randrange(len(shape))
    return axis, str(axis if g.chance(0.8) else axis - len(shape))


@form("sum", [*NUMBERS, "int1"], weight=2)
def total(g: Builder, element: str):
    shape = g.shape(tile=True)
    value, soft = g.value(element, shape), types.is_float(element)
    if g.chance(0.2):
        return g.define("tl.sum({})", [value], Type(types.summed(element)), soft=soft)
    axis, text = axis_of(g, shape)
    keep = g.chance(0.3)
    result = Type(types.summed(element), _without(shape, axis, keep))
    more = ", keep_dims=True" if keep else ""
    made = g.define(f"tl.sum({{}}, axis={text}{more})", [value], result, soft=soft)
    g.effect(f"tl.static_assert({{}}.dtype == tl.{result.element})", [made])
    return made


@form("max", NUMBERS, weight=2)
def extreme(g: Builder, element: str):
    shape, name = g.shape(tile=True), g.pick(["max", "min"])
    value = g.value(element, shape)
    if g.chance(0.2):
        return g.define(f"tl.{name}({{}})", [value], Type(types.extreme(element)))
    axis, text = axis_of(g, shape)
    keep = g.chance(0.3)
    result = Type(types.extreme(element), _without(shape, axis, keep))
    return g.define(f"tl.{name}({{}}, axis={text}{', keep_dims=True' if keep else ''})", [value], result)


@form("max with its index", NUMBERS)
def extreme_with_index(g: Builder, element: str):
    shape, name = g.shape(tile=True), g.pick(["max", "min"])
    value = _numbers_only(g, g.value(element, shape, exact=True))
    axis, text = axis_of(g, shape)
    rest = _without(shape, axis, False)
    results = [Type(element, rest), Type("int32", rest)]
    return g.define_all(f"tl.{name}({{}}, axis={text}, return_indices=True)", [value], results)[1]


@form("argmax", NUMBERS)
def place_of_extreme(g: Builder, element: str):
    shape, name = g.shape(tile=True), g.pick(["argmax", "argmin"])
    value = _numbers_only(g, g.value(element, shape, exact=True))
    axis, text = axis_of(g, shape)
    return g.define(f"tl.{name}({{}}, axis={text})", [value], Type("int32", _without(shape, axis, False)))


def _of_bits(name: str, elements: Sequence[str]) -> None:
    @form(name, elements)
    def make(g: Builder, element: str):
        shape = g.shape(tile=True)
        axis, text = axis_of(g, shape)
        value = g.value(element, shape)
        return g.define(f"tl.{name}({{}}, axis={text})", [value], Type(element, _without(shape, axis, False)))


_of_bits("xor_sum", INTEGERS)
_of_bits("reduce_or", [*INTEGERS, "int1"])


def _combines(element: str) -> list[str]:
    """Combine functions that are associative and commutative."""
    kind = types.kind(element)
    return {"8": ["by_bits"], "b": ["exclusive"], "f": ["plus", "larger"]}.get(kind, ["plus", "larger", "exclusive"])


@form("reduce", ALL, weight=2)
def custom(g: Builder, element: str):
    shape = g.shape(tile=True)
    name = g.pick(_combines(element))
    value = g.value(element, shape, exact=name == "larger")
    value = _numbers_only(g, value) if name == "larger" else value
    axis, text = axis_of(g, shape)
    keep = g.chance(0.3)
    more = ", keep_dims=True" if keep else ""
    result = Type(element, _without(shape, axis, keep))
    soft = types.is_float(element) and name == "plus"
    return g.define(f"tl.reduce({{}}, {text}, {combine(g, name)}{more})", [value], result, soft=soft)


@form("reduce a pair", [*INTEGERS, "float32", "float64"])
def custom_pair(g: Builder, element: str):
    shape = g.shape(tile=True)
    name = g.pick(["best", "both"])
    value = _numbers_only(g, g.value(element, shape, exact=True))
    other = g.value("int32", shape)
    axis, text = axis_of(g, shape)
    rest = _without(shape, axis, False)
    if name == "best":  # ties are only settled by indices that differ
        other = g.lanes(shape)
    results = [Type(element, rest), Type("int32", rest)]
    call = f"tl.reduce(({{}}, {{}}), {text}, {combine(g, name)})"
    made = g.define_all(call, [value, other], results, soft=types.is_float(element) and name == "both")
    return made[1]


def _running(name: str) -> None:
    @form(name, NUMBERS)
    def make(g: Builder, element: str):
        shape = g.shape(tile=True)
        _, text = axis_of(g, shape)
        reverse = g.pick(["", ", reverse=True"])
        value, result = g.value(element, shape), Type(types.summed(element), shape)
        return g.define(f"tl.{name}({{}}, axis={text}{reverse})", [value], result, soft=types.is_float(element))


_running("cumsum")
_running("cumprod")


@form("associative_scan", ALL)
def scan(g: Builder, element: str):
    shape = g.shape(tile=True)
    name = g.pick(_combines(element))
    value = g.value(element, shape, exact=name == "larger")
    value = _numbers_only(g, value) if name == "larger" else value
    _, text = axis_of(g, shape)
    reverse = g.pick(["", ", reverse=True"])
    soft = types.is_float(element) and name == "plus"
    return g.define(
        f"tl.associative_scan({{}}, {text}, {combine(g, name)}{reverse})", [value], Type(element, shape), soft=soft
    )


@form("scan a pair", ["int32", "int64", "uint32", "uint64"])
def scan_pair(g: Builder, element: str):
    """Compositions of affine maps: the order of operands matters."""
    shape = g.shape(tile=True)
    _, text = axis_of(g, shape)
    values = [g.value(element, shape), g.value(element, shape)]
    call = f"tl.associative_scan(({{}}, {{}}), {text}, {combine(g, 'affine')}{g.pick(['', ', reverse=True'])})"
    return g.define_all(call, values, [Type(element, shape)] * 2)[1]
