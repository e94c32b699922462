"""Lines of a script for which a kernel was generated: what a finding in such a kernel also names.

Here:      a table of generated kernels, which whoever generates them fills.
Not here:  reading the lines (inductor/origins.py), showing them (checks.py, findings/).
Invariant: a kernel has the origins of its last launch: two places of a script may share one kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Origin(NamedTuple):
    """A line of a script. text: the line as it was when the kernel was generated."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"generated for {self.file}:{self.line}: {self.text}"


_found: dict[str, Callable[[], tuple[Origin, ...]]] = {}


def launches(kernel: str, find: Callable[[], tuple[Origin, ...]]) -> None:
    """Called before a launch of a generated kernel. find: called when something is found in this launch."""
    _found[kernel] = find


def of(kernel: str) -> tuple[Origin, ...]:
    """Origins of a kernel; empty for one that a script wrote itself."""
    find = _found.get(kernel)
    return find() if find is not None else ()
