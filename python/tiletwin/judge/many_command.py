"""The command `tiletwin judge --many`.

Here:      progress, the summary, exit codes: 0, all are right; 1, some are not; 2, the command failed; 3, some were not
           judged, and the others are right.
Not here:  its options (cli.py), what is done (many.py).
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from tiletwin.fuzz.results import NoDatabase
from tiletwin.judge import many
from tiletwin.judge.schema import BadProblem
from tiletwin.judge.settings import Settings
from tiletwin.judge.store import Lines, open_store
from tiletwin.judge.verdicts import NOT_JUDGED, RIGHT, SEVERITY

Fail = Callable[[str], NoReturn]
_SAY_SECONDS = 30.0
"""Between lines of progress where there is no terminal for a bar."""


def run(
    place: str, reference: str, settings: Settings, results: str, jobs: int, ray: str, quiet: bool, fail: Fail
) -> int:
    """Judges all that is in a folder or a list. Returns the exit code."""
    if jobs < 0:
        fail("--jobs is a number from 0 on; 0: one for each core")
    path = Path(place)
    try:
        items = many.items_of(place, reference, settings.as_options())
        store = open_store(results, path if path.is_dir() else path.parent)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except (BadProblem, NoDatabase, ValueError) as error:
        fail(str(error))
    if isinstance(store, Lines) and not results:
        text = f"DuckDB is not installed (tiletwin[many]): verdicts are lines of JSON in {store.path}"
        print(f"tiletwin: {text}", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, which shells keep from background jobs
    told: dict[str, str] = {}
    started, stopped = time.monotonic(), False
    work = many.Many(items, store)
    try:
        for one in _followed(work, jobs, ray, quiet):
            told[one.name] = one.verdict["verdict"]
    except KeyboardInterrupt:
        stopped = True
    except (RuntimeError, OSError) as error:  # no cluster; workers that do not start; a disk that is full
        fail(str(error))
    finally:
        store.close()
    counts = Counter(told.values())
    said = ", ".join(f"{counts[word]} {word}" for word in reversed(SEVERITY) if counts[word]) or "none"
    ended = f"stopped after {len(told)} of {work.total}" if stopped else f"{work.total} submissions"
    print(f"{ended} in {time.monotonic() - started:.0f} s, {work.judged} judged now: {said}")
    print(f"kept in {store.path}", file=sys.stderr)
    if set(counts) - {RIGHT, NOT_JUDGED}:
        return 1
    return 3 if counts[NOT_JUDGED] or stopped else 0


def _followed(work: many.Many, jobs: int, ray: str, quiet: bool) -> Iterator[many.Told]:
    """All verdicts, with progress on the terminal. Errors: NoCluster, RuntimeError."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    told = TextColumn("{task.fields[told]}")
    columns = (TextColumn("judge"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), told)
    counts: Counter[str] = Counter()
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("judge", total=work.total, told="")
        started = said = time.monotonic()
        for number, one in enumerate(work.verdicts(lambda: many.pool_of(jobs, ray)), 1):
            counts[one.verdict["verdict"]] += 1
            rate = work.judged / max(time.monotonic() - started, 1e-9)
            text = ", ".join(f"{count} {word}" for word, count in counts.most_common()) + f"; {rate:.1f} a second"
            progress.update(task, completed=number, told=text)
            if progress.disable and not quiet and time.monotonic() - said > _SAY_SECONDS:
                said = time.monotonic()
                print(f"{number} of {work.total}: {text}", file=sys.stderr, flush=True)
            yield one
