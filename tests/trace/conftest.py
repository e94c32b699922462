"""Recordings for these tests: made by a script in a process of its own, or row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from run_recorded import run_recorded
from tiletwin.trace import writer as trace_writer


@pytest.fixture(scope="session")
def added(tmp_path_factory) -> Path:
    """The recording of `add`, whose 8 programs call a function in a loop."""
    folder = tmp_path_factory.mktemp("added")
    done = run_recorded(folder, "add")
    assert done.returncode == 0, done.stderr
    return folder


class Rows:
    """Writes a recording row by row: one launch of a function of 8 lines, one program."""

    def __init__(self, folder: Path) -> None:
        self.writer = trace_writer.Writer(str(folder), 1 << 24)
        source = "".join(f"    line_{n}()\n" for n in range(1, 9))
        self.writer.add("function", (1, "kernel", "/somewhere/kernel.py", 1, source))
        self.writer.add("launch", (1, 1, 0, 4, 1, 1, 0.0, "[]"))
        self.writer.add("buffer", (1, 0, "x_ptr", 4096, 4096, "fp32", 4096, "32,32", "32,1"))
        self.writer.add("program", (1, 1, 3, 0, 0, "done", ""))
        self.steps = 0

    def tensor(self, type_name: str, array) -> int:
        array = np.asarray(array)
        return self.writer.value("tensor", type_name, array.shape, np.ascontiguousarray(array).tobytes())

    def step(self, kind: int, line: int, loops: str = "", accesses=(), **changes: int | None) -> None:
        self.writer.add("step", (1, self.steps, kind, 1, 1, line, 0, loops))
        for index, (name, value) in enumerate(changes.items()):
            self.writer.add("change", (1, self.steps, index, name, value))
        for index, access in enumerate(accesses):
            self.writer.add("access", (1, self.steps, index, *access))
        self.steps += 1

    def close(self) -> Path:
        self.writer.close()
        return Path(self.writer.path)


@pytest.fixture
def rows(tmp_path) -> Rows:
    return Rows(tmp_path / "record")


@pytest.fixture
def small(rows) -> Path:
    """A closed recording with three steps; the file."""
    rows.step(0, 1)
    rows.step(1, 2, x=rows.tensor("fp32", np.arange(64, dtype=np.float32)))
    rows.step(6, 8)
    return rows.close()
