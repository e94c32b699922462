"""What a case of the corpus is: a kernel with a mistake and without it, and a run of it.

Here:      `seeded`, which registers a case; the lines that a report must name; seeded inputs.
Not here:  kernels (the other files, by family), what is expected of the checks (test_corpus.py).
Invariant: a kernel's only difference between the mistake and its clean twin is what its constexpr `BUG` chooses, or
           what `run(bug)` passes to it. The line that a report must name ends in `# BUG: <check>`; of a race between
           two lines, both do. Lines that are wrong only because of that one may be named too: `# ALSO: <check>`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

CASES: list[Case] = []
MARK = re.compile(r"#\s*(BUG|ALSO): ([\w:]+)\s*$")


@dataclass(frozen=True)
class Case:
    """One mistake. `check`: who must find it, "OutOfBoundsError" where the launch itself fails. `also`: checks that
    may report as well. `hidden`: why the wrong kernel's numbers are right on the CPU; empty: they are wrong.
    `run(bug)` launches and returns (results, what they should be)."""

    name: str
    check: str
    kernel: Any
    run: Callable[[bool], tuple[torch.Tensor, torch.Tensor]]
    also: frozenset[str]
    hidden: str

    @property
    def file(self) -> str:
        return inspect.getsourcefile(self.kernel.fn) or ""

    def _lines(self, kind: str) -> set[int]:
        lines, first = inspect.getsourcelines(self.kernel.fn)
        marks = ((first + at, MARK.search(line)) for at, line in enumerate(lines))
        return {at for at, mark in marks if mark and (mark[1], mark[2]) == (kind, self.check)}

    def marked_lines(self) -> set[int]:
        """Lines of the kernel that the check must name."""
        return self._lines("BUG")

    def allowed_lines(self) -> set[int]:
        """Lines that it may name besides: consequences."""
        return self._lines("ALSO")


def seeded(check: str, kernel: Any, *, also: str = "", hidden: str = "") -> Callable:
    """Registers `run` as the case of `kernel`, under the kernel's name."""

    def register(run: Callable) -> Callable:
        name = kernel.fn.__name__
        CASES.append(Case(name, check, kernel, run, frozenset(also.split()), hidden))
        return run

    return register


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Gaussian numbers, the same in every call with these arguments."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def inside(like: torch.Tensor, before: int = 0, after: int = 0) -> torch.Tensor:
    """A copy of a 1-D tensor as a view in the middle of a larger storage, whose other elements are 7."""
    storage = torch.full((before + like.numel() + after,), 7, dtype=like.dtype)
    view = storage[before : before + like.numel()]
    view.copy_(like)
    return view
