"""Every launch of a process compared (TILETWIN_BACKEND=diff), or kept in a file (TILETWIN_SAVE=folder).

Here:      the hooks around launches, the session's reports, names of files.
Not here:  comparing (comparing.py), files (files.py), counting (tally.py), the command (command.py).
Idea:      the interpreter runs the launch where the user's memory is; the others run on copies of what it held before.
Invariant: with neither variable set no hook is installed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tiletwin import variables
from tiletwin.diff import files
from tiletwin.diff.backend_names import made
from tiletwin.diff.backends import Backend, Outcome
from tiletwin.diff.comparing import compare_launch
from tiletwin.diff.launches import Launch
from tiletwin.diff.reports import DIFFERENT, Report
from tiletwin.diff.taking import NotRecordable, Taker, take
from tiletwin.diff.tally import Tally, tally
from tiletwin.errors import CompilationError
from tiletwin.findings import output, results

SAVE, BACKENDS, LAUNCHES = "TILETWIN_SAVE", "TILETWIN_DIFF", "TILETWIN_DIFF_LAUNCHES"
MOST_PICTURES = 20
"""Reports that keep their arrays, for the page."""


def is_comparing() -> bool:
    return variables.text("TILETWIN_BACKEND").lower() == "diff"


def default_backends() -> str:
    """The interpreter and the first other one that is here: a GPU, real Triton."""
    from tiletwin.diff.triton_process import python

    if os.path.exists("/dev/nvidiactl"):
        return "interp,cuda"
    return "interp,triton" if python() is not None else "interp,sim"


def most_launches() -> int:
    """How many launches of each kernel are compared; 0: all. Errors: ValueError, no number."""
    text = variables.text(LAUNCHES)
    if text and not text.isdecimal():
        raise ValueError(f"{LAUNCHES}={text}: expected a whole number; correct or unset the variable")
    return int(text or 0)


class Session:
    """The launches of this process. `on_report` is called with each Report."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.tally = Tally()
        """Of this process's launches, those that could not be taken among them."""
        self.results: list[results.Result] = []
        """What the reports found, and what was left out."""
        self.not_kept: dict[str, int] = {}
        """Launches that have no file, by reason."""
        self.saved: list[str] = []
        self.on_report: Callable[[Report], None] | None = None
        self.save_differences = ""
        """A folder for launches that differ or fail; empty: none."""
        self.saves_failures = True
        """Whether launches that fail on every backend alike go there, too."""
        self.interrupted = False
        """The user wants no more launches."""
        self._numbers: dict[str, int] = {}
        self._made: tuple[str, list[Backend]] | None = None
        self._pending: dict[int, Launch] = {}
        """By thread: the launch that is running."""
        self._busy: set[int] = set()
        """Threads that compare: their launches are the tester's own."""
        self._lock = threading.RLock()
        """Around everything of the session that threads share: one launch is compared at a time."""

    # ---- hooks ----

    def before(self, metadata: Any) -> None:
        if threading.get_ident() in self._busy or not (is_comparing() or variables.get(SAVE)):
            return
        if metadata.launch is None:
            self._leave_out("", "a kernel that came as IR", results.Place(None, None, None))
            return
        fn, kernel, arguments, grid = metadata.launch
        self.finish()
        with self._lock:
            number = self._numbers.get(fn.__name__, 0)
            self._numbers[fn.__name__] = number + 1
        limit = most_launches()
        if limit and number >= limit:
            return
        with self._alone():
            try:
                metadata.taken = self._take(fn, kernel, arguments, grid, number)
            except NotRecordable as error:
                self._leave_out(fn.__name__, str(error), results.place(fn.file, fn.first_line, 1))
            except CompilationError as error:
                where = results.place(error.file, error.line, (error.column or 0) + 1)
                why = (error.error_message or "").strip() or str(error)
                self._leave_out(fn.__name__, why, where)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread is in here, and launches of this one are not looked at."""
        thread = threading.get_ident()
        with self._lock:
            self._busy.add(thread)
            try:
                yield
            finally:
                self._busy.discard(thread)

    def _take(self, fn: Any, kernel: Any, arguments: dict[str, Any], grid: Any, number: int) -> tuple[Launch, Taker]:
        if kernel is None:  # Python runs the body; the others want it compiled
            args, kwargs = fn.as_call(arguments)
            kernel = fn._launcher.prepare(*args, **kwargs)
        launch, taker = take(fn, kernel, arguments, grid)
        launch.number = number
        launch.versions = files.versions()
        self._pending[threading.get_ident()] = launch
        return launch, taker

    def _leave_out(self, kernel: str, why: str, where: results.Place) -> None:
        """A launch that cannot be taken is not comparable where launches are compared."""
        at = f" ({os.path.basename(where.file)}:{where.line})" if where.file else ""
        reason = f"{kernel or 'a launch'} was left out: {why}{at}"
        if not is_comparing():
            self._not_kept(reason)
            return
        with self._lock:
            if not self.tally.reasons[reason]:
                print(f"tiletwin diff: {reason}", file=sys.stderr)
            one = Tally()
            one.leave_out(reason)
            self._count(one, [results.Result("not-comparable", reason, "", where, kernel or None)])

    def _not_kept(self, reason: str) -> None:
        if reason not in self.not_kept:
            print(f"tiletwin diff: a launch is not kept: {reason}", file=sys.stderr)
        self.not_kept[reason] = self.not_kept.get(reason, 0) + 1

    def _count(self, one: Tally, found: list[results.Result]) -> None:
        self.tally.add(one)
        self.results += found
        output.add(found)
        output.add_comparison(one.as_json())

    def after(self, metadata: Any) -> None:
        taken = getattr(metadata, "taken", None)
        if taken is None:
            return
        launch, taker = taken
        self._pending.pop(threading.get_ident(), None)
        launch.outputs["interp"] = taker.now()
        with self._alone():
            if is_comparing():
                self._compare(launch, {"interp": Outcome("interp", launch.outputs["interp"])})
            elif folder := variables.get(SAVE):
                self._save(launch, folder)
            launch.outputs = {}

    # ---- comparing ----

    def backends(self) -> list[Backend]:
        names = variables.get(BACKENDS) or default_backends()
        if self._made is None or self._made[0] != names:
            self.close()
            self._made = (names, made(names))
        return self._made[1]

    def _compare(self, launch: Launch, known: dict[str, Outcome]) -> None:
        report = compare_launch(launch, self.backends(), known=known)
        for outcome in report.outcomes:
            if outcome.memory and not outcome.unsupported:
                launch.outputs[outcome.backend] = outcome.memory
            if outcome.error:
                launch.errors[outcome.backend] = f"{outcome.kind}: {outcome.error}"
        self.reports.append(report)
        self._count(tally([report]), results.of_report(report))
        differs = report.verdict == DIFFERENT
        is_kept = differs or (launch.errors and self.saves_failures)
        folder = variables.get(SAVE) or (self.save_differences if is_kept else "")
        if folder:
            self._save(launch, folder)
        if self.on_report is not None:
            self.on_report(report)
        elif differs:
            print(report, file=sys.stderr)
        shown = sum(r.verdict != "same" for r in self.reports)
        _forget(report, keeps_pictures=report.verdict != "same" and shown <= MOST_PICTURES)

    # ---- files ----

    def _save(self, launch: Launch, folder: str) -> None:
        name = f"{launch.name[:80]}-{launch.number}-{files.fingerprint(launch)}{files.SUFFIX}"
        try:
            self.saved.append(files.write(launch, Path(folder) / name))
        except OSError as error:  # the script goes on, and the findings are printed
            self._not_kept(f"{folder}: {error.strerror or error}")

    def finish(self, thread: int | None = None) -> None:
        """A thread's launch (default: this one's) that never came back failed. It is compared all the same, on copies
        of what it began with: the others have to fail too. Where launches are only kept, its file says that it failed.
        """
        launch = self._pending.pop(threading.get_ident() if thread is None else thread, None)
        if launch is None:
            return
        if is_comparing() and not self.interrupted:
            with self._alone():
                self._compare(launch, {})
        elif folder := variables.get(SAVE):
            launch.errors["interp"] = "Unknown: the launch raised an exception"
            self._save(launch, folder)

    def close(self) -> None:
        self.interrupted |= isinstance(getattr(sys, "last_value", None), KeyboardInterrupt)
        for thread in list(self._pending):
            self.finish(thread)
        if self._made is not None:
            if self.on_report is None:
                self._say_missing()
            for backend in self._made[1]:
                backend.close()
            self._made = None

    def _say_missing(self) -> None:
        """Here no exit code tells that a backend compared nothing."""
        for line in self.tally.missing() if self.tally.verdicts else ():
            print(f"tiletwin diff: {line}", file=sys.stderr)


def _forget(report: Report, keeps_pictures: bool) -> None:
    """Thousands of launches must fit: memory goes, and numbers that no page will show."""
    report.launch.memory, report.launch.function = [], None
    for outcome in report.outcomes:
        outcome.memory = []
    if not keeps_pictures:
        for row in report.rows:
            row.verdicts = row.values = row.limits = None


SESSION = Session()
_installed = False


def install() -> None:
    """Puts the hooks in, once."""
    global _installed
    if _installed:
        return
    _installed = True
    from tiletwin import knobs

    knobs.runtime.launch_enter_hook.add(SESSION.before)
    knobs.runtime.launch_exit_hook.add(SESSION.after)
    atexit.register(SESSION.close)
