"""The pytest plugin behind --tiletwin-diff: every launch of a test runs on two or more backends; a difference fails it.

Here:      the environment of the session, differences as failures, the counts at its end, the fixture.
Not here:  options (tiletwin_pytest.py), comparing (comparing.py, mode.py).
Invariant: a test fails for its own launches only. What is not comparable is counted and fails no test; a backend that
           compared nothing in the whole session fails that.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tiletwin import pytest_results
from tiletwin.findings import results
from tiletwin.pytest_plugin import Environment

NAME = "tiletwin-diff"
SECTION = "tiletwin differences"
NOTHING_COMPARED = 6
"""Exit code of a session whose tests pass, and in which a backend compared nothing. pytest's own end with 5."""


def start(config: Any, backends: str) -> None:
    """Switches comparing on for this process. Errors: UsageError, triton is there already, or an unknown backend."""
    loaded = sys.modules.get("triton")
    if loaded is not None and getattr(loaded, "__name__", "") != "tiletwin":
        raise pytest.UsageError(
            "--tiletwin-diff: real Triton was imported before pytest read its options (by another plugin?); "
            "set TILETWIN_BACKEND=diff in the environment instead"
        )
    plugin = Plugin(backends)
    from tiletwin import _activate

    _activate.activate()
    from tiletwin.diff import mode

    mode.install()
    try:
        mode.SESSION.backends()
    except ValueError as error:
        raise pytest.UsageError(f"--tiletwin-diff: {error}") from None
    mode.SESSION.on_report = lambda report: None
    config.pluginmanager.register(plugin, NAME)


_Counted = tuple[dict[str, int], dict[str, int], list[dict[str, str]]]
"""Launches of a process by verdict; reasons why things were not comparable; backends of the launches and of each
comparison by the fixture, as text.absences() gives them."""
_by_fixture: list[dict[str, str]] = []


class Plugin:
    """State of one session. With xdist: of one process, and the first one adds up what the others have counted."""

    def __init__(self, backends: str) -> None:
        self._counts: list[_Counted] = []
        """What each worker has counted."""
        self._environment = Environment()
        self._environment.set("TILETWIN_BACKEND", "diff")
        self._environment.set("TILETWIN_INTERPRET", "1")
        self._environment.set("TRITON_INTERPRET", "1")
        if backends != "default":
            self._environment.set("TILETWIN_DIFF", backends)

    def pytest_report_header(self) -> str:
        from tiletwin.diff import mode

        return "tiletwin diff: launches run on " + ", ".join(b.name for b in mode.SESSION.backends())

    @staticmethod
    def _counted() -> _Counted:
        from tiletwin.diff import mode
        from tiletwin.diff.text import absences, counts

        reasons: Counter[str] = Counter()
        for report in mode.SESSION.reports:
            reasons.update(report.reasons)
        seen = [absences(mode.SESSION.reports)] if mode.SESSION.reports else []
        return counts(mode.SESSION.reports), dict(reasons), seen + _by_fixture

    def _total(self) -> tuple[Counter[str], Counter[str], list[str]]:
        """Verdicts and reasons of all processes, and which backends compared nothing."""
        from tiletwin.diff.text import nothing_compared

        found: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        absent: dict[str, str] = {}
        comparisons = 0
        for verdicts, why, seen in (*self._counts, self._counted()):
            found.update(verdicts)
            reasons.update(why)
            comparisons += len(seen)
            for names in seen:
                absent |= {name: text and absent.get(name, text) for name, text in names.items()}
        return found, reasons, nothing_compared(absent, comparisons)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[NAME] = self._counted()
        elif session.exitstatus == 0 and self._total()[2] and not session.config.option.tiletwin_diff_allow_missing:
            session.exitstatus = NOTHING_COMPARED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Called by xdist when a worker has ended; one that crashed has counted nothing."""
        if counted := getattr(node, "workeroutput", {}).get(NAME):
            self._counts.append(counted)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        found, reasons, absent = self._total()
        words = ", ".join(f"{found[v]} {v}" for v in ("same", "different", "not comparable"))
        terminalreporter.write_line(f"tiletwin diff: {words} of {found.total()} launches")
        for reason, number in sorted(reasons.items()):
            terminalreporter.write_line(f"  not comparable ({number}): {reason}")
        for line in absent:
            terminalreporter.write_line(f"  {line}")

    def pytest_unconfigure(self) -> None:
        from tiletwin.diff import mode

        mode.SESSION.close()
        self._environment.restore()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        yield from self._phase(item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        yield from self._phase(item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        yield from self._phase(item)

    def _phase(self, item: Any) -> Iterator[Any]:
        from tiletwin.diff import mode

        before = len(mode.SESSION.reports)
        outcome = yield
        mode.SESSION.finish()  # a launch that failed is this test's
        made = mode.SESSION.reports[before:]
        pytest_results.keep(item, [result for report in made for result in results.of_report(report, item.nodeid)])
        differ = [report for report in made if report.verdict == "different"]
        if differ and outcome.excinfo is None:
            text = "\n\n".join(map(str, differ))
            outcome.force_exception(pytest.fail.Exception(f"tiletwin: backends differ\n{text}", pytrace=False))


def compare_fixture() -> Callable[..., Any]:
    """What the fixture `tiletwin_compare` gives a test: `tiletwin.diff.compare` that raises DifferenceError if backends
    differ, and returns the report else."""

    def compare(*args: Any, **kwargs: Any) -> Any:
        from tiletwin import diff
        from tiletwin.diff.text import absences

        backends = os.environ.get("TILETWIN_DIFF")
        if backends:
            kwargs.setdefault("backends", backends)
        report = diff.compare(*args, **kwargs)
        _by_fixture.append(absences([report]))
        report.raise_for_difference()
        return report

    return compare
