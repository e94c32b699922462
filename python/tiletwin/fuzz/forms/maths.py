"""Forms of mathematical functions and of random numbers.

Their results are soft: libraries and a GPU's units differ within the tester's bounds. Excluded: arguments at which a
result within those bounds would be another one by far (sin and cos of numbers over 100).
"""

from __future__ import annotations

from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.reductions import combine
from tiletwin.fuzz.forms.table import form, template_form
from tiletwin.fuzz.types import ALL, WIDE_FLOATS, Type, kind

UNARY = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "erf", "sigmoid")
for _name in UNARY:
    template_form(f"tl.{_name}", WIDE_FLOATS, f"tl.{_name}({{}})", soft=True, weight=0.5)
template_form(
    "sine", WIDE_FLOATS, "tl.<function>(tl.where(tl.abs({0}) < 100.0, {0}, 0.5))", function=["sin", "cos"], soft=True
)
template_form("rounding to whole numbers", WIDE_FLOATS, "tl.<function>({})", function=["floor", "ceil"], exact=True)
template_form(
    "exact division", ["float32"], "tl.<call>", operands=2, call=["div_rn({}, {})", "fdiv({}, {}, ieee_rounding=True)"]
)
template_form(
    "fast division", ["float32"],
    "tl.fdiv({0}, tl.where((tl.abs({1}) > 1e-3) & (tl.abs({1}) < 1e3), {1}, 2.0), approx=True)", operands=2, soft=True,
)  # fmt: skip
template_form("exact root", ["float32"], "tl.sqrt_rn({})")
template_form("fma", WIDE_FLOATS, "tl.fma({}, {}, {})", operands=3)


@form("softmax", ["float32"])
def softmax(g: Builder, element: str):
    shape = g.shape(tile=True)
    value = g.value(element, shape)
    return g.define(f"tl.softmax({{}}, dim={g.rng.randrange(len(shape))})", [value], Type(element, shape), soft=True)


_OF_FLOATS = (
    "tanh", "exp10", "log1p", "expm1", "cbrt", "atan", "asinh", "rsqrt", "trunc", "nearbyint", "copysign", "hypot",
)  # fmt: skip
_OF_INTEGERS = {
    "int32": ("abs", "brev", "clz", "popc", "ffs", "mulhi", "hadd", "rhadd"),
    "uint32": ("mulhi", "hadd", "rhadd"),
    "int64": ("abs", "brev", "clz", "popc", "ffs", "mulhi"),
    "uint64": ("mulhi",),
}
_COUNTS = ("clz", "popc", "ffs")
_OF_TWO = ("copysign", "hypot", "mulhi", "hadd", "rhadd")


@form("libdevice", WIDE_FLOATS)
def library(g: Builder, element: str):
    shape, name = g.shape(), g.pick(_OF_INTEGERS.get(element, _OF_FLOATS))
    values = [g.value(element, shape) for _ in range(2 if name in _OF_TWO else 1)]
    result = Type("int32" if name in _COUNTS else element, shape)
    call = f"libdevice.{name}({', '.join(['{}'] * len(values))})"
    return g.define(call, values, result, soft=element in WIDE_FLOATS)


form("libdevice of integers", tuple(_OF_INTEGERS), weight=0.3)(library)


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
