"""A program in front of its judges: what each says, and what of it is a finding.

Here:      Panel, Verdict, Finding; twins as judges.
Not here:  the judges (judges.py), shrinking (shrink.py), files (findings.py).
Invariant: an exception of a judge is a finding, never the end of a campaign.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tiletwin.diff.backends import Backend, Outcome, SimBackend, Traits
from tiletwin.diff.comparing import compare_launch
from tiletwin.diff.launches import Launch
from tiletwin.diff.reports import DIFFERENT, NOT_COMPARABLE, Report
from tiletwin.errors import CompilationError
from tiletwin.fuzz import avoided, running
from tiletwin.fuzz import judges as table
from tiletwin.fuzz.tree import Program
from tiletwin.fuzz.twins import CODE_TWINS, TWINS

REFUSED, BROKEN = "refused", "broken"
"""Kinds of findings besides "different": the front end refuses a program; a judge raised an exception of its own."""
_REFUSAL = "wrapped around"
"""In the error of docs/ops.md's tt.addptr, which is no finding."""


@dataclass
class Verdict:
    """What one judge says of one program. seconds: of its run alone."""

    judge: str
    verdict: str
    reason: str = ""
    seconds: float = 0.0


@dataclass
class Finding:
    """kind: "different", "refused", "broken", "died" or "hangs". where: the first value that differs, or the message:
    findings with the same judge, kind and `where` count as one before they are shrunk."""

    judge: str
    kind: str
    where: str
    message: str


@dataclass
class Judged:
    verdicts: list[Verdict] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ttir: str = ""


class Done(Backend):
    """Stands for a judge whose outcome is known already."""

    def __init__(self, name: str, traits: Traits) -> None:
        self.name, self.traits = name, traits


def place_of(report: Report) -> str:
    """The first operation that differs, without numbers that are the program's own."""
    found = report.finding
    if found is not None and found.operation:
        return found.operation
    if report.findings:
        return report.findings[0].split(": ")[1]
    row = report.first()
    return f"stored {row.array.type}" if row is not None else report.ended


def short_text(report: Report) -> str:
    """The report without the arguments that are the same."""
    return "\n".join(line for line in str(report).splitlines() if "): same: " not in line)


