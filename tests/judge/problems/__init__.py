"""Submissions whose verdict is known: right ones, what is made of them by replacing one text, and whole files.

Here:      the classes, the list of all.
Not here:  the texts, a file for each family; judging them (test_judge_corpus.py, benchmarks/judge_corpus.py).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
FAMILIES = (
    "elementwise rows products scattered gradients handing cheats kernels_rows kernels_products kernels_attention "
    "kernels_pointwise kernels_moving whole_wrong whole_cheats"
).split()
KINDS = "mask stride other scale cast acc bound index race barrier shape nan grad formula".split()
"""First words of the names of changes: what the mistake is in. `shape` and `nan`: only some inputs show it."""
MARK = "#!"


@dataclass(frozen=True)
class Change:
    """Text `old`, which occurs once, becomes `new`. name: begins with one of KINDS. verdict: what it makes of a right
    submission; a change that keeps it right is another right submission. line: a part of the line that a reason has to
    name; empty: any line. rule: of a reason that has to be there; empty: any. cases: needs more than the usual
    number."""

    name: str
    old: str
    new: str
    verdict: str = "wrong"
    line: str = ""
    rule: str = ""
    cases: int = 0


@dataclass(frozen=True)
class Problem:
    """reference, right: texts without the common imports."""

    name: str
    reference: str
    right: str
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True)
class Whole:
    """A submission for the reference of another problem; MARK ends the line that a reason has to name."""

    problem: str
    name: str
    text: str
    verdict: str = "wrong"
    rule: str = ""


@dataclass(frozen=True)
class Submission:
    """problem, family: where it comes from."""

    name: str
    problem: str
    family: str
    reference: str
    text: str
    verdict: str
    line: str = ""
    rule: str = ""
    cases: int = 0

    @property
    def kind(self) -> str:
        """What the mistake is in; "mixed" where the name does not say."""
        word = self.name.removeprefix(f"{self.problem}-").partition("-")[0]
        return word if word in KINDS else "mixed"


def kernels(name: str) -> str:
    """A file of tests/kernels as a submission: its functions launch its kernels."""
    path = Path(__file__).resolve().parents[2] / "kernels" / f"{name}.py"
    return path.read_text().replace("from checking import DEVICE", 'DEVICE = "cuda"')


def _changed(problem: Problem, family: str) -> Iterator[Submission]:
    reference, right = "import torch\n" + problem.reference, HEAD + problem.right
    yield Submission(problem.name, problem.name, family, reference, right, "right")
    for change in problem.changes:
        name = f"{problem.name}-{change.name}"
        assert right.count(change.old) == 1, f"{name}: {right.count(change.old)} places"
        text = right.replace(change.old, change.new)
        wanted = (change.verdict, change.line, change.rule, change.cases)
        yield Submission(name, problem.name, family, reference, text, *wanted)


def _whole(one: Whole, family: str, references: dict[str, str]) -> Submission:
    marked = [line for line in one.text.splitlines() if MARK in line]
    line = marked[0].partition(MARK)[0].strip() if marked else ""
    text = HEAD + one.text.replace(f"  {MARK}", "")
    name = f"{one.problem}-{one.name}"
    return Submission(name, one.problem, family, references[one.problem], text, one.verdict, line, one.rule)


def submissions() -> list[Submission]:
    """All of the corpus, in a fixed order."""
    modules = {name: importlib.import_module(f"problems.{name}") for name in FAMILIES}
    found = [one for family, m in modules.items() for p in getattr(m, "PROBLEMS", []) for one in _changed(p, family)]
    references = {one.problem: one.reference for one in found}
    return found + [_whole(w, family, references) for family, m in modules.items() for w in getattr(m, "WHOLE", [])]
