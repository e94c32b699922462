"""docs/language.md agrees with the code, and every name in it has a test."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("language_table", ROOT / "scripts" / "language_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_up_to_date(table):
    assert table.problems() == [], "run `make docs`"


def test_every_name_has_a_test(table):
    assert table.untested() == []


def test_a_change_is_noticed(table, tmp_path, monkeypatch):
    text = table.OUTPUT.read_text()
    monkeypatch.setattr(table, "OUTPUT", tmp_path / "language.md")
    assert "missing" in table.problems()[0]
    table.OUTPUT.write_text(text.replace("| `arange` | `(start, end)` |", "| `arange` | `(start, stop)` |"))
    assert [line.split(":")[0] for line in table.problems()] == ["not in the file", "no longer so"]
    table.OUTPUT.write_text(text.replace("tests/python/test_tools.py", "tests/python/test_gone.py"))
    assert table.problems() == ["tests/python/test_gone.py is named but does not exist"]
