"""What tests/selection.py leaves out: fixed, and nothing for ever."""

from __future__ import annotations

import selection
from children import HERE

NAMES = [f"tests/a/test_it.py::test_case[{number}]" for number in range(200)] + ["tests/a/test_it.py::test_alone"]


def test_every_test_is_in_one_part() -> None:
    days = [selection.of_part(NAMES, f"{day}/5") for day in range(20_000, 20_005)]
    assert set.union(*days) == set(NAMES) and sum(map(len, days)) == len(NAMES)
    assert min(map(len, days)) > 20
    assert selection.of_part(NAMES, "20005/5") == selection.of_part(NAMES, "20000/5")


def test_parts_are_the_same_in_every_process() -> None:
    assert [selection.part_of(f"tests/test_it.py::test_{name}", 5) for name in "abc"] == [0, 0, 3]


def test_a_sample_keeps_small_families_and_some_of_large_ones() -> None:
    kept = selection.sample(NAMES)
    assert "tests/a/test_it.py::test_alone" in kept and len(kept) == 1 + 23
    assert selection.sample(NAMES[:2]) == set(NAMES[:2])
    assert selection.sample(NAMES[:6]) == {NAMES[0], NAMES[4]}


def test_of_costly_files_a_sample_keeps_a_third() -> None:
    names = [f"tests/gdb/test_gdb.py::test_{name}" for name in "abcdefg"]
    assert selection.sample([*names, *NAMES]) == {names[0], names[3], names[6]} | selection.sample(NAMES)


def test_costly_files_exist() -> None:
    files = [HERE / folder / f"test_{name}.py" for folder, names in selection.COSTLY.items() for name in names.split()]
    assert len(files) > 20 and not [file for file in files if not file.exists()]
