"""The command `tiletwin profile`.

Here:      running a script with every launch counted, what is printed and written, exit codes.
Not here:  command line parsing (cli.py), reports (report.py).
Exit codes: the script's own; 2, the command itself failed; 4, the script launched no kernel on the simulator.
"""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from tiletwin import variables, whole_files

Fail = Callable[[str], NoReturn]
NOTHING_COUNTED = 4


def profile(
    words: list[str],
    *,
    kernels: str,
    lines: int,
    json: str,
    html: str,
    machine_code: bool,
    fail: Fail,
) -> int:
    """Runs `[-m] NAME ARGUMENTS...` and says what its launches did. Returns the exit code.

    kernels: names with wildcards, joined by commas; empty: all. lines: of each launch that are printed, 0: all. json,
    html: files; empty: none. machine_code: count that, too.
    """
    from tiletwin import script

    named = script.check(words, "profile", fail)
    for option, path in (("--json", json), ("--html", html)):
        if path and (problem := whole_files.problem(path)):
            fail(f"{option} {path}: {problem}")
    variables.put("TILETWIN_BACKEND", "sim")
    if not script.activated(fail):
        fail("not activated: TILETWIN_INTERPRET is switched off in the environment")
    from tiletwin import counters
    from tiletwin.counters.report import reports_of

    with counters.collect(machine_code) as launches:
        ended = script.run_to_end(named)
    patterns = [pattern.strip() for pattern in kernels.split(",") if pattern.strip()] or ["*"]
    chosen = [launch for launch in launches if any(fnmatch.fnmatchcase(launch.name, p) for p in patterns)]
    if not chosen:
        seen = ", ".join(sorted({launch.name for launch in launches}))
        print(
            f"tiletwin: no launch was counted: {f'those were of {seen}' if seen else 'no kernel ran'}", file=sys.stderr
        )
        return ended or NOTHING_COUNTED
    reports = reports_of(chosen)
    _print(reports, lines)
    return _write(reports, json, html) or ended


def _print(reports: list[Any], lines: int) -> None:
    from rich.console import Console

    from tiletwin.counters import text

    console = Console(soft_wrap=True, highlight=False)
    if not console.is_terminal:
        console = Console(soft_wrap=True, highlight=False, width=200)
    text.show(reports, console, lines)


def _write(reports: list[Any], json: str, html: str) -> int:
    """Writes the files that are wanted. Returns the exit code: 2, one could not be written."""
    try:
        if json:
            from tiletwin.counters import json_text

            whole_files.write(json, json_text.of(reports))
            print(f"wrote {json}")
        if html:
            from tiletwin.counters import html as page

            whole_files.write(html, page.of(reports))
            print(f"wrote {html}")
    except OSError as error:
        print(f"tiletwin: a report was not written: {error}", file=sys.stderr)
        return 2
    return 0
