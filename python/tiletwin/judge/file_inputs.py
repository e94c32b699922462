"""Inputs of a problem whose sizes are constants of its file: each case is the file with other constants.

Here:      the list of sizes, arguments of a case.
Not here:  which constants are sizes (file_sizes.py), how numbers and layouts are varied (inputs.py).
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import torch

from tiletwin.judge.file_sizes import Sizes
from tiletwin.judge.inputs import MOST_ELEMENTS, Case, Inputs, blocks_of
from tiletwin.judge.problem import Problem

MOST_KEPT = 4
"""Problems that are kept: each has its weights twice."""


def inputs_of(problem: Problem, submission: str, seed: int) -> Inputs:
    """The cases of a problem. submission: its text."""
    if problem.tests:
        return TestInputs(problem, submission, seed)
    return FileInputs(problem, submission, seed) if problem.sizes is not None else Inputs(problem, submission, seed)


class FileInputs(Inputs):
    values = ("signed", *Inputs.values)
    """Files of KernelBench draw from 0 to 1, where a forgotten relu is right."""

    def __init__(self, problem: Problem, submission: str, seed: int = 0) -> None:
        assert problem.sizes is not None
        self.problem, self.seed, self.of_file = problem, seed, problem.sizes
        self.blocks = blocks_of(submission)
        declared = problem.schema.sizes
        self.first = self.of_file.first(declared)
        self.smaller = self.of_file.smaller(MOST_ELEMENTS, declared)
        self.note = self.of_file.said(self.first)
        self._known: dict[Sizes, Problem] = {self.first: problem}
        self.original = problem.examples(seed)

    @property
    def of_shapes(self) -> Inputs | None:
        return None

    def problem_of(self, case: Case) -> Problem:
        if case.sizes not in self._known:
            assert self.problem.at is not None
            while len(self._known) >= MOST_KEPT:
                del self._known[next(sizes for sizes in self._known if sizes != self.first)]
            self._known[case.sizes] = self.problem.at(case.sizes)
        return self._known[case.sizes]

    def _plain(self, case: Case, generator: torch.Generator) -> list[Any]:
        return self.problem_of(case).examples(case.seed)

    def _fitting(self, sizes: dict[Any, int]) -> Sizes | None:
        found = tuple((name, new) for name, new in sizes.items() if new != self.of_file.values[name])
        return found if self.of_file.fits(found, 4 * MOST_ELEMENTS) else None

    def _size_cases(self) -> list:
        """One constant after the other, and, of a file with several, two that were equal."""
        values, rows = self.of_file.values, []
        for name in self.of_file.names:
            for new in self._choices(values[name]):
                sizes = self._fitting({**dict(self.smaller), name: new})
                if sizes is not None:
                    rows.append(("sizes", f"{name} becomes {new}", sizes, ""))
        random.Random(self.seed).shuffle(rows)
        return rows[:40]

    def _tied_sizes(self) -> list:
        return []  # what belongs together is made of one constant

    def _mixed_sizes(self) -> list:
        chosen, rows, values = random.Random(self.seed + 1), [], self.of_file.values
        for _ in range(12):
            new = {
                name: max(chosen.choice(self._choices(values[name]) or [values[name]]), 1)
                for name in self.of_file.names
            }
            sizes = self._fitting(new)
            if sizes is not None:
                rows.append(("sizes", self.of_file.said(sizes), sizes, ""))
        return rows


class TestInputs(Inputs):
    """First the tests as they are, then cases of a function that they call."""

    def __init__(self, problem: Problem, submission: str, seed: int = 0) -> None:
        self.problem, self.seed = problem, seed
        self.calls = Inputs(problem.calls, submission, seed) if problem.calls is not None else None

    def cases(self) -> Iterator[Case]:
        yield Case(0, "example", "its tests, as they are", self.seed)
        for case in self.calls.cases() if self.calls is not None else ():
            yield dataclasses.replace(case, number=case.number + 1)

    @property
    def of_shapes(self) -> Inputs | None:
        return self.calls

    def problem_of(self, case: Case) -> Problem:
        return self.problem if case.number == 0 or self.calls is None else self.calls.problem

    def arguments(self, case: Case) -> list[Any]:
        return [] if case.number == 0 or self.calls is None else self.calls.arguments(case)
