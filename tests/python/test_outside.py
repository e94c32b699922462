"""scripts/outside.py runs suites of others: it is tried with one that is made here, whose outcomes are known."""

from __future__ import annotations

import argparse
import importlib
import json
import stat
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("torch")

FIRST = """
import pytest

def test_good():
    pass

def test_bad():
    raise KeyError(1.5)

def test_left_out():
    pytest.skip("not here")

@pytest.mark.parametrize("n", range(8))
def test_numbers(n):
    if n % 2:
        raise ValueError(f"row {n} of 0x{n}f is wrong")
"""
SECOND = """
import os, time, pytest
import suites_own, triton.private

def test_slow():
    time.sleep(30)

def test_variables():
    assert (os.environ["COLOUR"], os.environ["TILETWIN_CHECK"]) == ("green", "bounds")
    assert suites_own.VALUE == triton.private.VALUE == 7

def test_missing():
    import package_of_nobody

@pytest.mark.parametrize("n", range(40))
def test_many(n):
    pass
"""


@pytest.fixture(scope="module")
def scripts():
    """The modules of the scripts, by name."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield {
        name: importlib.import_module(name) for name in ("outside", "outside_run", "outside_suites", "outside_plugin")
    }
    sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree with a suite, and the tree's own modules."""
    package = importlib.import_module("tiletwin").__file__
    files = {
        "tests/deep/test_first.py": FIRST,
        "tests/test_second.py": SECOND,
        "tests/test_gpus.py": "raise RuntimeError('this file is left out')",
        "lib/suites_own.py": "VALUE = 7",
        "lib/private.py": "VALUE = 7",
        "names/triton.py": f"import sys; sys.path.insert(0, {str(Path(package).parents[1])!r}); import tiletwin\n"
        "__path__ = []; __version__ = '0'",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "names"))
    return tmp_path


@pytest.fixture
def suite(scripts):
    return scripts["outside_suites"].Suite(
        source="https://example.org/suite",
        tests=("tests",),
        imports=("lib",),
        environment={"COLOUR": "green"},
        modules={"triton.private": "lib/private.py"},
        left_out={"tests/test_gpus*": "needs several GPUs"},
        groups={"a row is wrong": r"row \d+ of"},
    )


def options(scripts, tree, *words: str) -> argparse.Namespace:
    words = ("--suite", "triton", "--at", str(tree), "--processes", "1", "--set", "TILETWIN_CHECK=bounds", *words)
    return scripts["outside"].arguments(list(words))


def test_outcomes_and_reasons(scripts, tree, suite):
    given = options(scripts, tree, "--timeout", "2", "--traces", str(tree / "traces"))
    run = scripts["outside_run"].run_suite(suite, tree, sys.executable, {}, given)
    assert run.counts() == {"passed": 46, "failed": 7, "skipped": 1}
    reasons = {name: len(tests) for name, tests in run.by_reason(suite, run.bad()).items()}
    assert reasons == {
        "a row is wrong": 4,
        "KeyError: N": 1,
        "a package that is not installed": 1,
        "longer than the time limit": 1,
    }
    assert "tests/test_second.py::test_slow" in run.bad() and run.versions["torch"]
    assert "import package_of_nobody" in (tree / "traces").read_text()


def test_a_sample_has_tests_of_every_file_and_is_the_same_again(scripts, tree, suite):
    choose = scripts["outside_plugin"].sample_of
    tests = [f"a.py::test[{n}]" for n in range(50)] + ["b.py::one", "b.py::two"] + [f"c.py::x{n}" for n in range(9)]
    chosen = choose(tests, 10, 1)
    counts = [sum(test.startswith(file) for test in chosen) for file in ("a", "b", "c")]
    assert sorted(counts) == [2, 4, 4] and counts[1] == 2
    assert chosen == choose(tests, 10, 1) != choose(tests, 10, 2) and choose(tests, 100, 1) == set(tests)
    given = options(scripts, tree, "--sample", "6", "--only", "numbers or many")
    run = scripts["outside_run"].run_suite(suite, tree, sys.executable, {}, given)
    assert [sum(name in test for test in run.outcome) for name in ("test_numbers", "test_many")] == [3, 3]


