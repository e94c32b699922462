"""Whether a size of the examples may become 1 or 2: not if the reference takes that only because torch broadcasts.

Here:      which changes of a size say that it varies on its own.
Not here:  cases (inputs.py), what the reference makes of one (oracle.py).
Idea:      of rotary embedding, x[..., 32] and cos[..., 16] belong together. torch takes cos[..., 1] nevertheless, and
           nobody who wrote a kernel meant that. A size that is free takes other numbers too, one of which is asked for.
           "becomes 2" is looked at as well, since halves of it are 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin.judge.inputs import Case, Inputs
from tiletwin.judge.problem import Problem

MOST_BROADCAST = 2
"""Up to which a new size may be taken by broadcasting."""


def probes(size: int) -> list[int]:
    """Numbers of which a reference takes one if the size is free."""
    # Some have to be odd, or a multiple of 16, or a multiple or a part of what they are.
    near = [7, 48, 2 * size, size // 2, 3 * size, 5, 3]
    return [n for n in dict.fromkeys(near) if n > MOST_BROADCAST and n != size]


class FreeSizes:
    """takes: whether a reference takes arguments, asked at most once for each size."""

    def __init__(self, inputs: Inputs, takes: Callable[[Problem, list[Any]], bool]) -> None:
        self._inputs, self._takes = inputs.of_shapes, takes
        self._known: dict[int, bool] = {}

    def are_meant(self, case: Case) -> bool:
        """Whether all sizes of a case that may be broadcast are those of free sizes."""
        inputs = self._inputs
        if inputs is None:
            return True
        declared = inputs.problem.schema.sizes
        asked = (old for old, new in case.sizes if 0 < new <= MOST_BROADCAST and new < old and old not in declared)
        return all(self._is_free(inputs, old) for old in asked)

    def _is_free(self, inputs: Inputs, size: int) -> bool:
        if size not in self._known:
            small = dict(inputs.smaller)
            self._known[size] = any(self._is_taken(inputs, small | {size: n}) for n in probes(size))
        return self._known[size]

    def _is_taken(self, inputs: Inputs, sizes: dict[int, int]) -> bool:
        try:
            args = inputs.resized(sizes)
        except ValueError:  # it makes no sense for these arguments
            return False
        return self._takes(inputs.problem, args)
