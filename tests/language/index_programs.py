"""Random kernels that compute indices in many ways, load, store in place, branch and loop; for test_index_programs.py.

Here:      the text of a kernel from a seed. Every access stays inside its array, by its mask or by construction.
Invariant: a kernel takes (x, numbers, o, i, n, m, s, t, rounds, R, C): x and o hold 4 * SIZE float32, numbers 32 int32,
i SIZE int32; R x C is the shape of its tiles.
"""

from __future__ import annotations

import random

SIZE = 4096
HEAD = "import triton\nimport triton.language as tl\n"
CONSTANTS = ["1", "2", "3", "7", "16", "-1", "5"]
SCALARS = ["n", "m", "s", "t", "k", *CONSTANTS]
SIZES = ["n", "m", "5", "16"]


class Program:
    """One kernel. `shape` is (R, C), `source` its text."""

    def __init__(self, name: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.shape = self.rng.choice([1, 2, 4, 8, 16]), self.rng.choice([1, 2, 8, 16, 32])
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        parameters = "x_ptr, numbers_ptr, o_ptr, i_ptr, n, m, s, t, rounds, R: tl.constexpr, C: tl.constexpr"
        for line in (
            "r, c = tl.arange(0, R), tl.arange(0, C)",
            "at = r[:, None] * C + c[None, :]",
            "k = 0 * n",
            "acc = tl.zeros((R, C), tl.float32)",
        ):
            self.put(line)
        for _ in range(self.rng.randint(4, 8)):
            self.statement(0)
        self.put(f"tl.store(o_ptr + {2 * SIZE} + at, acc)")
        self.source = f"\n\n@triton.jit\ndef {name}({parameters}):\n" + "\n".join(self.lines) + "\n"

    def put(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    # ---- expressions ----

    def scalar(self) -> str:
        a, b = self.pick(*SCALARS), self.pick(*SCALARS)
        return self.pick(a, a, a, f"({a} * {self.pick(*CONSTANTS)})", f"({a} + {b})")

    def vector(self, axis: int, depth: int = 0) -> str:
        """Along one dimension: 0 rows, 1 columns."""
        lane = "rc"[axis]
        if depth > 2 or self.chance(0.25):
            return lane
        if self.chance(0.2):
            return f"tl.load(numbers_ptr + {self.pick(lane, f'tl.abs(({lane} + {self.scalar()}) % 16)')})"
        e, other = self.vector(axis, depth + 1), self.vector(axis, depth + 1)
        return self.pick(
            f"({e} + {self.scalar()})", f"({e} * {self.scalar()})", f"({e} - {self.scalar()})",
            f"({e} % {self.pick(*SIZES)})", f"({e} // {self.pick(*SIZES)})", f"({e} << {self.pick('1', '2', '3')})",
            f"tl.where({self.vector_test(axis)}, {e}, {other})",
            f"tl.where({self.scalar()} > {self.scalar()}, {e}, {other})", f"({e} + {other})",
        )  # fmt: skip

    def vector_test(self, axis: int) -> str:
        return f"({self.vector(axis, 2)} {self.pick('<', '<=', '>', '>=', '==')} {self.scalar()})"

    def spread(self, axis: int, e: str) -> str:
        return f"({e})[:, None]" if axis == 0 else f"({e})[None, :]"

    def matrix(self) -> str:
        a, b = self.spread(0, self.vector(0)), self.spread(1, self.vector(1))
        e = self.pick(
            f"({a} * {self.scalar()} + {b})", f"({a} + {b} * {self.scalar()})", f"({b} + {a})",
            f"({a} * {self.scalar()} + {b} * {self.scalar()} + {self.scalar()})", f"(at + {self.scalar()})",
            f"(({a} * C + {b}) % {self.pick('n', 'm', '64')})",
            f"({a} * {self.pick(*CONSTANTS)} + {b} - {self.scalar()})",
        )  # fmt: skip
        if self.chance(0.1):
            e = f"tl.trans(tl.trans({e}))"
        return f"{e}.to(tl.int64)" if self.chance(0.08) else e

    def mask(self) -> str:
        return self.pick(
            f"({self.spread(0, self.vector(0, 1))} < {self.scalar()})",
            f"({self.spread(1, self.vector(1, 1))} < {self.scalar()})",
            f"(({self.spread(0, self.vector_test(0))}) & ({self.spread(1, self.vector_test(1))}))",
            f"({self.matrix()} {self.pick('<', '>=', '==')} {self.scalar()})",
        )

    def maybe_masked(self) -> str:
        return f", mask={self.mask()}" if self.chance(0.5) else ""

    def start(self) -> str:
        return self.pick("0", "1", "C", "n", "m", "64", "2 * n")

    def value(self) -> str:
        """A tile loaded from a place that is inside."""
        masked = f", mask={self.mask()}, other=3.0" if self.chance(0.4) else ""
        return f"tl.load(x_ptr + {self.start()} + at{masked})"

    # ---- statements ----

    def statement(self, depth: int) -> None:
        self.names += 1
        kinds = [self.load, self.load, self.store_index, self.store, self.store, self.rows, self.keep]
        if depth < 2:
            kinds += [self.pointer_loop, self.value_loop, self.branch, self.branch_with_value]
        self.rng.choice(kinds)(self.names, depth)

    def load(self, v: int, depth: int) -> None:
        self.put(f"f{v} = {self.matrix()}")
        more = f" & {self.mask()}" if self.chance(0.5) else ""
        self.put(f"k{v} = (f{v} >= 0) & (f{v} < {SIZE}){more}")
        pointers = self.pick(f"x_ptr + f{v}", f"(x_ptr + 0 * n) + f{v}")
        self.put(f"acc += tl.load({pointers}, mask=k{v}, other={self.pick('0.0', '-2.0', 'at * 1.0')})")

    def store_index(self, v: int, depth: int) -> None:
        self.put(f"tl.store(i_ptr + at, ({self.matrix()}).to(tl.int32))")
        self.put("acc += (tl.load(i_ptr + at) & 255).to(tl.float32)")

    def store(self, v: int, depth: int) -> None:
        self.put(
            f"tl.store({self.pick('x_ptr', 'o_ptr')} + {self.start()} + at, acc * 0.25 + {v}{self.maybe_masked()})"
        )

    def rows(self, v: int, depth: int) -> None:
        row, column = self.spread(0, self.vector(0)), self.spread(1, self.vector(1))
        self.put(f"acc += tl.load(x_ptr + ({row} % 16 + 16) % 16 * 64 + ({column} % 32 + 32) % 32)")

    def keep(self, v: int, depth: int) -> None:
        """A value loaded before memory is written, and used after."""
        self.put(f"w{v} = {self.value()}")
        self.put(f"tl.store(x_ptr + {self.start()} + at, acc * 0.5{self.maybe_masked()})")
        self.put(f"acc += w{v}")

    def pointer_loop(self, v: int, depth: int) -> None:
        self.put(f"q{v} = x_ptr + (({self.spread(0, self.vector(0))} % 8 + 8) % 8) * 32 + c[None, :] % 32")
        counted = self.chance(0.6)
        if not counted:
            self.put(f"k{v} = 0 * n")
        self.put(f"for k{v} in range(0, rounds):" if counted else f"while k{v} < rounds:")
        self.indent += 1
        self.put(f"acc += tl.load(q{v})")
        if self.chance(0.6):
            self.statement(depth + 1)
        self.put(f"q{v} += {self.pick('1', '2', 'C', 'at * 0 + 1')}")
        if self.chance(0.4):
            self.put(f"if k{v} == 1:")
            self.put(f"    q{v} += {self.pick('3', '(c % 4)[None, :]')}")
        if not counted:
            self.put(f"k{v} += 1")
        self.indent -= 1

    def value_loop(self, v: int, depth: int) -> None:
        self.put(f"w{v}, u{v} = {self.value()}, {self.value()}")
        self.put(f"for k{v} in range(0, rounds):")
        self.indent += 1
        self.put(f"acc += w{v} * 0.5")
        self.put(f"tl.store(x_ptr + {self.start()} + k{v} + at, acc{self.maybe_masked()})")
        self.put(self.pick(f"w{v}, u{v} = u{v}, w{v}", f"w{v} = {self.value()}"))
        if self.chance(0.5):
            self.statement(depth + 1)
        self.indent -= 1
        self.put(f"acc += w{v} + u{v}")

    def branch(self, v: int, depth: int) -> None:
        self.put(f"if {self.scalar()} > {self.scalar()}:")
        for arm in range(1 + self.chance(0.5)):
            if arm:
                self.put("else:")
            self.indent += 1
            self.statement(depth + 1)
            self.indent -= 1

    def branch_with_value(self, v: int, depth: int) -> None:
        self.put(f"w{v} = {self.value()}")
        self.put(f"if {self.scalar()} > {self.scalar()}:")
        self.put(f"    w{v} = {self.value()}")
        self.put(f"    tl.store(x_ptr + {self.start()} + at, w{v} + 1{self.maybe_masked()})")
        if self.chance(0.5):
            self.put("else:")
            self.put(f"    w{v} = acc")
        self.put(f"tl.store(x_ptr + {self.start()} + at, acc{self.maybe_masked()})")
        self.put(f"acc += w{v}")
