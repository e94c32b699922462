"""The command `tiletwin judge`.

Here:      what it prints and writes, exit codes: 0, right; 1, wrong, cheating or broken; 2, the command failed; 3, not
           judged.
Not here:  its options (cli.py), judging (judging.py).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from tiletwin import devices, whole_files
from tiletwin.judge.settings import Settings, settings_of
from tiletwin.judge.verdicts import EXIT_CODES

Fail = Callable[[str], NoReturn]


def settings(budget: str, chosen: dict[str, Any], fail: Fail) -> Settings:
    """Of the command's words; what is None is as the budget says."""
    try:
        made = settings_of(budget, **{name: value for name, value in chosen.items() if value is not None})
        for name in made.targets:
            if name != "sim":
                devices.device_named(name)
    except ValueError as error:
        fail(str(error))
    return made


def check_one(submission: str, many: str, serve: bool, reference: str, of_one: dict[str, object], fail: Fail) -> None:
    """One thing is to be judged, and there is something to judge it by. of_one: options that only a submission has."""
    if bool(submission) + bool(many) + serve != 1:
        fail("say what to judge: a submission, --many FOLDER or --serve, one of them")
    for name, given in of_one.items():
        if given and not submission:
            fail(f"{name} is of one submission, and with --many or --serve there is none")
    if submission and not reference:
        fail(f"what is {submission} to compute? --reference FILE says it")


def run(submission: str, reference: str, wanted: Settings, as_json: bool, page: str, fail: Fail) -> int:
    """Judges one file, prints the verdict, adds its reasons to the findings' file. Returns the exit code."""
    from tiletwin.findings import output
    from tiletwin.judge import html, json_text
    from tiletwin.judge.judging import judge

    if page and (problem := whole_files.problem(page)):
        fail(f"--html {page}: {problem}")
    warnings.simplefilter("ignore", UserWarning)  # of the reference's operations, at sizes that the judge makes up
    try:
        verdict = judge(submission, reference, wanted)
    except OSError as error:
        fail(f"{error.filename or submission}: {error.strerror or error}")
    print(json.dumps(verdict.as_json(), indent=1, allow_nan=False) if as_json else verdict, flush=True)
    output.add([json_text.of_reason(reason) for reason in verdict.reasons])
    if page:
        try:
            html.write(verdict, page)
        except OSError as error:
            fail(f"--html {page}: {error.strerror or error}")
    return output.finish(EXIT_CODES[verdict.word])
