"""Which programs run in Python: TILETWIN_PROGRAM, conditions of breakpoints, stops in the text."""

from __future__ import annotations

import os
import random
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl
from tiletwin.eager import stops
from tiletwin.launch.program_selection import selected_programs

seen: list[tuple] = []


def note(*values) -> None:
    seen.append(tuple(int(v) for v in values))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "no number"), ("3-", "no number"), ("-1", "no number"), ("5-2", "ends before it begins"),
        ("1,2,3,4", "at most three parts"), ("random:0", "random:N"), ("random:x", "random:N"), ("some:3", "random:N"),
        ("1.5", "no number"),
    ],
)  # fmt: skip
def test_bad_values_say_what_is_expected(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"TILETWIN_PROGRAM.*{why}.*expected ids such as 3,0,0"):
        selected_programs(text, (8, 8, 8))


def test_random_programs_leave_the_users_numbers_alone(capfd: pytest.CaptureFixture) -> None:
    random.seed(1)
    expected = random.random()
    random.seed(1)
    picked = selected_programs("random:3", (1000, 2, 1))
    assert random.random() == expected and len(set(picked)) == 3
    assert selected_programs("random:3", (1000, 2, 1)) == picked
    said = capfd.readouterr().err
    assert f"random:3 picked the programs (counted along x, y, z) {';'.join(map(str, picked))}" in said


def test_a_program_that_no_launch_has_is_said_at_exit() -> None:
    code = (
        "import numpy as np, tiletwin, tiletwin.language as tl\n"
        "@tiletwin.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, 1)\n"
        "kernel[(4, 2)](np.zeros(1)); kernel[(2,)](np.zeros(1))\n"
    )
    file = Path(os.environ.get("TMPDIR", "/tmp")) / f"no_such_program_{os.getpid()}.py"
    file.write_text(code)
    try:
        done = children.run(file, TILETWIN_PROGRAM="9")
    finally:
        file.unlink()
    assert "no launch had a program 9 (TILETWIN_PROGRAM); the largest grid was (4, 2, 1)" in done.stderr


@tiletwin.jit
def kernel(x_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    col = tl.program_id(1)  # noqa: F841  conditions use it
    row = pid // 2
    row += 1
    first = row * B
    x = tl.load(x_ptr + first)
    for k in range(2):
        y = x + k
        row = row + 0
    z = y
    tl.store(x_ptr + first, z)


LINES = {line.split(" =")[0].strip(): i for i, line in enumerate(kernel.source_lines, kernel.first_line)}


def chosen(condition: str | None, at: str, grid: tuple[int, int, int]) -> set[tuple[int, int]] | str:
    """(pid, col) of the programs that can stop at a line; "all" if nothing rules any out."""
    found: list[set | str] = []

    def look(session) -> None:
        conditions = ((condition, True),) if condition else ()
        selector = stops.Selector(kernel, session, (stops.Stop(kernel, LINES[at], conditions),))
        ids = [(x, y) for y in range(grid[1]) for x in range(grid[0])]
        found.append("all" if selector.always else {(x, y) for x, y in ids if selector.can_stop((x, y, 0))})

    session_launch(look, grid)
    return found[0]


def session_launch(look, grid) -> None:
    """Launches `kernel` so that `look` gets its session."""
    from tiletwin.launch import eager_launch

    class Run(eager_launch.EagerRun):
        def __init__(self, fn, session, *rest) -> None:
            look(session)
            super().__init__(fn, session, *rest)

    original = eager_launch.EagerRun
    eager_launch.EagerRun = Run
    os.environ["TILETWIN_EAGER"] = "1"
    try:
        kernel[grid](np.zeros(4096, np.int32), 7, B=4)
    finally:
        eager_launch.EagerRun = original
        del os.environ["TILETWIN_EAGER"]


GRID = (6, 2, 1)


@pytest.mark.parametrize(
    ("condition", "at", "expected"),
    [
        ("pid == 3", "x", {(3, 0), (3, 1)}),
        ("pid == 3 and col == 1", "x", {(3, 1)}),
        ("pid == 3 and x[0] > 2", "z", {(3, 0), (3, 1)}),  # what is loaded is not known beforehand
        ("row == 2", "x", {(x, y) for x in (2, 3) for y in (0, 1)}),
        ("first == B * 3 and not (col == 0 or n == 5)", "x", {(4, 1), (5, 1)}),
        ("0 < pid < 2", "x", {(1, 0), (1, 1)}),
        ("tl.program_id(0) == 5", "z", {(5, 0), (5, 1)}),
        ("pid in (1, 2) and k == 1", "y", {(p, c) for p in (1, 2) for c in (0, 1)}),
        ("missing == 3", "x", {(p, c) for p in range(6) for c in (0, 1)}),  # an error: the debugger will say so
        ("pid == 99", "x", set()),
        ("x[0] > 2", "z", "all"),
        ("row == 2", "z", "all"),  # a loop assigns it, too
        ("pid ==", "x", "all"),
        ("print(pid)", "x", "all"),
        (None, "x", "all"),
    ],
)  # fmt: skip
def test_which_programs_a_condition_leaves(condition, at, expected) -> None:
    assert chosen(condition, at, GRID) == expected


@tiletwin.jit
def notes_some(x_ptr):
    pid = tl.program_id(0)
    if pid % 4 == 1:
        if pid > 4:
            note(pid)
    else:
        if pid == 0:
            note(pid, pid)
    tl.store(x_ptr + pid, pid)


def test_stops_in_the_text_leave_the_others_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    seen.clear()
    ran = []
    from tiletwin.launch import eager_launch

    original = eager_launch.EagerRun.begin

    def begin(self, runner):
        work = original(self, runner)
        if work is not None:
            ran.append(runner.program)
        return work

    monkeypatch.setattr(eager_launch.EagerRun, "begin", begin)
    x = np.full(16, -1, np.int32)
    notes_some[(16,)](x)
    assert x.tolist() == list(range(16))
    assert seen == [(0, 0), (5,), (9,), (13,)] and ran == [0, 5, 9, 13]


@tiletwin.jit
def in_turn(flag_ptr, o_ptr, n):
    pid = tl.program_id(0)
    while tl.atomic_add(flag_ptr, 0) != n - 1 - pid:
        pass
    note(pid)
    tl.store(o_ptr + pid, 1)
    tl.atomic_add(flag_ptr, 1)


@pytest.mark.parametrize("programs", ["0", "1", "3", "0;3", "1-2"])
def test_a_chosen_program_may_wait_for_others(programs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program waits for the one behind it."""
    seen.clear()
    monkeypatch.setenv("TILETWIN_PROGRAM", programs)
    flag, o = np.zeros(1, np.int32), np.zeros(4, np.int32)
    in_turn[(4,)](flag, o, 4)
    assert o.tolist() == [1] * 4 and flag[0] == 4
    picked = {"0": [0], "1": [1], "3": [3], "0;3": [3, 0], "1-2": [2, 1]}[programs]
    assert [pid for (pid,) in seen] == picked
