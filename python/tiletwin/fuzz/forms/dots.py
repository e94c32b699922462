"""Forms of matrix products.

Operands are small numbers, so that results stay within what bounds of a sum say; whatever the operands, results are
soft, except for whole numbers.
"""

from __future__ import annotations

from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.types import Type

_LEAST = {"int8": 32, "float8e5": 32, "float8e4nv": 32, "float16": 16, "bfloat16": 16, "float32": 16, "float64": 16}
_RESULT = {"int8": "int32", "float64": "float64"}


def _operand(g: Builder, element: str, shape: tuple[int, ...]):
    if g.chance(0.2):
        near = [v for v in g.visible() if v.type == Type(element, shape)]
        if near:
            return g.pick(near)
    return g.load(element, shape, "small")


def _whole(dot: str) -> str:
    """Sums of 8-bit products saturate on GPUs: what else is added must not become a part of them."""
    return f"{dot} & 0xFFFFFF"


@form("dot", tuple(_LEAST), weight=1.5)
def dot(g: Builder, element: str):
    m, n, k = g.pick([16, 16, 32]), g.pick([16, 16, 32]), g.pick([_LEAST[element], 32])
    a, b = _operand(g, element, (m, k)), _operand(g, element, (k, n))
    result = Type(_RESULT.get(element, "float32"), (m, n))
    more = ""
    if element == "float32":
        more = g.pick(["", ", input_precision='ieee'", ", input_precision='tf32'", ", input_precision='tf32x3'"])
    if element == "float16" and g.chance(0.2):
        return g.define("tl.dot({}, {}, out_dtype=tl.float16)", [a, b], Type("float16", (m, n)), soft=True)
    if element == "int8":
        acc = [g.load("int32", (m, n), "small")] if g.chance(0.4) else []
        return g.define(_whole("tl.dot({}, {}, {})" if acc else "tl.dot({}, {})"), [a, b, *acc], result)
    if g.chance(0.4):
        acc = g.value(result.element, (m, n), exact=True)
        return g.define(f"tl.dot({{}}, {{}}, {{}}{more})", [a, b, acc], result, soft=True)
    return g.define(f"tl.dot({{}}, {{}}{more})", [a, b], result, soft=True)


@form("batched dot", ["float16", "float32", "int8"], weight=0.5)
def batched(g: Builder, element: str):
    k = _LEAST[element]
    a, b = g.load(element, (2, 16, k), "small"), g.load(element, (2, k, 16), "small")
    result = Type(_RESULT.get(element, "float32"), (2, 16, 16))
    return g.define(
        _whole("tl.dot({}, {})") if element == "int8" else "tl.dot({}, {})", [a, b], result, soft=element != "int8"
    )


_SCALED = {"float8e4nv": "e4m3", "float8e5": "e5m2", "uint8": "e2m1", "bfloat16": "bf16", "float16": "fp16"}


@form("dot_scaled", tuple(_SCALED), weight=0.5)
def scaled(g: Builder, element: str):
    m, n, k = g.pick([16, 32]), 16, g.pick([32, 64])
    other = g.pick([name for name in _SCALED if {name, element} != {"bfloat16", "float16"}])
    sides, scales = [], []
    for name, rows, is_left in ((element, m, True), (other, n, False)):
        packed = k // 2 if name == "uint8" else k
        shape = (rows, packed) if is_left else (packed, rows)
        # Of the format e2m1 a byte holds two numbers, and every byte is one.
        sides.append(g.load(name, shape, "edge" if name == "uint8" else "small"))
        if name in ("bfloat16", "float16"):
            scales.append(None)
            continue
        raw = g.value("uint8", (rows, k // 32), exact=True)
        scales.append(g.define("(({} & 7) + 123).to(tl.uint8)", [raw], raw.type))
    holes, operands = [], []
    for side, scale, name in zip(sides, scales, (element, other)):
        operands.append(side)
        if scale is not None:
            operands.append(scale)
        holes.append(f"{{}}, {'None' if scale is None else '{}'}, '{_SCALED[name]}'")
    return g.define(f"tl.dot_scaled({', '.join(holes)})", operands, Type("float32", (m, n)), soft=True)
