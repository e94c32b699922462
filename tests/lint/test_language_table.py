"""docs/language.md agrees with the code, and every name in it has a test."""

import importlib.util
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERY = 1 if os.environ.get("TILETWIN_TEST_ALL") else 16
"""Of the cells of the column CUDA one in so many is computed: each takes kernels to be compiled."""


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("language_table", ROOT / "scripts" / "language_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_up_to_date(table):
    assert table.problems(EVERY) == [], "run `make docs`"


def test_every_name_has_a_test(table):
    assert table.untested(EVERY) == []


def test_a_change_is_noticed(table, tmp_path, monkeypatch):
    made = table.tables(EVERY)
    monkeypatch.setattr(table, "tables", lambda every: made)
    text = table.OUTPUT.read_text()
    monkeypatch.setattr(table, "OUTPUT", tmp_path / "language.md")
    assert "missing" in table.problems(EVERY)[0]
    table.OUTPUT.write_text(text.replace("| `arange` | `(start, end)` |", "| `arange` | `(start, stop)` |"))
    assert [line.split(":")[0] for line in table.problems(EVERY)] == ["not in the file", "no longer so"]
    table.OUTPUT.write_text(text.replace("tests/python/test_tools.py", "tests/python/test_gone.py"))
    assert table.problems(EVERY) == ["tests/python/test_gone.py is named but does not exist"]


def test_a_sample_of_the_column_is_computed(table):
    title, rows = next((title, rows) for title, rows in table.tables(EVERY) if "libdevice" in title)
    column = table.Column(16)
    column.begin(title)
    cells = [column.cell(row.name, lambda: "computed") for row in rows]
    assert len(rows) / 40 < cells.count("computed") < len(rows) / 6
    assert column.cell("a name that is new", lambda: "computed") == "computed"
    assert [row.cuda for row, cell in zip(rows, cells, strict=True) if cell != "computed"] == [
        cell for cell in cells if cell != "computed"
    ]
