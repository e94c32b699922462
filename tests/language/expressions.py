"""Random kernels of typed expressions: the source of a kernel, and what NumPy says its values are.

Here:      Kernel: inputs, operations that pick operands and append a value, source(). Each value carries its Triton
           text, its type and shape by the rules of the language, and its elements.
Not here:  element types (number_formats.py), running and comparing (test_expressions.py).

A choice is made by `pick(n)`, an integer below n, from bytes that each step has of its own: a step that is left out
changes no other's choices, so failing kernels shrink. An element is undefined where the language leaves it open
(division by zero, a shift beyond the width, a float outside an integer's range, the bits of a NaN) or where a tolerance
would be needed inside an expression.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from expression_values import WIDE, Constant, Value
from kernel_cases import load_json
from number_formats import (
    FP8,
    INTS,
    TYPES,
    bits_of,
    from_bits,
    held,
    hold,
    rounded,
)

LIMIT = 4096  # elements of a value

METHODS = {name for name in load_json("api.json")["tensor"] if not name.startswith("_")}
METHOD = re.compile(r"tl\.(\w+)\((v\d+)(?:, (.*))?\)(\[\d\])?")
"""tl.name(value, ...), which is value.name(...) too."""


EDGES = {
    "fp16": [6e-8, 6.1e-5, 65504.0, 2049.0],
    "bf16": [1e-40, 1.2e-38, 3.38e38],
    "fp32": [1e-45, 1.1754944e-38, 3.4028235e38, 16777217.0, 88.7, -87.4],
    "fp64": [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 709.7],
    "fp8e5": [57344.0, 1.5e-5, 6e-5],
    "fp8e4nv": [448.0, 0.002, 0.015],
}
CONSTANTS = [0, 1, 2, 3, 5, 7, 31, 100, 127, 200, 40000, 2**31 - 1, -1, -2, -7, -128, 0.5, 1.5, -2.25, 100.0, 0.1]


class Choices:
    """pick(n) from bytes, one a choice; 0 when they are used up."""

    def __init__(self, content: bytes) -> None:
        self.rest = iter(content)

    def __call__(self, n: int) -> int:
        return next(self.rest, 0) % n if n > 1 else 0


@dataclass
class Kernel:
    """A kernel under construction. `pick(n)` chooses; `seed` makes the inputs' elements."""

    pick: Callable[[int], int]
    seed: int
    inputs: list[tuple[str, str, np.ndarray]] = field(default_factory=list)
    """(parameter, type, elements)."""
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.shape = (self.one_of([1, 2, 4, 8]), self.one_of([1, 2, 4, 8, 16, 64]))
        rows, columns = self.shape
        with np.errstate(all="ignore"):
            for shape in [(rows, columns), (rows, columns), (1, columns), (rows, 1), (rows * columns,), ()]:
                self.load(self.one_of([*TYPES, *WIDE, "i32", *FP8]), shape)

    # ---- choices ----

    def one_of(self, items: list | tuple):
        return items[self.pick(len(items))]

    def operands(self, types: tuple[str, ...] | None = None, least_rank: int = 0) -> list[Value]:
        return [
            v for v in self.values if not v.final and (types is None or v.type in types) and len(v.shape) >= least_rank
        ]

    def operand(self, types: tuple[str, ...] | None = None, least_rank: int = 0) -> Value | None:
        found = self.operands(types, least_rank)
        return self.one_of(found) if found else None

    def partner(
        self, x: Value, types: tuple[str, ...] | None = None, constants: bool = True
    ) -> Value | Constant | None:
        """A second operand that broadcasts with x."""
        if constants and self.pick(4) == 0:
            return Constant(self.one_of(CONSTANTS))
        found = []
        for v in self.operands(types):
            try:
                shape = np.broadcast_shapes(x.shape, v.shape)
            except ValueError:
                continue
            if math.prod(shape) <= LIMIT:
                found.append(v)
        return self.one_of(found) if found else None

    # ---- what a kernel is made of ----

    def add(self, expression: str, type: str, elements: np.ndarray, defined: np.ndarray, **more) -> Value:
        name = f"v{len(self.values)}"
        method = METHOD.fullmatch(expression)
        if method and method[1] in METHODS and self.pick(2):
            expression = f"{method[2]}.{method[1]}({method[3] or ''}){method[4] or ''}"
        self.lines.append(f"{name} = {expression}")
        elements = np.asarray(elements)
        assert elements.dtype == held(type), (expression, type, elements.dtype)
        defined = np.broadcast_to(np.asarray(defined), elements.shape)
        self.values.append(Value(name, type, elements, defined, **more))
        return self.values[-1]

    def random_elements(self, type: str, count: int) -> np.ndarray:
        """Edge values, small numbers, random bits."""
        r = self.random
        if type == "i1":
            return r.integers(0, 2, count).astype(bool)
        bits = r.integers(0, 2 ** bits_of(type), count, dtype=np.uint64, endpoint=False)
        anything = from_bits(bits.astype(f"u{bits_of(type) // 8}"), type)
        kind = r.integers(0, 4, count)
        if type in INTS:
            info = np.iinfo(held(type))
            near = np.array([info.min, info.min + 1, info.max - 1, info.max, 0, 1], held(type))
            small = r.integers(max(info.min, -9), 10, count).astype(held(type))
            edges = near[r.integers(0, len(near), count)]
        else:
            near = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, math.inf, -math.inf, math.nan, *EDGES[type]]
            table = hold(rounded(np.array(near), type), type)
            small = hold(rounded(r.standard_normal(count) * 4, type), type)
            edges = table[r.integers(0, len(table), count)]
        return np.where(kind == 0, edges, np.where(kind == 1, anything, small)).astype(held(type))

    def buffer(self, type: str, elements: np.ndarray) -> str:
        """A parameter that points to these elements."""
        parameter = f"p{len(self.inputs)}"
        self.inputs.append((parameter, type, elements))
        return parameter

    def at(self, parameter: str, shape: tuple[int, ...]) -> str:
        """Pointers to the elements of a buffer, as a block of this shape."""
        return f"{parameter} + {self.offsets(shape)}" if shape else parameter

    def line(self, statement: str) -> None:
        self.lines.append(statement)

    def load_of(self, type: str, elements: np.ndarray) -> Value:
        """A loaded block of these elements."""
        return self.add(f"tl.load({self.at(self.buffer(type, elements), elements.shape)})", type, elements, True)

    def load(self, type: str, shape: tuple[int, ...]) -> None:
        elements = self.random_elements(type, math.prod(shape)).reshape(shape)
        parameter = self.buffer(type, elements)
        at = f" + {self.offsets(shape)}" if shape else ""
        if shape and self.pick(3) == 0:
            count = math.prod(shape)
            limit = self.pick(count + 1)
            flat = np.arange(count).reshape(shape)
            other = self.one_of([0, 1, 5])
            mask = f"{self.offsets(shape)} < {limit}"
            text = f"tl.load({parameter}{at}, mask={mask}, other={other})"
            if type in FP8:
                text, other = f"tl.load({parameter}{at}, mask={mask}, other=0.0)", 0
            self.add(text, type, np.where(flat < limit, elements, hold(np.asarray(other), type)), True)
        else:
            self.add(f"tl.load({parameter}{at})", type, elements, True)

    @staticmethod
    def offsets(shape: tuple[int, ...]) -> str:
        return f"tl.arange(0, {math.prod(shape)}).reshape({', '.join(map(str, shape))})"

    def grow(self, steps: Iterable[tuple[int, bytes]]) -> None:
        """Appends values; a step is an operation counted from 1, or 0 for none, and its choices."""
        with np.errstate(all="ignore"):
            for number, content in steps:
                if number:
                    self.pick = Choices(content)
                    OPERATIONS[number - 1](self)

    def stored(self, choices: bytes) -> list[Value]:
        """Values that the kernel stores: those with a tolerance, the last one, and about half of the others."""
        self.pick = Choices(choices)
        made = self.values[len(self.inputs) :]
        chosen = [v for v in made[:-1] if v.final or self.pick(2)]
        return [*chosen, *made[-1:]]

    def names(self) -> set[str]:
        """Names of the language that the kernel uses: tl.name, value.name, operators as Python spells them."""
        text = "\n".join(self.lines)
        methods = re.findall(r"\bv\d+\.(\w+)", text)
        return {*re.findall(r"\btl\.([\w.]+)", text), *(f"tensor.{name}" for name in methods)}

    def source(self, stored: list[Value]) -> str:
        outputs = [f"o{i}" for i in range(len(stored))]
        parameters = ", ".join([*(p for p, _, _ in self.inputs), *outputs])
        lines = [*self.lines]
        for output, value in zip(outputs, stored):
            at = f" + {self.offsets(value.shape)}" if value.shape else ""
            lines.append(f"tl.store({output}{at}, {value.text})")
        helpers = "\n\n".join(HELPERS[name] for name in sorted(self.helpers))
        head = f"import triton\nimport triton.language as tl\n\n\n{helpers}\n\n@triton.jit\ndef kernel({parameters}):\n"
        return head + "".join(f"    {line}\n" for line in lines)


HELPERS = {
    name: f"@triton.jit\ndef {name}({parameters}):\n    {body}\n"
    for name, parameters, body in [
        ("cubed", "x", "return x * x * x"),
        ("larger_and_smaller", "a, b", "if a > b:\n        return a, b\n    else:\n        return b, a"),
        ("keep_larger", "a, b", "return tl.maximum(a, b)"),
        ("keep_right", "a, b", "return b"),
        ("branching", "a, b", "return a if a > b else b"),
        ("recurrence", "a1, b1, a2, b2", "return a1 * a2, b1 * a2 + b2"),
        ("sum_and_largest", "a1, b1, a2, b2", "return a1 + a2, tl.maximum(b1, b2)"),
    ]
}
OPERATIONS: list[Callable[[Kernel], None]] = []
"""How a kernel grows; filled by elementwise_expressions.py, shape_expressions.py and the others that end so."""


def operation(weight: int = 1) -> Callable:
    def register(function: Callable[[Kernel], None]) -> Callable[[Kernel], None]:
        OPERATIONS.extend([function] * weight)
        return function

    return register


def both_defined(a: np.ndarray, b: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(a, shape) & np.broadcast_to(b, shape)
