"""Submissions whose verdict is known: right ones, and what is made of them by replacing one text.

Here:      the classes, the list of all.
Not here:  the texts, a file for each family; judging them (test_judge_corpus.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


@dataclass(frozen=True)
class Change:
    """Text `old`, which occurs once, becomes `new`. verdict: what it makes of a right submission; a change that keeps
    it right is another right submission. line: a part of the line that a reason has to name; empty: any line. rule: of
    a reason that has to be there; empty: any. cases: needs more than the usual number."""

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
class Submission:
    name: str
    reference: str
    text: str
    verdict: str
    line: str = ""
    rule: str = ""
    cases: int = 0


def submissions() -> list[Submission]:
    """All of the corpus, in a fixed order."""
    from problems import cheats, elementwise, gradients, products, rows, scattered

    found = []
    for problem in [p for m in (elementwise, rows, products, scattered, gradients, cheats) for p in m.PROBLEMS]:
        reference, right = "import torch\n" + problem.reference, HEAD + problem.right
        found.append(Submission(problem.name, reference, right, "right"))
        for change in problem.changes:
            assert right.count(change.old) == 1, f"{problem.name}, {change.name}: {right.count(change.old)} places"
            text = right.replace(change.old, change.new)
            found.append(
                Submission(
                    f"{problem.name}-{change.name}",
                    reference,
                    text,
                    change.verdict,
                    change.line,
                    change.rule,
                    change.cases,
                )
            )
    return found
