"""Environment variables: the one place that reads and sets them, tiletwin's names, a line about unknown ones.

Here:      values as text, the words that switch one off, changes that are put back; the list of names, which tests hold
           to docs/environment.md, and the hint.
Not here:  what a value means: each is understood, and refused, where it is needed. Knobs (knobs.py) and the start-up
           file (_activate.py), which runs without this package, read theirs themselves.
Invariant: a variable is read each time that it is asked for.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from tiletwin._activate import OFF, is_on  # noqa: F401  is_on is a name of this module

NAMES = frozenset(
    """
    TILETWIN TILETWIN_AUTOTUNE TILETWIN_BACKEND TILETWIN_BASELINE TILETWIN_BREAK TILETWIN_CACHE_DIR TILETWIN_CHECK
    TILETWIN_CLIENTS TILETWIN_COPIED_LOADS TILETWIN_CUDA_DEVICES TILETWIN_DEBUG TILETWIN_DETERMINISTIC
    TILETWIN_DIFF TILETWIN_DIFF_LAUNCHES TILETWIN_DUMP TILETWIN_EAGER TILETWIN_FINDINGS TILETWIN_FINDINGS_RUN
    TILETWIN_GDB TILETWIN_GPU TILETWIN_GPU_ARCH TILETWIN_GPU_BOUNDS TILETWIN_GPU_CHECK TILETWIN_GPU_COUNT
    TILETWIN_GPU_MEMORY TILETWIN_GPU_MISSING TILETWIN_GPU_NVCC TILETWIN_GPU_NVJITLINK TILETWIN_GPU_NVRTC
    TILETWIN_GPU_PTXAS TILETWIN_INTERPRET TILETWIN_ISA TILETWIN_LIBCUDA TILETWIN_LIBRARIES TILETWIN_NUMERICS
    TILETWIN_NUM_THREADS TILETWIN_OVERRIDE TILETWIN_PAIRS TILETWIN_PRINT TILETWIN_PROGRAM TILETWIN_PTXAS TILETWIN_RECORD
    TILETWIN_RECORD_LAUNCHES TILETWIN_RECORD_LIMIT TILETWIN_SAVE TILETWIN_SCALING_CHILD TILETWIN_SIM_SCHEDULE
    TILETWIN_TEST_ALL TILETWIN_TEST_DEVICE TILETWIN_TEST_SAMPLE TILETWIN_TEST_TRITON TILETWIN_TILE_LOOPS
    TILETWIN_TOOLS TILETWIN_TORCH_COMPILE TILETWIN_TRITON TILETWIN_TUNING
    """.split()
)


def get(name: str) -> str:
    """The value as it stands; empty if the variable is not set."""
    return os.environ.get(name, "")


def text(name: str) -> str:
    """The value without the space around it; empty if the variable is not set."""
    return os.environ.get(name, "").strip()


def given(name: str) -> str | None:
    """The value as it stands; None if the variable is not set."""
    return os.environ.get(name)


def is_not_off(name: str) -> bool:
    """Of a switch that is on where nobody sets it: whether it is."""
    value = given(name)
    return value is None or value.strip().lower() not in OFF


def put(name: str, value: str | None) -> None:
    """Sets a variable for this process and those that it starts, or with None removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def put_default(name: str, value: str) -> None:
    """Sets a variable that is not set."""
    os.environ.setdefault(name, value)


def ours() -> dict[str, str]:
    """Those that begin with TILETWIN, in order of their names."""
    return {name: os.environ[name] for name in sorted(os.environ) if name.startswith("TILETWIN")}


def of_child(*without: str, **changes: str) -> dict[str, str]:
    """All variables for another process, but those that begin with `without`, and with these changes."""
    return {name: value for name, value in os.environ.items() if not name.startswith(without)} | changes


class Changes:
    """Variables that are put back; as a context manager, at its end."""

    def __init__(self, **changes: str) -> None:
        self._before: dict[str, str | None] = {}
        for name, value in changes.items():
            self.set(name, value)

    def keep(self, name: str) -> None:
        """Notes a variable as it is now."""
        self._before.setdefault(name, given(name))

    def set(self, name: str, value: str) -> None:
        self.keep(name)
        put(name, value)

    def restore(self) -> None:
        for name, value in self._before.items():
            put(name, value)

    def __enter__(self) -> Changes:
        return self

    def __exit__(self, *_: Any) -> None:
        self.restore()


def unknown() -> dict[str, str]:
    """Variables of the environment that look like ours and are not, each with the likely name (or "")."""
    found = [name for name in ours() if name not in NAMES]
    if not found:
        return {}
    import difflib  # takes a while

    return {name: next(iter(difflib.get_close_matches(name, NAMES, 1, cutoff=0.8)), "") for name in found}


def hint() -> None:
    """Says on stderr which variables have no meaning; a misspelt one would be silent else."""
    for name, meant in unknown().items():
        asked = f"did you mean {meant}?" if meant else "docs/environment.md lists them"
        print(f"tiletwin: {name} is no variable of tiletwin: {asked}", file=sys.stderr)
