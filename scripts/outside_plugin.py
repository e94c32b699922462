"""What `outside.py` loads into pytest beside a suite of others: modules of the suite's own, and a record of the tests.

Here:      `triton.x` from a file of the suite, where tests import what only Triton's own tests use; a line a test;
           which tests are a sample; no garbage collection of what was collected as tests.
Not here:  how pytest is started, and what becomes of the record (outside_run.py).
Invariant: tests, their conftest and the modules they import from their own tree run as they stand.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.util
import json
import os
import random
import sys
from typing import Any

import pytest

MODULES, RECORD, TESTS, SAMPLE = "OUTSIDE_MODULES", "OUTSIDE_RECORD", "OUTSIDE_TESTS", "OUTSIDE_SAMPLE"
"""Variables: "name=file" separated by ";", the file that the record is written to, a file of the tests to run, and
"number:seed" of a sample."""
LONGEST_TRACE = 20_000
"""Characters of a traceback that are kept: its end."""


class SuitesOwn(importlib.abc.MetaPathFinder):
    """Finds modules of the suite that stand below a package which is not the suite's."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        file = self.files.get(fullname)
        return importlib.util.spec_from_file_location(fullname, file) if file else None


class Recorder:
    """Writes nodeid, outcome and error of each test, where the reports of all processes meet."""

    def __init__(self, file: str) -> None:
        self.out = open(file, "w")

    def write(self, report: Any, outcome: str, error: str) -> None:
        duration = round(getattr(report, "duration", 0.0), 4)
        row = {"test": report.nodeid, "outcome": outcome, "error": error, "seconds": duration}
        row["trace"] = str(report.longrepr)[-LONGEST_TRACE:] if outcome in ("failed", "error") else ""
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    @staticmethod
    def message(report: Any) -> str:
        crash = getattr(report.longrepr, "reprcrash", None)
        return crash.message if crash is not None else str(report.longrepr or "")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.skipped:
            expected = hasattr(report, "wasxfail")
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else self.message(report)
            self.write(report, "xfailed" if expected else "skipped", reason)
        elif report.failed:
            self.write(report, "failed" if report.when == "call" else "error", self.message(report))
        elif report.when == "call":
            self.write(report, "passed", "")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(report, "error", "while collecting: " + self.message(report).strip().splitlines()[-1])


def sample_of(tests: list[str], number: int, seed: int) -> set[str]:
    """`number` of the tests, in turn one of each file; the same ones in every process."""
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    for listed in files.values():
        random.Random(seed).shuffle(listed)
    longest = max(map(len, files.values()), default=0)
    in_turn = [listed[turn] for turn in range(longest) for listed in files.values() if turn < len(listed)]
    return set(in_turn[:number])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """After pytest's own choice by -k and -m."""
    wanted = None
    if TESTS in os.environ:
        with open(os.environ[TESTS]) as file:
            wanted = set(file.read().splitlines())
    elif SAMPLE in os.environ:
        number, seed = map(int, os.environ[SAMPLE].split(":"))
        wanted = sample_of([item.nodeid for item in items], number, seed)
    if wanted is None:
        return
    left_out = [item for item in items if item.nodeid not in wanted]
    items[:] = [item for item in items if item.nodeid in wanted]
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish(session: Any) -> None:
    gc.collect()
    gc.freeze()  # the million objects of torch and of the collected tests stay: no collection needs to visit them


def pytest_configure(config: Any) -> None:
    files = dict(pair.split("=", 1) for pair in os.environ.get(MODULES, "").split(";") if pair)
    sys.meta_path.insert(0, SuitesOwn(files))
    if RECORD in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(os.environ[RECORD]), "outside-recorder")
