"""Runs test suites that others wrote, as they stand, against tiletwin, and says what fails for which reason.

Here:      the command, counts by reason, comparison with real Triton, the file of results.
Not here:  the suites (outside_suites.py), how one is run (outside_run.py), what is loaded into pytest beside it
           (outside_plugin.py). No suite is part of this repository:

    git clone https://github.com/pytorch/helion
    python scripts/outside.py --suite helion --at helion --install            # what the suite needs, once
    python scripts/outside.py --suite helion --at helion --sample 60          # 60 tests, spread over its files
    python scripts/outside.py --suite helion --at helion test_matmul.py       # one file of it; --sample: N of its tests
    python scripts/outside.py --suite triton --at triton                      # on the interpreter, all of it
    python scripts/outside.py --suite triton --at triton --peer PYTHON        # and with that Python's Triton
    python scripts/outside.py --suite triton --at triton --peer PYTHON --same # only what Triton runs, for the time
    python scripts/outside.py --suite triton --at triton --device cuda        # on a GPU, all tests
    python scripts/outside.py ... --device cuda --record gpu.json             # there, with any Triton
    python scripts/outside.py ... --recorded gpu.json                         # here, beside what was recorded there

Both Pythons need pytest, torch and NumPy; pytest-xdist where there is to be more than one process, pytest-timeout for
--timeout.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from pathlib import Path
from typing import Any

from outside_run import Run, install, run_suite
from outside_suites import SUITES, Suite, how_to

ROOT = Path(__file__).resolve().parents[1]


def table(title: str, run: Run) -> None:
    counts = ", ".join(f"{count} {word}" for word, count in run.counts().items())
    print(f"{title}: {counts} in {run.seconds:.0f} s ({run.processor_seconds:.0f} s of processor time)")


def summary(run: Run) -> dict[str, Any]:
    times = {"seconds": round(run.seconds), "processor seconds": round(run.processor_seconds)}
    files = {file: round(seconds, 1) for file, seconds in sorted(run.time.items(), key=lambda item: -item[1])}
    return {"versions": run.versions, **times, "counts": run.counts(), "seconds by file": files}


def show(groups: dict[str, list[str]], most: int) -> None:
    for text, tests in list(groups.items())[:most]:
        print(f"{len(tests):6}  {text}\n        {tests[0]}")
    if len(groups) > most:
        print(f"        and {len(groups) - most} more reasons")


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=how_to(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", choices=sorted(SUITES), required=True)
    parser.add_argument("--at", type=Path, required=True, help="the repository that the suite is part of")
    parser.add_argument("--install", action="store_true", help="only install what the suite needs into this Python")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: a GPU, not the interpreter")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python with real Triton, to run the same tests with")
    parser.add_argument(
        "--recorded", type=Path, metavar="FILE", help="a peer's run that --record wrote, to compare with"
    )
    parser.add_argument("--same", action="store_true", help="tiletwin runs the tests that the peer does not skip")
    parser.add_argument("--sample", type=int, metavar="N", help="N tests, as many of each file as can be")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--timeout", type=int, metavar="SECONDS", help="a test's time limit")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", metavar="EXPRESSION", help="pytest's -k")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for the tests")
    parser.add_argument("--reasons", type=int, default=30, help="how many reasons are printed")
    parser.add_argument("--out", type=Path, help="the file of results; by default one in benchmarks/results if all ran")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write every test's outcome, for --recorded")
    parser.add_argument("--record-peer", type=Path, metavar="FILE", help="the same of --peer's run")
    parser.add_argument("--traces", type=Path, metavar="FILE", help="write the traceback of every failure")
    parser.add_argument("files", nargs="*", help="test files, as seen from the suite's first folder; all without")
    options = parser.parse_args(words)
    if options.same and not (options.peer or options.recorded):
        parser.error("--same needs --peer or --recorded, whose tests it takes")
    if options.peer and options.recorded:
        parser.error("--peer and --recorded both say what to compare with")
    if options.sample is not None and options.sample < 1:
        parser.error("--sample takes a positive number")
    if options.record_peer and not options.peer:
        parser.error("--record-peer needs --peer, whose run it writes")
    if wrong := [pair for pair in options.set if "=" not in pair]:
        parser.error(f"--set takes NAME=VALUE, not {wrong[0]}")
    return options


def compared(suite: Suite, run: Run, peer: Run, is_whole: bool) -> tuple[set[str], dict[str, Any]]:
    """Tests that the peer passes and tiletwin does not, and what the results say of both. A part of the suite is
    compared in the tests that ran here."""
    theirs = peer.good() if is_whole else peer.good() & run.outcome.keys()
    missed = theirs - run.good()
    only_ours = run.good() & peer.bad()
    print(f"passed by Triton and not by tiletwin: {len(missed)}; the other way round: {len(only_ours)}")
    both = {"triton": summary(peer), "passed by tiletwin only": len(only_ours)}
    return missed, {**both, "passed by Triton only": run.by_reason(suite, missed)}


def main() -> None:
    options = arguments()
    suite = SUITES[options.suite]
    at = options.at.resolve()
    if options.install:
        install(suite, sys.executable)
        return
    interprets = options.device == "cpu"
    peer = None
    if options.peer:
        peer = run_suite(suite, at, options.peer, {"TRITON_INTERPRET": "1"} if interprets else {}, options)
    elif options.recorded:
        peer = Run.read(options.recorded)
    if peer:
        table("Triton  ", peer)
        if options.record_peer:
            peer.write(options.record_peer)
    same = {test for test, outcome in peer.outcome.items() if outcome != "skipped"} if peer and options.same else None
    run = run_suite(
        suite, at, sys.executable, {"TILETWIN_INTERPRET": "1"} if interprets else {"TILETWIN": "1"}, options, same
    )
    table("tiletwin", run)
    if options.record:
        run.write(options.record)
    is_whole = not (options.only or options.files or options.same or options.sample)
    result: dict[str, Any] = {
        "suite": options.suite,
        "source": suite.source,
        "tests": suite.tests,
        "device": options.device,
        "date": datetime.date.today().isoformat(),
        "machine": cpu_name(),
        "processes": options.processes,
        "what": {name: getattr(options, name) for name in ("sample", "seed", "timeout", "only", "files", "set")},
        "left out": suite.left_out,
        "tiletwin": summary(run),
    }
    missed = run.bad()
    if peer:
        missed, rows = compared(suite, run, peer, is_whole)
        result |= rows
    result["failed, by reason"] = run.by_reason(suite, run.bad())
    show(run.by_reason(suite, missed), options.reasons)
    out = options.out or (ROOT / "benchmarks" / "results" / suite.result if is_whole and interprets else None)
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