def message_of(error: BaseException) -> str:
    """The last line of an error's text, which says what; numbers are the program's own, and become N."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return re.sub(r"\d+", "N", f"{type(error).__name__}: {lines[-1] if lines else ''}")[:200]


class Panel:
    """The judges of a campaign. words: names as in judges.make, and "twins", each with its share ("triton:sim/8"); the
    first one sees every program, and is compared with all others."""

    def __init__(self, words: Sequence[str]) -> None:
        self.shares = dict(map(table.shared, words))
        self.judges = [table.make(name) for name in self.shares if name != "twins"]

    def only(self, names: Sequence[str]) -> Panel:
        """Some of these judges, for every program."""
        panel = Panel(())
        panel.shares = dict.fromkeys(names, 1)
        panel.judges = [judge for judge, name in zip(self.judges, self._names) if name in names]
        return panel

    @property
    def _names(self) -> list[str]:
        return [name for name in self.shares if name != "twins"]

    def close(self) -> None:
        for judge in self.judges:
            judge.close()

    def judge(self, program: Program, *, localise: bool = True) -> Judged:
        """Runs everything. The program's text stays in linecache until `running.forget`."""
        judged = Judged()
        try:
            launch = running.launch_of(program)
        except CompilationError as error:
            judged.findings.append(Finding("front end", REFUSED, message_of(error), str(error)))
            return judged
        except Exception as error:
            judged.findings.append(_broken("front end", error))
            return judged
        judged.ttir = launch.ttir
        first = self._outcome(self.judges[0], launch, judged)
        if first is None:
            return judged
        if first.unsupported or first.error:
            text = first.error or first.unsupported
            if _REFUSAL in text:  # indices that wrap around: the interpreter may say so instead of running them
                judged.verdicts[-1].verdict = NOT_COMPARABLE
                judged.verdicts[-1].reason = f"the interpreter refuses indices that have {_REFUSAL}"
                return judged
            judged.findings.append(Finding(self.judges[0].name, BROKEN, text.split(":")[-1][:120], text))
            return judged
        seen = {name for name, every in self.shares.items() if program.seed % every == 0}
        for judge, name in zip(self.judges[1:], self._names[1:]):
            if name not in seen:
                continue
            why = avoided.reason(judge.name, program)
            if why:
                judged.verdicts.append(Verdict(judge.name, NOT_COMPARABLE, why))
                continue
            outcome = self._outcome(judge, launch, judged)
            if outcome is not None:
                self._compare(launch, judge, first, outcome, judged, localise)
        if "twins" in seen:
            for name in (*TWINS, *CODE_TWINS):
                self._twin(name, program, launch, first, judged)
        return judged

    def _outcome(self, judge: Backend, launch: Launch, judged: Judged) -> Outcome | None:
        started = time.perf_counter()
        try:
            outcome = judge.run(launch)
        except Exception as error:
            judged.findings.append(_broken(judge.name, error))
            judged.verdicts.append(Verdict(judge.name, BROKEN, seconds=time.perf_counter() - started))
            return None
        outcome.seconds = time.perf_counter() - started
        if judge is self.judges[0]:
            judged.verdicts.append(Verdict(judge.name, "ran", seconds=outcome.seconds))
        return outcome

    def _compare(
        self, launch: Launch, judge: Backend, first: Outcome, outcome: Outcome, judged: Judged, localise: bool
    ) -> None:
        known = {self.judges[0].name: first, judge.name: outcome}
        try:
            report = compare_launch(launch, [self.judges[0], judge], known=known, localise=localise)
            found = (place_of(report), short_text(report)) if report.verdict == DIFFERENT else None
        except Exception as error:
            judged.findings.append(_broken(f"comparing with {judge.name}", error))
            return
        reasons = "; ".join(report.reasons)[:200]
        judged.verdicts.append(Verdict(judge.name, report.verdict, reasons, outcome.seconds))
        if found is not None:
            judged.findings.append(Finding(judge.name, DIFFERENT, *found))

    def _twin(self, name: str, program: Program, launch: Launch, first: Outcome, judged: Judged) -> None:
        label, is_code = f"twin: {name}", name in CODE_TWINS
        inner = next((j for j in self.judges if isinstance(j, SimBackend)), None) if is_code else self.judges[0]
        if inner is None:
            return
        twin = (CODE_TWINS if is_code else TWINS)[name](program)
        if twin is None:
            return
        started = time.perf_counter()
        try:
            twin.seed = -program.seed - 1
            other = running.launch_of(twin)
            outcome = inner.run(other)
        except Exception as error:
            judged.findings.append(_broken(label, error))
            return
        finally:
            running.forget(twin)
        outcome = replace(
            outcome, backend=label, memory=outcome.memory[: len(launch.memory)], seconds=time.perf_counter() - started
        )
        self._compare(launch, Done(label, inner.traits), first, outcome, judged, False)


def _broken(judge: str, error: BaseException) -> Finding:
    text = "".join(traceback.format_exception(error)[-8:])
    return Finding(judge, BROKEN, message_of(error), text)


def judges_needed(finding: Finding, names: Sequence[str]) -> list[str]:
    """The fewest judges that can show a finding again. names: without shares, the first one leads."""
    if finding.judge in names:
        return list(dict.fromkeys([names[0], finding.judge]))
    if finding.judge.startswith("twin: "):
        code = [name for name in names if name.startswith("sim")] if "warps" in finding.judge else []
        return [names[0], *code[:1], "twins"]
    return [*names[:1]]


def same_finding(wanted: Finding, judged: Judged) -> Finding | None:
    """The finding among those of another run that tells of the same mistake, as far as that can be seen."""
    alike = (f for f in judged.findings if (f.judge, f.kind) == (wanted.judge, wanted.kind))
    return next((found for found in alike if wanted.kind == DIFFERENT or found.where == wanted.where), None)
