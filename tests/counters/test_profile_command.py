"""`tiletwin profile` as a user types it: tables, JSON by its schema, the page, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import children
import jsonschema
import pytest
from tiletwin.cuda import ptxas, sass

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
import sys
import torch
import triton
import triton.language as tl


@triton.jit
def column(x, y, n, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    values = tl.load(x + rows * n)
    tl.store(y + rows, values)


@triton.jit
def add_one(x, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, tl.load(x + at) + 1)


x = torch.zeros(64, 64)
y = torch.zeros(64, 64)
column[(2,)](x, y, 64, B=32, num_warps=1)
for _ in range(3):
    add_one[(4,)](x, B=1024)
print("ran", *sys.argv[1:])
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""
COMMAND = ("-m", "tiletwin", "profile")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def rows_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_tables(folder):
    done = children.run(*COMMAND, "--json", "counts.json", "script.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    assert rows[0] == "ran"
    titles = [row for row in rows if re.match(r"\w+: grid", row)]
    assert [title.rstrip(" ─") for title in titles] == [
        "column: grid 2 x 1 x 1, block 32 x 1 x 1, sm_90a",
        "add_one: grid 4 x 1 x 1, block 128 x 1 x 1, sm_90a, 3 launches alike",
    ]
    # 2 programs of a warp load 32 numbers that are 256 bytes apart, and store them side by side.
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 64 exact" in rows
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 8 exact" in rows
    (line,) = [row for row in rows if row.startswith("script.py:10 ")]
    assert line.endswith("2 64 32 values = tl.load(x + rows * n)")
    (advice,) = [row for row in rows if row.startswith("script.py:10: ")]
    assert advice == (
        "script.py:10: this load touches 32 sectors for 128 bytes, where 4 sectors would do: neighbouring lanes are "
        "256 bytes apart"
    )
    check(json.loads((folder / "counts.json").read_text()))


def check(made: dict) -> None:
    schema = json.loads((ROOT / "docs" / "profile.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(made)
    column, add_one = made["launches"]
    assert (column["kernel"], column["launches"], add_one["launches"]) == ("column", 1, 3)
    for launch in made["launches"]:
        totals = {one["name"]: one["value"] for one in launch["counters"] if one["value"]}
        for name, value in totals.items():
            assert value == sum(line["counters"].get(name, 0) for line in launch["lines"]), name
    (store,) = [line for line in column["lines"] if line["source"].startswith("tl.store")]
    samples = [one["worst"] for one in store["instructions"] if one["worst"]]
    assert samples and all(len(sample["addresses"]) == 32 for sample in samples)


def test_a_kernel_is_picked_and_lines_are_cut(folder):
    done = children.run(*COMMAND, "--kernel", "add_*", "--lines", "1", "script.py", cwd=folder)
    assert done.returncode == 0 and "column: grid" not in done.stdout and "add_one: grid" in done.stdout
    assert len(re.findall(r"^script\.py:\d+ ", done.stdout, re.MULTILINE)) == 1


def test_the_scripts_words_and_exit_code(folder):
    done = children.run(*COMMAND, "script.py", "5", "--lines", cwd=folder)
    assert done.returncode == 5 and "ran 5 --lines" in done.stdout and "column: grid" in done.stdout


def test_a_script_without_kernels(folder):
    (folder / "empty.py").write_text("print('nothing')\n")
    done = children.run(*COMMAND, "empty.py", cwd=folder)
    assert (done.returncode, done.stderr) == (4, "tiletwin: no launch was counted: no kernel ran\n")
    done = children.run(*COMMAND, "--kernel", "other", "script.py", cwd=folder)
    assert done.returncode == 4 and "those were of add_one, column" in done.stderr


@pytest.mark.parametrize(
    "words, text",
    [
        (("missing.py",), "missing.py: no such file"),
        (("--json", "no/where.json", "script.py"), "--json no/where.json: "),
        (("--html", "no/where.html", "script.py"), "--html no/where.html: "),
    ],
)
def test_mistakes(folder, words, text):
    done = children.run(*COMMAND, *words, cwd=folder)
    assert done.returncode == 2 and text in done.stderr and "ran" not in done.stdout


def test_the_page(folder):
    done = children.run(*COMMAND, "--html", "page.html", "script.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "values = tl.load(x + rows * n)" in page
    assert "<script src" not in page and "http" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.skipif(
    ptxas.find() is None or sass.find(sass.TOOLS[:1]) is None, reason="there is no ptxas, or no nvdisasm"
)
def test_machine_code(folder):
    done = children.run(*COMMAND, "--machine-code", "--json", "counts.json", "script.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("counters are those of the machine code, which has written what the PTX has") == 2
    made = json.loads((folder / "counts.json").read_text())
    jsonschema.validate(made, json.loads((ROOT / "docs" / "profile.schema.json").read_text()))
    for launch in made["launches"]:
        code, counted = launch["machine_code"], {one["name"]: one for one in launch["counters"]}
        assert code["same_results"] is True and len(code["code"]) == code["instructions"]
        executed = counted["smsp__inst_executed.sum"]
        assert executed["value"] == code["executed"] == sum(one["executed"] for one in code["code"])
        assert executed["accuracy"] == "exact"
