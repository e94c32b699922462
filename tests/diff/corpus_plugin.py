"""A pytest plugin that writes down what the launches of a session came to, for test_triton_sim_corpus.py.

CORPUS_REPORT names a file; a line of JSON a launch: the kernel, its file, the verdict, the reasons, the report of a
difference.
"""

import json
import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    from tiletwin.diff import mode

    with open(os.environ["CORPUS_REPORT"], "w") as out:
        for report in mode.SESSION.reports:
            row = {"kernel": report.launch.name, "file": os.path.basename(report.launch.file)}
            row |= {"verdict": report.verdict, "reasons": list(report.reasons)}
            if report.verdict == "different":
                row["report"] = str(report)
            print(json.dumps(row), file=out)
