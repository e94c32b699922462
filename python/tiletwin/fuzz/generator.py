"""Random programs: which forms a kernel is made of, and the control flow around them.

Here:      program(seed); branches, loops, helper functions, early returns, arguments and launch options.
Not here:  the forms, operands (builder.py).
Invariant: a seed gives one program, whatever was generated before it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tiletwin.fuzz.builder import COUNT, Builder
from tiletwin.fuzz.forms import FORMS, Form
from tiletwin.fuzz.tree import POINTER, For, Helper, If, Leave, Let, Op, Program, Value, While, walk
from tiletwin.fuzz.types import FLOATS, INTEGERS, Type, kind

GRIDS = ((1,), (2,), (3,), (2, 2), (1, 2), (2, 1, 2), (4,))
_CARRIED = ("int32", "int64", "uint32", "int8", "float32", "float16", "float64", "bfloat16")


_FOR_FEW = (
    "arithmetic of 8-bit floats", "block pointer", "cast to an 8-bit float", "cat", "descriptor atomic", "dot_scaled",
    "inline assembly", "item", "libdevice", "libdevice of integers", "map_elementwise",
)  # fmt: skip
"""Forms that real Triton cannot run everywhere, or does wrong in its interpreter, as bfloat16. Half of the programs are
without, so that every judge sees them."""
_OF_MANY = ("cast", "cast from an 8-bit float", "dot", "full")
"""The same where they take 8-bit floats."""


def _is_for_few(row: Form, element: str) -> bool:
    return row.name in _FOR_FEW or element == "bfloat16" or (row.name in _OF_MANY and kind(element) == "8")


def _rows(only: Sequence[str] | None) -> list[tuple[Form, str]]:
    return [(row, element) for row in FORMS.values() for element in row.elements if only is None or row.name in only]


class Generator(Builder):
    """Makes one program. only: names of the forms to draw from, instead of all."""

    def __init__(self, seed: int, only: Sequence[str] | None = None) -> None:
        rng = random.Random(seed)
        super().__init__(Program(seed), rng)
        self.program.grid = self.pick(GRIDS)
        self.program.options = {"num_warps": self.pick([1, 2, 4, 4, 8]), "num_stages": self.pick([1, 2, 3])}
        self.rows = _rows(only)
        if only is None and self.chance(0.5):
            self.without = ("bfloat16",)
            self.rows = [(row, element) for row, element in self.rows if not _is_for_few(row, element)]
        self.weights = [row.weight / len(row.elements) ** 0.5 for row, _ in self.rows]
        self.nesting = 0

    def make(self, size: int) -> Program:
        """size: about how many forms."""
        self.arguments()
        for _ in range(self.pick([1, 2, 2, 3])):
            self.shapes.append(self.new_shape(self.pick([1, 1, 2, 2, 3, 4])))
        for _ in range(size):
            self.statement()
        if self.chance(0.1):
            condition = self.compared()
            self.store_results(share=0.5)
            self.program.body.append(Leave(condition))
        self.store_results()
        return self.program

    def arguments(self) -> None:
        values = {
            "n": self.rng.choice([2, 7, 16, 33, 100, 128, 1000]),
            "k": self.rng.randrange(4),
            "a": self.rng.choice([0, 1, 3, -1, 40503, 2**31 - 1, -(2**31)]),
            "b": self.rng.choice([2**33, -(2**40), 2**31, 2**63 - 1]),
            "f": self.rng.choice([0.5, -1.25, 3.0, 0.1]),
        }
        self.program.scalars = values
        self.program.constants = {"C": self.rng.choice([1, 2, 3, 8, 31])}
        # As tensors: a number that is 1 is a constant, and Triton's interpreter has numbers of Python for arguments.
        self.form, self.element = "arguments", "int32"
        for text in ("a + pid * 0", "pid + C", "k + pid * 0", "n + pid * 0"):
            self.define(text, [], Type("int32"))
        self.define("tl.full([], 0, tl.int64) + b", [], Type("int64"))
        self.define("tl.full([], 0.0, tl.float32) + f", [], Type("float32"))

    # ---- statements ----

    def statement(self) -> None:
        control = [self.branch, self.loop, self.while_loop, self.helper_function, self.walk] if self.nesting < 2 else []
        self.pick([self.form_statement] * 12 + control)()

    def form_statement(self) -> None:
        row, element = self.rng.choices(self.rows, self.weights)[0]
        self.form, self.element = row.name, element
        row.make(self, element)

    def compared(self) -> Value:
        """An exact condition that is the same in a whole program."""
        self.form, self.element = "condition", "int32"
        number = self.value("int32", (), exact=True)
        other = self.pick(["0", "1", "n", "5", "-1", "k"])
        template = f"{{}} {self.pick(['<', '>=', '==', '!='])} {other}"
        return self.define(template, [number], Type("int1"))

    def block(self, size: int, body: list) -> None:
        """Fills a list of statements in a scope of its own."""
        self.scopes.append([])
        self.bodies.append(body)
        self.nesting += 1
        for _ in range(size):
            self.statement()

    def end(self) -> None:
        self.nesting -= 1
        self.bodies.pop()
        self.scopes.pop()

    def variables(self, most: int) -> list[Value]:
        """Names that blocks bind anew, each with a value of its own."""
        made = []
        for _ in range(self.rng.randint(1, most)):
            source = self.value(self.pick(_CARRIED), self.shape())
            if not source.is_variable:
                self.form, self.element = "copy", source.type.element
                source = self.define("{} + 0", [source], source.type)
            # What a block assigns may be rounded freely, so the joined value is soft for floats.
            exact = source.exact and source.type.element in INTEGERS
            made.append(Value(self.name("c"), source.type, exact))
            self.add(Let(made[-1], source))
        return made

    def assign(self, target: Value) -> None:
        """`target = something of its type`, exact where the target is said to be."""
        type_ = target.type
        if type_.element in (*INTEGERS, *FLOATS) and self.chance(0.6):
            other = self.value(type_.element, type_.shape, exact=target.exact)
            self.form, self.element = "carried arithmetic", type_.element
            operator = self.pick("+-*") if type_.element in INTEGERS else self.pick("+-")
            made = self.define(f"{{}} {operator} {{}}", [target, other], type_, exact=target.exact)
        else:
            made = self.value(type_.element, type_.shape, exact=target.exact)
            if not made.is_variable:
                self.form, self.element = "copy", type_.element
                made = self.define("{} + 0", [made], type_)
        self.add(Let(target, made))

    def branch(self) -> None:
        carried = self.variables(2)
        condition = self.compared()
        statement = If(condition, [], [])
        for body in (statement.then, statement.otherwise):
            self.block(self.rng.randint(0, 2), body)
            for target in carried:
                if self.chance(0.7):
                    self.assign(target)
            self.end()
        self.add(statement)
        self.scopes[-1].extend(carried)

    def rounds(self, statement: For | While, carried: list[Value], size: int) -> None:
        """Fills the body of a loop that is open, and adds the loop."""
        for _ in range(size):
            self.statement()
        for target in carried:
            self.assign(target)
        self.end()
        self.add(statement)
        self.scopes[-1].extend(carried)

    def loop(self) -> None:
        carried = self.variables(2)
        how = self.pick(["range", "range", "tl.range", "tl.static_range"])
        rounds = self.rng.randrange(4)
        count = str(rounds)
        if how != "tl.static_range" and self.chance(0.5):
            count = "k"
        index = Value(self.name("i"), Type("int32"), True)
        statement = For(index, count, rounds, how, [])
        self.block(0, statement.body)
        self.scopes[-1].extend([] if how == "tl.static_range" else [index])
        self.scopes[-1].extend(carried)
        self.rounds(statement, carried, self.rng.randint(1, 3))

    def walk(self) -> None:
        """A loop that moves a tile of pointers on, and sums what it reads."""
        element, shape = self.pick(_CARRIED), self.shape(tile=True)
        buffer, offsets = self.buffer(element), self.offsets(shape, COUNT // 2)
        self.form, self.element = "pointers", element
        type_ = Type(POINTER, shape)
        pointers = [Value(self.name("p"), type_) for _ in range(3)]
        self.add(Op(self.form, element, "{} + {}", [self.pointer(buffer), offsets], [pointers[0]]))
        self.add(Let(pointers[1], pointers[0]))
        source = self.value(element, shape)
        if not source.is_variable or not shape:
            return
        total = Value(self.name("c"), source.type, source.exact and element in INTEGERS)
        self.add(Let(total, source))
        statement = For(Value(self.name("i"), Type("int32")), "k", 0, "range", [])
        self.block(0, statement.body)
        self.form = "load"
        here = self.define("tl.load({})", [pointers[1]], source.type, exact=True)
        self.form = "carried arithmetic"
        self.add(Let(total, self.define("{} + {}", [total, here], source.type, exact=total.exact)))
        self.form = "pointers"
        self.add(Op(self.form, element, f"{{}} + {self.pick([1, 2, 16, shape[-1]])}", [pointers[1]], [pointers[2]]))
        self.add(Let(pointers[1], pointers[2]))
        self.end()
        self.add(statement)
        self.scopes[-1].append(total)

    def while_loop(self) -> None:
        carried = self.variables(1)
        counter = Value(self.name("w"), Type("int32"), True)
        statement = While(counter, self.pick(["k", "2", "3"]), [])
        self.block(0, statement.body)
        self.scopes[-1].extend([counter, *carried])
        self.rounds(statement, carried, self.rng.randint(1, 2))

    def helper_function(self) -> None:
        """A function of its own, and a call of it."""
        shape = self.shape()
        elements = [self.pick([*INTEGERS, *FLOATS]) for _ in range(self.rng.randint(1, 3))]
        name = self.name("helper")
        inner = Generator.__new__(Generator)
        Builder.__init__(inner, Program(0), self.rng)
        inner.program.grid = self.program.grid
        inner.in_helper, inner.shapes, inner.nesting, inner.without = True, [shape], 2, self.without
        inner.rows = [(row, element) for row, element in self.rows if row.in_helpers]
        inner.weights = [1.0] * len(inner.rows)
        parameters = [Value(f"{name}_{i}", Type(element, shape)) for i, element in enumerate(elements)]
        inner.scopes[0] += parameters
        inner.names = self.names
        for _ in range(self.rng.randint(1, 3)):
            if inner.rows:
                inner.form_statement()
        self.names = inner.names
        candidates = [v for v in inner.scopes[0] if v not in parameters] or parameters
        results = [self.pick(candidates[-3:])]
        if self.chance(0.3):
            results.append(self.pick(candidates))
        noinline = not shape and self.chance(0.1)  # no bounds are known of programs with real calls
        self.program.helpers.append(Helper(name, parameters, inner.program.body, results, noinline))
        operands = [self.value(element, shape, exact=True) for element in elements]
        self.form, self.element = "call", elements[0]
        holes = ", ".join(["{}"] * len(operands))
        exact = all(value.exact for value in results)
        self.define_all(f"{name}({holes})", operands, [value.type for value in results], exact=exact)

    # ---- results ----

    def store_results(self, share: float = 1.0) -> None:
        """Stores the values of the kernel's body that no statement uses, and some of the others."""
        self.form, self.element = "store", ""
        named = {v.text for s in walk(self.program.body) if isinstance(s, Op) for v in s.operands}
        stored = {b for s in self.program.body if isinstance(s, Op) and s.output >= 0 for b in [s.operands[-1].text]}
        values = [v for v in self.scopes[0] if v.is_variable and v.text not in stored]
        for value in values:
            if (value.text not in named or self.chance(0.3)) and self.chance(share) and not value.text.startswith("at"):
                self.output(value)


def program(seed: int, size: int | None = None, only: Sequence[str] | None = None) -> Program:
    """The program of a seed. size: about how many forms; only: names of forms to draw from."""
    generator = Generator(seed, only)
    return generator.make(size or generator.rng.choice([3, 5, 8, 12]))
