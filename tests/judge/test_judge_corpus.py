"""The corpus: every submission gets its verdict, for a reason that names the right line."""

import pytest
from problems import submissions
from tiletwin.judge.judging import judge
from tiletwin.judge.settings import Settings
from tiletwin.judge.starter import Starter

ALL = {one.name: one for one in submissions()}


@pytest.fixture(scope="session")
def starter():
    with Starter() as made:
        yield made


@pytest.mark.parametrize("name", ALL)
def test_verdict(name, starter, tmp_path, record_property):
    one = ALL[name]
    submission, reference = tmp_path / "submission.py", tmp_path / "reference.py"
    submission.write_text(one.text)
    reference.write_text(one.reference)
    verdict = judge(str(submission), str(reference), Settings(seconds=600.0, most=one.cases or 14), starter)
    record_property("count", f"judged {verdict.word}")
    assert verdict.word == one.verdict, str(verdict)
    given = [reason for reason in verdict.reasons if reason.verdict == one.verdict]
    if one.verdict != "right":
        lines = one.text.splitlines()
        named = [lines[reason.line - 1] for reason in given if reason.line and reason.file == str(submission)]
        assert not one.line or any(one.line in line for line in named), f"no reason at {one.line!r}\n{verdict}"
        assert not one.rule or any(reason.rule == one.rule for reason in given), f"no {one.rule}\n{verdict}"
