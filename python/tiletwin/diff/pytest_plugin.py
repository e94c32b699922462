"""The pytest plugin behind --tiletwin-diff: every launch of a test runs on two or more backends; a difference fails it.

Here:      the environment of the session, differences as failures, the counts at its end, the fixture.
Not here:  options (tiletwin_pytest.py), comparing (comparing.py, mode.py).
Invariant: a test fails for its own launches only. What is not comparable is counted and fails no test; a backend that
           compared nothing in the whole session fails that.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tiletwin import pytest_results, variables
from tiletwin.diff import mode
from tiletwin.diff.tally import Tally

NAME = "tiletwin-diff"
SECTION = "tiletwin: to run that launch again"


def start(config: Any, backends: str) -> None:
    """Switches comparing on for this process. Errors: UsageError, triton is there already, or an unknown backend."""
    plugin = Plugin(config, backends)
    from tiletwin import activation

    activation.activate()
    mode.install()
    try:
        mode.SESSION.backends()
    except ValueError as error:
        raise pytest.UsageError(f"--tiletwin-diff: {error}") from None
    mode.SESSION.on_report = lambda report: None
    mode.SESSION.saves_failures = False  # tests may want a launch to fail
    if folder := config.known_args_namespace.tiletwin_diff_save:
        mode.SESSION.save_differences = str(config.invocation_params.dir / folder)
    config.pluginmanager.register(plugin, NAME)


_by_fixture: list[Tally] = []
"""Of the fixture's comparisons, which are no launches of a test."""


class Plugin(pytest_results.Phases):
    """State of one session. With xdist: of one process, and the first one adds up what the others have counted."""

    def __init__(self, config: Any, backends: str) -> None:
        self._config = config
        self._seen = 0
        """How many of the session's results were there, when a phase of a test ended last."""
        self._not_done: Any = None
        """The session, if it passed and a backend compared nothing."""
        self._environment = pytest_results.interpreting("--tiletwin-diff")
        self._environment.set("TILETWIN_BACKEND", "diff")
        if backends != "default":
            self._environment.set("TILETWIN_DIFF", backends)

    def pytest_report_header(self) -> str:
        return "tiletwin diff: launches run on " + ", ".join(b.name for b in mode.SESSION.backends())

    def _tally(self) -> Tally:
        """Of this process, and of those that have told it."""
        others = map(Tally.of_json, pytest_results.plugin_of(self._config).comparisons)
        found = Tally()
        for one in (mode.SESSION.tally, *_by_fixture, *others):
            found.add(one)
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        self._charge_nobody()
        tally = self._tally()
        if hasattr(session.config, "workeroutput"):
            pytest_results.plugin_of(self._config).comparisons = [tally.as_json()]
        elif session.exitstatus == 0 and tally.missing() and not session.config.option.tiletwin_diff_allow_missing:
            session.exitstatus = pytest_results.NOT_DONE
            self._not_done = session

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        found = self._tally()
        counts, *reasons = found.lines()
        terminalreporter.write_line(f"tiletwin diff: {counts}")
        for line in [*reasons, *(f"  {line}" for line in found.missing())]:
            terminalreporter.write_line(line)
        if self._not_done and self._not_done.exitstatus == pytest_results.NOT_DONE:
            code = pytest_results.NOT_DONE
            terminalreporter.write_line(f"  exit code {code}; --tiletwin-diff-allow-missing accepts this")

    def pytest_unconfigure(self) -> None:
        mode.SESSION.close()
        self._environment.restore()

    def phase(self, item: Any) -> Iterator[Any]:
        self._charge_nobody()
        before, saved_before = len(mode.SESSION.reports), len(mode.SESSION.saved)
        outcome = yield
        mode.SESSION.finish()  # a launch that failed is this test's
        differ = [report for report in mode.SESSION.reports[before:] if report.verdict == "different"]
        again = [self._again(path) for path in mode.SESSION.saved[saved_before:]] if differ else []
        sections = [(SECTION, "\n".join(again))] if again else []
        pytest_results.keep(item, [replace(result, test=item.nodeid) for result in self._new()], sections)
        if differ and outcome.excinfo is None:
            text = "\n\n".join(map(str, differ))
            outcome.force_exception(pytest.fail.Exception(f"tiletwin: backends differ\n{text}", pytrace=False))

    def _again(self, path: str) -> str:
        """The command that runs a launch which was kept."""
        here = self._config.invocation_params.dir
        shown = os.path.relpath(path, here) if Path(path).is_relative_to(here) else path
        names = ",".join(backend.name for backend in mode.SESSION.backends())
        return f"tiletwin replay {shlex.quote(shown)} --backend {names}"

    def _new(self) -> list[Any]:
        begin, self._seen = self._seen, len(mode.SESSION.results)
        return mode.SESSION.results[begin:]

    def _charge_nobody(self) -> None:
        """Results since the last phase of a test: of launches at import, above all."""
        pytest_results.plugin_of(self._config).keep_outside(self._new())


def compare_fixture() -> Callable[..., Any]:
    """What the fixture `tiletwin_compare` gives a test: `tiletwin.diff.compare` that raises DifferenceError if backends
    differ, and returns the report else."""

    def compare(*args: Any, **kwargs: Any) -> Any:
        from tiletwin import diff

        backends = variables.given("TILETWIN_DIFF")
        if backends:
            kwargs.setdefault("backends", backends)
        report = diff.compare(*args, **kwargs)
        _by_fixture.append(Tally())
        _by_fixture[-1].add_comparison(report)
        report.raise_for_difference()
        return report

    return compare
