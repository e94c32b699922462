"""Kernels that are compiled wrongly on purpose, and what the tester has to say of each. Lines are found by the words in
their comments."""

from typing import Any, NamedTuple

import numpy as np
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def row_share(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)  # load
    high = tl.max(v, 0)  # max
    share = v / (high + tl.sum(v, 0))  # share
    tl.store(o + row * n + c, share, mask=c < n)  # store


@triton.jit
def halved(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    small = v.to(tl.float16)  # round
    tl.store(o + i, small, mask=i < n)


@triton.jit
def turned_sum(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * N * N + i[:, None] * N + i[None, :]
    back = tl.trans(tl.load(x + at))  # turn
    total = back + tl.load(y + at)  # add
    tl.store(o + at, total)


def _positive(*shape):
    return np.random.default_rng(0).random(shape, np.float32) + 0.5


def _rows():
    """Nine rows, of which eight are read; the largest number of a row lies in the upper half of a warp that is not the
    first one."""
    x = _positive(9, 100)
    x[:, 52] = 3
    return {"x": x, "o": np.full((9, 100), 7, np.float32), "n": 100, "B": 128}


def _numbers():
    return {"x": _positive(1000), "o": np.zeros(1000, np.float16), "n": 1000, "B": 256}


def _squares():
    return {"x": _positive(2, 32, 32), "y": _positive(2, 32, 32), "o": np.zeros((2, 32, 32), np.float32), "N": 32}


class Case(NamedTuple):
    """A launch, and the first value that a mistake makes differ: the argument's element, its writer, the line."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: Any
    index: str
    program: tuple[int, int, int] | None
    line: str
    variable: str
    inside: str
    """Index of the value inside of the kernel."""


CASES = {
    "wrong shuffle": Case(row_share, (8,), _rows, "[0, 0]", (0, 0, 0), "max", "high", ""),
    "dropped mask of a load": Case(row_share, (8,), _rows, "[0, 0]", (0, 0, 0), "load", "v", "[100]"),
    "dropped mask of a store": Case(row_share, (1,), _rows, "[1, 0]", None, "store", "", ""),
    "wrong rounding": Case(halved, (4,), _numbers, "", (0, 0, 0), "round", "small", ""),
    "swapped layout bit": Case(turned_sum, (2,), _squares, "[0, 0, 1]", (0, 0, 0), "add", "total", "[0, 1]"),
    "missing barrier": Case(row_share, (8,), _rows, "[0, 0]", (0, 0, 0), "max", "high", ""),
}
"""By the name of the mistake (miscompiler.py)."""


def line_of(comment):
    with open(__file__) as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"# {comment}"))
