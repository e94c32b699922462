"""What operations make of operands that are off: they run again with others, and the largest change counts.

Here:      an operation that has run, which other operands it gets, distances of results.
Not here:  which operation is moved how (rounding_rules.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_map

from tiletwin.judge.work import name_of

_DIRECTIONS = 6
"""That operands are moved in: all up, all down, and each element one way or the other."""


_INDEXED = frozenset(
    """
    gather index index_select take embedding _embedding_bag scatter scatter_ scatter_add scatter_add_ scatter_reduce
    index_put_ index_put _index_put_impl_ index_add index_add_ index_copy index_fill_ one_hot bincount repeat_interleave
    """.split()
)
"""With other indices these read elsewhere, or fail."""

Change = Callable[[torch.Tensor], torch.Tensor]
"""Another operand of the same shape and dtype; of what the operation writes, in memory of its own."""


class Rounding(Protocol):
    """What rules ask of the mode: numbers, a rounding.Arithmetic; contractions, a rounding.Contractions; the bound of a
    tensor that it has seen; depth, how many additions the operation's result has one behind the other."""

    numbers: Any
    contractions: Any
    depth: int
    generator: torch.Generator

    def bound(self, tensor: torch.Tensor) -> torch.Tensor: ...


@dataclass(frozen=True)
class Operation:
    """One that has run. args, kwargs: as they were before. outputs: what it has made or written."""

    mode: Rounding
    func: Any
    args: tuple
    kwargs: dict[str, Any]
    outputs: list[torch.Tensor]

    @property
    def name(self) -> str:
        return name_of(self.func)

    def again(self, change: Change) -> list[torch.Tensor]:
        """The outputs with other operands; of what is written in place copies are."""
        from torch.utils._python_dispatch import _disable_current_modes

        made: dict[int, torch.Tensor] = {}

        def once(value: Any) -> Any:
            """A tensor that is two operands is one number in both: x == x says whether it is NaN."""
            return made.setdefault(id(value), change(value)) if isinstance(value, torch.Tensor) else value

        with _disable_current_modes():
            state = torch.random.get_rng_state()
            args, kwargs = tree_map(once, (self.args, self.kwargs))
            result = self.func(*args, **kwargs)
            torch.random.set_rng_state(state)
        several = result if isinstance(result, (list, tuple)) else [result]
        found = [value for value in several if isinstance(value, torch.Tensor)]
        if len(found) == len(self.outputs):
            return found
        return [value.new_full(value.shape, float("nan")) for value in self.outputs]

    def largest(self, changes: Iterable[Change], apart: Any = None) -> list[torch.Tensor]:
        """The largest distance of each output that one of the changes makes. apart: in place of `distance`."""
        found = self.nothing()
        for change in changes:
            pairs = zip(self.again(change), self.outputs, strict=True)
            found = [torch.maximum(most, (apart or distance)(*pair)) for most, pair in zip(found, pairs, strict=True)]
        return found

    def nothing(self) -> list[torch.Tensor]:
        """A distance of 0 for each output."""
        return [zeros(value) for value in self.outputs]


def zeros(value: torch.Tensor) -> torch.Tensor:
    return torch.zeros(value.shape, dtype=torch.float64)


def moved(op: Operation, steps: float) -> list[torch.Tensor]:
    """What results change by at most when operands are moved as far as they may be off and `steps` of their size more.
    Results that are no floats: infinity where they change."""

    def change(value: torch.Tensor, direction: int) -> torch.Tensor:
        if not value.is_floating_point():
            return value.clone()
        sign = (1.0, -1.0)[direction] if direction < 2 else signs(value, op.mode.generator)
        return _off(op.mode, value, sign, steps)

    return op.largest(functools.partial(change, direction=direction) for direction in range(_DIRECTIONS))


def moved_alone(op: Operation, steps: float = 0.0) -> list[torch.Tensor]:
    """The sum of what results change by when one operand after the other is moved as far as it may be off, and `steps`
    of its size more; at least what all of them do together."""

    def change(value: torch.Tensor, sign: float, chosen: list[torch.Tensor]) -> torch.Tensor:
        is_chosen = any(value is one for one in chosen)
        return _off(op.mode, value, sign, steps) if is_chosen else value.clone()

    def of(chosen: list[torch.Tensor]) -> list[torch.Tensor]:
        return op.largest(functools.partial(change, sign=sign, chosen=chosen) for sign in (1.0, -1.0))

    floats = [value for value in (*op.args, *op.kwargs.values()) if is_float(value)]
    operands = [value for value in floats if steps or bool(op.mode.bound(value).any())]
    sums = op.nothing()
    for one in operands:
        sums = [a + b for a, b in zip(sums, of([one]), strict=True)]
    if len(operands) < 2:
        return sums
    return [torch.maximum(a, b) for a, b in zip(sums, of(operands), strict=True)]


def _off(mode: Rounding, value: torch.Tensor, sign: float | torch.Tensor, steps: float) -> torch.Tensor:
    size = mode.bound(value) + steps * value.abs().nan_to_num(posinf=0.0)
    return torch.where(size > 0, value + sign * size, value)


def signs(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(0, 2, value.shape, generator=generator, dtype=torch.int8).double() * 2 - 1


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.shape != b.shape:
        return torch.full(b.shape, float("inf"), dtype=torch.float64)
    if not b.is_floating_point():
        return torch.where(a == b, 0.0, float("inf")).double()
    same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=float("inf"), posinf=float("inf")))


def of_undecided(op: Operation, undecided: list[torch.Tensor]) -> list[torch.Tensor]:
    """What decisions that rounding takes do: each may be the other one, and a whole number another one."""
    are_bool = all(value.dtype == torch.bool for value in undecided)
    if not are_bool and op.name in _INDEXED:
        return [one + float("inf") for one in op.nothing()]

    def change(value: torch.Tensor, direction: int) -> torch.Tensor:
        if value.is_floating_point():
            return value.clone()
        if value.dtype != torch.bool:
            by = (1, -1)[direction] if direction < 2 else signs(value, op.mode.generator).to(value.dtype)
            return torch.where(op.mode.bound(value) > 0, value + by, value)
        other = signs(value, op.mode.generator) > 0 if direction > 1 else torch.full_like(value, direction == 1)
        return torch.where(op.mode.bound(value) > 0, other, value)

    def apart(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if op.name == "sum" and are_bool and not a.is_floating_point() and a.shape == b.shape:
            return (a - b).abs().double()  # so many more or fewer of them
        return distance(a, b)

    return op.largest((functools.partial(change, direction=direction) for direction in range(_DIRECTIONS)), apart)


def is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()
