"""Other numbers for an example's tensor, of any shape, that mean what its own do.

Here:      the range of an example's numbers, whether they are indices, lengths, offsets or names of places; new ones.
Not here:  which shapes there are (inputs.py).
Idea:      numbers just below a size are indices into what has it. Those that only a product of two sizes is as large as
           are places in what both make together: pages of 16 rows, of which a table names 6. Where several
           explanations fit, numbers shrink with each of them and grow with none: references that take slices take
           numbers that are too large without a word. Distinct numbers that chance would hardly make so are indices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from tiletwin.judge.relations import is_ascending

MOST_NAMED = 1 << 20
"""Numbers up to which indices that are distinct are drawn so; of more there are hardly two that are equal."""
WHOLE, ROWS = "all", "of a row"


@dataclass(frozen=True)
class Range:
    """Of an example's numbers. Whoever looks at ten million of them in each case has no time left for cases."""

    low: float
    high: float
    mean: float = 0.0
    spread: float = 0.0
    is_sorted: bool = False
    mark: int = 0
    """Of indices: the one negative number that stands for none (-1, -100); 0: there is none. marked: their share."""
    marked: float = 0.0
    distinct: str = ""
    """Of whole numbers: WHOLE, no two are equal, as slots of a cache that are written; ROWS, no two of a row."""
    count: int = 0
    """Of distinct numbers."""

    @property
    def are_places(self) -> bool:
        """Whether chance would hardly have made the numbers distinct."""
        return self.distinct == WHOLE and self.low >= 0 and self.count**2 > 1.4 * (self.high + 1 - self.low)

    def indexed(self, limits: Iterable[int]) -> int | None:
        """The size that whole numbers are just below."""
        return min((n for n in limits if self.high < n <= 2 * (self.high + 1)), default=None)

    @classmethod
    def of(cls, value: torch.Tensor) -> Range:
        if value.dtype == torch.bool or not value.numel():
            return cls(0, 1, value.double().mean().item() if value.numel() else 0.0)
        if not value.is_floating_point():
            low, high = int(value.min()), int(value.max())
            marks = value == low
            if low < 0 <= high and not bool((value[~marks] < 0).any()):
                return cls(0, high, mark=low, marked=marks.double().mean().item(), **_distinct(value[~marks]))
            return cls(low, high, is_sorted=is_ascending(value), **_distinct(value))
        numbers = value.double()
        low, high = float(numbers.min()), float(numbers.max())
        return cls(low, high, float(numbers.mean()), float(numbers.std(correction=0)))


def _distinct(value: torch.Tensor) -> dict[str, Any]:
    if value.numel() < 3 or int(value.max()) - int(value.min()) >= MOST_NAMED:
        return {}
    if value.unique().numel() == value.numel():
        return {"distinct": WHOLE, "count": value.numel()}
    is_of_rows = value.dim() > 1 and value.shape[-1] > 1 and not bool((value.sort(-1).values.diff() == 0).any())
    return {"distinct": ROWS, "count": value.shape[-1]} if is_of_rows else {}


def like(
    value: torch.Tensor, known: Range, shape: list[int], limits: dict[int, int], generator: torch.Generator
) -> torch.Tensor:
    """Random numbers of the range that an example has. limits: new sizes by those of the examples.

    Errors: ValueError, there are not as many distinct numbers."""
    if value.numel() == 0:
        return torch.zeros(shape, dtype=value.dtype)
    if value.dtype == torch.bool:
        return torch.rand(shape, generator=generator) < known.mean
    if not value.is_floating_point():
        return _whole(known, shape, limits, generator).to(value.dtype)
    if not known.spread > 0:
        return torch.full(shape, known.mean, dtype=value.dtype)
    if known.low >= 0:
        made = known.low + (known.high - known.low) * torch.rand(shape, generator=generator, dtype=torch.float64)
    else:
        made = known.mean + known.spread * torch.randn(shape, generator=generator, dtype=torch.float64)
    return made.to(value.dtype)


def _whole(known: Range, shape: list[int], limits: dict[int, int], generator: torch.Generator) -> torch.Tensor:
    low, high = int(known.low), int(known.high)
    is_index = low >= 0 and known.indexed(limits) is not None
    ends = low >= 0 and high in limits and (known.is_sorted or not is_index) and high + 1 not in limits
    if ends:  # by chance, too: lengths only become smaller
        high = limits[high] if known.is_sorted else min(high, limits[high])
    elif low >= 0:
        high = _largest(known, limits)
    low = min(low, high)
    is_length = int(known.high) in limits or int(known.high) in (a * b for a in limits for b in limits)
    by_chance = known.distinct == WHOLE and not known.are_places
    if known.distinct and not ends and (is_index or not (is_length or by_chance)):
        made = _without_repeats(known.distinct, low, high, shape, generator)
    else:
        made = torch.randint(low, high + 1, shape, generator=generator, dtype=torch.int64)
    if known.mark:
        made = torch.where(torch.rand(shape, generator=generator) < known.marked, known.mark, made)
    return _ascending(made.sort().values, low == 0, high if ends else None) if known.is_sorted else made


def _largest(known: Range, limits: dict[int, int]) -> int:
    """Of the numbers, in place of the example's."""
    high, size = int(known.high), known.indexed(limits)
    pairs = itertools.combinations_with_replacement(limits, 2)
    ways = [(a * b, limits[a] * limits[b]) for a, b in pairs if high <= a * b <= 2 * (high + 1)]
    if size is not None and (size == high + 1 or known.are_places or not ways):
        return max(limits[size], 1) - 1
    ways += [(size, limits[size])] if size is not None else []
    exact = [(n, new) for n, new in ways if n - high in (0, 1)]
    return min((high, *(high * new // n for n, new in exact or ways)))


def _without_repeats(distinct: str, low: int, high: int, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    length = shape[-1] if distinct == ROWS else torch.Size(shape).numel()
    rows = torch.Size(shape[:-1]).numel() if distinct == ROWS else 1
    if length > high + 1 - low:
        raise ValueError(f"there are no {length} distinct numbers from {low} to {high}")
    orders = [torch.randperm(high + 1 - low, generator=generator)[:length] for _ in range(rows)]
    return low + (torch.stack(orders).view(shape) if orders else torch.zeros(shape, dtype=torch.int64))


def _ascending(made: torch.Tensor, from_zero: bool, last: int | None) -> torch.Tensor:
    """Offsets, or keys, of numbers in order. last: what they end with, the size of what they divide."""
    made[-1:] = made[-1:] if last is None else last
    made[:1] = 0 if from_zero else made[:1]
    return made
