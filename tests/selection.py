"""Which of the collected tests run: a sample of large families, or one part of many.

Here:      the choice, by names alone, so it is the same on every machine and in every process of a run.
Not here:  what is slow (the marker, and tests/language/conftest.py), what the choice follows from (tests/conftest.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

SMALL_FAMILY, LARGE_FAMILY = 2, 48
"""Cases of one test function up to which all of them are in the sample; of more, every third is, and of more than the
larger number every sixth."""


def outside_of_sample(names: Iterable[str]) -> set[str]:
    """Names of the tests that a fixed sample of every family leaves out."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.partition("[")[0], []).append(name)
    return {
        name
        for family in families.values()
        if len(family) > SMALL_FAMILY
        for index, name in enumerate(family)
        if index % (6 if len(family) > LARGE_FAMILY else 3)
    }


def part_of(name: str, parts: int) -> int:
    """The one of so many parts that a test belongs to."""
    return zlib.crc32(name.encode()) % parts


def outside_of_part(names: Iterable[str], part: str) -> set[str]:
    """part: NUMBER/PARTS; number counts on through all parts, as the days do."""
    number, parts = map(int, part.split("/"))
    return {name for name in names if part_of(name, parts) != number % parts}
