"""The pytest plugin behind --tiletwin and --tiletwin-check: tests fail with what checks found in their launches.

Here:      the environment of the session and of each test, findings as failures, the command that opens one in pdb.
Not here:  options and markers (tiletwin_pytest.py, which pytest loads in every session), checks (checks.py).
Invariant: a test fails for launches of its own phases only (setup, call, teardown), also if another test's launches had
           the same findings before.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tiletwin import pytest_results, variables
from tiletwin.findings import baseline as known
from tiletwin.findings import results
from tiletwin.version import TILETWIN_VERSION

NAME = "tiletwin-checks"


def start(config: Any, words: str, baseline: str) -> None:
    """Switches tiletwin on for this process and registers the plugin. Errors: UsageError, triton is there already,
    `words` are none of TILETWIN_CHECK, or `baseline` lists no findings."""
    try:
        if baseline:
            known.begin(str(config.invocation_params.dir / baseline))
    except ValueError as error:
        raise pytest.UsageError(f"--tiletwin-baseline {error}") from None
    plugin = Plugin(config, words)
    from tiletwin import activation

    try:
        activation.activate()
    except ValueError as error:
        raise pytest.UsageError(f"--tiletwin: {error}") from None
    config.pluginmanager.register(plugin, NAME)


class Plugin(pytest_results.Phases):
    """State of one session (with xdist: of one process)."""

    def __init__(self, config: Any, words: str) -> None:
        self._environment = pytest_results.interpreting("--tiletwin")
        from tiletwin import checks

        self._checks = checks
        self._config = config
        self._words = words = words or variables.get("TILETWIN_CHECK")
        self._problem = ""
        """What is wrong with the markers of a test that begins."""
        self._ignored: set[str] = set()
        self._counted: dict[tuple, int] = {}
        """How often the checks had found what, when a phase of a test ended last."""
        if words:
            self._parse(words, "--tiletwin-check")
            self._environment.set("TILETWIN_CHECK", words)

    def _parse(self, words: str, where: str) -> Any:
        try:
            return self._checks.parse(words)
        except ValueError as error:
            raise pytest.UsageError(f"{where}: {error}") from None

    # ---- the session ----

    def pytest_report_header(self) -> str:
        return f"tiletwin {TILETWIN_VERSION}: Triton kernels run on the CPU" + (
            f"; checks: {self._words}" if self._words else ""
        )

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        failed = {
            report.nodeid
            for reports in terminalreporter.stats.values()
            for report in reports
            if any(title.startswith(SECTION) for title, _ in getattr(report, "sections", ()))
        }
        if failed:
            tests = f"{len(failed)} test{'s' if len(failed) > 1 else ''}"
            terminalreporter.write_line(f"tiletwin: launches of {tests} had findings", yellow=True)

    def pytest_unconfigure(self) -> None:
        self._checks.clear()  # the reports have said it, so no line at the exit of the process has to
        self._environment.restore()

    # ---- a test ----

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        own = variables.Changes()
        self._ignored = set()
        try:
            words = self._words_for(item)
        except pytest.UsageError as error:
            self._problem = str(error)
            words = ""
        own.set("TILETWIN_CHECK", words)
        item.stash[pytest_results.IGNORED] = self._ignored
        yield
        own.restore()

    def _words_for(self, item: Any) -> str:
        """TILETWIN_CHECK for one test: the session's, or those of its marker, without what it ignores."""
        words = self._words
        marker = item.get_closest_marker("tiletwin_check")
        if marker is not None:
            words = ",".join(map(str, marker.args)) or "all"
            self._parse(words, f"the marker tiletwin_check of {item.nodeid}")
        for ignored in item.iter_markers("tiletwin_ignore"):
            names = ",".join(map(str, ignored.args)) or "all"
            self._ignored.update(self._parse(names, f"the marker tiletwin_ignore of {item.nodeid}").checks)
        if "device" in self._ignored:
            self._ignored.add("compile")  # which that check looks for
        if not self._ignored or not words:
            return words
        # Checks that are ignored need not run, either.
        wanted = self._parse(words, "--tiletwin-check")
        kept = [word for word in wanted.checks if word not in self._ignored]
        kept = [f"device:{wanted.device}" if word == "device" and wanted.device else word for word in kept]
        return ",".join([*kept, "raise"] if kept and wanted.raises else kept)

    def phase(self, item: Any) -> Iterator[Any]:
        self._charge_nobody()
        before = self._counted
        printed = self._checks.set_printing(False)  # the test's report shows them
        outcome = yield
        self._checks.set_printing(printed)
        self._counted = self._counts()
        problem, self._problem = self._problem, ""
        if problem:
            outcome.force_exception(pytest.fail.Exception(problem, pytrace=False))
            return
        found = [
            finding
            for finding in self._checks.findings()
            if finding.launches > before.get(finding.key, 0) and finding.check not in self._ignored
        ]
        error = None if outcome.excinfo is None else outcome.excinfo[1]
        place = first_place(found, error)
        sections = []
        kept = [results.of_finding(finding, item.nodeid) for finding in found]
        if error is not None and (failure := results.of_error(error, item.nodeid)):
            kept.append(failure)
        if found and not isinstance(error, self._checks.CheckError):  # whose text they are
            sections.append((SECTION, "\n\n".join(map(str, found))))
        if place is not None:
            sections.append((SECTION_OPEN, self._reopen(item, *place)))
        pytest_results.keep(item, kept, sections)
        if found and error is None:
            outcome.force_exception(pytest.fail.Exception(_summary(found), pytrace=False))

    def _counts(self) -> dict[tuple, int]:
        return {finding.key: finding.launches for finding in self._checks.findings()}

    def _charge_nobody(self) -> None:
        """What was found since the last phase of a test: in launches at import, above all."""
        known, self._counted = self._counted, self._counts()
        found = [finding for finding in self._checks.findings() if finding.launches > known.get(finding.key, 0)]
        pytest_results.plugin_of(self._config).keep_outside([results.of_finding(finding) for finding in found])

    def pytest_sessionfinish(self) -> None:
        self._charge_nobody()

    def _reopen(self, item: Any, file: str, line: int, program: tuple[int, ...] | None) -> str:
        """The command that stops in pdb at the place where a test's launch went wrong."""
        here = Path(self._config.invocation_params.dir)
        _, *names = item.nodeid.split("::")
        test = "::".join([os.path.relpath(item.path, here), *names])
        shown = os.path.relpath(file, here) if Path(file).is_relative_to(here) else file
        variables = ["TILETWIN_INTERPRET=1", f"TILETWIN_BREAK={shlex.quote(f'{shown}:{line}')}"]
        if program is not None:
            variables.insert(1, f"TILETWIN_PROGRAM={','.join(map(str, program))}")
        serial = ["-n0"] if _is_parallel(self._config) else []
        return " ".join([*variables, _python(), "-m", "pytest", *serial, shlex.quote(test)])


