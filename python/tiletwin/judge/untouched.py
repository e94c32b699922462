"""Elements that a NaN or an infinity of the inputs makes NaN, though they need not be.

Here:      what such elements may be instead.
Not here:  comparing (comparing.py).
Idea:      a reference masks scores by adding -inf, or multiplies by zero: a NaN that is masked comes through. A kernel
           that skips what is masked is right, too. So the number in question is replaced by a usual one, a large one
           and a negative large one: where all of them give one result, that is right as well. Where a result grows
           with a number that becomes infinite, an infinity is right as well: (x - mean) * w is one for w = inf, and
           x * w - mean * w is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.utils._pytree import tree_map

from tiletwin.judge.oracle import Answer, Expected

FACTORS = (1.0, 1e4, -1e4)
GROWING = (2.0**-8, 2.0**-2)


def replaced(args: list[Any], factor: float) -> list[Any]:
    """Arguments whose NaN and infinities are the mean size of the other numbers, times a factor."""

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        numbers = value.double()  # float8 has no isfinite
        if bool(numbers.isfinite().all()):
            return value
        size = numbers[numbers.isfinite()].abs().mean().nan_to_num(nan=1.0).item() or 1.0
        most = torch.finfo(value.dtype).max / 4
        return torch.where(numbers.isfinite(), numbers, max(min(factor * size, most), -most)).to(value.dtype)

    return tree_map(one, args)


def _grown(args: list[Any], factor: float) -> list[Any]:
    """Arguments whose infinities are the largest number of their type, times a factor."""

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        numbers = value.double()
        largest = factor * torch.finfo(value.dtype).max
        return torch.where(numbers.isinf(), numbers.sign() * largest, numbers).to(value.dtype)

    return tree_map(one, args)


def untouched(args: list[Any], answer: Callable[[list[Any]], Answer]) -> list[tuple[Expected, torch.Tensor]]:
    """Of each result: what it may be instead, and which elements. answer: of a reference, for other arguments.
    Errors: oracle.Refused."""
    first, *others = [answer(replaced(args, factor)).results for factor in FACTORS]
    less, more = (answer(_grown(args, factor)).results for factor in GROWING)
    found = []
    for number, one in enumerate(first):
        same = one.exact == one.exact
        for other in others:
            same &= one.exact == other[number].exact if other[number].exact.shape == one.exact.shape else False
        a, b = less[number].exact, more[number].exact
        if a.is_floating_point() and a.shape == b.shape == one.exact.shape:
            grows = ~same & (a.sign() == b.sign()) & (b.abs() > 8 * a.abs()) & a.isfinite() & b.isfinite()
            one = replace(
                one, exact=torch.where(grows, b.sign() * torch.inf, one.exact),
                low=torch.where(grows, b.sign() * torch.inf, one.low),
            )  # fmt: skip
            same |= grows
        found.append((one, same))
    return found
