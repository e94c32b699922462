"""What a worker does with one seed: program, judges, shrinking, a record of plain data.

Here:      Settings, Worker; the same in a process, under Ray and in the caller.
Not here:  how workers are started and lost (pools.py).
Invariant: a record is plain data, so it goes through a pipe or to another machine.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tiletwin import variables
from tiletwin.fuzz import coverage, findings, generator, judging, running, shrink
from tiletwin.fuzz.judging import Finding, Panel
from tiletwin.fuzz.tree import Program, ops

_CLEARED = 300
"""Programs after which what the compiler has kept on disk is thrown away."""
_PLACES = ("TILETWIN_LIBCUDA", "TILETWIN_PTXAS", "TILETWIN_TOOLS", "TILETWIN_TRITON", "TILETWIN_TEST_")
"""How the names of variables begin that a worker keeps. All others of ours change what runs, and judges say themselves
what they run."""
_MOST_SHRUNK = 40
"""Findings of one judge that a worker shrinks; a judge that is wrong everywhere must not end the campaign."""


@dataclass(frozen=True)
class Settings:
    """Of a campaign. size: forms of a program, about; shrink_seconds: for one finding; only: names of forms."""

    judges: tuple[str, ...]
    size: int | None = None
    shrink_seconds: float = 15.0
    only: tuple[str, ...] | None = None
    threads: int = 1
    judge_modules: tuple[str, ...] = ()
    """Modules to import first: they may add judges."""
    folder: str | None = None
    """Where workers keep files. The caller who names one removes it. None: each worker makes one and removes it."""


class Worker:
    def __init__(self, settings: Settings) -> None:
        import importlib

        self.settings = settings
        self.folder = tempfile.mkdtemp(prefix="tiletwin-fuzz-", dir=settings.folder)
        self.count = 0
        for name in variables.ours():
            if not name.startswith(_PLACES):
                variables.put(name, None)
        variables.put("TILETWIN_CACHE_DIR", self.folder)
        variables.put("TILETWIN_INTERPRET", "1")
        variables.put("TILETWIN_NUM_THREADS", str(settings.threads))
        running.import_triton_as_tiletwin()
        for module in settings.judge_modules:
            importlib.import_module(module)
        self.panel = Panel(settings.judges)
        self.seen: set[tuple[str, str, str]] = set()
        self.shrinks: Counter[str] = Counter()

    def close(self) -> None:
        self.panel.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, seed: int) -> dict[str, Any]:
        """Judges the program of a seed. What it finds is shrunk, unless it was found here before."""
        started = time.perf_counter()
        self.count += 1
        if self.count % _CLEARED == 0:
            shutil.rmtree(self.folder, ignore_errors=True)
        program = generator.program(seed, self.settings.size, self.settings.only)
        judged = self.panel.judge(program)
        record = {
            "seed": seed,
            "status": judged.findings[0].kind if judged.findings else "ran",
            "verdicts": [(v.judge, v.verdict, v.reason, v.seconds) for v in judged.verdicts],
            "form": sorted({(op.form, op.element) for op in ops(program) if op.element}),
            "operation": sorted(coverage.operations(judged.ttir)),
            "findings": [self.kept(finding, program) for finding in judged.findings],
        }
        running.forget(program)
        record["seconds"] = time.perf_counter() - started
        return record

    def kept(self, finding: Finding, program: Program) -> dict[str, Any]:
        """A finding as Results takes it. One like an earlier one of this worker is counted only.

        Findings are alike if the first value that differs comes from the same operation; where that is not known
        (a judge shows no values), if their smallest programs have the same forms.
        """
        place = (finding.judge, finding.kind, finding.where)
        is_known_place = not finding.where.startswith("stored ")
        text, lines, key = "", 0, " | ".join(place)
        if place not in self.seen and self.shrinks[finding.judge] < _MOST_SHRUNK:
            if is_known_place:
                self.seen.add(place)
            self.shrinks[finding.judge] += 1
            small, finding = self.shrunk(finding, program)
            names = judging.judges_needed(finding, [*self.panel.shares])
            text, lines = findings.file_text(finding, small, names), findings.kernel_length(small)
            key = key if is_known_place else findings.key_of(finding, small)
        return {
            "key": key, "judge": finding.judge, "kind": finding.kind, "place": finding.where, "seed": program.seed,
            "lines": lines, "text": text, "message": finding.message[:20000],
        }  # fmt: skip

    def shrunk(self, finding: Finding, program: Program) -> tuple[Program, Finding]:
        """The smallest program that shows it, and what its judges say of that one."""
        if self.settings.shrink_seconds <= 0:
            return program, finding
        panel = self.panel.only(judging.judges_needed(finding, [*self.panel.shares]))
        last = finding

        def fails(candidate: Program) -> bool:
            nonlocal last
            with contextlib.suppress(RecursionError):
                found = judging.same_finding(finding, panel.judge(candidate, localise=False))
                running.forget(candidate)
                if found is not None:
                    last = found
                return found is not None
            return False

        small = shrink.shrunk(program, fails, self.settings.shrink_seconds)
        if small is not program:
            told = judging.same_finding(finding, panel.judge(small))
            running.forget(small)
            last = told or last
        return small, last
