"""Counts of many launches, of one process or of several: verdicts, reasons, backends that compared nothing.

Here:      Tally, adding it up, exit codes by it.
Not here:  one report (comparing.py), how tables are printed (text.py), who asks (command.py, pytest_plugin.py).
Invariant: every launch that was to be compared is in `verdicts`: one that was left out is not comparable.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tiletwin.diff.reports import DIFFERENT, NOT_COMPARABLE, SAME, Report


@dataclass
class Tally:
    """Of launches. absent: by backend, empty if it took part in a comparison, else why it took part in none."""

    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    absent: dict[str, str] = field(default_factory=dict)
    comparisons: int = 0

    def add_report(self, report: Report) -> None:
        self.verdicts[report.verdict] += 1
        self.reasons.update(report.reasons)
        self.add_comparison(report)

    def add_comparison(self, report: Report) -> None:
        """What one report says of backends, and nothing else of it."""
        first, *others = report.outcomes
        for outcome in others:
            self._add_absent(outcome.backend, first.unsupported or outcome.unsupported)
        if others:
            self._add_absent(first.backend, first.unsupported)
        self.comparisons += 1

    def leave_out(self, reason: str) -> None:
        """A launch that could not be taken."""
        self.verdicts[NOT_COMPARABLE] += 1
        self.reasons[reason] += 1

    def add(self, other: Tally) -> None:
        self.verdicts.update(other.verdicts)
        self.reasons.update(other.reasons)
        for backend, why in other.absent.items():
            self._add_absent(backend, why)
        self.comparisons += other.comparisons

    def _add_absent(self, backend: str, why: str) -> None:
        self.absent[backend] = why and self.absent.get(backend, why)

    def missing(self) -> list[str]:
        """What the caller wanted and did not get, a line each."""
        if self.comparisons:
            return [f"{name} compared nothing: {why}" for name, why in self.absent.items() if why]
        if self.verdicts:
            return [f"nothing was compared: all {self.verdicts.total()} launches were left out"]
        return ["nothing was compared: there was no launch"]

    def lines(self) -> list[str]:
        """Counts, and a line for each reason."""
        words = ", ".join(f"{self.verdicts[verdict]} {verdict}" for verdict in (SAME, DIFFERENT, NOT_COMPARABLE))
        reasons = [f"  not comparable ({number}): {reason}" for reason, number in sorted(self.reasons.items())]
        return [f"{words} of {self.verdicts.total()} launches", *reasons]

    def exit_code(self, most_not_comparable: int) -> int:
        """1, something differs; 3, more launches than allowed are not comparable (below 0: any number may be); 0."""
        if self.verdicts[DIFFERENT]:
            return 1
        return 3 if 0 <= most_not_comparable < self.verdicts[NOT_COMPARABLE] else 0

    def as_json(self) -> dict[str, Any]:
        parts = {"verdicts": dict(self.verdicts), "reasons": dict(self.reasons), "absent": self.absent}
        return {**parts, "comparisons": self.comparisons}

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> Tally:
        return cls(Counter(said["verdicts"]), Counter(said["reasons"]), dict(said["absent"]), said["comparisons"])


def tally(reports: list[Report]) -> Tally:
    """Of reports."""
    made = Tally()
    for report in reports:
        made.add_report(report)
    return made
