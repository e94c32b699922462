"""Asking a reference for what it says of a case, and whether the case means anything to it.

Here:      sizes that only broadcasting takes, arguments with which torch crashes, numbers that change nothing.
Not here:  cases and their arguments (inputs.py), what the reference says (oracle.py).
"""

from __future__ import annotations

import functools
from typing import Any

from tiletwin.judge import oracle, scalars
from tiletwin.judge.free_sizes import FreeSizes
from tiletwin.judge.inputs import Case, Inputs
from tiletwin.judge.problem import Problem
from tiletwin.judge.surviving import is_risky, why_not


class Asking:
    """The reference of one verdict. seed: of random numbers that it draws."""

    def __init__(self, inputs: Inputs, seed: int) -> None:
        self._inputs, self._seed = inputs, seed
        self._free = FreeSizes(inputs, self._takes)

    def of(self, case: Case, base: oracle.Answer | None) -> tuple[Problem, list[Any], oracle.Answer]:
        """The case's problem and arguments, and what the reference says of them. base: what it said of the example.

        Errors: Refused, ValueError: the reference does not take them, or the case makes no sense."""
        problem = self._inputs.problem_of(case)
        if not self._free.are_meant(case):
            raise oracle.Refused("it takes a size of 1 only because torch broadcasts")
        args = self._inputs.arguments(case)
        ask = functools.partial(oracle.answer, problem, args, self._seed, case.seed)
        if case.number and is_risky(args) and (why := why_not(ask)):
            raise oracle.Refused(why)
        answer = ask()
        if case.way == "scalars" and base is not None and not self._depends(args, base, answer):
            raise oracle.Refused("its results do not depend on that number, or are not as large")
        return problem, args, answer

    def _takes(self, problem: Problem, args: list[Any]) -> bool:
        ask = functools.partial(oracle.called, problem, args, self._seed)
        return not why_not(ask) if is_risky(args) else oracle.takes(problem, args, self._seed)

    def _depends(self, args: list[Any], base: oracle.Answer, answer: oracle.Answer) -> bool:
        """Whether results are others for a number in place of the example's."""
        calls = self._inputs.of_shapes or self._inputs
        old = [*calls.base(), *calls.problem.defaults]
        shapes = [[wanted.low.shape for wanted in one.results] for one in (base, answer)]
        return not oracle.are_same(base, answer) and scalars.are_meant(old, args, *shapes)