SECTION = "tiletwin findings"
SECTION_OPEN = "tiletwin: to stop there in pdb"


def _python() -> str:
    """How the user calls Python: its name if that finds this one, else its path."""
    import shutil

    found = shutil.which("python")
    same = found is not None and os.path.realpath(found) == os.path.realpath(sys.executable)
    near = os.path.relpath(sys.executable)
    return "python" if same else shlex.quote(sys.executable if near.startswith("..") else near)


def _is_parallel(config: Any) -> bool:
    return hasattr(config, "workerinput") or bool(getattr(config.option, "numprocesses", None))


def _summary(found: list[Any]) -> str:
    """One line for the short summary of the session."""
    first = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    place = f"{os.path.basename(first.file)}:{first.line}" if first.file else first.site.place
    return f"tiletwin: {first.check}: {place}: {first.message}{more}"


def first_place(found: list[Any], error: Any) -> tuple[str, int, tuple[int, ...] | None] | None:
    """File, line and program of what went wrong first: a finding, or an error that a launch raised."""
    for finding in found:
        if finding.file and finding.line:
            return finding.file, finding.line, finding.program
    file, line, program = (getattr(error, name, None) for name in ("file", "line", "program"))
    if isinstance(file, str) and isinstance(line, int) and isinstance(program, tuple):
        return file, line, program
    return None
