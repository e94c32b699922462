"""What a session has found: properties of tests' reports (JUnit), the file of --tiletwin-output, the exit code.

Here:      the way of results from a test, from processes that it starts and from what runs outside of tests to the
           process that writes the file; with xdist that is another one. What the other plugins share.
Not here:  who finds something (pytest_plugin.py, diff/pytest_plugin.py), formats and files (findings/).
Invariant: the file holds what failed or would have failed a test, each result with the test's name; findings that a
           test ignores are not in it. What no test can be charged with fails the session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tiletwin import variables
from tiletwin.findings import json_text, output, store
from tiletwin.findings.results import Result, without_repeats
from tiletwin.version import NAME as PACKAGE

NAME = "tiletwin-results"
KEPT: pytest.StashKey[list[Result]] = pytest.StashKey()
"""Of a test: what its phases have found since the last report."""
SECTIONS: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
"""Of a test: titles and texts that its next report is to show."""
IGNORED: pytest.StashKey[set[str]] = pytest.StashKey()
"""Of a test: rules of findings that do not count."""
NOT_DONE = 6
"""Exit code of a session whose tests pass, and in which something that was asked for did not happen. pytest's own end
with 5."""
_WITHOUT_FAILURE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, NOT_DONE)


def start(config: Any, path: str, form: str) -> None:
    """Registers the plugin. Errors: UsageError, a file or format that cannot be written."""
    if config.pluginmanager.has_plugin(NAME):
        return
    try:
        wanted = None
        if path:
            wanted = output.target(path, form, str(config.invocation_params.dir))
        elif form:
            raise ValueError(f"--tiletwin-format {form}: name the file with --tiletwin-output")
        elif named := variables.get(output.VARIABLE):
            wanted = output.target(named)
        plugin = Plugin(wanted, bool(path))
    except (OSError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None
    output.hand_over()
    config.pluginmanager.register(plugin, NAME)


def plugin_of(config: Any) -> Plugin:
    return config.pluginmanager.get_plugin(NAME)


def interpreting(option: str) -> variables.Changes:
    """The environment in which kernels run on the CPU; `option` asks for it. Errors: UsageError, triton is there
    already."""
    loaded = sys.modules.get("triton")
    if loaded is not None and getattr(loaded, "__name__", "") != PACKAGE:
        instead = "TILETWIN_BACKEND=diff" if option == "--tiletwin-diff" else "TILETWIN_INTERPRET=1"
        raise pytest.UsageError(
            f"{option}: real Triton was imported before pytest read its options (by another plugin?); "
            f"set {instead} in the environment instead"
        )
    return variables.Changes(TILETWIN_INTERPRET="1", TRITON_INTERPRET="1")


def keep(item: Any, found: list[Result], sections: Sequence[tuple[str, str]] = ()) -> None:
    """Results of a phase of a test, and what else is to be shown: they go to its report."""
    item.stash.setdefault(SECTIONS, []).extend(sections)
    item.stash.setdefault(KEPT, []).extend(found)
    for result in found:
        where = ":".join(str(part) for part in (result.place.file, result.place.line) if part)
        program = f"program {result.program}: " if result.program else ""
        item.user_properties.append((f"{PACKAGE}.{result.rule}", f"{where}: {program}{result.message}"))


class Phases:
    """A plugin that does something around each phase of a test: `phase` is a hook's wrapper."""

    def phase(self, item: Any) -> Iterator[Any]:
        raise NotImplementedError

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        yield from self.phase(item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        yield from self.phase(item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        yield from self.phase(item)


class Plugin(Phases):
    """State of one session; `wanted`: (format, path) of the file, or None. is_own: the option names it, no run around
    this session. Errors: OSError, there is no room for a store."""

    def __init__(self, wanted: tuple[str, str] | None, is_own: bool) -> None:
        self._wanted = wanted
        self._is_own = is_own
        self._results: list[Result] = []
        self._outside: list[Result] = []
        """Of no test: of launches at import, and of processes that go on between tests."""
        self._notes: list[str] = []
        self.comparisons: list[dict[str, Any]] = []
        """What others have compared: processes of tests, workers of xdist."""
        self._is_broken = False
        """A file could not be collected: its tests have not run."""
        self._problem = ""
        self._begins = not store.is_own()
        store.begin()
        self._heard = store.hear().end

    # ---- processes that tests start ----

    def _hear(self) -> list[Result]:
        heard = store.hear(self._heard)
        self._heard = heard.end
        self._notes += heard.notes
        self.comparisons += heard.comparisons
        return heard.results

    def phase(self, item: Any) -> Iterator[Any]:
        self.keep_outside(self._hear())
        outcome = yield
        ignored = item.stash.get(IGNORED, set())
        found = [replace(result, test=item.nodeid) for result in self._hear() if result.rule not in ignored]
        wrong = [result for result in found if _counts(result)]
        if not wrong and outcome.excinfo is None:  # the test wants its process to fail
            found = [result for result in found if result.rule != "error"]
        keep(item, found)
        if wrong and outcome.excinfo is None:
            first = wrong[0]
            head = f"{first.rule}: {os.path.basename(first.place.file or '')}:{first.place.line}: {first.message}"
            text = f"tiletwin: {head}, in a process that the test has started\n{json_text.text(wrong, [])}"
            outcome.force_exception(pytest.fail.Exception(text, pytrace=False))

    def keep_outside(self, found: Sequence[Result]) -> None:
        """Results that belong to no test."""
        self._outside += [result for result in found if result.rule != "error"]

    # ---- from process to process ----

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome = yield
        if outcome.excinfo is not None:
            return
        report, found = outcome.get_result(), item.stash.get(KEPT, [])
        if found:  # as JSON: xdist sends reports from process to process
            report.tiletwin_results = json_text.document(found, [], output.root())
        report.sections += item.stash.get(SECTIONS, [])
        item.stash[KEPT], item.stash[SECTIONS] = [], []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if found := getattr(report, "tiletwin_results", None):
            self._results += json_text.results_of(found)

    def pytest_collectreport(self, report: Any) -> None:
        self._is_broken |= report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Called by xdist when a worker has ended; one that crashed says nothing."""
        if said := getattr(node, "workeroutput", {}).get(NAME):
            self._outside += json_text.results_of(said)
            self._notes += said["notes"]
            self.comparisons += said["comparisons"]

    # ---- the end ----

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        self.keep_outside(self._hear())
        self._outside = without_repeats(self._outside)
        self._notes = list(dict.fromkeys([*self._notes, *output.notes()]))
        if hasattr(session.config, "workeroutput"):
            said = json_text.document(self._outside, self._notes, output.root())
            session.config.workeroutput[NAME] = said | {"comparisons": self.comparisons}
            return
        if session.exitstatus in (pytest.ExitCode.OK, NOT_DONE) and any(map(_counts, self._outside)):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif session.exitstatus == pytest.ExitCode.OK and self._notes:
            session.exitstatus = NOT_DONE
        try:
            self._write(int(session.exitstatus))
        except OSError as error:
            self._problem = str(error)
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _write(self, code: int) -> None:
        """Errors: OSError."""
        found = without_repeats([*self._outside, *self._results])
        if (around := store.outer()) and not self._is_own:
            store.tell(found, self._notes, to=around)
        elif self._wanted is not None:
            form, path = self._wanted
            ended = json_text.Ended(code, code in _WITHOUT_FAILURE and not self._is_broken)
            output.replace_file(path, form, found, self._notes, ended)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._outside:
            terminalreporter.write_line("tiletwin: launches outside of tests:", yellow=True)
            terminalreporter.write(json_text.text(self._outside, []))
        for note in self._notes:
            terminalreporter.write_line(f"tiletwin: not checked: {note}", yellow=True)
        if self._problem:
            terminalreporter.write_line(f"tiletwin: findings were not written: {self._problem}", red=True)

    def pytest_unconfigure(self) -> None:
        if self._begins:
            store.end()


def _counts(result: Result) -> bool:
    """Whether a result of another process fails a test. What a launch raised there the test has seen, or wanted."""
    return result.level != "note" and result.rule != "error"
