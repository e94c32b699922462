"""A verdict and its reasons, as data.

Not here:  how they come about (judging.py), how they are shown (verdict.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

RIGHT, WRONG, CHEATING, BROKEN, NOT_JUDGED = "right", "wrong", "cheating", "broken", "not judged"
SEVERITY = (CHEATING, BROKEN, WRONG, NOT_JUDGED, RIGHT)
"""What a verdict is if it has reasons for several: the first of these."""
EXIT_CODES = {RIGHT: 0, WRONG: 1, CHEATING: 1, BROKEN: 1, NOT_JUDGED: 3}
"""Of the command; 2: it failed itself."""


@dataclass
class Reason:
    """One thing that speaks for a verdict.

    verdict: the one that it gives; empty: a note, which gives none. rule: a name of findings/rules.py. text: what is
    wrong. file, line: of the submission, 0 if unknown. case: number of the case; -1: none. inputs: shapes and types.
    program, kernel, element: where known. command: runs the case again.
    """

    verdict: str
    rule: str
    text: str
    file: str = ""
    line: int = 0
    case: int = -1
    inputs: str = ""
    kernel: str = ""
    program: tuple[int, ...] = ()
    element: tuple[int, ...] = ()
    source: str = ""
    command: str = ""

    @property
    def key(self) -> tuple:
        return self.verdict, self.rule, self.line, self.kernel, self.text if not self.line else ""


@dataclass
class Judged:
    """One case that was run. outcome: "right", "wrong", "declined" (the submission refused it), or "failed"."""

    number: int
    way: str
    what: str
    seed: int
    inputs: str
    outcome: str
    seconds: float
    worst: float = 0.0
    """Largest error in bounds."""


@dataclass
class Facts:
    """needed: the tolerance that allclose would have needed over all cases: atol alone, rtol alone. refused: cases that
    the reference does not take. processor: seconds of processors, the judge's and its worker's. isolation: layers
    of the sandbox; open: what it does not isolate."""

    submission: str
    reference: str
    word: str = NOT_JUDGED
    reasons: list[Reason] = field(default_factory=list)
    cases: list[Judged] = field(default_factory=list)
    refused: int = 0
    atol: float = 0.0
    rtol: float = 0.0
    worst: float = 0.0
    launches: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    seed: int = 0
    convention: str = ""
    entry: str = ""
    isolation: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def add(self, reason: Reason) -> None:
        """A reason that is there already is not added again."""
        if all(reason.key != other.key for other in self.reasons):
            self.reasons.append(reason)

    def decide(self) -> None:
        """The word follows from the reasons; without any that give one it is right, if cases were judged."""
        given = {reason.verdict for reason in self.reasons}
        judged = any(case.outcome == RIGHT for case in self.cases)
        self.word = next((word for word in SEVERITY if word in given), RIGHT if judged else NOT_JUDGED)
        first = {reason.key: reason for reason in reversed(self.reasons)}
        self.reasons = [reason for reason in self.reasons if first[reason.key] is reason]
        self.reasons.sort(key=lambda r: SEVERITY.index(r.verdict) if r.verdict else len(SEVERITY))
