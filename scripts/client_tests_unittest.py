"""Runs Numba's own test runner and writes a line of JSON for each outcome, as outside_plugin.py does for pytest.

    python client_tests_unittest.py RECORD TEST...

Here:      what each test of a `python -m numba.runtests TEST...` gave.
Not here:  which tests, in how many processes, under which GPU (client_tests.py).
Invariant: the tests and their runner stay as they are; unittest's results are listened to.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
import unittest
from typing import Any

LONGEST_TRACE = 20_000
"""Characters of a traceback that are kept: its end."""


class Listener:
    """Stands before unittest's results. A test has several lines if its parts do; a failure is never taken back."""

    def __init__(self, file: str) -> None:
        self.out = open(file, "a")
        self.begin = time.perf_counter()

    def write(self, test: Any, outcome: str, error: str = "", trace: str = "") -> None:
        name = getattr(test, "test_case", test).id()
        seconds = round(time.perf_counter() - self.begin, 4)
        row = {"test": name, "outcome": outcome, "error": error, "seconds": seconds, "trace": trace[-LONGEST_TRACE:]}
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def failure(self, test: Any, outcome: str, error: Any) -> None:
        if error is not None:
            message = "".join(traceback.format_exception_only(error[0], error[1])).strip()
            self.write(test, outcome, message, "".join(traceback.format_exception(*error)))

    def listen(self) -> None:
        heard = {
            "startTest": lambda test: setattr(self, "begin", time.perf_counter()),
            "addSuccess": lambda test: self.write(test, "passed"),
            "addSkip": lambda test, reason: self.write(test, "skipped", reason),
            "addFailure": lambda test, error: self.failure(test, "failed", error),
            "addError": lambda test, error: self.failure(test, "error", error),
            "addSubTest": lambda test, part, error: self.failure(test, "failed", error),
            "addExpectedFailure": lambda test, error: self.write(test, "xfailed"),
            "addUnexpectedSuccess": lambda test: self.write(test, "failed", "passed, which the suite does not expect"),
        }
        for name, hear in heard.items():
            setattr(unittest.TestResult, name, both(hear, getattr(unittest.TestResult, name)))


def both(hear: Any, method: Any) -> Any:
    def heard(result: Any, *words: Any) -> Any:
        hear(*words)
        return method(result, *words)

    return heard


def main() -> None:
    from numba.testing import run_tests

    Listener(sys.argv[1]).listen()
    run_tests(["numba.runtests", *sys.argv[2:]], defaultTest="numba.tests")


if __name__ == "__main__":
    main()
