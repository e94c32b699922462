"""Relations between the results of two calls: what a change of the inputs does to results, where the reference does it.

Here:      the changes (rows in another order, the first rows alone, an argument doubled), whether the reference follows
           one, and whether a submission does.
Not here:  which cases are run (inputs.py), comparing with the reference (comparing.py).
Idea:      where a bound says what a number may be, two right results follow the relation as exactly as the bounds
           allow, and nothing is learned. Where none does (decisions that rounding takes, chaotic functions) a
           submission still has to agree with itself.
Invariant: a relation counts only if the exact results of the reference follow it for these very inputs. A submission
           breaks it if more than half of the elements that no bound judges differ by more than 64 units: programs that
           meet rows in another order may take a few decisions another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_map

from tiletwin.judge.rounding import UNITS

Change = Callable[[torch.Tensor], torch.Tensor]
LEAST_SIZE, MOST_SIZES, MOST_ARGUMENTS = 3, 3, 3
EXACT = 1e-9
"""Relative distance within which float64 results follow a relation."""
SLACK = 64
_POWERS = (0, 1, 2, -1, -2)


class Expected(Protocol):
    """What oracle.Expected says of a result."""

    name: str
    low: torch.Tensor
    exact: torch.Tensor
    bound: torch.Tensor


@dataclass(frozen=True)
class Relation:
    """word: "permuted" or "shortened", of all dimensions of size `number`; "doubled", of argument `number`."""

    word: str
    number: int

    def __str__(self) -> str:
        if self.word == "doubled":
            return f"argument {self.number} doubled"
        how = "in another order" if self.word == "permuted" else "its first part alone"
        return f"what has size {self.number}: {how}"

    @property
    def part(self) -> int:
        """Size of the first part."""
        return (self.number + 1) // 2

    def changed(self, args: list[Any]) -> list[Any]:
        """The other call's arguments. Numbers that are the size go along."""
        if self.word == "doubled":
            # By float64: torch computes nothing in float8.
            return [(2 * v.double()).to(v.dtype) if i == self.number else v for i, v in enumerate(args)]

        def one(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return self._along(value)
            is_size = isinstance(value, int) and not isinstance(value, bool) and value == self.number
            return self.part if is_size and self.word == "shortened" else value

        return tree_map(one, args)

    def _along(self, value: torch.Tensor) -> torch.Tensor:
        order = torch.randperm(self.number, generator=torch.Generator().manual_seed(self.number))
        index = order if self.word == "permuted" else torch.arange(self.part)
        for dim, size in enumerate(value.shape):
            value = value.index_select(dim, index) if size == self.number else value
        return value

    def changes(self) -> Iterator[Change]:
        """What may become of a result."""
        if self.word != "doubled":
            yield self._along
            return
        for power in _POWERS:
            yield lambda value, factor=2.0**power: value * factor if value.is_floating_point() else value


def candidates(args: list[Any], sizes: list[int]) -> list[Relation]:
    """sizes: of the arguments' dimensions, the most common ones first."""
    found = [Relation(word, n) for n in sizes[:MOST_SIZES] if n >= LEAST_SIZE for word in ("permuted", "shortened")]
    found = [one for one in found if not _misleads(one, args)]
    floats = [i for i, value in enumerate(args) if isinstance(value, torch.Tensor) and value.is_floating_point()]
    return found + [Relation("doubled", i) for i in floats[:MOST_ARGUMENTS]]


def _misleads(relation: Relation, args: list[Any]) -> bool:
    """Whether offsets would no longer be in order, or numbers would point behind what is shortened: a reference that
    takes slices takes that, too."""
    for value in args:
        if not isinstance(value, torch.Tensor) or value.is_floating_point() or value.dtype == torch.bool:
            continue
        if relation.word == "shortened" and value.numel() and relation.part <= int(value.max()) <= relation.number:
            return True
        if relation.word == "permuted" and relation.number in value.shape and is_ascending(value) and bool(value.any()):
            return True
    return False


def is_ascending(value: torch.Tensor) -> bool:
    """Whether numbers may be offsets, or keys of segments."""
    return value.dim() == 1 and value.numel() > 2 and bool((value[1:] >= value[:-1]).all())


def followed(relation: Relation, before: Sequence[Expected], after: Sequence[Expected]) -> list[Change] | None:
    """What the relation does to each result of the reference; None: the reference does not follow it."""
    if len(before) != len(after):
        return None
    found = []
    for a, b in zip(before, after):
        fitting = [change for change in relation.changes() if _are_equal(change(a.exact), b.exact)]
        if not fitting:
            return None
        found.append(fitting[0])
    return found


def _are_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape:
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    size = b.abs().nan_to_num(posinf=0.0)
    near = (a - b).abs() <= EXACT * (size + (size.mean() if size.numel() else 0.0))
    return bool((near | (a == b) | (a.isnan() & b.isnan())).all())


def _unjudged(wanted: Expected) -> torch.Tensor:
    """Elements whose bound is no smaller than they are."""
    size = wanted.exact.double().abs().nan_to_num(posinf=0.0)
    return (wanted.bound >= size + (size.mean() if size.numel() else 0.0)) & (wanted.bound > 0)


def broken(
    changes: list[Change], before: Sequence[Expected], after: Sequence[Expected], got: list[torch.Tensor],
    now: list[torch.Tensor],
) -> tuple[str, tuple[int, ...]] | None:  # fmt: skip
    """Words for what breaks the relation, and the first such element. got, now: results of the submission."""
    for change, a, b, first, second in zip(changes, before, after, got, now):
        open_ = change(_unjudged(a)) & _unjudged(b)
        if not bool(open_.any()) or first.shape != a.exact.shape or second.shape != b.exact.shape:
            continue
        x, y = change(first.double() if first.is_floating_point() else first).double(), second.double()
        unit = UNITS.get(b.low.dtype, UNITS[torch.float32]) if second.is_floating_point() else 0.0
        size = x.abs().nan_to_num(posinf=0.0)
        off = open_ & ~(((x - y).abs() <= SLACK * unit * (size + size.mean())) | (x == y) | (x.isnan() & y.isnan()))
        if 2 * int(off.sum()) > int(open_.sum()):
            at = tuple(int(n) for n in off.nonzero()[0])
            text = f"{int(off.sum())} of {int(open_.sum())} elements of the {b.name} that no bound judges break it"
            return f"{text}: {list(at)} is {y[at]:.9g}, and {x[at]:.9g} would follow from the call before", at
    return None
