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
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tiletwin import variables, whole_files

if TYPE_CHECKING:
    from tiletwin.diff.tally import Tally

Fail = Callable[[str], NoReturn]
NOTHING_COMPARED = 4
"""Exit code: a backend that the command names compared nothing."""


def _summary(reports: list[Any], counted: Tally, not_kept: dict[str, int], saved: list[str], console: Any) -> None:
    from rich.markup import escape

    from tiletwin.diff.text import summary_table

    if reports:
        console.print(summary_table(reports))
    for line in counted.lines():
        console.print(escape(line))
    for reason, number in not_kept.items():
        console.print(f"  not kept ({number}): {escape(reason)}")
    for path in saved:
        console.print(f"  saved: {escape(path)}")


def _console() -> Any:
    """For tables: as wide as the terminal; into files and pipes wide enough for a row."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    return console if console.is_terminal else Console(soft_wrap=True, highlight=False, width=200)


def _missing(counted: Tally, allow_missing: bool, console: Any) -> int:
    """The exit code for backends that compared nothing. Says which these are."""
    from rich.markup import escape

    lines = counted.missing()
    for line in lines:
        console.print(f"  {escape(line)}")
    if lines and not allow_missing:
        console.print(f"  exit code {NOTHING_COMPARED}; --allow-missing accepts this")
    return NOTHING_COMPARED if lines and not allow_missing else 0


def _check_page(page: str | None, fail: Fail) -> None:
    """That the page can be written is known before anything runs."""
    if page and (problem := whole_files.problem(page)):
        fail(f"--html {page}: {problem}")


def _write_page(html: Any, reports: list[Any], page: str | None) -> int:
    """Writes the page, if one is wanted. Returns the exit code: 2, the disk is full or the folder has gone."""
    try:
        if page:
            print(f"wrote {html.write(reports, page)}")
    except OSError as error:
        print(f"tiletwin: --html {page} was not written: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0


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
    """Runs a script, or with -m a module, and compares every launch, those of processes that it starts too. Returns
    the exit code."""
    from tiletwin import script

    variables.put("TILETWIN_BACKEND", "diff")
    if backends:
        variables.put("TILETWIN_DIFF", backends)
    if launches:
        variables.put("TILETWIN_DIFF_LAUNCHES", str(launches))
    words = script.check(words, "diff", fail)
    _check_page(page, fail)
    script.activated(fail)
    from tiletwin.diff import html, mode
    from tiletwin.diff.tally import Tally
    from tiletwin.findings import output

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
        code = script.exit_code(error)
    except KeyboardInterrupt:
        mode.SESSION.interrupted = True
        raise
    except Exception as error:
        failure = error
    script.wait_for_others()
    session = mode.SESSION
    session.close()
    counted = session.tally
    for said in output.everything().comparisons:
        counted.add(Tally.of_json(said))
    _summary(session.reports, counted, session.not_kept, session.saved, console)
    written = _write_page(html, session.reports, page)
    if failure is not None:
        script.show(failure)
        code = code or 1
    missing = _missing(counted, allow_missing, console)
    ended = counted.exit_code(most_not_comparable) or written or code or missing
    return output.finish(ended, successful=not (code or written))


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
    from tiletwin.diff.tally import tally
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
    counted = tally(reports)
    if len(found) > 1:
        _summary(reports, counted, {}, [], _console())
    if unread:
        print(f"  {unread} of {len(found)} files could not be read")
    failed = _write_page(html, reports, page) or (2 if unread else 0)
    missing = _missing(counted, allow_missing, _console())
    code = counted.exit_code(most_not_comparable) or failed or missing
    return output.finish(code, successful=not failed)
