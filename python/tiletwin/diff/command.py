"""The commands `tiletwin diff` and `tiletwin replay`.

Here:      running a script with every launch compared, replaying files, what is printed, exit codes.
Not here:  command line parsing (cli.py).
Exit codes: 0, nothing differs; 1, something does; 3, nothing differs and more than --most-not-comparable launches
could not be compared; 4, a backend compared nothing, and --allow-missing is not given; 2, the command itself failed, or
a file of several could not be read.
A script's own exit code stays in place of 0 and 4; it is 1 after an exception.
"""

from __future__ import annotations

import bdb
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tiletwin import whole_files

Fail = Callable[[str], NoReturn]
NOTHING_COMPARED = 4
"""Exit code: a backend that was asked for compared nothing."""


def _summary(reports: list[Any], skipped: dict[str, int], saved: list[str], console: Any) -> None:
    from rich.markup import escape

    from tiletwin.diff.text import counts, summary_table

    if reports:
        console.print(summary_table(reports))
    found = counts(reports)
    order = ("same", "different", "not comparable")
    console.print(", ".join(f"{found.get(verdict, 0)} {verdict}" for verdict in order) + f" of {len(reports)} launches")
    reasons: dict[str, int] = {}
    for report in reports:
        for reason, number in report.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + number
    for reason, number in sorted(reasons.items()):
        console.print(f"  not comparable ({number}): {escape(reason)}")
    for reason, number in skipped.items():
        console.print(f"  left out ({number}): {escape(reason)}")
    for path in saved:
        console.print(f"  saved: {escape(path)}")


def _console() -> Any:
    """For tables: as wide as the terminal; into files and pipes wide enough for a row."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    return console if console.is_terminal else Console(soft_wrap=True, highlight=False, width=200)


def _exit_code(reports: list[Any], most_not_comparable: int) -> int:
    from tiletwin.diff.text import counts

    found = counts(reports)
    if found.get("different"):
        return 1
    return 3 if 0 <= most_not_comparable < found.get("not comparable", 0) else 0


def _missing(reports: list[Any], allow_missing: bool, console: Any) -> int:
    """The exit code for backends that compared nothing. Says which these are."""
    from rich.markup import escape

    from tiletwin.diff.text import absences, nothing_compared

    lines = nothing_compared(absences(reports), len(reports))
    for line in lines:
        console.print(f"  {escape(line)}")
    if lines and not allow_missing:
        console.print(f"  exit code {NOTHING_COMPARED}; --allow-missing accepts this")
    return NOTHING_COMPARED if lines and not allow_missing else 0


def _check_page(page: str | None, fail: Fail) -> None:
    """That the page can be written is known before anything runs."""
    if page and (problem := whole_files.problem(page)):
        fail(f"--html {page}: {problem}")


def _stepped(under_pdb: Callable[[Any, str], None], launch: Any, program: str) -> int:
    """Runs a recording's text in pdb. Returns the exit code: 1, the kernel did something wrong.

    Errors: ValueError, OSError: it cannot be run."""
    from tiletwin import script

    try:
        under_pdb(launch, program)
    except (ValueError, OSError):
        raise
    except bdb.BdbQuit:  # the user has left
        pass
    except Exception as error:
        script.show(error)
        return 1
    return 0


def diff(
    words: list[str], *, backends: str, page: str | None, save: str, launches: int, most_not_comparable: int,
    allow_missing: bool, fail: Fail,
) -> int:  # fmt: skip
    """Runs a script, or with -m a module, and compares every launch. Returns the exit code."""
    from tiletwin import script

    os.environ["TILETWIN_BACKEND"] = "diff"
    if backends:
        os.environ["TILETWIN_DIFF"] = backends
    if launches:
        os.environ["TILETWIN_DIFF_LAUNCHES"] = str(launches)
    words = script.check(words, "diff", fail)
    _check_page(page, fail)
    script.activated(fail)
    from tiletwin.diff import html, mode

    try:
        mode.SESSION.backends()
        mode.most_launches()
    except ValueError as error:
        fail(str(error))
    mode.install()
    mode.SESSION.save_differences = save
    console = _console()
    mode.SESSION.on_report = lambda report: (
        print(report, flush=True) if report.verdict == "different" else None  # type: ignore[func-returns-value]
    )
    code, failure = 0, None
    try:
        script.run(words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except KeyboardInterrupt:
        mode.SESSION.interrupted = True
        raise
    except Exception as error:
        failure = error
    session = mode.SESSION
    session.close()
    _summary(session.reports, session.skipped, session.saved, console)
    if page:
        print(f"wrote {html.write(session.reports, page)}")
    if failure is not None:
        script.show(failure)
        code = code or 1
    missing = _missing(session.reports, allow_missing, console)
    return _exit_code(session.reports, most_not_comparable) or code or missing


def replay(
    paths: list[str], *, backends: str, page: str | None, pdb: bool, gdb: bool, program: str, most_not_comparable: int,
    allow_missing: bool, fail: Fail,
) -> int:  # fmt: skip
    """Runs recorded launches again. Returns the exit code."""
    from tiletwin import script

    _check_page(page, fail)
    names = [name.strip() for name in backends.split(",") if name.strip()]
    if not names:
        fail("--backend names nothing to run on: interp, sim, ..., or recorded")
    script.activated_without_gpu(fail)
    from tiletwin.diff import files, html
    from tiletwin.diff import replay as replaying
    from tiletwin.findings import output, results

    found: list[str] = []
    for path in paths:
        found += sorted(map(str, Path(path).glob(f"*{files.SUFFIX}"))) if Path(path).is_dir() else [path]
    if not found:
        fail(f"{', '.join(paths)}: there is no *{files.SUFFIX} file")
    if (pdb or gdb) and len(found) > 1:
        fail("--pdb and --gdb take one file")
    reports, unread = [], 0
    for path in found:
        try:
            launch = files.read(path)
        except (OSError, ValueError) as error:
            if len(found) == 1:
                fail(str(error))
            print(f"tiletwin replay: {error}", file=sys.stderr, flush=True)
            unread += 1
            continue
        try:
            if pdb:
                return _stepped(replaying.under_pdb, launch, program)
            if gdb:
                return replaying.under_gdb(launch, path, program)
            report = replaying.replay(launch, names)
        except (OSError, ValueError) as error:
            fail(str(error))
        print(report, flush=True)
        reports.append(report)
        output.add(results.of_report(report))
    if len(found) > 1:
        _summary(reports, {}, [], _console())
    if unread:
        print(f"  {unread} of {len(found)} files could not be read")
    if page:
        print(f"wrote {html.write(reports, page)}")
    missing = _missing(reports, allow_missing, _console())
    return _exit_code(reports, most_not_comparable) or (2 if unread else missing)
