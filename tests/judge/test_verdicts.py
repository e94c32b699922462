"""Each verdict once, with its reason, its line and the command that shows it again; what a submission does to the
machine."""

import json
import os
import shlex
import subprocess
import sys

import children
import jsonschema
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from findings.finding_formats import checked_sarif
from judged import HEAD, SOFTMAX, changed, judged, line_of
from tiletwin.findings import sarif
from tiletwin.judge import html, json_text, watching


def reasons(verdict, word):
    return [reason for reason in verdict.reasons if reason.verdict == word]


def checked(verdict):
    """The verdict, if all of its forms are what they say."""
    with open(os.path.join(children.HERE.parent, "docs/verdict.schema.json")) as file:
        jsonschema.Draft202012Validator(json.load(file)).validate(json.loads(json.dumps(verdict.as_json())))
    checked_sarif(sarif.log([json_text.of_reason(reason) for reason in verdict.reasons], [], "/"))
    page = html.fragment(verdict)
    assert verdict.word in page and all(case.what in page for case in verdict.cases)
    return verdict


def test_a_right_kernel_is_right_for_every_way_to_vary_inputs(tmp_path):
    verdict = checked(judged(tmp_path, SOFTMAX, cases=30))
    assert verdict.word == "right", str(verdict)
    assert {case.way for case in verdict.cases} >= {"example", "sizes", "values", "special", "strides", "offsets"}
    assert {case.outcome for case in verdict.cases} == {"right"} and verdict.launches
    assert verdict.worst <= 1 and 0 < verdict.atol < 1e-5


def test_a_wrong_mask_is_found_at_its_line_and_program_and_the_command_shows_it_again(tmp_path):
    text = changed("mask=c < n)\n\n\ndef", "mask=c < n - 1)\n\n\ndef")
    verdict = checked(judged(tmp_path, text))
    assert verdict.word == "wrong", str(verdict)
    (first,) = [r for r in reasons(verdict, "wrong") if r.rule == "judge-value" and r.line and r.case == 0]
    assert first.line == line_of("c < n - 1", text) and first.element == (0, 780) and first.kernel == "_row"
    assert "float32[64, 781]" in first.inputs
    words = shlex.split(first.command)
    assert words[:2] == ["tiletwin", "judge"]
    again = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env=children.environment(), timeout=120
    )
    assert again.returncode == 1 and first.text in again.stdout


def test_lanes_without_other_are_found_by_check_and_by_value(tmp_path):
    text = changed(', other=-float("inf")', "")
    verdict = checked(judged(tmp_path, text))
    found = {reason.rule: reason for reason in reasons(verdict, "wrong")}
    assert verdict.word == "wrong" and {"judge-value", "undefined"} <= set(found)
    assert found["judge-value"].kernel == "_row" and found["judge-value"].program == (0, 0, 0)
    assert found["judge-value"].line == line_of("tl.store", text)


def test_an_exception_in_the_example_is_broken_and_in_other_inputs_a_note(tmp_path):
    text = changed("    x = x.contiguous()", "    assert x.shape[1] == 781\n    x = x.contiguous()")
    verdict = checked(judged(tmp_path, text, cases=8))
    assert verdict.word == "right", str(verdict)
    assert any(reason.rule == "judge-declined" and "AssertionError" in reason.text for reason in verdict.reasons)
    text = changed("    x = x.contiguous()", "    assert x.shape[1] != 781\n    x = x.contiguous()")
    verdict = checked(judged(tmp_path, text))
    (reason,) = reasons(verdict, "broken")
    assert verdict.word == "broken" and reason.line == line_of("assert", text)


@pytest.mark.parametrize(
    "line, word, said",
    [
        ("def softmax(x:", "broken", "SyntaxError"),
        ("import os; os._exit(3)", "broken", "exit code 3"),
        ("import ctypes; ctypes.string_at(0)", "broken", "SIGSEGV"),
        ("print('a' * 100_000_000)", "broken", "printed more than"),
        ("open('/proc/self/fd/1').read; softmax = torch.softmax", "cheating", "files"),
        ("import subprocess; subprocess.Popen(['id'])", "cheating", "processes"),
        ("torch.allclose = lambda *_: True", "cheating", "torch.allclose"),
        ("import os; os.getenv('HOME')", "cheating", "environment"),
        ("import socket; socket.socket()", "cheating", "network"),
    ],
)
def test_what_a_submission_does_when_it_is_loaded(line, word, said, tmp_path):
    verdict = checked(judged(tmp_path, f"{SOFTMAX}\n{line}\n"))
    found = [reason for reason in reasons(verdict, word) if said in reason.text]
    assert verdict.word == word and found, str(verdict)
    assert all(reason.line in (0, line_of(line, f"{SOFTMAX}\n{line}\n")) for reason in found)


def test_torch_does_the_work(tmp_path):
    text = HEAD + "def softmax(x):\n    return torch.softmax(x, -1)\n"
    verdict = checked(judged(tmp_path, text))
    found = {reason.rule: reason for reason in reasons(verdict, "cheating")}
    assert verdict.word == "cheating" and {"judge-library", "judge-no-kernel"} <= set(found), str(verdict)
    assert found["judge-library"].line == line_of("torch.softmax", text)


def test_torch_does_the_work_before_a_kernel_that_copies(tmp_path):
    text = changed("    x = x.contiguous()", "    x = torch.softmax(x, -1).log()")
    verdict = checked(judged(tmp_path, text))
    assert verdict.word == "cheating", str(verdict)


def test_a_reference_without_inputs_is_not_judged(tmp_path):
    verdict = checked(judged(tmp_path, SOFTMAX, "import torch\ndef softmax(x):\n    return torch.softmax(x, -1)\n"))
    assert verdict.word == "not judged" and "get_inputs" in verdict.reasons[0].text


def test_messages_name_the_file_where_the_user_has_it(tmp_path):
    verdict = judged(tmp_path, changed("x + r * sx + c, mask", "x + r * sx + c + 50000, mask"), cases=1)
    assert [reason for reason in verdict.reasons if reason.rule == "error"]
    assert f"wrong: {tmp_path}/submission.py:" in str(verdict) and "worker-" not in str(verdict), str(verdict)


@triton.jit
def _filled(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 1.0)


def test_what_is_recorded_of_a_call_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "MOST_RECORDED_BYTES", 1000)
    with watching.Launches(__file__, str(tmp_path), records=True) as launches:
        for n in (100, 100, 100):
            _filled[(1,)](torch.empty(n), N=64)
    assert [os.path.basename(row["path"]) for row in launches.rows] == ["0.twlaunch", "1.twlaunch"]
    assert launches.count == 3
    (reason,) = launches.reasons
    assert reason.startswith("_filled: the launches of one call have more than")
