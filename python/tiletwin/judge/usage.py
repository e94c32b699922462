"""How much processor time a process and all that it started have used, and whether they want more.

Here:      reading the system's tables of processes.
Not here:  limits (process.py).
Sources:   proc(5).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """processor: seconds of all threads, those that have ended included. wants: whether a thread runs, waits for a
    processor, or waits for the disk; else all of them sleep."""

    processor: float = 0.0
    wants: bool = False


def tree(process: int) -> list[int]:
    """A process and its descendants, parents first. A process that has ended has none."""
    found, at = [process], 0
    while at < len(found):
        found += _children(found[at])
        at += 1
    return found


def _children(process: int) -> list[int]:
    numbers: list[int] = []
    for thread in _threads(process):
        try:
            with open(f"/proc/{process}/task/{thread}/children") as file:
                numbers += map(int, file.read().split())
        except FileNotFoundError:  # a kernel without this file, or a thread that has just ended
            return numbers or _children_by_parent(process)
        except OSError:
            continue
    return numbers


def _children_by_parent(process: int) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _fields(name)[1:2] == [str(process)]]


def _threads(process: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/task")
    except OSError:
        return []


def _fields(place: str) -> list[str]:
    """Of a stat file, from the state on; empty: the process has ended."""
    try:
        with open(f"/proc/{place}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def runs(process: int) -> bool:
    """Whether a process has not ended, waited for or not."""
    return _fields(str(process))[:1] not in ([], ["Z"], ["X"])


def of(process: int) -> Usage:
    """Of a process and its descendants that live."""
    processor, wants = 0.0, False
    for number in tree(process):
        fields = _fields(str(number))
        if fields:
            processor += (int(fields[11]) + int(fields[12])) * _TICK
        wants |= any(_fields(f"{number}/task/{thread}")[:1] in (["R"], ["D"]) for thread in _threads(number))
    return Usage(processor, wants)


def killed_for_memory() -> int:
    """How many processes the system has ended because memory ran out, since it started; 0: it does not say."""
    try:
        with open("/proc/vmstat") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0
