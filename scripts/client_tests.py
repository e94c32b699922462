"""The tests that CUDA's Python clients bring along, on the virtual GPU and beside what a real one gave.

    python scripts/client_tests.py numba --write here.json -- tiletwin gpu --bounds pages --memory 8G -- PYTHON
    python scripts/client_tests.py numba --write sim.json --set NUMBA_ENABLE_CUDASIM=1 -- PYTHON
    python scripts/client_tests.py numba --write gpu.json --processes 14 --seconds 150 -- python3  # with a GPU
    python scripts/client_tests.py cuda_core --at cuda-python/cuda_core --write core.json -- tiletwin gpu ... -- PYTHON

Here:      which suites there are, in which parts they run, what becomes of a part that hangs or ends too early.
Not here:  the suites, which are installed or fetched; one part's run (client_tests_unittest.py, outside_plugin.py);
           counts and comparison (client_tests_record.py).
Invariant: every test that the suite lists has one outcome in the file. A test that takes its process down is an
           error, and those behind it run in a new one.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "--rootdir", ".", "-q"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Suite:
    """How a client's tests are listed and run."""

    packages: tuple[str, ...]
    """Packages whose versions the file names."""
    folder: str = ""
    """Where pytest runs, as seen from --at; without one, the suite is Numba's."""
    part: int = 24
    """Tests of one process, at most: what a hang can delay and a broken context can spoil."""

    def listing(self) -> list[str]:
        if not self.folder:
            return ["-m", "numba.runtests", "-l", "numba.cuda.tests"]
        return [*PYTEST, "--collect-only", "--continue-on-collection-errors"]

    def module(self, test: str) -> str:
        return test.partition("::")[0] if self.folder else test.rsplit(".", 2)[0]

    def listed(self, text: str) -> list[str]:
        pattern = r"\S+\.py::.+" if self.folder else r"(\w+\.)+\w+"
        return [line for line in map(str.rstrip, text.splitlines()) if re.fullmatch(pattern, line)]

    def running(self, tests: list[str], scratch: Path, limit: float) -> list[str]:
        if not self.folder:
            return [str(HERE / "client_tests_unittest.py"), str(scratch / "record"), *tests]
        words = [*PYTEST, "-p", "outside_plugin", "--timeout", str(round(limit))]
        return [*words, *sorted({self.module(test) for test in tests})]


COMMON = ("numpy", "cupy-cuda13x", "cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-nvjitlink")
SUITES = {
    "numba": Suite(("numba", "numba-cuda", "llvmlite", *COMMON)),
    "cuda_core": Suite(COMMON, folder=".", part=100),
    "pycuda": Suite(("pycuda", "numpy"), folder="test"),
}


