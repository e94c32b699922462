"""How many passages of six lines and more stand in the sources more than once. The number may only fall.

Here:      lines without indentation; comments, imports and lines of punctuation are passed over.
Not here:  passages that differ in a name; those need a reader.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections.abc import Iterable, Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINDOW = 6
SOURCES = ("*.h", "*.cpp", "*.td", "*.inc", "*.py", ":!tests/data", ":!benchmarks/results")
CEILING = {"sources": 2, "tests": 14}
"""As counted when a repetition was last removed. At commit 8cb905f there were 20 in the sources and 15 in the tests."""
PASSED_OVER = re.compile(r"//|#|\*|(?:import|using|from \S+ import)\b|\W*$")


def telling_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbers and words of the lines that count. Names inside of an import's parentheses do not."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(line.split())
        if inside:
            inside = not words.startswith(")")
        elif re.match(r"from \S+ import \($", words):
            inside = True
        elif not PASSED_OVER.match(words):
            yield number, words


def repetitions(texts: Iterable[tuple[str, str]]) -> list[str]:
    """FILE:LINE again FILE:LINE for each passage that an earlier one equals, however long it is."""
    first: dict[tuple[str, ...], str] = {}
    found = []
    for name, text in texts:
        lines = list(telling_lines(text))
        ends = 0  # where the last repeated passage ends
        for start in range(len(lines) - WINDOW + 1):
            window = tuple(words for _, words in lines[start : start + WINDOW])
            here = f"{name}:{lines[start][0]}"
            if window not in first:
                first[window] = here
                continue
            if start >= ends:
                found.append(f"{here} again {first[window]}")
            ends = start + WINDOW
    return found


def texts_of(part: str) -> Iterator[tuple[str, str]]:
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in sorted(listed.stdout.splitlines()):
        if name.startswith("tests/") == (part == "tests") and (ROOT / name).exists():
            yield name, (ROOT / name).read_text()


@pytest.mark.parametrize("part", CEILING)
def test_no_passage_is_written_again(part: str) -> None:
    found = repetitions(texts_of(part))
    assert len(found) <= CEILING[part], f"{len(found)} repeated passages, at most {CEILING[part]}:\n" + "\n".join(found)


LINES = "".join(f"x = f({number})\n" for number in range(9))


@pytest.mark.parametrize(
    ("second", "count"),
    [
        (LINES, 1),
        ("y = 1\n" + LINES.replace("\n", "\n\n    # why\n    "), 1),
        (LINES + "y = 1\n" + LINES, 2),
        ("".join(LINES.splitlines(keepends=True)[:5]), 0),
        ("import os\n" * 8, 0),
        (LINES.replace("x", "y"), 0),
    ],
    ids=["the same", "with comments", "twice", "five lines", "imports", "other names"],
)
def test_what_counts(second: str, count: int) -> None:
    found = repetitions([("a.py", LINES + "import os\n" * 8), ("b.py", second)])
    assert len(found) == count, found
