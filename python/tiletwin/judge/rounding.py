"""Running error analysis of torch code: a mode in which every float64 tensor carries a bound of what right
implementations may be off by.

Here:      the mode, where bounds are kept, rounding of results, casts.
Not here:  what single operations add (rounding_rules.py), which inputs are run (oracle.py).
Idea:      the code runs on float64 numbers, which stand for the exact ones. For each storage there is a second one of
           the same shape with a bound for each element, so views, writes in place and autograd need no rules.
Source:    N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1, 3.3 (running error
           analysis), 3.5 (products).
Invariant: a result without a known bound has an infinite one, and nothing is judged there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

from tiletwin.judge import rounding_rules
from tiletwin.judge.rounding_moves import Operation
from tiletwin.judge.work import OperationMode, name_of

UNITS = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-24, torch.float64: 2.0**-53}
"""Largest relative error of one rounding to nearest."""
SMALLEST = {torch.float16: 2.0**-24, torch.bfloat16: 2.0**-126, torch.float32: 2.0**-126, torch.float64: 2.0**-1022}
"""Largest absolute error where numbers underflow: GPUs may flush subnormal numbers of float32 and bfloat16 to 0."""
STORED = {torch.float8_e4m3fn: (2.0**-4, 2.0**-9), torch.float8_e5m2: (2.0**-3, 2.0**-16)}
"""Types that numbers are kept in and nothing is computed in: both errors of one rounding."""
ROUNDINGS = {kind: (UNITS[kind], SMALLEST[kind]) for kind in UNITS} | STORED
_LOW = tuple(kind for kind in ROUNDINGS if kind is not torch.float64)


@dataclass(frozen=True)
class Arithmetic:
    """How right implementations compute.

    unit: of a result's rounding, in the type of the data. sums: of one addition inside of a sum or a product; sums of
    half precision are made in float32. operands: what reading both operands of a matrix product may be off by,
    relatively: tf32 drops 13 bits of each.
    least: absolute error of an underflow. largest, tiny: numbers of the type that sums are made in.
    """

    unit: float
    sums: float
    operands: float
    least: float
    largest: float
    tiny: float


def arithmetic(kinds: list[torch.dtype], reads_tf32: bool = True) -> Arithmetic:
    """For inputs of these types; the coarsest float type counts. reads_tf32: float32 operands of matrix products may
    be read with 10 bits behind the point, as tl.dot does without further words."""
    coarsest = max((kind for kind in kinds if kind in UNITS), key=UNITS.__getitem__, default=torch.float32)
    sums = min(UNITS[coarsest], UNITS[torch.float32])
    tf32 = reads_tf32 and coarsest is torch.float32
    facts = torch.finfo(torch.float64 if coarsest is torch.float64 else torch.float32)
    return Arithmetic(UNITS[coarsest], sums, 2.0**-9 if tf32 else 0.0, SMALLEST[coarsest], facts.max, facts.tiny)


class Rounding(OperationMode):
    """Runs float64 code and keeps bounds. Ask `bound` after it; `set_bound` before says what inputs are off by."""

    def __init__(self, numbers: Arithmetic, seed: int = 0) -> None:
        super().__init__()
        self.numbers = numbers
        self.generator = torch.Generator().manual_seed(seed)
        self.names: set[str] = set()
        """Of operations that have run."""
        self.contractions = Contractions()
        self.depth = 0
        """Of the operation that runs: additions one behind the other, in a chain that others compute as a tree: there
        the largest part is rounded once at each level."""
        self._depths: dict[int, int] = {}
        """By storages, as bounds."""
        self._bounds: dict[int, torch.Tensor] = {}
        self._kept: list[Any] = []
        """Storages that have bounds: no other one gets their address."""

    def __enter__(self) -> Rounding:
        self.contractions.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.contractions.__exit__(*error)

    # ---- bounds by storage ----

    def bound(self, tensor: torch.Tensor) -> torch.Tensor:
        """Of each element; for numbers that are no floats 0, or infinity where they may be others."""
        held = tensor.untyped_storage()
        known = self._bounds.get(held.data_ptr()) if held.nbytes() else None
        if known is None:
            return torch.zeros(tensor.shape, dtype=torch.float64)
        return known.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def set_bound(self, tensor: torch.Tensor, bound: torch.Tensor) -> None:
        held = tensor.untyped_storage()
        if not held.nbytes():
            return
        if held.data_ptr() not in self._bounds:
            count = held.nbytes() // tensor.itemsize
            self._bounds[held.data_ptr()] = torch.zeros(count, dtype=torch.float64)
            self._kept.append(held)
        kept = self.bound(tensor)
        kept.copy_(torch.nan_to_num(bound.expand(kept.shape), nan=float("inf"), posinf=float("inf")))

    # ---- operations ----

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func.is_view:
            return func(*args, **kwargs)
        rounded_to = kwargs.get("dtype") if kwargs.get("dtype") in _LOW else None
        if rounded_to is not None:
            kwargs["dtype"] = torch.float64
        if name_of(func) == "_to_copy" and rounded_to is not None:
            rounded_to = rounded_to if isinstance(args[0], torch.Tensor) and args[0].is_floating_point() else None
        self.names.add(name_of(func))
        operands = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, torch.Tensor)]
        self.depth = max((self._depths.get(v.untyped_storage().data_ptr(), 0) for v in operands), default=0)
        self.depth += name_of(func) in rounding_rules.CHAINED
        before = (args, kwargs)
        if func._schema.is_mutable:
            before = tree_map(lambda v: _copied(v, self), before)
        result = func(*args, **kwargs)
        changed = [value for value in tree_flatten(result)[0] if isinstance(value, torch.Tensor)]
        if func._schema.is_mutable:
            changed += _written(func, args, kwargs)
        inputs = [value for value in tree_flatten(before)[0] if isinstance(value, torch.Tensor)]
        if changed and func is not torch.ops.aten._local_scalar_dense.default:
            bounds = rounding_rules.bounds_of(Operation(self, func, before[0], before[1], changed), inputs)
            for value, bound in zip(changed, bounds):
                if rounded_to is not None and name_of(func) == "_to_copy":
                    bound = bound + _of_cast(value, rounded_to)
                self.set_bound(value, bound)
                self._depths[value.untyped_storage().data_ptr()] = self.depth
        return result


class Contractions(TorchFunctionMode):
    """Knows when torch.einsum makes a product of matrices of plain multiplications: where the index that it sums over
    has the size 1, nothing else tells these apart from a multiplication of elements."""

    depth, passed = 0, False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        is_one = func is torch.einsum and _sums_an_index(args[0])
        self.depth += is_one
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.depth -= is_one
            self.passed |= is_one

    def are_here(self) -> bool:
        """In such a call, or in a backward pass that may be of one."""
        return self.depth > 0 or (self.passed and torch._C._current_graph_task_id() != -1)


def _sums_an_index(equation: Any) -> bool:
    if not isinstance(equation, str):
        return True  # lists of numbers: most do
    given, arrow, result = equation.partition("->")
    letters = [letter for letter in given if letter.isalpha()]
    return bool(set(letters) - set(result)) if arrow else len(set(letters)) < len(letters)


def _of_cast(value: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """Infinities are exact, and so is zero."""
    error = ROUNDINGS[kind][0] * value.abs().nan_to_num(posinf=0.0)
    return torch.where(value == 0, 0.0, error + STORED[kind][1]) if kind in STORED else error


def _copied(value: Any, mode: Rounding) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    copy = value.clone()
    mode.set_bound(copy, mode.bound(value).clone())
    return copy


def _written(func: Any, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The arguments that the operation writes, where it returns them not."""
    if func._schema.returns:
        return []
    found = []
    for number, parameter in enumerate(func._schema.arguments):
        if parameter.alias_info is not None and parameter.alias_info.is_write:
            value = kwargs.get(parameter.name, args[number] if number < len(args) else None)
            found += [v for v in tree_flatten(value)[0] if isinstance(v, torch.Tensor)]
    return found
