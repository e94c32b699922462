"""Forms of conversions.

Excluded by construction: floats to integers outside of the integer's range (values are cut to it, NaN to 0); bits of
NaNs (a NaN's payload is open, so bits are only taken of numbers); pairs that compilers refuse (8-bit floats to and from
integers, float64 and each other).
"""

from __future__ import annotations

from tiletwin.fuzz import types
from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.types import ALL, FLOATS, SMALL_FLOATS, Type

_BESIDE_SMALL = ("float16", "bfloat16", "float32")
NARROWER = {"float64": ("float32", "float16", "bfloat16"), "float32": ("float16", "bfloat16")}
_SAME_WIDTH = {
    8: ("int8", "uint8", "float8e5", "float8e4nv"),
    16: ("int16", "uint16", "float16", "bfloat16"),
    32: ("int32", "uint32", "float32"),
    64: ("int64", "uint64", "float64"),
}


@form("cast", ALL, in_helpers=True, weight=2)
def cast(g: Builder, element: str):
    shape = g.shape()
    while True:
        target = g.pick([name for name in ALL if name != element])
        floats_end = types.is_float(element) and not types.is_float(target)
        value = g.value(element, shape, exact=floats_end or types.kind(element) == "8")
        made = g.cast(value, target)
        if made is not None:
            return made


@form("rounding mode", ["float32", "float64"], in_helpers=True)
def rounded(g: Builder, element: str):
    shape = g.shape()
    target, mode = g.pick(NARROWER[element]), g.pick(["rtne", "rtz"])
    value = g.value(element, shape)
    return g.define(f"{{}}.to(tl.{target}, fp_downcast_rounding='{mode}')", [value], Type(target, shape))


@form("cast from an 8-bit float", SMALL_FLOATS)
@form("cast to an 8-bit float", _BESIDE_SMALL)
def to_or_from_small(g: Builder, element: str):
    shape, target = g.shape(), g.pick(_BESIDE_SMALL if element in SMALL_FLOATS else SMALL_FLOATS)
    return g.define(f"{{}}.to(tl.{target})", [g.value(element, shape)], Type(target, shape))


@form("bitcast", [name for name in ALL if name != "int1"], in_helpers=True)
def bitcast(g: Builder, element: str):
    shape = g.shape()
    target = g.pick([name for name in _SAME_WIDTH[types.bits(element)] if name != element])
    if types.kind(element) == "8":  # their NaNs cannot be told from numbers without arithmetic
        if g.in_helper:
            return None
        value = g.load(element, shape, "small")
    else:
        value = g.value(element, shape, exact=types.is_float(element))
    if types.is_float(element):
        value = g.define("tl.where({0} == {0}, {0}, 1.0)", [value], Type(element, shape))
        if value.type.element in ("float16", "bfloat16"):  # `where` with a number keeps 16 bits
            g.asserted(value)
    return g.define(f"{{}}.to(tl.{target}, bitcast=True)", [value], Type(target, shape))


@form("sum in another type", [*FLOATS])
def widened(g: Builder, element: str):
    shape = g.shape(tile=True)
    value, axis = g.value(element, shape), g.rng.randrange(len(shape))
    wide = "float64" if element == "float64" else "float32"
    rest = shape[:axis] + shape[axis + 1 :]
    return g.define(f"tl.sum({{}}, axis={axis}, dtype=tl.{wide})", [value], Type(wide, rest), soft=True)