class Runner:
    """Runs parts of a suite under the command that stands behind `--`."""

    def __init__(self, suite: Suite, options: argparse.Namespace) -> None:
        self.suite, self.options = suite, options
        self.env = {**os.environ, **dict(pair.split("=", 1) for pair in options.set)}
        self.env["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [self.env.get("PYTHONPATH")])])
        self.folder = options.at.resolve() / suite.folder if suite.folder else None
        self.end = time.monotonic() + options.seconds

    def tests(self) -> list[str]:
        words = [*self.options.command, *self.suite.listing()]
        done = subprocess.run(words, capture_output=True, text=True, env=self.env, cwd=self.folder)
        tests = self.suite.listed(done.stdout)
        if not tests:
            sys.exit(f"no test was listed by {' '.join(words)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return tests

    def part(self, tests: list[str]) -> list[Row]:
        """Outcomes of `tests`, in as many processes as it takes."""
        rows: list[Row] = []
        while tests:
            with tempfile.TemporaryDirectory() as scratch:
                why = self.process(tests, Path(scratch))
                record = Path(scratch, "record")
                lines = record.read_text().splitlines() if record.exists() else []
                found = [json.loads(line) for line in lines if line.endswith("}")]  # one may be cut off
            rows += found
            ran = {row["test"] for row in found}
            left = [test for test in tests if test not in ran]
            if left and why != "no time left":
                outcome = "skipped" if "unittest.case.SkipTest" in why else "error"  # a module that skips itself
                rows.append({"test": left[0], "outcome": outcome, "error": why, "seconds": 0.0, "trace": ""})
                left = left[1:]
            elif left:
                rows += [{"test": test, "outcome": "not run", "error": why, "seconds": 0, "trace": ""} for test in left]
                left = []
            tests = left
        return rows

    def process(self, tests: list[str], scratch: Path) -> str:
        """Runs one process, and says how it ended."""
        if time.monotonic() > self.end:
            return "no time left"
        record, log = scratch / "record", scratch / "log"
        (scratch / "tests").write_text("\n".join(tests))
        env = {**self.env, "OUTSIDE_RECORD": str(record), "OUTSIDE_TESTS": str(scratch / "tests")}
        words = [*self.options.command, *self.suite.running(tests, scratch, self.options.limit)]
        cwd = self.folder or scratch
        with open(log, "w") as out:
            child = subprocess.Popen(words, stdout=out, stderr=out, env=env, cwd=cwd, start_new_session=True)
            why = self.watch(child, record)
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
        return why or f"the process ended with {child.returncode}: {last_line(log)}"

    def watch(self, child: subprocess.Popen[Any], record: Path) -> str:
        """Waits for the child; a reason to end it, or nothing if it has ended."""
        size, since = 0, time.monotonic()
        while True:
            try:
                child.wait(0.5)
                return ""
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            new = record.stat().st_size if record.exists() else 0
            size, since = (new, now) if new != size else (size, since)
            if now > self.end:
                return "no time left"
            if now - since > self.options.limit + 30:
                return f"longer than {self.options.limit + 30:.0f} s"


def last_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def parts(suite: Suite, tests: list[str], times: dict[str, float]) -> list[list[str]]:
    """Tests of one module each, the longest part first."""
    modules: dict[str, list[str]] = {}
    for test in tests:
        modules.setdefault(suite.module(test), []).append(test)
    cut = [some[at : at + suite.part] for some in modules.values() for at in range(0, len(some), suite.part)]
    return sorted(cut, key=lambda part: -sum(times.get(test, 0.3) for test in part))


def merged(rows: list[Row]) -> dict[str, Row]:
    """One row a test: a failure stays one, whatever comes behind it."""
    by_test: dict[str, Row] = {}
    for row in rows:
        if by_test.get(row["test"], {}).get("outcome") not in ("failed", "error"):
            by_test[row["test"]] = row
    return by_test


def earlier(file: Path | None) -> dict[str, Row]:
    return {row["test"]: row for row in json.loads(file.read_text())["tests"]} if file else {}


def versions(command: list[str], packages: tuple[str, ...], env: dict[str, str]) -> dict[str, str]:
    code = (
        "import importlib.metadata as m, json, platform\ndef of(name):\n try: return m.version(name)\n"
        f" except m.PackageNotFoundError: return ''\n"
        f"print(json.dumps({{'python': platform.python_version(), **{{n: of(n) for n in {packages!r}}}}}))"
    )
    done = subprocess.run([*command, "-c", code], capture_output=True, text=True, env=env)
    return {name: version for name, version in json.loads(done.stdout.splitlines()[-1]).items() if version}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--write", type=Path, required=True, metavar="FILE", help="every test's outcome, as JSON")
    parser.add_argument("--at", type=Path, default=Path("."), help="the tree that the tests are part of")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of a test; 30 more end the process")
    parser.add_argument("--seconds", type=float, default=1e6, help="what has not ended by then is not run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for the tests")
    parser.add_argument(
        "--only", default="", metavar="EXPRESSION", help="tests whose name the regular expression finds"
    )
    parser.add_argument("--listed", type=Path, metavar="FILE", help="the tests by name, instead of asking the suite")
    parser.add_argument("--times", type=Path, metavar="FILE", help="an earlier run: its longest parts start first")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="an earlier run, whose outcomes stand")
    parser.add_argument("command", nargs="+", help="the Python that runs the tests, and what stands before it")
    return parser.parse_args()


def write(options: argparse.Namespace, head: Row, tests: list[str], by_test: dict[str, Row], otherwise: str) -> None:
    """The file, with every test that is listed; those without an outcome are `otherwise`."""
    lost = {"outcome": otherwise, "error": "gave no outcome", "seconds": 0.0, "trace": ""}
    rows = {test: by_test.get(test, {"test": test, **lost}) for test in tests} | by_test
    options.write.write_text(json.dumps({**head, "tests": list(rows.values())}) + "\n")
    print(f"{options.suite}: {dict(collections.Counter(row['outcome'] for row in rows.values()))}", flush=True)


def main() -> None:
    options = arguments()
    suite = SUITES[options.suite]
    runner = Runner(suite, options)
    begin = time.monotonic()
    listed = options.listed.read_text().splitlines() if options.listed else runner.tests()
    tests = [test for test in listed if re.search(options.only, test)]
    times = {test: row["seconds"] for test, row in earlier(options.times).items()}
    by_test = {test: row for test, row in earlier(options.resume).items() if row["outcome"] != "not run"}
    todo = [test for test in tests if test not in by_test]
    head = {"suite": options.suite, "date": time.strftime("%Y-%m-%d"), "command": options.command}
    head["versions"] = versions(options.command, suite.packages, runner.env)
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        running = [pool.submit(runner.part, part) for part in parts(suite, todo, times)]
        for done in concurrent.futures.as_completed(running):
            by_test |= merged(done.result())
            head["seconds"] = round(time.monotonic() - begin, 1)
            write(options, head, tests, by_test, "not run")
    write(options, head, tests, by_test, "error")


if __name__ == "__main__":
    main()
