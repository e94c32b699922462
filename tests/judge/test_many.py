"""Many verdicts: the same as one by one, kept, not made twice, whatever ends."""

import json
import os
import shutil
import signal
import time
from pathlib import Path

import children
import duckdb
import jsonschema
import pytest
from judged import HERE, REFERENCE, SOFTMAX, changed
from tiletwin.judge import many, store, usage
from tiletwin.judge.schema import BadProblem
from tiletwin.judge.settings import settings_of
from tiletwin.judge.work_items import Item

WRONG = changed("mask=c < n)\n\n\ndef", "mask=c < n - 1)\n\n\ndef")
ADD = """import torch
import triton
import triton.language as tl

@triton.jit
def _add(x, y, o, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    m = at < n
    tl.store(o + at, tl.load(x + at, m, 0.0) + tl.load(y + at, m, 0.0), m)

def add(x, y):
    x, y = x.contiguous(), y.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _add[(triton.cdiv(x.numel(), 64),)](x, y, o, x.numel(), B=64)
    return o
"""
ADD_REFERENCE = """import torch

def add(x, y):
    return x + y

def get_inputs():
    return [torch.randn(300), torch.randn(300)]
"""


@pytest.fixture
def folder(tmp_path):
    """Four submissions, two of them with one text, below two references; and what is none."""
    found = tmp_path / "kernels"
    texts = {
        "reference.py": REFERENCE, "right.py": SOFTMAX, "deep/wrong.py": WRONG, "deep/same.py": WRONG,
        "add/reference.py": ADD_REFERENCE, "add/add.py": ADD, "__pycache__/no.py": "", ".git/no.py": "",
    }  # fmt: skip
    for name, text in texts.items():
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).write_text(text)
    return found


EXPECTED = {"right.py": "right", "deep/wrong.py": "wrong", "deep/same.py": "wrong", "add/add.py": "right"}


QUICK = ("--budget", "quick", "--cases", "4", "--seconds", "600")
"""Four cases, however slow the machine is."""


def run(folder, *words, **options):
    return children.run_tiletwin("judge", "--many", folder, *QUICK, "-j", "1", *words, **options)


def rows(path, columns="submission, verdict"):
    with duckdb.connect(str(path), read_only=True) as database:
        return database.execute(f"select {columns} from verdicts order by submission").fetchall()


