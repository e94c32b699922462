"""Runs test suites that others wrote, as they stand, against tiletwin, and says what fails for which reason.

Here:      the suites, how they are started, counts by reason, comparison with real Triton, the file of results.
Not here:  what is loaded into pytest beside a suite (outside_plugin.py). No suite is part of this repository:

    git clone https://github.com/triton-lang/triton
    python scripts/outside.py --suite triton --at triton                        # on the interpreter
    python scripts/outside.py --suite triton --at triton --peer PYTHON          # and with that Python's Triton
    python scripts/outside.py --suite triton --at triton --peer PYTHON --same   # only what Triton runs, for the time
    python scripts/outside.py --suite triton --at triton --device cuda          # on a GPU, all tests

Both Pythons need pytest, torch, NumPy and SciPy; pytest-xdist where there is to be more than one process.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GOOD = ("passed", "xfailed")
BAD = ("failed", "error")


@dataclass(frozen=True)
class Suite:
    """Where a suite lies in its tree, and how it is told to run on the interpreter."""

    tests: str
    """The folder of tests."""
    root: str
    """The folder of the outermost conftest.py."""
    marker: str
    """pytest's expression for tests that Triton's own interpreter takes."""
    modules: dict[str, str] = field(default_factory=dict)
    """Private modules that the tests import, by name: files of the suite's tree."""
    result: str = ""
    """Name of the file in benchmarks/results."""


SUITES = {
    "triton": Suite(
        tests="python/test/unit/language",
        root="python/test",
        marker="interpreter",
        modules={"triton._internal_testing": "python/triton/_internal_testing.py"},
        result="triton_language_tests.json",
    )
}


@dataclass
class Run:
    """What one Python made of a suite: outcome and error by test."""

    seconds: float
    processor_seconds: float
    outcome: dict[str, str]
    error: dict[str, str]
    time: dict[str, float]
    """Seconds in the calls of a file's tests, summed over processes."""
    versions: dict[str, str]

    def counts(self) -> dict[str, int]:
        return dict(collections.Counter(self.outcome.values()).most_common())

    def good(self) -> set[str]:
        return {test for test, outcome in self.outcome.items() if outcome in GOOD}

    def bad(self) -> set[str]:
        return {test for test, outcome in self.outcome.items() if outcome in BAD}


def reason(error: str) -> str:
    """What errors of one kind have in common: the first line, without numbers, addresses and places in files."""
    line = next((line.strip() for line in error.splitlines() if line.strip()), "no message")
    line = re.sub(r"^(\S+: )?(/\S+?|<[^>]*>)?(\w+\.py)?:\d+:\d+: ", r"\1", line)
    line = re.sub(r"0x[0-9a-f]+|(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?", "N", line)
    return line[:160]


