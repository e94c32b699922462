"""Findings of every part in one shape: checks, errors of launches, differences between backends.

Here:      Result and Place, made of findings (checks.py), errors and reports of the tester.
Not here:  formats (sarif.py, json_text.py), files (output.py).
Invariant: a fingerprint depends on the rule, the kernel, the file's name and the text of the lines, never on line
           numbers, values, programs or addresses: it stays while code around it is edited, and from run to run.
"""

from __future__ import annotations

import hashlib
import linecache
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tiletwin.findings.rules import rule_of


@dataclass(frozen=True)
class Place:
    """A place in a source. Numbers count from 1; unknown ones are None. `source`: the line there; may be empty."""

    file: str | None
    line: int | None
    column: int | None
    text: str = ""
    """What happened there."""
    source: str = ""


@dataclass(frozen=True)
class Result:
    """One thing that was found. rule: a name of rules.RULES. program: the lowest that did it. test: pytest's name of
    the test. facts: what else is known, as JSON takes it."""

    rule: str
    message: str
    advice: str
    place: Place
    kernel: str | None = None
    program: tuple[int, int, int] | None = None
    related: tuple[Place, ...] = ()
    test: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> str:
        return rule_of(self.rule).level

    def fingerprint(self, root: str) -> str:
        """16 digits, the same in every run of the same mistake; `root`: what file names are relative to."""
        parts = [self.rule, self.kernel or "", relative(self.place.file, root), self.place.source.strip()]
        parts += [f"{relative(p.file, root)}:{p.source.strip()}" for p in self.related]
        parts += [str(self.facts.get(name, "")) for name in ("operation", "variable", "argument", "backends")]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def relative(file: str | None, root: str) -> str:
    """A path as seen from `root`, with slashes; absolute where it is not below it."""
    if not file:
        return ""
    path = os.path.abspath(os.path.join(root, file))
    return os.path.relpath(path, root).replace(os.sep, "/") if path.startswith(root.rstrip("/") + "/") else path


def place(file: Any, line: Any, column: Any, text: str = "") -> Place:
    """A place whose parts may be missing, with its line of the source."""
    source = linecache.getline(file, line).rstrip("\n") if file and line else ""
    return Place(file or None, line or None, column or None, text, source)


def _origin(origin: Any) -> Place:
    """A line for which a kernel was generated."""
    return Place(origin.file, origin.line, None, "the kernel was generated for this line", origin.text)


def of_finding(finding: Any, test: str | None = None) -> Result:
    """A tiletwin.checks.Finding."""

    def other(site: Any) -> Place:
        text = " ".join(filter(None, (site.operation, site.text)))
        by = f" in program {site.program}" if site.program else ""
        return place(site.file, site.line, site.column, text + by)

    facts = {
        "operation": finding.operation,
        "variable": finding.variable,
        "programs": finding.programs,
        "shape": list(finding.shape),
        "elements": [list(element) for element in finding.elements],
        "element_count": finding.count,
        "launches": finding.launches,
        "evidence": finding.evidence,
    }
    site = finding.site
    return Result(
        rule=finding.check,
        message=finding.message,
        advice=finding.advice,
        place=place(site.file, site.line, site.column),
        kernel=finding.kernel,
        program=finding.program,
        related=(
            *(other(site) for site in (finding.second, *finding.more) if site is not None),
            *map(_origin, finding.origins),
        ),
        test=test,
        facts={name: value for name, value in facts.items() if value not in (None, "", [])},
    )


def of_error(error: BaseException, test: str | None = None) -> Result | None:
    """An error that a launch raised; None for any other one."""
    file, line, program = (getattr(error, name, None) for name in ("file", "line", "program"))
    if not isinstance(file, str) or not isinstance(line, int):
        return None
    names = ("operation", "variable", "element", "buffer", "offset", "buffer_bytes", "access_bytes")
    facts = {name: value for name in names if (value := getattr(error, name, None)) is not None}
    return Result(
        rule="error",
        message=f"{type(error).__name__}: {str(error).partition(chr(10))[0]}",
        advice="",
        place=place(file, line, getattr(error, "column", None)),
        program=program if isinstance(program, tuple) else None,
        related=tuple(map(_origin, getattr(error, "origins", ()))),
        test=test,
        facts=facts,
    )


def of_report(report: Any, test: str | None = None) -> list[Result]:
    """A tiletwin.diff report: a result for each argument that differs or cannot be compared, or for how it ended."""

    def at(where: tuple[str, int, int] | None, text: str = "") -> Place:
        file, line, column = where or (None, None, None)
        source = launch.source_line(file, line).rstrip("\n") if file and line else ""
        return Place(file or None, line or None, column or None, text, source)

    launch = report.launch
    found = []
    for row in report.rows:
        if row.verdict == "same":
            continue
        inside = report.finding.place if report.finding is not None else None
        differs = row.verdict == "different"
        sides = f"{row.a} has {row.left}, {row.b} has {row.right}; the bound is {row.bound or 'unknown'}"
        names = ("elements", "different", "not_comparable", "worst_ulp", "index")
        facts = {"argument": row.argument, "backends": f"{row.a},{row.b}", **{n: getattr(row, n) for n in names}}
        found.append(
            Result(
                rule="difference" if differs else "not-comparable",
                message=f"{row.argument}{row.index}: {sides}" if differs else f"{row.argument}: {row.reason}",
                advice="",
                place=at(row.place or inside),
                kernel=launch.name,
                program=row.program,
                related=(
                    *((at(inside, "the first value that differs"),) if row.place and inside else ()),
                    *map(_origin, report.origins),
                ),
                test=test,
                facts=facts,
            )
        )
    if not found and report.verdict != "same":
        rule = "difference" if report.verdict == "different" else "not-comparable"
        why = "; ".join([*report.notes, *report.findings, *report.reasons]) or report.verdict
        facts = {"backends": ",".join(outcome.backend for outcome in report.outcomes)}
        found.append(Result(rule, why, "", Place(None, None, None), launch.name, None, (), test, facts))
    return found


def without_repeats(results: Iterable[Result]) -> list[Result]:
    """Each once, in order, as it was said last: by then it was found in more launches. A mistake that several tests or
    processes found stays one for each test."""
    kept: dict[tuple, Result] = {}
    for result in results:
        key = (result.rule, result.message, result.place, result.kernel, result.program, result.test)
        kept[key] = result
    return list(kept.values())
