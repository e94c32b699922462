"""A pytest plugin that writes down what the launches of a session came to, for test_triton_sim_corpus.py.

CORPUS_REPORT names a file; a line of JSON a launch: the test, the kernel, the verdict, the reasons, the report of a
difference. Launches that could not be compared at all are "left out".
"""

import json
import os

import pytest

_tests: dict[int, str] = {}
"""By the number of a report: the function of the test that launched."""


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    from tiletwin.diff import mode

    before = len(mode.SESSION.reports)
    yield
    name = getattr(item, "originalname", None) or item.name
    _tests.update(dict.fromkeys(range(before, len(mode.SESSION.reports)), name))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    from tiletwin.diff import mode

    with open(os.environ["CORPUS_REPORT"], "w") as out:
        for number, report in enumerate(mode.SESSION.reports):
            row = {"test": _tests.get(number, ""), "kernel": report.launch.name}
            row |= {"verdict": report.verdict, "reasons": list(report.reasons)}
            if report.verdict == "different":
                row["report"] = str(report)
            print(json.dumps(row), file=out)
        for result in mode.SESSION.results:
            if " was left out: " in result.message:
                row = {"test": "", "kernel": "", "verdict": "left out", "reasons": [result.message]}
                print(json.dumps(row), file=out)
