"""What a comparison found: Report with a Row for each argument and backend, and the three verdicts.

Not here:  comparing (comparing.py), text and pages (text.py, html.py).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiletwin import ports
from tiletwin.diff.backends import Outcome
from tiletwin.diff.launches import Array, Launch
from tiletwin.errors import DifferenceError
from tiletwin.origins import Origin

SAME, DIFFERENT, NOT_COMPARABLE = "same", "different", "not comparable"


@dataclass
class Row:
    """One argument on two backends."""

    argument: str
    array: Array
    a: str
    b: str
    verdict: str = SAME
    elements: int = 0
    equal: int = 0
    """Elements with equal bits, two NaNs, or zeros of either sign."""
    within: int = 0
    """Elements that differ by no more than the bound derived for them."""
    different: int = 0
    not_comparable: int = 0
    zero_signs: int = 0
    worst_ulp: int = 0
    worst: str = ""
    """Index of the element that is furthest apart."""
    first: int = -1
    """Of all elements that differ, the first in the order of programs, counted from the argument's first element."""
    index: str = ""
    left: str = ""
    right: str = ""
    bound: str = ""
    program: tuple[int, int, int] | None = None
    place: tuple[str, int, int] | None = None
    """File, line and column of the store that wrote it."""
    reason: str = ""
    """Why not comparable."""
    verdicts: np.ndarray | None = field(default=None, repr=False)
    """A byte for each element of the storage: 0 same, 1 within its bound, 2 different, 3 not comparable."""
    values: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)
    limits: np.ndarray | None = field(default=None, repr=False)


@dataclass(repr=False)
class Report:
    """What a comparison found."""

    launch: Launch
    outcomes: list[Outcome]
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What kept a backend from being compared, and how kernels failed."""
    ended: str = SAME
    """Whether the backends ended alike."""
    findings: list[str] = field(default_factory=list)
    """What the backends' checks say of their code. All checks are asked where a launch differs."""
    finding: Any = None
    """The first value inside of the kernel that differs (localise.Finding); None: not looked for, or not found."""
    origins: tuple[Origin, ...] = ()
    """Lines of a script for which the kernel was generated."""

    @property
    def verdict(self) -> str:
        """The worst of all."""
        all_ = [self.ended, *(row.verdict for row in self.rows)]
        return DIFFERENT if DIFFERENT in all_ else NOT_COMPARABLE if NOT_COMPARABLE in all_ else SAME

    @property
    def same(self) -> bool:
        return self.verdict == SAME

    @property
    def reasons(self) -> dict[str, int]:
        """Why things were not comparable, with the number of arguments or backends."""
        found = [row.reason for row in self.rows if row.not_comparable]
        found += [f"{o.backend} cannot run a launch: {o.unsupported}" for o in self.outcomes if o.unsupported]
        return dict(Counter(found))

    def first(self) -> Row | None:
        """The row whose first difference was written first."""
        rows = [row for row in self.rows if row.verdict == DIFFERENT]
        order = {row.argument: i for i, row in reversed(list(enumerate(self.rows)))}
        return min(
            rows, key=lambda r: (r.program is None, (r.program or (0, 0, 0))[::-1], order[r.argument]), default=None
        )

    def __str__(self) -> str:
        return ports.report_text(self)

    __repr__ = __str__  # what a prompt shows

    def _repr_html_(self) -> str:
        return ports.report_page(self)

    def raise_for_difference(self) -> None:
        """Raises an error if the backends differ.

        Raises:
            DifferenceError: the backends differ; its text is the report.
        """
        if self.verdict == DIFFERENT:
            raise DifferenceError(str(self), self)
