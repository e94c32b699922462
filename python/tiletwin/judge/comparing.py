"""Compares what a submission gave with what it has to give, element by element.

Here:      one tensor's comparison, which tolerance it would have needed.
Not here:  bounds (rounding.py), verdicts (judging.py).
Rules:     - an element is right within three times its bound, which is that of the reference's order of
             operations (parts of sums in another order may be larger), or within twice what the reference is off by in
             the same types;
           - NaN where the reference has NaN, in float64 and in the submission's types; where only one of them has,
             nothing is judged; where infinities among the inputs made NaN or an infinity, either will do: whether they
             meet depends on how a sum is written, and parts of a scan have other signs than the whole;
           - an infinity, or NaN, where the exact number may overflow, or, of float32 and bfloat16, is within a factor
             of 2^32 of that: a * b of a * b + c overflows where it is not fused, and so do products of a scan's gates;
             where a bound is infinite nothing is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tiletwin.judge.oracle import Expected
from tiletwin.judge.rounding import ROUNDINGS

ROOM = 2.0**32
"""By which parts of a computation may be larger than what comes out, in large numbers."""
ORDERS = 3
"""Bounds by which right implementations differ whose sums are made in another order than the reference's."""


@dataclass
class Comparison:
    """wrong: number of elements. first: index of the first wrong one, with what it is and may be. problem: why nothing
    could be compared. open: elements that are not judged. atol, rtol: what allclose would have needed, absolutely
    alone and relatively alone. worst: largest error in bounds."""

    name: str
    elements: int = 0
    wrong: int = 0
    open: int = 0
    first: tuple[int, ...] = ()
    got: float | int | bool = 0
    expected: float | int | bool = 0
    bound: float = 0.0
    atol: float = 0.0
    rtol: float = 0.0
    worst: float = 0.0
    problem: str = ""


def compare(expected: Expected, got: torch.Tensor, instead: tuple[Expected, torch.Tensor] | None = None) -> Comparison:
    """got: on the CPU, as the submission gave it. instead: what some elements may be, too (untouched.py)."""
    found = Comparison(expected.name, expected.low.numel())
    if got.shape != expected.low.shape:
        found.problem = f"has shape {list(got.shape)}, and the reference's has {list(expected.low.shape)}"
        return found
    if got.is_floating_point() != expected.low.is_floating_point() or got.is_complex() != expected.low.is_complex():
        found.problem = f"is {_word(got)}, and the reference's is {_word(expected.low)}"
        return found
    if not got.numel():
        return found
    if got.is_floating_point():
        wrong, open_, distance, bound = _floats(expected, got)
    else:
        low = expected.low if expected.low.dtype != torch.bool else expected.low.to(torch.uint8)
        value = got if got.dtype != torch.bool else got.to(torch.uint8)
        open_ = expected.bound.isinf()
        distance, bound = (low.double() - value.double()).abs(), expected.bound
        wrong = (low != value) & ~(distance <= 2 * bound)
    if instead is not None:
        other, may_be = instead
        wrong &= ~(may_be & (_floats(other, got)[0].logical_not() if got.is_floating_point() else other.low == got))
    found.wrong, found.open = int(wrong.sum()), int(open_.sum())
    judged = ~open_ & distance.isfinite()
    if bool(judged.any()):
        size = expected.exact.double().abs()
        found.atol = float(distance[judged].max())
        found.rtol = float((distance / size.clamp(min=1e-300))[judged].max())
        found.worst = float((distance / bound.clamp(min=1e-300))[judged & (distance > 0)].max()) if found.atol else 0.0
    if found.wrong:
        number = int(wrong.flatten().nonzero()[0])
        found.first = tuple(int(n) for n in torch.unravel_index(torch.tensor(number), got.shape))
        found.got, found.expected = got.flatten()[number].item(), expected.exact.flatten()[number].item()
        found.bound = float(bound.flatten()[number])
    return found


def _word(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _floats(expected: Expected, got: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Which are wrong, which are not judged, distances, bounds."""
    exact, low, value = expected.exact.double(), expected.low.double(), got.double()
    kind = expected.low.dtype if expected.low.dtype in ROUNDINGS else torch.float32
    unit, least = ROUNDINGS[kind]
    own = torch.where(exact.isfinite() & low.isfinite(), (low - exact).abs(), 0.0)
    size = torch.where(exact.isfinite(), exact.abs(), 0.0)
    bound = torch.maximum(ORDERS * expected.bound, 2 * own) + unit * size + least
    distance = (value - exact).abs()
    right = (distance <= bound) | (value == exact) | (value.isnan() & exact.isnan())
    if expected.of_infinities:
        right |= (value.isnan() | exact.isnan()) & ~value.isfinite() & ~exact.isfinite()
    largest = torch.finfo(kind).max
    # Kernels compute in float32: halves have room there.
    has_room = largest < torch.finfo(torch.bfloat16).max or kind == torch.float64
    near = exact.isfinite() & (size + bound >= largest / (1 if has_room else ROOM))
    right |= near & (value.isinf() | value.isnan() | (value.abs() + bound >= largest))
    overflows = near & (size + bound >= largest / (1 if has_room else 4))
    open_ = (
        bound.isinf() | (exact.isnan() != low.isnan()) | ((exact.isinf() | low.isinf()) & (low != exact) & ~overflows)
    )
    open_ &= ~right
    return ~right & ~open_, open_, torch.where(open_, 0.0, distance), bound
