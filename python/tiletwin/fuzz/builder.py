"""Statements of a program in the making: variables in scope, operands on demand, loads, stores.

Here:      Builder, which the forms (forms/) call: they ask for operands of a type and emit statements.
Not here:  which form comes next, control flow (generator.py), the forms.
Invariant: offsets lie inside of their buffer for every program of the grid, masked off or not; every program stores to
           elements of its own; what a mask, a condition or an offset is computed from is exact (tree.Value).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import prod

from tiletwin.fuzz import types
from tiletwin.fuzz.tree import Buffer, Helper, Op, Program, Value
from tiletwin.fuzz.types import Type

COUNT = 4096
"""Elements of an input: more than all programs' tiles of the largest shape."""
MOST = 1024
"""Elements of a tile."""


class Builder:
    def __init__(self, program: Program, rng: random.Random) -> None:
        self.program = program
        self.rng = rng
        self.scopes: list[list[Value]] = [[]]
        self.bodies: list[list] = [program.body]
        self.shapes: list[tuple[int, ...]] = [()]
        self.names = 0
        self.depth = 0
        self.form, self.element = "", ""
        self.in_helper = False
        self.without: tuple[str, ...] = ()
        """Element types that this program does not have."""

    # ---- choices ----

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, choices: Sequence):
        if self.without:
            choices = [choice for choice in choices if choice not in self.without]
        return choices[self.rng.randrange(len(choices))]

    def shape(self, *, tile: bool = False, rank: int | None = None) -> tuple[int, ...]:
        """One of the program's shapes; tile: not a scalar."""
        fitting = [s for s in self.shapes if (s or not tile) and (rank is None or len(s) == rank)]
        if self.in_helper:
            return self.shapes[0]
        if not fitting:
            rank = self.pick([1, 1, 2, 2, 3, 4]) if rank is None else rank
            fitting = [self.new_shape(rank)]
            self.shapes.append(fitting[0])
        return self.pick(fitting)

    def new_shape(self, rank: int) -> tuple[int, ...]:
        sizes = {0: [1], 1: [1, 2, 4, 16, 32, 64, 128, 256, 512], 2: [1, 2, 4, 8, 16, 32], 3: [1, 2, 4, 8]}
        while True:
            shape = tuple(self.pick(sizes.get(rank, [1, 2, 4])) for _ in range(rank))
            if prod(shape) <= MOST:
                return shape

    # ---- statements ----

    def name(self, stem: str = "v") -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def add(self, statement) -> None:
        self.bodies[-1].append(statement)

    def define(
        self, template: str, operands: Sequence[Value], *results: Type, soft: bool = False, exact: bool | None = None
    ) -> Value:
        """`v, ... = template`; the first result. soft: rounding of it is free. exact: says so in its place."""
        return self.define_all(template, operands, results, soft, exact)[0]

    def define_all(
        self, template: str, operands: Sequence[Value], results: Sequence[Type], soft: bool = False,
        exact: bool | None = None,
    ) -> list[Value]:  # fmt: skip
        if exact is None:
            exact = not soft and all(value.exact for value in operands)
        values = [Value(self.name(), type_, exact) for type_ in results]
        self.add(Op(self.form, self.element, template, list(operands), values))
        self.scopes[-1].extend(values)
        return values

    def effect(self, template: str, operands: Sequence[Value], *results: Type) -> list[Value]:
        """A statement that writes memory, or checks something. It stays where nobody uses its results."""
        values = self.define_all(template, operands, results)
        self.bodies[-1][-1].effect = True
        return values

    def asserted(self, value: Value) -> Value:
        """The value, whose element type the program asserts."""
        self.effect(f"tl.static_assert({{}}.dtype == tl.{value.type.element})", [value])
        return value

    def visible(self) -> list[Value]:
        return [value for scope in self.scopes for value in scope]

    # ---- operands ----

    def value(self, element: str, shape: tuple[int, ...] = (), *, exact: bool = False) -> Value:
        """An operand of a type: a variable in scope, something made of one, or a load."""
        type_ = Type(element, shape)
        same = [v for v in self.visible() if v.type == type_ and (v.exact or not exact)]
        if same and (self.chance(0.7) or self.depth > 2 or self.in_helper):
            return self.pick(same[-6:] if self.chance(0.6) else same)
        if self.in_helper:
            return self.of_parameters(type_)
        self.depth += 1
        try:
            if self.depth <= 3 and self.chance(0.3):
                made = self.converted(type_, exact)
                if made is not None:
                    return made
            return self.load(element, shape)
        finally:
            self.depth -= 1

    def of_parameters(self, type_: Type) -> Value:
        """In a helper, which reads no memory: a variable or a cast of one."""
        others = [v for v in self.visible() if v.type.shape == type_.shape and v.type != type_]
        for value in self.rng.sample(others, len(others)):
            made = self.cast(value, type_.element)
            if made is not None:
                return made
        number = "True" if type_.element == "int1" else "1"
        return self.define(f"tl.full({list(type_.shape)}, {number}, tl.{type_.element})", [], type_)

    def converted(self, type_: Type, exact: bool) -> Value | None:
        others = [v for v in self.visible() if v.exact or not exact]
        spread = [v for v in others if v.type.element == type_.element and _broadcasts(v.type.shape, type_.shape)]
        if spread and self.chance(0.5):
            value = self.pick(spread)
            return self.define(f"tl.broadcast_to({{}}, {list(type_.shape)})", [value], type_)
        near = [v for v in others if v.type.shape == type_.shape]
        return self.cast(self.pick(near), type_.element) if near else None

    def cast(self, value: Value, element: str) -> Value | None:
        """A conversion whose result is defined for every number."""
        old, new = value.type.element, element
        result = Type(new, value.type.shape)
        if old == new:
            return value
        if types.kind(new) == "b":
            if (types.is_float(old) and not value.exact) or types.kind(old) == "8":
                return None
            return self.define("({} != 0)", [value], result)
        if "8" in (types.kind(old), types.kind(new)):
            if types.kind(old) == types.kind(new) or not {old, new} & {"float16", "bfloat16", "float32"}:
                return None
            return self.define(f"{{}}.to(tl.{new})", [value], result)
        if types.is_float(old) and types.is_integer(new):
            high = min(2 ** (types.bits(new) - 1) - 1, 1000)
            low = -high if types.kind(new) == "s" else 0
            template = f"tl.where(({{0}} > {low}.0) & ({{0}} < {high}.0), {{0}}, 0.0).to(tl.{new})"
            return self.define(template, [value], result)
        return self.define(f"{{}}.to(tl.{new})", [value], result)

    # ---- memory ----

    def buffer(self, element: str, content: str | None = None, count: int = COUNT) -> Buffer:
        """An input of this type: one that there is, or a new one."""
        there = [b for b in self.program.buffers if b.element == element and b.name[0] == "x" and b.count == count]
        if content is not None:
            there = [b for b in there if b.content == content]
        if there and (self.chance(0.7) or len(there) > 2):
            return self.pick(there)
        return self.new_buffer("x", element, count, content or self.pick(["small", "normal", "edge", "edge"]))

    def new_buffer(self, letter: str, element: str, count: int, content: str) -> Buffer:
        """letter: its name begins with it."""
        name = f"{letter}{len(self.program.buffers)}_ptr"
        self.program.buffers.append(Buffer(name, element, count, content, self.rng.randrange(1000)))
        return self.program.buffers[-1]

    def pointer(self, buffer: Buffer) -> Value:
        return Value(buffer.name, Type(buffer.element), True, False)

    def lanes(self, shape: tuple[int, ...]) -> Value:
        """The numbers 0, 1, ... of the elements of a tile, made once."""
        name = "at" + "x".join(map(str, shape))
        for value in self.visible():
            if value.text == name:
                return value
        parts, stride = [], prod(shape)
        for axis, extent in enumerate(shape):
            stride //= extent
            parts.append(_indices(shape, axis) + (f" * {stride}" if stride > 1 else ""))
        value = Value(name, Type("int32", shape))
        # At the very beginning of the kernel, so that every block sees it.
        self.bodies[0].insert(0, Op("lanes", "int32", " + ".join(parts), [], [value]))
        self.scopes[0].append(value)
        return value

    def offsets(self, shape: tuple[int, ...], count: int = COUNT) -> Value:
        """int32 numbers of elements of an input of `count` elements, a power of two."""
        index = self.value("int32", shape, exact=True) if self.chance(0.15 if shape else 0.3) else None
        before, self.form, self.element = (self.form, self.element), "offsets", "int32"
        try:
            return self._offsets(shape, count, index)
        finally:
            self.form, self.element = before

    def _offsets(self, shape: tuple[int, ...], count: int, index: Value | None) -> Value:
        type_, size = Type("int32", shape), prod(shape)
        if index is not None:
            return self.define(f"({{}} & {count - 1})", [index], type_)
        if not shape:
            return Value(str(self.rng.randrange(count)), type_, True, False)
        at, way = self.lanes(shape), self.rng.randrange(1, 10)
        if way >= 8:
            return self.define(f"(({self._index(shape, 2)} + {{}} * 0) & {count - 1})", [at], type_)
        if way == 1:
            step = self.pick([2, 3, -1, 5])
            start = size * 5 if step < 0 else self.rng.randrange(8)
            if size * 5 + 8 < count:
                return self.define(f"({{}} * {step} + {start})", [at], type_)
        if way == 2:
            other = self.pick([n for n in (3, 7, 16, 33, 100) if n < count])
            return self.define(f"(({{}} + {self.rng.randrange(9)}) % {other})", [at], type_)
        if way == 3 and size * self.programs < count:
            text = f"(pid * {size} + {{}})"
            if len(shape) == 1 and self.chance(0.4):  # a promise that holds, unless a twin shares the programs out anew
                text = f"tl.max_contiguous(tl.multiple_of({text}, {size}), {size})"
            return self.define(text, [at], type_)
        if way == 4 and len(shape) == 2:
            return self.define(f"({_indices(shape, 0)} + {_indices(shape, 1)} * {shape[0]})", [], type_)
        if way == 5 and size * 2 < count:
            return self.define(f"({{}} + {self.rng.randrange(count - 2 * size)})", [at], type_)
        return at

    def _index(self, shape: tuple[int, ...], depth: int) -> str:
        """Text of integers computed from the lanes of one dimension or of two, which may wrap around."""
        if depth == 0 or self.chance(0.2):
            return _indices(shape, self.rng.randrange(len(shape)))
        number = self.pick(["n", "k", "3", "7", "16", "-1", "a", "1000"])
        one = self._index(shape, depth - 1)
        way = self.rng.randrange(7)
        if way < 3:
            return f"({one} {'+*-'[way]} {number})"
        if way == 3:
            return f"({one} {self.pick(['%', '//'])} {self.pick(['5', '16', '(k + 2)', 'n'])})"
        if way == 4:
            return f"({one} << {self.pick('123')})"
        other = self._index(shape, depth - 1)
        if way == 5:
            return f"tl.where({one} {self.pick(['<', '>=', '=='])} {number}, {one}, {other})"
        return f"({one} + {other})"

    @property
    def programs(self) -> int:
        return prod(self.program.grid)

    def mask(self, shape: tuple[int, ...]) -> Value:
        """An exact mask."""
        if shape and self.chance(0.6):
            return self.define("({} < n)", [self.lanes(shape)], Type("int1", shape))
        return self.value("int1", shape, exact=True)

    def load(self, element: str, shape: tuple[int, ...], content: str | None = None) -> Value:
        """A tile of an input."""
        form, self.form = self.form, "load"
        was, self.element = self.element, element
        buffer = self.buffer(element, content)
        where, type_ = self.offsets(shape), Type(element, shape)
        pointer = self.pointer(buffer)
        if self.chance(0.25) and self.depth < 3:
            mask = self.mask(shape)
            other = self.pick(["0", "1"]) if types.kind(element) != "8" else "0.0"
            filled = f"tl.load({{}} + {{}}, mask={{}}, other={other})"
            made = self.define(filled, [pointer, where, mask], type_, exact=True)
        else:
            more = self.pick(["", "", "", ", cache_modifier='.cg'", ", eviction_policy='evict_last'"])
            made = self.define(f"tl.load({{}} + {{}}{more})", [pointer, where], type_, exact=True)
        self.form, self.element = form, was
        return made

    def output(self, value: Value) -> None:
        """Stores a value to an output of its own, behind everything else."""
        number = sum(b.name.startswith("o") for b in self.program.buffers)
        count = self.programs * value.type.count
        buffer = Buffer(f"o{number}_ptr", value.type.element, count, "zero", 0)
        self.program.buffers.append(buffer)
        shape = value.type.shape
        where = f"{{}} + pid * {value.type.count}" + (" + {}" if shape else "")
        operands = [self.pointer(buffer), *([self.lanes(shape)] if shape else []), value]
        op = Op("store", value.type.element, f"tl.store({where}, {{}})", operands, effect=True, output=number)
        self.program.body.append(op)

    def helper(self, helper: Helper) -> None:
        """Adds a jit function, once for each name."""
        if all(known.name != helper.name for known in self.program.helpers):
            self.program.helpers.append(helper)


def _indices(shape: tuple[int, ...], axis: int) -> str:
    """Text of a tile's indices along an axis."""
    index = ", ".join(":" if other == axis else "None" for other in range(len(shape)))
    return f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "")


def _broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether tl.broadcast_to takes a tile from one shape to the other."""
    return len(small) == len(large) and all(a in (1, b) for a, b in zip(small, large)) and small != large