def by_reason(run: Run, tests: set[str]) -> dict[str, list[str]]:
    """Tests by the reason of their failure, the most frequent one first."""
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for test in sorted(tests):
        groups[reason(run.error.get(test, "did not run"))].append(test)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def versions(python: str, env: dict[str, str]) -> dict[str, str]:
    """Versions of what takes part, as that Python says."""
    code = (
        "import json, platform, torch, triton, numpy\n"
        "print(json.dumps({'python': platform.python_version(), 'torch': torch.__version__, 'numpy': numpy.__version__,"
        " triton.__name__: triton.__version__}"
        " | ({'gpu': torch.cuda.get_device_name()} if torch.cuda.is_available() else {})))"
    )
    done = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} does not have what the suite needs:\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def processor_time() -> float:
    """Seconds that processes started from here, and theirs, have computed."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_suite(
    suite: Suite, at: Path, python: str, env: dict[str, str], options: argparse.Namespace, same: set[str] | None = None
) -> Run:
    """Runs the suite, or its tests `same`, under `python`; processes get `env` on top of this one's variables."""
    full = {k: v for k, v in os.environ.items() if not k.startswith(("TILETWIN", "TRITON"))} | env
    full["PYTHONPATH"] = os.pathsep.join(p for p in (str(HERE), full.get("PYTHONPATH", "")) if p)
    full["OUTSIDE_MODULES"] = ";".join(f"{name}={at / file}" for name, file in suite.modules.items())
    device = options.device
    words = [python, "-m", "pytest", "-p", "outside_plugin", "-p", "no:cacheprovider", "-c", os.devnull]
    words += ["--rootdir", str(at / suite.root), "-q", "--tb=native", "--no-header", "--no-summary", "--device", device]
    # Around every test pytest's logging puts handlers on each of torch's dozens of loggers, and takes them off again.
    words += ["--continue-on-collection-errors", "-W", "ignore", "-p", "no:logging"]
    if device == "cpu":
        words += ["-m", suite.marker]
    if options.processes > 1:
        words += ["-n", str(options.processes), "--dist", "worksteal"]
    if options.only:
        words += ["-k", options.only]
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch, "record")
        full["OUTSIDE_RECORD"] = str(record)
        if same is not None:
            full["OUTSIDE_TESTS"] = str(Path(scratch, "tests"))
            Path(full["OUTSIDE_TESTS"]).write_text("\n".join(sorted(same)))
        found = versions(python, full)
        begin, used = time.perf_counter(), processor_time()
        log = Path(scratch, "log")
        with open(log, "w") as out:
            subprocess.run([*words, *(options.files or ["."])], cwd=at / suite.tests, env=full, stdout=out, stderr=out)
        seconds, used = time.perf_counter() - begin, processor_time() - used
        rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
        if not rows:
            sys.exit(f"no test ran under {python}:\n{log.read_text()[-4000:]}")
    outcome: dict[str, str] = {}
    error: dict[str, str] = {}
    times: dict[str, float] = collections.defaultdict(float)
    for row in rows:
        test = row["test"]
        times[test.partition("::")[0]] += row["seconds"]
        if outcome.get(test) not in BAD:  # a failure stays one, whatever its teardown says
            outcome[test] = row["outcome"]
            error[test] = row["error"]
    return Run(seconds, used, outcome, error, times, found)


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


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=sorted(SUITES), required=True)
    parser.add_argument("--at", type=Path, required=True, help="the repository that the suite is part of")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: all tests, on a GPU")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python with real Triton, to run the same tests with")
    parser.add_argument("--same", action="store_true", help="tiletwin runs the tests that the peer does not skip")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", metavar="EXPRESSION", help="pytest's -k")
    parser.add_argument("--reasons", type=int, default=30, help="how many reasons are printed")
    parser.add_argument("--out", type=Path, help="the file of results; by default one in benchmarks/results if all ran")
    parser.add_argument("files", nargs="*", help="test files, as seen from the suite's folder; all without")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.same and not options.peer:
        sys.exit("--same needs --peer, whose tests it takes")
    suite = SUITES[options.suite]
    at = options.at.resolve()
    interprets = options.device == "cpu"
    env = {"TILETWIN_INTERPRET": "1"} if interprets else {"TILETWIN": "1"}
    peer = None
    if options.peer:
        peer = run_suite(suite, at, options.peer, {"TRITON_INTERPRET": "1"} if interprets else {}, options)
        table("Triton  ", peer)
    same = {test for test, outcome in peer.outcome.items() if outcome != "skipped"} if peer and options.same else None
    run = run_suite(suite, at, sys.executable, env, options, same)
    table("tiletwin", run)
    result: dict[str, Any] = {
        "suite": suite.tests,
        "device": options.device,
        "date": datetime.date.today().isoformat(),
        "machine": cpu_name(),
        "processes": options.processes,
        "tiletwin": summary(run),
    }
    missed = run.bad()
    if peer:
        missed = peer.good() - run.good()
        only_ours = run.good() & peer.bad()
        print(f"passed by Triton and not by tiletwin: {len(missed)}; the other way round: {len(only_ours)}")
        result["triton"] = summary(peer)
        result["passed by tiletwin only"] = len(only_ours)
        result["passed by Triton only"] = by_reason(run, missed)
    result["failed, by reason"] = by_reason(run, run.bad())
    show(by_reason(run, missed), options.reasons)
    whole = not options.only and not options.files and not options.same
    out = options.out or (ROOT / "benchmarks" / "results" / suite.result if whole and interprets else None)
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
