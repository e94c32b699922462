"""What the page on continuous integration says, as far as it runs here: the file for GitHub's machines, the test."""

import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points

import children
import pytest
import yaml
from judged import HERE, REFERENCE, SOFTMAX, changed

PAGE = (HERE.parents[1] / "docs/howto/judge_ci.md").read_text()
WRONG = changed("mask=c < n)\n\n\ndef", "mask=c < n - 1)\n\n\ndef")
LAUNCHES = """import torch
from kernels.softmax import softmax

def test_softmax():
    x = torch.randn(4, 33, device="cuda")
    torch.testing.assert_close(softmax(x), torch.softmax(x, -1))
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def workflow():
    (text,) = blocks("yaml")
    return yaml.safe_load(text)


@pytest.fixture
def repository(tmp_path):
    """As the page has it."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "kernels/softmax.py").write_text(SOFTMAX)
    (tmp_path / "kernels/reference.py").write_text(REFERENCE)
    (tmp_path / "tests/test_softmax.py").write_text(LAUNCHES)
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    plugin = "-p tiletwin_pytest" if not list(entry_points(group="pytest11", name="tiletwin")) else ""  # not installed
    for name, words in (("tiletwin", "tiletwin"), ("pytest", f"pytest {plugin}")):
        (bin_ / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {words} "$@"\n')
        (bin_ / name).chmod(0o755)
    return tmp_path


def run(repository, line):
    """A line of the file, as a runner has it."""
    environment = children.environment(repository, TILETWIN_INTERPRET="1")
    path = f"{repository / 'bin'}:{environment['PATH']}"
    words = ["bash", "-e", "-c", line]
    return subprocess.run(words, cwd=repository, env=environment | {"PATH": path}, capture_output=True, text=True)


def lines_that_run_here():
    steps = workflow()["jobs"]["judge"]["steps"]
    return [step["run"] for step in steps if "run" in step and shlex.split(step["run"])[0] in ("tiletwin", "pytest")]


def test_the_workflow_is_one_as_github_reads_it():
    read = workflow()
    assert set(read) == {"name", True, "permissions", "jobs"}  # YAML reads `on` as true
    (job,) = read["jobs"].values()
    assert all(("run" in step) != ("uses" in step) for step in job["steps"])
    assert all(re.fullmatch(r"[\w./-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)
    written = {word for line in lines_that_run_here() for word in re.findall(r"\S+\.(?:sarif|jsonl)", line)}
    used = {step["with"].get("sarif_file") or step["with"].get("path") for step in job["steps"] if "with" in step}
    assert used - {None} <= {name.rpartition("=")[2] for name in written}


@pytest.mark.slow
def test_its_lines_pass_for_right_kernels_and_fail_for_wrong_ones(repository):
    lines = lines_that_run_here()
    assert len(lines) == 3
    for line in lines:
        done = run(repository, line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    for name in ("verdicts.jsonl", "findings.sarif", "tests.sarif"):
        assert (repository / name).stat().st_size
    (repository / "kernels/softmax.py").write_text(WRONG)
    for line in lines:
        assert run(repository, line).returncode == 1, line
    assert "n - 1" in (repository / "findings.sarif").read_text()


def test_the_test_of_the_page_passes_for_right_kernels_and_fails_for_wrong_ones(repository):
    (text,) = blocks("python")
    (repository / "test_page.py").write_text(text)
    assert run(repository, "pytest -q test_page.py").returncode == 0
    (repository / "kernels/softmax.py").write_text(WRONG)
    done = run(repository, "pytest -q test_page.py")
    assert done.returncode == 1 and "softmax.py:" in done.stdout and "n - 1" in done.stdout
