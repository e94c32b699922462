"""What tests/selection.py leaves out: fixed, and nothing for ever."""

from __future__ import annotations

import selection

NAMES = [f"tests/a/test_it.py::test_case[{number}]" for number in range(200)] + ["tests/a/test_it.py::test_alone"]


def test_every_test_is_in_one_part() -> None:
    days = [set(NAMES) - selection.outside_of_part(NAMES, f"{day}/5") for day in range(20_000, 20_005)]
    assert set.union(*days) == set(NAMES) and sum(map(len, days)) == len(NAMES)
    assert min(map(len, days)) > 20
    assert selection.outside_of_part(NAMES, "20005/5") == selection.outside_of_part(NAMES, "20000/5")


def test_parts_are_the_same_in_every_process() -> None:
    assert [selection.part_of(f"tests/test_it.py::test_{name}", 5) for name in "abc"] == [0, 0, 3]


def test_a_sample_keeps_small_families_and_some_of_large_ones() -> None:
    kept = set(NAMES) - selection.outside_of_sample(NAMES)
    assert "tests/a/test_it.py::test_alone" in kept and len(kept) == 1 + 34
    assert selection.outside_of_sample(NAMES[:2]) == set()
    assert selection.outside_of_sample(NAMES[:6]) == {NAMES[i] for i in (1, 2, 4, 5)}
