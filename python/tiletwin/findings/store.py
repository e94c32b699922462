"""What the processes of one run tell the process that began it: a file of lines.

Here:      beginning a run, telling it something, hearing what was told. Which process is which.
Not here:  when results are told, and the files that users read (output.py).
Invariant: a line is whole, and it is there as soon as something was found: processes may be killed, or leave by
           os._exit. Who began the run tells nothing: it keeps its own in memory.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiletwin import variables
from tiletwin.findings import json_text
from tiletwin.findings.results import Result

RUN = "TILETWIN_FINDINGS_RUN"
_PREFIX = "tiletwin-findings-"
_outer: dict[str, str] = {}
"""By store: that of the run which this one is part of; empty: of none."""


@dataclass
class Heard:
    """What others have told. comparisons: of Tally.as_json (diff/tally.py)."""

    results: list[Result] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    end: int = 0
    """Where the next lines begin."""


def path() -> str:
    """The store of the run that this process is in; empty: it is in none."""
    return variables.get(RUN)


def is_own() -> bool:
    """Whether this very process, no copy of it, began the run that it is in."""
    return os.path.basename(path()).startswith(f"{_PREFIX}{os.getpid()}-")


def outer() -> str:
    """The store of the run around this one; empty: no run is around it."""
    return _outer.get(path(), "")


def begin() -> None:
    """A run of this process begins, unless it is in one that it began. Errors: OSError."""
    if is_own():
        return
    around = path()
    descriptor, made = tempfile.mkstemp(prefix=f"{_PREFIX}{os.getpid()}-", suffix=".jsonl")
    os.close(descriptor)
    _outer[made] = around
    variables.put(RUN, made)


def end() -> None:
    """The run of this process ends. Processes that go on learn it when they add a finding."""
    if not is_own():
        return
    with contextlib.suppress(OSError):
        os.unlink(path())
    variables.put(RUN, _outer.pop(path(), "") or None)


def tell(
    results: Sequence[Result] = (), notes: Sequence[str] = (), comparisons: Iterable[dict[str, Any]] = (), to: str = ""
) -> bool:
    """Adds a line to the run's store; false: the run has ended. Errors: OSError, it cannot be written."""
    said = json_text.document(results, notes, os.getcwd()) | {"comparisons": list(comparisons)}
    try:
        with open(to or path(), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(file.fileno()).st_nlink:
                return False
            file.seek(0, os.SEEK_END)
            file.write(json.dumps(said).encode() + b"\n")
    except FileNotFoundError:
        return False
    return True


def hear(begin: int = 0) -> Heard:
    """The records from byte `begin` of the store on. Errors: OSError."""
    heard = Heard(end=begin)
    with open(path(), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        file.seek(begin)
        for line in file:
            said = json.loads(line)
            heard.results += json_text.results_of(said)
            heard.notes += said["notes"]
            heard.comparisons += said["comparisons"]
        heard.end = file.tell()
    return heard
