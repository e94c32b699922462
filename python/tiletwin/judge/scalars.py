"""Other numbers for arguments that are no tensors: a factor, an epsilon, how many, whether.

Here:      which numbers, arguments with one of them changed.
Not here:  numbers that are sizes of tensors (inputs.py): they change with these.
Idea:      a submission that has the example's number in its text is right until the number is another one.
Invariant: a whole number becomes larger, but for 1, only where a result has its size and follows: references that take
           slices take larger ones without a word.
"""

from __future__ import annotations

import math
from typing import Any

import torch

MOST_CASES = 16
LEAST_SIZE = 5
"""Smaller numbers are no sizes, though some tensor may have such a one."""


def others(value: Any, sizes: list[int]) -> list[Any]:
    """What may stand in place of an argument. sizes: of the arguments' dimensions."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, float) and math.isfinite(value):
        return [value / 2, value + 0.5, value * 2]
    if isinstance(value, int) and value > 0 and (value < LEAST_SIZE or value not in sizes):
        return [2] if value == 1 else list(dict.fromkeys([value // 2, value - 1, 2 * value + 1]))
    return []


def cases(args: list[Any], sizes: list[int]) -> list[tuple[str, str]]:
    """Words for a report, and for `changed`: one argument has another number in each. Every argument comes once before
    any comes again."""
    made = [
        (place, f"argument {number} is {other!r} in place of {value!r}", f"{number} {place}")
        for number, value in enumerate(args)
        for place, other in enumerate(others(value, sizes))
    ]
    return [(what, word) for _, what, word in sorted(made, key=lambda one: one[0])][:MOST_CASES]


def changed(args: list[Any], sizes: list[int], word: str) -> list[Any]:
    """The arguments of a case."""
    number, place = map(int, word.split())
    return [others(value, sizes)[place] if i == number else value for i, value in enumerate(args)]


def are_meant(old: list[Any], new: list[Any], before: list[torch.Size], after: list[torch.Size]) -> bool:
    """Whether a change of arguments is none that a reference takes without a word. before, after: shapes of results."""
    for a, b in zip(old, new):
        if type(a) is int and b > a > 1:
            return any(a in x and b in y and len(x) == len(y) for x, y in zip(before, after))
    return True
