"""What operations make of operands that are off: they run again with others, and the largest change counts.

Here:      which other operands, distances of results.
Not here:  which operation is moved how (rounding_rules.py).
"""

from __future__ import annotations

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


class Rounding(Protocol):
    """What rules ask of the mode: numbers, a rounding.Arithmetic; contractions, a rounding.Contractions; the bound of a
    tensor that it has seen; depth, how many additions the operation's result has one behind the other."""

    numbers: Any
    contractions: Any
    depth: int
    generator: torch.Generator

    def bound(self, tensor: torch.Tensor) -> torch.Tensor: ...


def zeros(value: torch.Tensor) -> torch.Tensor:
    return torch.zeros(value.shape, dtype=torch.float64)


def run_again(
    func: Any, args: tuple, kwargs: dict[str, Any], change: Any, outputs: list[torch.Tensor]
) -> list[torch.Tensor]:
    """The results with other operands; of what is written in place copies are."""
    from torch.utils._python_dispatch import _disable_current_modes

    made: dict[int, torch.Tensor] = {}

    def once(value: Any) -> Any:
        """A tensor that is two operands is one number in both: x == x says whether it is NaN."""
        return made.setdefault(id(value), change(value)) if isinstance(value, torch.Tensor) else value

    with _disable_current_modes():
        state = torch.random.get_rng_state()
        changed_args, changed = tree_map(once, (args, kwargs))
        result = func(*changed_args, **changed)
        torch.random.set_rng_state(state)
    found = [
        value
        for value in (result if isinstance(result, (list, tuple)) else [result])
        if isinstance(value, torch.Tensor)
    ]
    if len(found) == len(outputs):
        return found
    flat = [leaf for value in found for leaf in (value if isinstance(value, (list, tuple)) else [value])]
    return flat if len(flat) == len(outputs) else [value.new_full(value.shape, float("nan")) for value in outputs]


def moved(
    mode: Rounding,
    func: Any,
    args: tuple,
    kwargs: dict[str, Any],
    outputs: list[torch.Tensor],
    steps: float,
    factor: float = 2.0,
) -> list[torch.Tensor]:
    """What results change by at most, `factor` times, when operands are moved as far as they may be off and `steps` of
    their size more. Results that are no floats: infinity where they change."""
    found = [zeros(value) for value in outputs]
    for direction in range(_DIRECTIONS):

        def change(value: Any, direction: int = direction) -> Any:
            if not value.is_floating_point():
                return value.clone()
            size = mode.bound(value) + steps * value.abs().nan_to_num(posinf=0.0, neginf=0.0)
            sign = (1.0, -1.0)[direction] if direction < 2 else signs(value, mode.generator)
            return torch.where(size > 0, value + sign * size, value)

        for number, other in enumerate(run_again(func, args, kwargs, change, outputs)):
            found[number] = torch.maximum(found[number], distance(other, outputs[number]))
    return [factor * bound for bound in found]


def moved_alone(
    mode: Rounding,
    func: Any,
    args: tuple,
    kwargs: dict[str, Any],
    outputs: list[torch.Tensor],
    steps: float = 0.0,
) -> list[torch.Tensor]:
    """The sum of what results change by when one operand after the other is moved as far as it may be off, and `steps`
    of its size more; at least what all of them do together."""
    floats = [value for value in (*args, *kwargs.values()) if is_float(value)]
    operands = [value for value in floats if steps or bool(mode.bound(value).any())]
    sums = [zeros(value) for value in outputs]
    together = [zeros(value) for value in outputs]
    groups = [[one] for one in operands]
    for chosen in (*groups, operands) if len(groups) != 1 else groups:
        most = [zeros(value) for value in outputs]
        for sign in (1.0, -1.0):

            def change(value: Any, sign: float = sign, chosen: list[torch.Tensor] = chosen) -> Any:
                if any(value is one for one in chosen):
                    size = mode.bound(value) + steps * value.abs().nan_to_num(posinf=0.0)
                    return torch.where(size > 0, value + sign * size, value)
                return value.clone()

            for number, other in enumerate(run_again(func, args, kwargs, change, outputs)):
                most[number] = torch.maximum(most[number], distance(other, outputs[number]))
        target = together if chosen is operands else sums
        target[:] = [a + b for a, b in zip(target, most)]
    return [torch.maximum(a, b) for a, b in zip(sums, together)]


def signs(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(0, 2, value.shape, generator=generator, dtype=torch.int8).double() * 2 - 1


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.shape != b.shape:
        return torch.full(b.shape, float("inf"), dtype=torch.float64)
    if not b.is_floating_point():
        return torch.where(a == b, 0.0, float("inf")).double()
    same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=float("inf"), posinf=float("inf")))


def of_undecided(
    mode: Rounding,
    func: Any,
    args: tuple,
    kwargs: dict[str, Any],
    undecided: list[torch.Tensor],
    outputs: list[torch.Tensor],
) -> list[torch.Tensor]:
    """What decisions that rounding takes do: each may be the other one, and a whole number another one."""
    found = [zeros(value) for value in outputs]
    are_bool = all(value.dtype == torch.bool for value in undecided)
    if not are_bool and name_of(func) in _INDEXED:
        return [one + float("inf") for one in found]
    for direction in range(_DIRECTIONS):

        def change(value: Any, direction: int = direction) -> Any:
            if value.is_floating_point():
                return value.clone()
            if value.dtype != torch.bool:
                by = (1, -1)[direction] if direction < 2 else signs(value, mode.generator).to(value.dtype)
                return torch.where(mode.bound(value) > 0, value + by, value)
            other = signs(value, mode.generator) > 0 if direction > 1 else torch.full_like(value, direction == 1)
            return torch.where(mode.bound(value) > 0, other, value)

        for number, other in enumerate(run_again(func, args, kwargs, change, outputs)):
            far = distance(other, outputs[number])
            if name_of(func) == "sum" and are_bool and not other.is_floating_point() and other.shape == far.shape:
                far = (other - outputs[number]).abs().double()  # so many more or fewer of them
            found[number] = torch.maximum(found[number], far)
    return found


def is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()