def processes_with(text):
    """Numbers of processes whose environment has a text."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if text.encode() in Path("/proc", name, "environ").read_bytes() and usage.runs(int(name)):
                found.append(int(name))
        except OSError:
            continue
    return found


def test_a_folder_is_judged_once_and_only_what_has_changed_again(folder, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = run(folder, TMPDIR=str(temporary))
    assert done.returncode == 1 and "4 submissions" in done.stdout and "3 judged now: 2 right, 2 wrong" in done.stdout
    assert not os.listdir(temporary) and not processes_with(str(temporary))
    database = folder / "verdicts.duckdb"
    assert {Path(name).relative_to(folder).as_posix(): word for name, word in rows(database)} == EXPECTED
    schema = jsonschema.Draft202012Validator(json.loads((HERE.parents[1] / "docs/verdict.schema.json").read_text()))
    for name, text in rows(database, "submission, json"):
        verdict = json.loads(text)
        schema.validate(verdict)
        assert verdict["submission"] == name and all(reason["file"] in ("", name) for reason in verdict["reasons"])
        assert all(f" {name} " in reason["command"] for reason in verdict["reasons"])
    (line,) = {line for (line,) in rows(database, "line") if line}
    assert "n - 1" in WRONG.splitlines()[line - 1]

    assert "0 judged now: 2 right, 2 wrong" in run(folder).stdout
    (folder / "deep/wrong.py").write_text(SOFTMAX + "\n# another text")
    assert "1 judged now: 3 right, 1 wrong" in run(folder).stdout
    assert "4 judged now" in run(folder, "--seed", "7").stdout
    (folder / "add/reference.py").write_text(ADD_REFERENCE.replace("300", "301"))
    assert "1 judged now" in run(folder).stdout


def test_verdicts_are_those_of_one_by_one(folder):
    run(folder, "--results", folder / "verdicts.jsonl")
    for line in (folder / "verdicts.jsonl").read_text().splitlines():
        said = json.loads(line)["verdict"]
        words = (*QUICK, "--json", "--reference", said["reference"])
        alone = json.loads(children.run_tiletwin("judge", said["submission"], *words).stdout)
        for one in (said, alone):
            one.pop("seconds"), one.pop("processor")
            for case in one["cases"]:
                case.pop("seconds")
        assert said == alone


def test_a_killed_run_leaves_nothing_and_goes_on(folder, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    spins = changed("    x = x.contiguous()", "    while True: pass\n    x = x.contiguous()")
    (folder / "zz_spins.py").write_text(spins)
    results = folder / "verdicts.jsonl"
    words = ("judge", "--many", folder, *QUICK, "-j", "1", "--results", results)
    leader = children.start("-m", "tiletwin", *words, TMPDIR=str(temporary))
    deadline = time.monotonic() + 200
    while not results.exists() or len(results.read_text().splitlines()) < 4:
        assert leader.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    leader.kill()
    leader.communicate()
    while processes_with(str(temporary)) or os.listdir(temporary):
        assert time.monotonic() < deadline, (processes_with(str(temporary)), os.listdir(temporary))
        time.sleep(0.1)
    with open(results, "a") as file:
        file.write('{"submission": "cut')
    (folder / "zz_spins.py").write_text(SOFTMAX)
    done = run(folder, "--results", results)
    assert done.returncode == 1 and "0 judged now: 3 right, 2 wrong" in done.stdout, done.stdout


def test_a_reference_that_ends_the_judge_is_not_judged_and_the_others_are(folder):
    (folder / "add/reference.py").write_text(ADD_REFERENCE + "\nimport os; os._exit(3)\n")
    done = run(folder)
    assert done.returncode == 1 and "1 right, 1 not judged, 2 wrong" in done.stdout, done.stdout
    (reason,) = [r for word, r in rows(folder / "verdicts.duckdb", "verdict, reason") if word == "not judged"]
    assert "exit code 3" in reason
    (folder / "add/reference.py").write_text(ADD_REFERENCE)
    assert "1 judged now: 2 right, 2 wrong" in run(folder).stdout


def test_a_list_and_one_reference_for_all(folder):
    lines = [{"submission": "right.py"}, {"submission": "add/add.py", "reference": "add/reference.py"}]
    (folder / "list.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    items = many.items_of(str(folder / "list.jsonl"), "reference.py", {})
    assert [Path(item.reference_name).relative_to(folder).as_posix() for item in items] == [
        "reference.py", "add/reference.py",
    ]  # fmt: skip
    with pytest.raises(BadProblem, match=r"list.jsonl:1: right.py has no reference"):
        many.items_of(str(folder / "list.jsonl"), "", {})
    (folder / "list.jsonl").write_text("[]")
    with pytest.raises(BadProblem, match=r"list.jsonl:1: not"):
        many.items_of(str(folder / "list.jsonl"), "", {})
    items = many.items_of(str(folder), str(folder / "right.py"), {})
    assert {Path(item.name).name for item in items} == {"wrong.py", "same.py", "add.py"}


def test_the_key_is_that_of_texts_and_options():
    settings = settings_of("quick", seed=3).as_options()
    item = Item("a.py", "text", "r.py", "reference", settings)
    assert item.key == Item("b.py", "text", "s.py", "reference", dict(reversed(settings.items()))).key
    others = [
        Item("a.py", "text ", "r.py", "reference", settings), Item("a.py", "text", "r.py", "reference ", settings),
        Item("a.py", "text", "r.py", "reference", settings_of("quick").as_options()),
        Item("a.py", "textr", "r.py", "eference", settings),
    ]  # fmt: skip
    assert len({item.key, *(other.key for other in others)}) == 5
    assert settings_of(**settings) == settings_of("quick", seed=3)


def test_without_duckdb_results_are_lines_and_the_command_says_so(folder, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    text = "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n, *a: n != 'duckdb' and f(n, *a) or None"
    (hidden / "sitecustomize.py").write_text(text)
    shutil.rmtree(folder / "deep")
    shutil.rmtree(folder / "add")
    done = run(folder, paths=[hidden])
    assert done.returncode == 0 and "DuckDB is not installed (tiletwin[many])" in done.stderr, done.stderr
    assert len((folder / "verdicts.jsonl").read_text().splitlines()) == 1
    assert isinstance(store.open_store("", folder), store.Database)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--many", "nowhere"], "nowhere: there is no such folder"),
        (["--many", "."], "there is no submission"),
        (["--many", ".", "--results", "a.csv"], "ends in .duckdb or .jsonl"),
        (["--many", ".", "-j", "-1"], "--jobs"),
        (["--many", ".", "--json"], "--json is of one submission"),
        (["a.py", "--many", "."], "one of them"),
        ([], "one of them"),
        (["a.py"], "--reference FILE says it"),
        (["a.py", "--reference", "b.py", "--budget", "slow"], "there are quick, usual, thorough"),
    ],
)
def test_what_is_refused(words, said, tmp_path):
    if "a.csv" in words:
        (tmp_path / "a.py").write_text(SOFTMAX)
        (tmp_path / "reference.py").write_text(REFERENCE)
    done = children.run_tiletwin("judge", *words, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_ctrl_c_says_what_was_done(folder):
    leader = children.start("-m", "tiletwin", "judge", "--many", folder, "--budget", "quick", "-j", "1",
                            "--results", folder / "verdicts.jsonl")  # fmt: skip
    deadline = time.monotonic() + 200
    while not (folder / "verdicts.jsonl").exists() or not (folder / "verdicts.jsonl").read_text():
        assert leader.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    leader.send_signal(signal.SIGINT)
    out, err = leader.communicate(timeout=60)
    assert "stopped after" in out and "Traceback" not in err, out + err