def test_of_many_files_a_sample_collects_as_many_as_it_has_tests(scripts, tree, suite):
    for number in range(20):
        (tree / "tests" / f"test_more{number}.py").write_text("")
    given = options(scripts, tree, "--sample", "5")
    files = scripts["outside_run"].chosen_files(suite, tree, given)
    assert len(set(files)) == 5 and files == scripts["outside_run"].chosen_files(suite, tree, given)


def test_a_recorded_run_is_a_peer(scripts, tree, suite, capsys):
    module, Run = scripts["outside_run"], scripts["outside_run"].Run
    ours = Run(1.0, 1.0, {"a": "passed", "b": "failed", "c": "skipped"}, {"b": "ValueError: 3", "c": "no 2"}, {}, {})
    theirs = Run(1.0, 1.0, {"a": "failed", "b": "passed", "c": "passed", "d": "passed"}, {}, {}, {"gpu": "one"})
    theirs.write(tree / "peer.json")
    peer = Run.read(tree / "peer.json")
    assert peer == theirs
    missed, rows = scripts["outside"].compared(suite, ours, peer, is_whole=True)
    assert missed == {"b", "c", "d"} and rows["passed by tiletwin only"] == 1
    assert rows["passed by Triton only"] == {"ValueError: N": ["b"], "skipped here: no N": ["c"], "did not run": ["d"]}
    assert scripts["outside"].compared(suite, ours, peer, is_whole=False)[0] == {"b", "c"}
    (tree / "peer.json").write_text("{}")
    with pytest.raises(SystemExit, match="is no run that --record wrote"):
        module.Run.read(tree / "peer.json")


def test_a_sample_of_named_files_is_of_these(scripts, tree, suite):
    given = options(scripts, tree, "--sample", "3", "deep/test_first.py")
    run = scripts["outside_run"].run_suite(suite, tree, sys.executable, {}, given)
    assert len(run.outcome) == 3 and all(test.startswith("tests/deep/test_first.py") for test in run.outcome)


def test_the_peers_run_is_written_too(scripts, tree, suite, capsys, monkeypatch):
    monkeypatch.setitem(scripts["outside_suites"].SUITES, "triton", suite)
    files = [str(tree / "theirs"), str(tree / "ours"), str(tree / "out")]
    words = ["--record-peer", files[0], "--record", files[1], "--out", files[2], "--sample", "2", "test_second.py"]
    with pytest.raises(SystemExit):
        options(scripts, tree, *words)
    assert "--record-peer needs --peer, whose run it writes" in capsys.readouterr().err
    given = options(scripts, tree, "--peer", sys.executable, *words)
    monkeypatch.setattr(scripts["outside"], "arguments", lambda: given)
    scripts["outside"].main()
    theirs, ours = (scripts["outside_run"].Run.read(Path(file)) for file in files[:2])
    assert len(theirs.outcome) == 2 and theirs.outcome == ours.outcome


@pytest.mark.parametrize(("names", "refused"), [(["numpy", "Torch"], "torch"), (["triton"], "triton"), (["a"], None)])
def test_nothing_is_installed_that_replaces_torch(scripts, tmp_path, names, refused):
    """A Python whose pip would install these packages, and notes what it is asked."""
    report = json.dumps({"install": [{"metadata": {"name": name}} for name in names]})
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$@" in *dry-run*) echo \'{report}\';; esac\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    suite = scripts["outside_suites"].Suite(source="", tests=(), requirements=("wanted",))
    if refused:
        with pytest.raises(SystemExit, match=f"pip would install {refused} for this suite; nothing was installed"):
            scripts["outside_run"].install(suite, str(python))
    else:
        scripts["outside_run"].install(suite, str(python))
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == (1 if refused else 2) and all(line.endswith(" wanted") for line in asked)


def test_every_suite_says_where_it_is_and_why_files_are_left_out(scripts):
    suites = scripts["outside_suites"].SUITES
    assert len(suites) >= 7 and all(all(suite.left_out.values()) and suite.tests for suite in suites.values())
    text = scripts["outside_suites"].how_to()
    assert all(f"git clone {suite.source}" in text for suite in suites.values())
    assert len({suite.result for suite in suites.values()}) == len(suites)


def test_a_tree_without_the_suite_is_an_error(scripts, tmp_path, suite):
    with pytest.raises(SystemExit, match=r"has no test files in tests; https://example\.org/suite has them"):
        scripts["outside_run"].chosen_files(suite, tmp_path, options(scripts, tmp_path))
