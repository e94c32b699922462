"""Random i32 programs: a kernel's source, and the same program over NumPy arrays.

Here:      the generator; run_numpy(), which executes what it generates.
Not here:  launching and comparing (test_random_programs.py).

A program is a list of statements over int32 tiles of BLOCK elements, int32 scalars, and two arrays of n elements.
Statements are tuples, rendered as Triton by source() and executed by run_numpy(). All arithmetic wraps around. Loads
and stores stay inside by their mask or by an index taken modulo n. A scatter stores one value to all its lanes, as the
order of lanes is open.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BLOCK = 32
HEAD = f"""import triton
import triton.language as tl


@triton.jit
def program(x_ptr, out_ptr, n, a, b):
    at = tl.arange(0, {BLOCK})
    base = tl.program_id(0) * 0
    s0 = a + base
    s1 = b + base
    t0 = at + base
    t1 = tl.load(x_ptr + at, mask=at < n, other=7)
"""
BINARY = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
REDUCE = {"sum": lambda t: t.sum(dtype=np.int32), "max": np.max, "min": np.min, "xor_sum": np.bitwise_xor.reduce}
TILES = ["t0", "t1", "t2"]
LANES = [*TILES, "at"]
KINDS = ["binary"] * 5 + ["where", "shift", "divide", "load", "store"] * 2 + ["scalar", "reduce", "scatter"]
CONSTANTS = [0, 1, 2, 3, 5, -1, -7, 31, 1000, 40503, 2**31 - 1, -(2**31)]

Statement = tuple[Any, ...]


@dataclass
class Generator:
    seed: int
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def program(self) -> list[Statement]:
        end = [("store", "out", "t0", "lane", "t0"), ("store", "x", "t1", "lane", "t1")]
        return [*self.block(0, self.random.randint(5, 9)), *end]

    def block(self, depth: int, count: int) -> list[Statement]:
        return [self.statement(depth) for _ in range(count)]

    def tile(self) -> str:
        return self.random.choice(["t0", "t1", "t2", "at", "s0", "s1", str(self.random.choice(CONSTANTS))])

    def scalar(self) -> str:
        return self.random.choice(["s0", "s1", "n", str(self.random.choice(CONSTANTS))])

    def statement(self, depth: int) -> Statement:
        r = self.random
        target, scalar, other, lanes = r.choice(TILES), r.choice(["s0", "s1"]), r.choice(TILES), r.choice(LANES)
        array = r.choice(["x", "out"])
        kind = r.choice(KINDS + (["for", "for", "if"] if depth < 2 else []))
        if kind == "binary":
            return (kind, target, r.choice(list(BINARY)), lanes, self.tile())
        if kind == "where":
            return (kind, target, r.choice(list(COMPARE)), lanes, self.tile(), self.tile(), self.tile())
        if kind == "shift":
            return (kind, target, r.choice(["<<", ">>"]), lanes, r.randint(0, 31))
        if kind == "divide":
            return (kind, target, r.choice(["%", "//"]), lanes, self.scalar())
        if kind == "scalar":
            return (kind, scalar, r.choice(list(BINARY)), r.choice(["s0", "s1"]), self.scalar())
        if kind == "reduce":
            return (kind, scalar, r.choice(list(REDUCE)), other)
        if kind == "load":
            return (kind, target, array, r.choice(["lane", "modulo", "mask"]), other)
        if kind == "store":
            return (kind, array, target, r.choice(["lane", "mask"]), other)
        if kind == "scatter":
            return (kind, array, scalar, other)
        if kind == "for":
            return (kind, depth, r.choice([0, 1, 2, 3]), self.block(depth + 1, r.randint(1, 5)))
        return (
            "if",
            r.choice(list(COMPARE)),
            r.choice(["s0", "s1"]),
            self.scalar(),
            self.block(depth + 1, r.randint(1, 3)),
            self.block(depth + 1, r.randint(0, 3)),
        )


def source(program: list[Statement]) -> str:
    lines = ["    t2 = t0 * 3"]

    def emit(statements: list[Statement], indent: str) -> None:
        for kind, *o in statements:
            if kind == "binary":
                text = f"{o[0]} = {o[2]} {o[1]} {o[3]}"
            elif kind == "where":
                text = f"{o[0]} = tl.where({o[2]} {o[1]} {o[3]}, {o[4]}, {o[5]}) + at * 0"
            elif kind == "shift":
                text = f"{o[0]} = {o[2]} {o[1]} {o[3]}"
            elif kind == "divide":
                text = f"{o[0]} = ({o[2]} & 0x7FFFFFFF) {o[1]} (({o[3]} & 63) + 1)"
            elif kind == "scalar":
                text = f"{o[0]} = {o[2]} {o[1]} {o[3]}"
            elif kind == "reduce":
                text = f"{o[0]} = tl.{o[1]}({o[2]}, axis=0)"
            elif kind == "load":
                access = {
                    "lane": f"{o[1]}_ptr + at, mask=at < n, other=-3",
                    "modulo": f"{o[1]}_ptr + ({o[3]} & 0x7FFFFFFF) % n",
                    "mask": f"{o[1]}_ptr + at, mask=(at < n) & ({o[3]} > 1), other={o[3]}",
                }[o[2]]
                text = f"{o[0]} = tl.load({access})"
            elif kind == "store":
                mask = "at < n" if o[2] == "lane" else f"(at < n) & ({o[3]} < 100)"
                text = f"tl.store({o[0]}_ptr + at, {o[1]}, mask={mask})"
            elif kind == "scatter":
                text = f"tl.store({o[0]}_ptr + ({o[2]} & 0x7FFFFFFF) % n, {o[1]})"
            elif kind == "for":
                lines.append(f"{indent}for i{o[0]} in range({o[1]} + base):")
                lines.append(f"{indent}    t0 += i{o[0]}")
                emit(o[2], indent + "    ")
                continue
            else:
                lines.append(f"{indent}if {o[1]} {o[0]} {o[2]}:")
                emit(o[3], indent + "    ")
                if o[4]:
                    lines.append(f"{indent}else:")
                    emit(o[4], indent + "    ")
                continue
            lines.append(indent + text)

    emit(program, "    ")
    return HEAD + "\n".join(lines) + "\n"


def run_numpy(program: list[Statement], x: np.ndarray, out: np.ndarray, a: int, b: int) -> None:
    """Executes the program on x and out (int32, n <= BLOCK elements) in place."""
    n, at = len(x), np.arange(BLOCK, dtype=np.int32)
    arrays = {"x": x, "out": out}
    inside = at < n

    def padded(array: np.ndarray, other: Any) -> np.ndarray:
        return np.where(inside, np.concatenate([array, np.zeros(BLOCK - n, np.int32)]), other).astype(np.int32)

    v: dict[str, Any] = {"at": at, "n": np.int32(n), "s0": np.int32(a), "s1": np.int32(b)}
    v |= {"t0": at, "t1": padded(x, 7), "t2": at * np.int32(3)}

    def value(name: str) -> Any:
        return v[name] if name in v else np.int32(int(name))

    def wrapped(name: str) -> np.ndarray:
        return (v[name] & np.int32(0x7FFFFFFF)) % np.int32(n)

    def execute(statements: list[Statement]) -> None:
        for kind, *o in statements:
            if kind in ("binary", "scalar"):
                v[o[0]] = BINARY[o[1]](value(o[2]), value(o[3]))
            elif kind == "where":
                condition = COMPARE[o[1]](value(o[2]), value(o[3]))
                v[o[0]] = np.where(condition, value(o[4]), value(o[5])).astype(np.int32)
            elif kind == "shift":
                v[o[0]] = (np.left_shift if o[1] == "<<" else np.right_shift)(value(o[2]), np.int32(o[3]))
            elif kind == "divide":
                left, right = value(o[2]) & np.int32(0x7FFFFFFF), (value(o[3]) & np.int32(63)) + np.int32(1)
                v[o[0]] = left % right if o[1] == "%" else left // right
            elif kind == "reduce":
                v[o[0]] = np.int32(REDUCE[o[1]](v[o[2]]))
            elif kind == "load":
                array, index = arrays[o[1]], v[o[3]]
                if o[2] == "lane":
                    v[o[0]] = padded(array, -3)
                elif o[2] == "modulo":
                    v[o[0]] = array[wrapped(o[3])]
                else:
                    v[o[0]] = np.where(index > 1, padded(array, index), index)
            elif kind == "store":
                lanes = at[inside & (v[o[3]] < 100)] if o[2] == "mask" else at[inside]
                arrays[o[0]][lanes] = v[o[1]][lanes]
            elif kind == "scatter":
                arrays[o[0]][wrapped(o[2])] = v[o[1]]
            elif kind == "for":
                for i in range(o[1]):
                    v["t0"] = v["t0"] + np.int32(i)
                    execute(o[2])
            else:
                execute(o[3] if COMPARE[o[0]](value(o[1]), value(o[2])) else o[4])

    with np.errstate(over="ignore"):
        execute(program)
