"""What tests found, as properties of their reports (JUnit) and in the file of --tiletwin-output.

Here:      the way of results from a test to the process that writes the file; with xdist that is another one.
Not here:  who finds something (pytest_plugin.py, diff/pytest_plugin.py), formats and files (findings/).
Invariant: the file holds what failed or would have failed a test, each result with the test's name; findings that a
           test ignores are not in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tiletwin.findings import json_text, output
from tiletwin.findings.results import Result

NAME = "tiletwin-results"
KEPT: pytest.StashKey[list[Result]] = pytest.StashKey()
"""Of a test: what its phases have found since the last report."""


def start(config: Any, path: str, form: str) -> None:
    """Registers the plugin. Errors: UsageError, a file or format that cannot be written."""
    if config.pluginmanager.has_plugin(NAME):
        return
    try:
        if path:
            path = os.path.abspath(os.path.join(str(config.invocation_params.dir), path))
            wanted = output.target(f"{output.format_of(path, form)}:{path}")
        elif form:
            raise ValueError(f"--tiletwin-format {form}: name the file with --tiletwin-output")
        else:
            named = os.environ.get(output.VARIABLE, "")
            wanted = output.target(named) if named else None
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    output.hand_over()
    config.pluginmanager.register(Plugin(wanted), NAME)


def keep(item: Any, found: list[Result]) -> None:
    """Results of a phase of a test: they go to its report."""
    item.stash.setdefault(KEPT, []).extend(found)
    for result in found:
        where = ":".join(str(part) for part in (result.place.file, result.place.line) if part)
        program = f"program {result.program}: " if result.program else ""
        item.user_properties.append((f"tiletwin.{result.rule}", f"{where}: {program}{result.message}"))


class Plugin:
    """State of one session; `wanted`: (format, path) of the file, or None."""

    def __init__(self, wanted: tuple[str, str] | None) -> None:
        self._wanted = wanted
        self._results: list[Result] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome = yield
        found = item.stash.get(KEPT, [])
        if outcome.excinfo is None and found:  # as JSON: xdist sends reports from process to process
            outcome.get_result().tiletwin_results = json_text.document(found, [], output.root())
            item.stash[KEPT] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if found := getattr(report, "tiletwin_results", None):
            self._results += json_text.results_of(found)

    def pytest_sessionfinish(self, session: Any) -> None:
        if self._wanted is None or hasattr(session.config, "workerinput"):
            return
        form, path = self._wanted
        try:
            output.write(path, form, self._results, output.notes())
        except OSError as error:
            raise pytest.UsageError(f"{path}: {error}") from None
