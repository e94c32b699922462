"""What a recording keeps: the variables TILETWIN_RECORD, TILETWIN_RECORD_LIMIT and TILETWIN_RECORD_LAUNCHES.

Here:      their parsing, which programs are chosen where nobody says.
Not here:  TILETWIN_PROGRAM (launch/eager_launch.py), the recording (recorder.py).
Invariant: a bad value is an error that names the variable and what it may hold.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tiletwin import variables

DEFAULT_LIMIT = 256 << 20
DEFAULT_LAUNCHES = "0-3"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:I?B)?", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)(?:-(\d*))?")


def size_text(size: int) -> str:
    """A number of bytes as people write it: "256 MB"."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"


def parse_size(text: str) -> int:
    """Bytes of "256M", "1.5 GB", "65536". Errors: ValueError."""
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < 4096:
        raise ValueError(f"TILETWIN_RECORD_LIMIT is {text!r}: write a size of at least 4096 bytes, such as 256M or 2G")
    return size


class LaunchRange(NamedTuple):
    """Launches `first` to `last` of one kernel (every kernel: "*"), counted from 0."""

    kernel: str
    first: int
    last: float


def parse_launches(text: str) -> list[LaunchRange]:
    """Ranges of "0-3", "*", "7", "5-" or "matmul:0-9; softmax:*". Errors: ValueError."""
    ranges = []
    for item in filter(None, (part.strip() for part in text.split(";"))):
        kernel, colon, numbers = item.rpartition(":")
        kernel = kernel.strip() if colon else "*"
        numbers = numbers.strip()
        match = _RANGE.fullmatch(numbers)
        if numbers == "*":
            ranges.append(LaunchRange(kernel, 0, float("inf")))
        elif match:
            open_end = match[2] == ""
            last = float("inf") if open_end else int(match[2] or match[1])
            ranges.append(LaunchRange(kernel, int(match[1]), last))
        else:
            raise ValueError(
                f"TILETWIN_RECORD_LAUNCHES is {text!r}: {item!r} is no number, range like 0-3, or *; "
                "before it may stand a kernel's name and a colon; several are joined by ;"
            )
    return ranges


class Wish(NamedTuple):
    """What the environment asks for."""

    folder: str
    limit: int
    launches: list[LaunchRange]

    def last_launch(self, kernel: str) -> float:
        """The number of the last launch of `kernel` to be recorded; -1: none."""
        return max((r.last for r in self.launches if r.kernel in ("*", kernel)), default=-1)

    def includes(self, kernel: str, number: int) -> bool:
        return any(r.kernel in ("*", kernel) and r.first <= number <= r.last for r in self.launches)


def wish() -> Wish | None:
    """What TILETWIN_RECORD and its companions ask for; None: nothing. Errors: ValueError."""
    folder = variables.text("TILETWIN_RECORD")
    if not folder:
        return None
    limit = variables.text("TILETWIN_RECORD_LIMIT")
    launches = variables.text("TILETWIN_RECORD_LAUNCHES") or DEFAULT_LAUNCHES
    return Wish(folder, parse_size(limit) if limit else DEFAULT_LIMIT, parse_launches(launches))


def default_programs(grid: tuple[int, int, int]) -> list[int]:
    """Linear ids of the first, the middle and the last program of a grid."""
    total = grid[0] * grid[1] * grid[2]
    return sorted({0, total // 2, total - 1}) if total else []
