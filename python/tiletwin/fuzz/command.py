"""The command `tiletwin fuzz`: campaigns and their reports.

Here:      what the words of the command mean, progress, the summary, exit codes.
Not here:  typer's declarations (cli.py), campaigns (campaign.py).
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tiletwin import whole_files
from tiletwin.fuzz import judges as table
from tiletwin.fuzz import report
from tiletwin.fuzz.campaign import Campaign, Limits, pool_of
from tiletwin.fuzz.forms import FORMS
from tiletwin.fuzz.pools import Loss
from tiletwin.fuzz.results import NoDatabase, Results
from tiletwin.fuzz.work import Settings, Worker

Fail = Callable[[str], NoReturn]
DATABASE = "campaign.duckdb"
_SAY_SECONDS = 30.0
"""Between lines of progress where there is no terminal for a bar."""


def chosen_judges(words: str, fail: Fail) -> tuple[str, ...]:
    """The names in a list with commas, checked, each with its share of the programs."""
    chosen = tuple(word.strip() for word in words.split(",") if word.strip())
    known = table.names()
    try:
        shares = [table.shared(word) for word in chosen]
    except ValueError as error:
        fail(str(error))
    for name, _ in shares:
        if name not in known:
            fail(f"there is no judge {name!r}; judges are {', '.join(dict.fromkeys(known))}")
    if not shares or shares[0][0] == "twins" or shares[0][1] > 1:
        fail("the first judge is compared with the others: it cannot be 'twins', and sees every program")
    if len(dict(shares)) < len(shares):
        fail(f"a judge stands twice in {words}")
    if len(shares) == 1:
        fail(f"{chosen[0]} alone has nothing to be compared with: name a second judge, or twins")
    return chosen


def settings(judges: str, size: int | None, shrink: float, forms: str, fail: Fail) -> Settings:
    """Of the command's words."""
    return Settings(chosen_judges(judges or table.DEFAULT, fail), size, shrink, chosen_forms(forms, fail))


def chosen_forms(words: str, fail: Fail) -> tuple[str, ...] | None:
    """The names in a list with commas, checked; None: all forms."""
    names = tuple(name.strip() for name in words.split(",") if name.strip())
    for name in names:
        if name not in FORMS:
            fail(f"there is no form {name!r}; forms are {', '.join(FORMS)}")
    return names or None


def show(seed: int, size: int | None, forms: tuple[str, ...] | None = None) -> None:
    """Prints the program of a seed."""
    from tiletwin.fuzz import generator, text

    print(text.kernel_text(generator.program(seed, size, forms)), end="")


def judge_one(seed: int, settings: Settings) -> int:
    """One seed in this process, without a campaign. Returns the exit code."""
    worker = Worker(settings)
    try:
        record = worker.run(seed)
    finally:
        worker.close()
    for judge, verdict, reason, seconds in record["verdicts"]:
        print(f"{judge:28s}{verdict:16s}{seconds:8.3f} s  {reason[:100]}")
    for item in record["findings"]:
        print(f"\n{item['message']}\n\n{item['text']}")
    return 1 if record["findings"] else 0


def run(
    *, settings: Settings, programs: int, seconds: float, jobs: int, ray: str, out: str, seed: int, timeout: float,
    quiet: bool, fail: Fail,
) -> int:  # fmt: skip
    """A campaign. Returns the exit code: 0, nothing found; 1, findings; 4, none, and a judge has compared nothing."""
    if programs < 0 or seconds < 0 or jobs < 0:
        fail("--programs, --seconds and --jobs are numbers from 0 on")
    limits = Limits(programs, seconds)
    folder = Path(out) if out else None
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"--out {out}: {error.strerror}; name a folder that can be written")
    where = f"ray {ray}" if ray else f"{jobs} processes"
    try:
        path = folder / DATABASE if folder else ""
        results = Results(path, seed=seed, judges=",".join(settings.judges), workers=where)
        pool = pool_of(settings, jobs, timeout, ray)
    except RuntimeError as error:  # NoDatabase, NoCluster
        fail(str(error))
    campaign = Campaign(settings, results, folder, seed, limits)
    stopped = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, which shells keep from background jobs
    try:
        _follow(campaign, pool, limits, quiet)
    except KeyboardInterrupt:
        stopped = True
    except (RuntimeError, OSError) as error:  # workers that do not start; a disk that is full
        results.close()
        fail(str(error))
    finally:
        pool.close()
    spent = time.time() - results.started
    results.close()
    _summary(results, spent, folder, stopped)
    shares = dict(map(table.shared, settings.judges[1:]))
    silent = results.without_comparison(
        name for name, every in shares.items() if name != "twins" and every <= results.programs
    )
    for name, why in silent.items() if results.programs else ():
        print(f"tiletwin: {name} has compared nothing in {results.programs} programs: {why}", file=sys.stderr)
    return 1 if results.findings else 4 if silent and results.programs else 0


def _follow(campaign: Campaign, pool: Any, limits: Limits, quiet: bool) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[told]}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        total = limits.programs or (limits.seconds or None)
        task = progress.add_task("fuzz", total=total, told="")
        started = said = time.monotonic()
        for item in campaign.run(pool):
            done = campaign.results.programs
            spent = time.monotonic() - started
            told = f"{done} programs, {done / max(spent, 1e-9):.1f}/s, {len(campaign.results.findings)} findings"
            progress.update(task, completed=done if limits.programs else spent, told=told)
            if progress.disable and not quiet and (done == 1 or time.monotonic() - said > _SAY_SECONDS):
                said = time.monotonic()
                print(told, file=sys.stderr, flush=True)
            if isinstance(item, Loss):
                progress.console.print(f"seed {item.task}: the worker {item.kind}: {item.reason}")


def _summary(results: Results, seconds: float, folder: Path | None, stopped: bool) -> None:
    rate = results.programs / seconds if seconds else 0.0
    ended = "stopped after" if stopped else "in"
    print(
        f"{results.programs} programs {ended} {seconds:.0f} s ({rate:.1f} a second), {len(results.findings)} findings"
    )
    for kept in sorted(results.findings.values(), key=lambda k: -k.count):
        print(f"  {kept.count} x {kept.key} (seed {kept.seed}, {kept.lines} lines)")
    if folder is not None:
        print(f"kept in {folder}; `tiletwin fuzz report {folder}` tells what is covered", file=sys.stderr)


def tell(folder: str, html: str, fail: Fail) -> None:
    """The report of a folder, or of a database."""
    path = Path(folder)
    try:
        facts = report.read(path / DATABASE if path.is_dir() else path)
        print(report.text(facts))
        if html:
            whole_files.write(html, report.page(facts))
            print(f"written: {html}", file=sys.stderr)
    except (NoDatabase, OSError) as error:
        fail(str(error))
