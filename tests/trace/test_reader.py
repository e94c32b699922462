"""Files that are damaged, foreign or newer give an error that names the file; nothing else comes of them."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import tiletwin.trace
from tiletwin.trace import TraceError
from tiletwin.trace.text import list_text, step_text


def read_everything(place):
    with tiletwin.trace.open(place) as trace:
        text = list_text(trace)
        for launch in trace.launches:
            for program in launch.programs:
                for step in program.steps:
                    text += step_text(step)
                    [value.python() for value in step.variables.values()]
    return text


def error_of(place):
    with pytest.raises(TraceError) as caught:
        read_everything(place)
    return str(caught.value)


def alter(file, statement, *values):
    connection = sqlite3.connect(file)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def test_a_sound_file_reads(small):
    assert "3 steps" in read_everything(small.parent)
    assert "fp32[64]" in read_everything(small)


def test_no_folder(tmp_path):
    assert "no such folder" in error_of(tmp_path / "absent")


def test_an_empty_folder(tmp_path):
    text = error_of(tmp_path)
    assert "no recording is in this folder" in text and f"TILETWIN_RECORD={tmp_path}" in text


@pytest.mark.parametrize(
    "content, why",
    [
        (b"", "is empty"),
        (b"no database at all" * 100, "is no recording"),
        (b"SQLite format 3\0", "is cut off after 16 bytes"),
        (b"SQLite format 3\0" + bytes(4080), "is cut off"),
    ],
)
def test_other_content(tmp_path, content, why):
    file = tmp_path / "a.twtrace"
    file.write_bytes(content)
    text = error_of(tmp_path)
    assert str(file) in text and why in text


def test_another_program_s_database(tmp_path):
    file = tmp_path / "a.twtrace"
    alter(file, "CREATE TABLE things (a)")
    assert "of another program" in error_of(tmp_path)


def test_a_newer_format(small):
    alter(small, "PRAGMA user_version = 99")
    text = error_of(small.parent)
    assert "newer tiletwin (format 99; this one reads up to 1)" in text and "update" in text


def test_a_missing_table(small):
    alter(small, "DROP TABLE access")
    assert "access is missing" in error_of(small.parent)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_cut_off(small, share):
    data = small.read_bytes()
    small.write_bytes(data[: int(len(data) * share)])
    text = error_of(small.parent)
    assert str(small) in text


@pytest.mark.parametrize(
    "statement, values",
    [
        ("UPDATE value SET data = x'00'", ()),
        ("UPDATE value SET codec = 'nonsense'", ()),
        ("UPDATE value SET shape = 'many'", ()),
        ("UPDATE value SET shape = '4,4'", ()),
        ("UPDATE value SET type = 'fp31'", ()),
        ("DELETE FROM value", ()),
        ("UPDATE step SET kind = 77", ()),
        ("UPDATE step SET function = 5", ()),
        ("UPDATE step SET loops = 'x'", ()),
        ("DELETE FROM step WHERE number = 1", ()),
        ("UPDATE launch SET arguments = '{'", ()),
        ("UPDATE launch SET function = 9", ()),
        ("UPDATE value SET type = ?", (b"\xff\xfe",)),
    ],
)
def test_rows_that_cannot_be(small, statement, values):
    alter(small, statement, *values)
    text = error_of(small.parent)
    assert str(small) in text


@pytest.mark.parametrize("seed", range(40))
def test_random_damage(small, seed):
    """Whatever bytes are changed: the record reads, or there is a TraceError."""
    rng = random.Random(seed)
    data = bytearray(small.read_bytes())
    for _ in range(rng.choice([1, 10, 300])):
        data[rng.randrange(100, len(data))] = rng.randrange(256)
    small.write_bytes(data)
    try:
        read_everything(small.parent)
    except TraceError as error:
        assert str(small) in str(error)


def test_one_damaged_file_does_not_hide_the_others(small):
    (small.parent / "b.twtrace").write_bytes(b"nonsense")
    trace = tiletwin.trace.open(small.parent)
    assert len(trace.launches) == 1
    assert "b.twtrace" in trace.problems[0]
    assert "unreadable" in list_text(trace)


def test_a_folder_that_cannot_be_written(small, tmp_path):
    """A record whose changes are still in the log reads from a folder without write permission."""
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--clear-groups"]
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not installed")
    else:
        command = []
    os.chmod(small, 0o444)
    os.chmod(small.parent, 0o555)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.stat().st_uid == os.geteuid() and str(folder) != "/tmp":
            os.chmod(folder, 0o755)
    code = "import sys, tiletwin.trace; print(len(tiletwin.trace.open(sys.argv[1]).launches))"
    command += [sys.executable, "-c", code, str(small.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    os.chmod(small.parent, 0o755)
    assert done.stdout == "1\n", done.stderr


def test_a_deleted_variable_is_gone(rows):
    rows.step(0, 1)
    rows.step(1, 2, x=rows.tensor("int32", np.arange(4, dtype=np.int32)))
    rows.step(1, 3, x=None)
    rows.step(1, 4)
    steps = tiletwin.trace.open(rows.close().parent).launches[0].programs[0].steps
    assert list(steps[1].variables) == ["x"] and steps[2].changes == {"x": None}
    assert list(steps[2].variables) == list(steps[3].variables) == []
