"""The pytest plugin behind --tiletwin-diff: every launch of a test runs on two or more backends; a difference fails it.

Here:      the environment of the session, differences as failures, the counts at its end, the fixture.
Not here:  options (tiletwin_pytest.py), comparing (comparing.py, mode.py).
Invariant: a test fails for its own launches only. What is not comparable is counted and fails no test; a backend that
           compared nothing in the whole session fails that.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tiletwin import pytest_results, variables

NAME = "tiletwin-diff"
SECTION = "tiletwin: to run that launch again"


def start(config: Any, backends: str) -> None:
    """Switches comparing on for this process. Errors: UsageError, triton is there already, or an unknown backend."""
    loaded = sys.modules.get("triton")
    if loaded is not None and getattr(loaded, "__name__", "") != "tiletwin":
        raise pytest.UsageError(
            "--tiletwin-diff: real Triton was imported before pytest read its options (by another plugin?); "
            "set TILETWIN_BACKEND=diff in the environment instead"
        )
    plugin = Plugin(config, backends)
    from tiletwin import activation

    activation.activate()
    from tiletwin.diff import mode

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


AGAIN = pytest.StashKey[list[str]]()
"""Of a test: commands that its next report shows."""
_by_fixture: list[Any] = []
"""Tallies of the fixture's comparisons, which are no launches of a test."""


class Plugin:
    """State of one session. With xdist: of one process, and the first one adds up what the others have counted."""

    def __init__(self, config: Any, backends: str) -> None:
        self._config = config
        self._others: list[dict[str, Any]] = []
        """What each worker has counted."""
        self._seen = 0
        """How many of the session's results were there, when a phase of a test ended last."""
        self._environment = variables.Changes()
        self._environment.set("TILETWIN_BACKEND", "diff")
        self._environment.set("TILETWIN_INTERPRET", "1")
        self._environment.set("TRITON_INTERPRET", "1")
        if backends != "default":
            self._environment.set("TILETWIN_DIFF", backends)

    def pytest_report_header(self) -> str:
        from tiletwin.diff import mode

        return "tiletwin diff: launches run on " + ", ".join(b.name for b in mode.SESSION.backends())

    def _tally(self) -> Any:
        """Of this process, and of those that have told it."""
        from tiletwin.diff import mode
        from tiletwin.diff.tally import Tally

        found = Tally()
        found.add(mode.SESSION.tally)
        for comparison in _by_fixture:
            found.add(comparison)
        for said in (*self._others, *pytest_results.plugin_of(self._config).comparisons):
            found.add(Tally.of_json(said))
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        self._charge_nobody()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[NAME] = self._tally().as_json()
        elif (
            session.exitstatus == 0
            and self._tally().missing()
            and not session.config.option.tiletwin_diff_allow_missing
        ):
            session.exitstatus = pytest_results.NOT_DONE

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Called by xdist when a worker has ended; one that crashed has counted nothing."""
        if counted := getattr(node, "workeroutput", {}).get(NAME):
            self._others.append(counted)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        found = self._tally()
        counts, *reasons = found.lines()
        terminalreporter.write_line(f"tiletwin diff: {counts}")
        for line in reasons:
            terminalreporter.write_line(line)
        for line in found.missing():
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

        self._charge_nobody()
        before, saved_before = len(mode.SESSION.reports), len(mode.SESSION.saved)
        outcome = yield
        mode.SESSION.finish()  # a launch that failed is this test's
        made = mode.SESSION.reports[before:]
        pytest_results.keep(item, [replace(result, test=item.nodeid) for result in self._new()])
        differ = [report for report in made if report.verdict == "different"]
        if differ and outcome.excinfo is None:
            text = "\n\n".join(map(str, differ))
            outcome.force_exception(pytest.fail.Exception(f"tiletwin: backends differ\n{text}", pytrace=False))
        if differ:
            item.stash[AGAIN] = [self._again(path) for path in mode.SESSION.saved[saved_before:]]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome = yield
        if commands := item.stash.get(AGAIN, []):
            outcome.get_result().sections.append((SECTION, "\n".join(commands)))
            item.stash[AGAIN] = []

    def _again(self, path: str) -> str:
        """The command that runs a launch which was kept."""
        from tiletwin.diff import mode

        here = self._config.invocation_params.dir
        shown = os.path.relpath(path, here) if Path(path).is_relative_to(here) else path
        names = ",".join(backend.name for backend in mode.SESSION.backends())
        return f"tiletwin replay {shlex.quote(shown)} --backend {names}"

    def _new(self) -> list[Any]:
        from tiletwin.diff import mode

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
        from tiletwin.diff.tally import Tally

        backends = variables.given("TILETWIN_DIFF")
        if backends:
            kwargs.setdefault("backends", backends)
        report = diff.compare(*args, **kwargs)
        _by_fixture.append(Tally())
        _by_fixture[-1].add_comparison(report)
        report.raise_for_difference()
        return report

    return compare
