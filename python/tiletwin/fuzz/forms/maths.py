"""Forms of mathematical functions and of random numbers.

Their results are soft: libraries and a GPU's units differ within the tester's bounds. Excluded: arguments at which a
result within those bounds would be another one by far (sin and cos of numbers over 100).
"""

from __future__ import annotations

from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.reductions import combine
from tiletwin.fuzz.forms.table import form, form_of_one
from tiletwin.fuzz.types import ALL, WIDE_FLOATS, Type, kind

UNARY = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "erf", "sigmoid")
LIBRARY = (
    "tanh",
    "exp10",
    "log1p",
    "expm1",
    "cbrt",
    "atan",
    "asinh",
    "rsqrt",
    "trunc",
    "nearbyint",
    "copysign",
    "hypot",
)
_TWO = ("copysign", "hypot")


for _name in UNARY:
    form_of_one(f"tl.{_name}", WIDE_FLOATS, f"tl.{_name}({{}})", soft=True, weight=0.5)


@form("sine", WIDE_FLOATS, in_helpers=True)
def sine(g: Builder, element: str):
    shape, value = g.shape(), None
    value = g.value(element, shape)
    text = f"tl.{g.pick(['sin', 'cos'])}(tl.where(tl.abs({{0}}) < 100.0, {{0}}, 0.5))"
    return g.define(text, [value], Type(element, shape), soft=True)


@form("rounding to whole numbers", WIDE_FLOATS, in_helpers=True)
def whole(g: Builder, element: str):
    shape = g.shape()
    value = g.value(element, shape, exact=True)
    return g.define(f"tl.{g.pick(['floor', 'ceil'])}({{}})", [value], Type(element, shape))


@form("exact division", ["float32"], in_helpers=True)
def exact_division(g: Builder, element: str):
    shape = g.shape()
    a, b = g.value(element, shape), g.value(element, shape)
    text = g.pick(["tl.div_rn({}, {})", "tl.fdiv({}, {}, ieee_rounding=True)"])
    return g.define(text, [a, b], Type(element, shape))


@form("fast division", ["float32"], in_helpers=True)
def fast_division(g: Builder, element: str):
    shape = g.shape()
    a, b = g.value(element, shape), g.value(element, shape)
    text = "tl.fdiv({0}, tl.where((tl.abs({1}) > 1e-3) & (tl.abs({1}) < 1e3), {1}, 2.0), approx=True)"
    return g.define(text, [a, b], Type(element, shape), soft=True)


form_of_one("exact root", ["float32"], "tl.sqrt_rn({})")


@form("fma", WIDE_FLOATS, in_helpers=True)
def multiply_add(g: Builder, element: str):
    shape = g.shape()
    values = [g.value(element, shape) for _ in range(3)]
    return g.define("tl.fma({}, {}, {})", values, Type(element, shape), soft=not all(v.exact for v in values))


@form("softmax", ["float32"])
def softmax(g: Builder, element: str):
    shape = g.shape(tile=True)
    value = g.value(element, shape)
    return g.define(f"tl.softmax({{}}, dim={g.rng.randrange(len(shape))})", [value], Type(element, shape), soft=True)


@form("libdevice", WIDE_FLOATS)
def library(g: Builder, element: str):
    shape, name = g.shape(), g.pick(LIBRARY)
    values = [g.value(element, shape) for _ in range(2 if name in _TWO else 1)]
    holes = ", ".join(["{}"] * len(values))
    return g.define(f"libdevice.{name}({holes})", values, Type(element, shape), soft=True)


_OF_INTEGERS = {
    "int32": ("abs", "brev", "clz", "popc", "ffs", "mulhi", "hadd", "rhadd"),
    "uint32": ("mulhi", "hadd", "rhadd"),
    "int64": ("abs", "brev", "clz", "popc", "ffs", "mulhi"),
    "uint64": ("mulhi",),
}
_COUNTS = ("clz", "popc", "ffs")
_OF_TWO = ("mulhi", "hadd", "rhadd")


@form("libdevice of integers", tuple(_OF_INTEGERS), weight=0.3)
def library_of_integers(g: Builder, element: str):
    shape, name = g.shape(), g.pick(_OF_INTEGERS[element])
    values = [g.value(element, shape) for _ in range(2 if name in _OF_TWO else 1)]
    holes = ", ".join(["{}"] * len(values))
    result = "int32" if name in _COUNTS else element
    return g.define(f"libdevice.{name}({holes})", values, Type(result, shape))


@form("random integers", ["int32", "uint32", "int64"])
def random_integers(g: Builder, element: str):
    shape = g.shape(tile=True)
    offsets = g.value(element, shape, exact=True)
    seed = g.pick(["7", "0", "123456789012"])
    if g.chance(0.3):
        return g.define_all(f"tl.randint4x({seed}, {{}})", [offsets], [Type("uint32", shape)] * 4, exact=True)[0]
    return g.define(f"tl.randint({seed}, {{}})", [offsets], Type("uint32", shape), exact=True)


@form("random numbers", ["int32", "uint32"])
def random_numbers(g: Builder, element: str):
    shape = g.shape(tile=True)
    name = g.pick(["rand", "randn"])
    offsets = g.value(element, shape, exact=True)
    return g.define(f"tl.{name}(7, {{}})", [offsets], Type("float32", shape), soft=True)


@form("map_elementwise", ALL, weight=0.3)
def mapped(g: Builder, element: str):
    shape = g.shape(tile=True)
    a, b = g.value(element, shape), g.value(element, shape)
    helper = combine(g, {"b": "exclusive", "8": "by_bits"}.get(kind(element), "larger"))
    return g.define(f"tl.map_elementwise({helper}, {{}}, {{}})", [a, b], Type(element, shape))
