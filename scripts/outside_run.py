"""Runs a suite that others wrote under a Python, and reads what its tests gave.

Here:      pytest's command and environment, the record of a run and its file, what pip may install.
Not here:  which suites there are (outside_suites.py), what stands in pytest beside them (outside_plugin.py).
Invariant: nothing that is installed for a suite replaces torch, Triton or tiletwin.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outside_suites import Suite

HERE = Path(__file__).resolve().parent
GOOD = ("passed", "xfailed")
BAD = ("failed", "error")
STAYS = ("torch", "triton", "tiletwin", "pytorch-triton")
"""What a suite is run against."""


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

    def by_reason(self, suite: Suite, tests: set[str]) -> dict[str, list[str]]:
        """Tests by the reason of their failure, the most frequent one first."""
        groups: dict[str, list[str]] = collections.defaultdict(list)
        for test in sorted(tests):
            groups[self.reason(suite, test)].append(test)
        return dict(sorted(groups.items(), key=lambda item: -len(item[1])))

    def reason(self, suite: Suite, test: str) -> str:
        """Why a test did not pass."""
        if test not in self.outcome:
            return "did not run"
        reason = suite.reason(self.error.get(test, ""))
        return f"skipped here: {reason}" if self.outcome[test] == "skipped" else reason

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(dataclasses.asdict(self)) + "\n")

    @staticmethod
    def read(file: Path) -> Run:
        """A run that `write` wrote, maybe on another machine. Errors: exits, the file is none."""
        try:
            return Run(**json.loads(file.read_text()))
        except (OSError, ValueError, TypeError) as error:
            sys.exit(f"{file} is no run that --record wrote: {error}")


def versions(python: str, env: dict[str, str], at: Path) -> dict[str, str]:
    """Versions of what takes part, as that Python says, and the suite's commit."""
    code = (
        "import json, platform, torch, triton, numpy\n"
        "print(json.dumps({'python': platform.python_version(), 'torch': torch.__version__, 'numpy': numpy.__version__,"
        " triton.__name__: triton.__version__}"
        " | ({'gpu': torch.cuda.get_device_name()} if torch.cuda.is_available() else {})))"
    )
    done = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} does not have what the suite needs:\n{done.stderr.strip()}")
    found = json.loads(done.stdout.splitlines()[-1])
    if (at / ".git").exists():
        words = ["git", "-C", str(at), "log", "-1", "--format=%h of %cs"]
        found["suite"] = subprocess.run(words, capture_output=True, text=True).stdout.strip()
    return found


def install(suite: Suite, python: str) -> None:
    """Installs what the suite needs. Errors: exits, pip would replace what the suite is to be run against."""
    if not suite.requirements:
        return
    pip = [python, "-m", "pip", "install", "--quiet"]
    words = [*pip, "--dry-run", "--report", "-", *suite.requirements]
    planned = subprocess.run(words, capture_output=True, text=True)
    if planned.returncode:
        sys.exit(f"pip cannot install {' '.join(suite.requirements)}:\n{planned.stderr.strip()}")
    names = {row["metadata"]["name"].lower() for row in json.loads(planned.stdout)["install"]}
    if replaced := names & set(STAYS):
        sys.exit(f"pip would install {', '.join(sorted(replaced))} for this suite; nothing was installed")
    subprocess.run([*pip, *suite.requirements], check=True)


def processor_time() -> float:
    """Seconds that processes started from here, and theirs, have computed."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def chosen_files(suite: Suite, at: Path, options: Any) -> list[str]:
    """The files that are run. Of a sample's files no more are collected than it has tests."""
    if options.files:
        return [str(at / suite.tests[0] / file) for file in options.files]
    files = [str(file) for file in suite.files(at)]
    if not files:
        sys.exit(f"{at} has no test files in {', '.join(suite.tests)}; {suite.source} has them")
    return random.Random(options.seed).sample(files, min(options.sample or len(files), len(files)))


def words_of(suite: Suite, at: Path, python: str, options: Any) -> list[str]:
    """pytest's command."""
    words = [python, "-m", "pytest", "-p", "outside_plugin", "-p", "no:cacheprovider", "-c", os.devnull]
    words += ["--rootdir", str(at / suite.root), "-q", "--tb=native", "--no-header", "--no-summary"]
    words += ["--continue-on-collection-errors", "-W", "ignore"]
    words += [*suite.words, *suite.on_device.get(options.device, ())]
    if options.timeout:
        words += ["--timeout", str(options.timeout)]
    if options.processes > 1:
        words += ["-n", str(options.processes), "--dist", "worksteal"]
    if options.only:
        words += ["-k", options.only]
    return words


def environment_of(suite: Suite, at: Path, env: dict[str, str], options: Any) -> dict[str, str]:
    """This process's variables without those of Triton and tiletwin, then the suite's, `env`, and what --set says."""
    full = {k: v for k, v in os.environ.items() if not k.startswith(("TILETWIN", "TRITON"))}
    full |= suite.environment | env | dict(pair.split("=", 1) for pair in options.set)
    folders = [str(HERE), *(str(at / folder) for folder in suite.imports), full.get("PYTHONPATH", "")]
    full["PYTHONPATH"] = os.pathsep.join(folder for folder in folders if folder)
    full["OUTSIDE_MODULES"] = ";".join(f"{name}={at / file}" for name, file in suite.modules.items())
    if options.sample:
        full["OUTSIDE_SAMPLE"] = f"{options.sample}:{options.seed}"
    return full


def run_suite(
    suite: Suite, at: Path, python: str, env: dict[str, str], options: Any, same: set[str] | None = None
) -> Run:
    """Runs the suite, or its tests `same`, under `python`; processes get `env` on top of this one's variables."""
    full = environment_of(suite, at, env, options)
    words = [*words_of(suite, at, python, options), *chosen_files(suite, at, options)]
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch, "record")
        full["OUTSIDE_RECORD"] = str(record)
        if same is not None:
            full["OUTSIDE_TESTS"] = str(Path(scratch, "tests"))
            Path(full["OUTSIDE_TESTS"]).write_text("\n".join(sorted(same)))
        found = versions(python, full, at)
        begin, used = time.perf_counter(), processor_time()
        log = Path(scratch, "log")
        with open(log, "w") as out:
            subprocess.run(words, cwd=at / suite.root, env=full, stdout=out, stderr=out)
        seconds, used = time.perf_counter() - begin, processor_time() - used
        rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
        if not rows:
            sys.exit(f"no test ran under {python}:\n{log.read_text()[-4000:]}")
    if options.traces:
        options.traces.write_text("\n".join(f"{row['test']}\n{row['trace']}\n" for row in rows if row["trace"]))
    return run_of(rows, seconds, used, found)


def run_of(rows: list[dict[str, Any]], seconds: float, used: float, found: dict[str, str]) -> Run:
    """A run from the lines that the plugin wrote."""
    outcome: dict[str, str] = {}
    error: dict[str, str] = {}
    times: dict[str, float] = collections.defaultdict(float)
    for row in rows:
        test = row["test"]
        times[test.partition("::")[0]] += row["seconds"]
        if outcome.get(test) not in BAD:  # a failure stays one, whatever its teardown says
            outcome[test] = row["outcome"]
            error[test] = row["error"]
    return Run(seconds, used, outcome, error, dict(times), found)
