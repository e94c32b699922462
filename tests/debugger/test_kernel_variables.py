"""Variables of kernels in Triton at each stop at each line, against what Python has there as it runs the same kernel
(python_locals.py): where the debugger shows a number, it is that one."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import children
import numpy as np
import pytest
from editor import Editor
from terminal import PROGRAMS, ROOT, Terminal
from tiletwin.debugger.conditions import Condition
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.kernel_notes import Place
from tiletwin.debugger.place_values import value_of
from tiletwin.debugger.session import Session
from tiletwin.debugger.thread import Thread
from tiletwin.debugger.values import Register

KERNELS = Path(__file__).with_name("named_kernels.py")
SOURCE = KERNELS.read_text().splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE, 1) if text in line)


def recorded(name: str, block: tuple[int, ...], folder: Path) -> list[tuple[str, int, dict]]:
    """What variables hold in front of each line of the program: function, line, by name."""
    file = folder / "rows.pickle"
    program = ",".join(map(str, block))
    variables = {"TILETWIN_INTERPRET": "1", "TILETWIN_EAGER": "1", "TILETWIN_PROGRAM": program}
    words = [sys.executable, str(KERNELS.with_name("python_locals.py")), name, str(file)]
    subprocess.run(words, check=True, env=children.environment() | variables, timeout=120)
    with open(file, "rb") as stream:
        return pickle.load(stream)


def shown(thread: Thread) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What the debugger knows: elements, and which of them they are."""
    variables = thread.kernel_variables
    assert variables is not None
    found = {}
    for name in variables.names():
        try:
            one = variables.variable(name)
            if one is None or one.note.element.startswith("!tt.ptr"):
                continue  # this process has other addresses
            found[name] = one.tile() if one.is_tile else (np.array(one.number()), np.array(True))
        except Refused:
            continue
    return found


def is_same(now: dict[str, tuple[np.ndarray, np.ndarray]], then: dict[str, object]) -> str:
    """Which variable differs; empty: none does."""
    for name, (numbers, is_known) in now.items():
        if name not in then:
            return f"{name}, which Python does not have"
        judge = np.asarray(then[name])
        if judge.shape != numbers.shape and numbers.shape:
            return f"{name}, of shape {numbers.shape}, not {judge.shape}"
        if not np.array_equal(judge[is_known] if judge.shape else judge, numbers[is_known] if judge.shape else numbers):
            return f"{name}: {numbers[is_known]}, not {judge[is_known] if judge.shape else judge}"
    return ""


@pytest.mark.parametrize(
    "name, block, least",
    [
        ("product", (1, 2, 0), {"acc": 0.9, "row": 1.0, "inner": 0.6, "a": 0.5, "scaled": 1.0, "N": 1.0}),
        ("pipelined", (1, 2, 0), {"acc": 0.2, "row": 1.0, "k": 0.1, "a": 0.1, "scaled": 1.0}),
        ("warpgroups", (1, 0, 0), {"row": 0.9, "k": 0.3, "scaled": 1.0, "at": 1.0}),
        ("masked", (0, 0, 0), dict.fromkeys(("pid", "at", "mask", "x", "name", "low", "total", "half", "scale"), 1.0)),
        ("masked", (1, 0, 0), dict.fromkeys(("pid", "at", "mask", "x", "name", "low", "total", "half", "scale"), 1.0)),
        ("halved", (0, 0, 0), {"at": 1.0, "x": 1.0, "left": 0.8, "steps": 0.8, "wide": 1.0, "is_even": 1.0}),
        ("rows", (0, 0, 0), dict.fromkeys(("i", "x", "peak", "moved", "sums", "turned", "unsigned", "M"), 1.0)),
    ],
)
def test_numbers_are_those_of_python(name, block, least, tmp_path):
    """least: the share of stops, of those where Python has the variable, at which the debugger knows some of it."""
    rows = recorded(name, block, tmp_path)
    session = Session([str(KERNELS), name], is_true=lambda text: True, output=subprocess.PIPE)
    for line in sorted({line for _, line, _ in rows}):
        session.add(file=str(KERNELS), line=line, condition=Condition.of(f"block=={block}".replace(" ", "")))
    counts: dict[str, list[int]] = {}
    stops = 0
    session.start()
    try:
        while (stop := session.wait()).exit_code is None:
            stops += 1
            assert stop.reason == "breakpoint" and stops < 2000
            thread = Thread(session)
            frame = thread.frames()[0]
            now = shown(thread)
            then = [held for _, line, held in rows if line == frame.line]
            wrong = [is_same(now, held) for held in then]
            assert not then or "" in wrong, f"line {frame.line}: {SOURCE[frame.line - 1]}: {set(wrong)}"
            for variable in {key for held in then for key in held}:
                counts.setdefault(variable, []).append(variable in now)
            session.go("continue")
    finally:
        session.end()
    assert stop.exit_code == 0 and stops
    shares = {variable: sum(seen) / len(seen) for variable, seen in counts.items()}
    for variable, share in least.items():
        assert shares[variable] >= share, shares


STORED = line_of("tl.store(o_ptr + j")
X = (np.arange(32 * 64) * 7 % 31).reshape(32, 64)
PEAK = X.max(axis=1)
MOVES = X - PEAK[:, None]


@pytest.fixture(scope="module")
def stopped():
    with Terminal(KERNELS, "rows") as t:
        t(f"break named_kernels.py:{STORED}")
        assert f"rows at tests/debugger/named_kernels.py:{STORED}" in t("run")
        assert "-- is not known: warps 1, 2, 3 are elsewhere or in another round" in t("print moved")
        assert t("gather").startswith("[block (0,0,0), thread (0,0,0), warp 0, lane 0]")
        yield t


@pytest.mark.parametrize(
    "expression, value",
    [
        ("peak[3]", f"{PEAK[3]}"),
        ("moved[31, 63]", f"{MOVES[31, 63]}"),
        ("turned[63, 31]", f"{MOVES[31, 63]}"),
        ("moved[2, 5] - 1", f"{MOVES[2, 5] - 1}"),
        ("M * 2", "64"),
        ("N", "64"),
        ("moved[0:2, 3]", f"2 fp32\n   0    1\n  {MOVES[0, 3]}  {MOVES[1, 3]}"),
        (f"peak[7] == {PEAK[7]} && moved[0, 1] == {MOVES[0, 1]}", "1"),
    ],
)
def test_expressions(stopped, expression, value):
    assert stopped(f"print {expression}") == value.strip()


@pytest.mark.parametrize(
    "command, text",
    [
        ("print moved + 1", "moved is a tile; take an element, as moved[0, 0]"),
        ("print nothing", "nothing: no such variable here"),
        ("print moved[40, 0]", "moved[40, 0]: index 40 is out of bounds"),
        ("print x[0, 0]", "this element of x is not known: some of its registers are kept nowhere"),
        ("print M[0]", "M is a int32, which has no elements"),
        ("watch peak", "peak is in registers, which have no address"),
        ("print moved.y", "moved has no member y"),
    ],
)
def test_what_there_is_not(stopped, command, text):
    assert text in stopped(command)


def test_a_tile_is_a_table(stopped):
    lines = stopped("print moved").splitlines()
    assert lines[0] == "32 x 64 fp32" and lines[1].split()[:4] == ["0", "1", "2", "3"]
    assert lines[2].split()[1:5] == [str(n) for n in MOVES[0, :4]]
    shown = dict(line.split(" = ", 1) for line in stopped("info locals").splitlines())
    assert shown["M"] == "32" and shown["x_ptr"].startswith("(pointer<fp32>) 0x")
    assert shown["peak"] == "{" + ", ".join(map(str, PEAK[:8])) + ", ...}  32 fp32"
    assert stopped("x/2fw x_ptr").split("\t")[1:] == ["0", "7"]


def test_conditions_by_name():
    with Terminal(KERNELS, "product") as t:
        t(f"break named_kernels.py:{line_of('acc = tl.dot(a, b, acc)')} if block==(1,2,0) && k == 32")
        assert "block (1,2,0)" in t("run")
        assert t("print k") == "32" and t("print k + row[3]") == "51"
        stopped = t("print acc")
        assert "16 x 16 fp32" in stopped


def test_warps_that_copy_stay_where_they_are():
    with Terminal(PROGRAMS, "specialised") as t:
        line = next(n for n, text in enumerate(PROGRAMS.read_text().splitlines(), 1) if "acc = tl.dot(a.load" in text)
        t(f"break programs.py:{line} if warp==0")
        t("run")
        gathered = t("gather")  # the others wait for what is copied, and then warp 0 runs, too
        assert "warp 4" not in gathered and "[block (0,0,0), thread (0,0,0), warp 0, lane 0]" in gathered
        assert t("print rows[63]") == "63" and t("print k") in ("0", "64")  # no more than a round
        assert "a product that adds to it is in flight" in t("print acc")


def test_an_editor_shows_them():
    with Editor() as e:
        e.ask("launch", program=str(KERNELS), args=["rows"], cwd=str(ROOT))
        e.ask("setBreakpoints", source={"path": str(KERNELS)}, breakpoints=[{"line": STORED}])
        e.ask("configurationDone")
        stop = e.event("stopped")
        (frame,) = e.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
        scopes = {s["name"]: s["variablesReference"] for s in e.ask("scopes", frameId=frame["id"])["scopes"]}
        shown = {v["name"]: v["value"] for v in e.ask("variables", variablesReference=scopes["Locals"])["variables"]}
        assert shown["N"] == "64" and shown["moved"].endswith("32x64 fp32")
        e.ask("evaluate", expression="-exec gather", frameId=frame["id"])
        value = e.ask("evaluate", expression="peak[3]", frameId=frame["id"])
        assert value["result"] == str(PEAK[3])
        whole = e.ask("evaluate", expression="peak", frameId=frame["id"])
        assert whole["type"] == "tensor<32, fp32>" and whole["result"].startswith("32 fp32")
        e.ask("disconnect")


def test_code_of_other_compilers_names_none():
    with Terminal(PROGRAMS, "foreign") as t:
        t("break kernel.py:3")
        assert "kernel.py:3" in t("run")
        said = t("print acc")
        assert said.startswith("acc: no such variable here: the compiler that made this PTX from Python does not say")
        assert "`tiletwin debug script.py` compiles kernels itself" in said
        assert "<the compiler that made this PTX" in t("info locals") and "p = " in t("info locals")


R = {
    "%r1": Register("%r1", "b32", 4, [(1 << 31) + lane for lane in range(32)]),
    "%r2": Register("%r2", "b32", 4, [lane for lane in range(32)]),
    "%rd1": Register("%rd1", "b64", 8, [(1 << 40) + lane for lane in range(32)]),
    "%p1": Register("%p1", "pred", 0, [lane % 2 for lane in range(32)]),
}


@pytest.mark.parametrize(
    "operands, steps, width, value",
    [
        (("%r2",), "", 32, 5),
        ((7,), "", 32, 7),
        (("%r2",), "plus_uconst 4", 32, 9),
        (("%r1", "%r1"), "LLVM_arg 0 LLVM_arg 1 plus constu 1 shr", 32, 5),  # 2**32 + 10 without its highest bit
        (("%r1",), "constu 28 shra", 32, 0xFFFFFFF8),
        (("%r2",), "constu 3 minus constu 7 and", 32, 2),
        (("%r2",), "constu 18446744073709551615 mul", 32, (1 << 32) - 5),
        (("%r1",), "LLVM_convert 32 5 LLVM_convert 64 5", 64, (1 << 64) - (1 << 31) + 5),
        (("%r1",), "LLVM_convert 32 7 LLVM_convert 64 7", 64, (1 << 31) + 5),
        (("%rd1",), "LLVM_convert 64 7 LLVM_convert 32 7", 32, 5),
        (("%p1",), "", 1, 1),
        (("%r1",), "constu 0 lt", 1, 1),
        (("%r1", "%rd1"), "LLVM_arg 0 LLVM_arg 1 plus", 32, None),  # of two widths
        (("%r1",), "deref", 32, None),
        (("%r9",), "", 32, None),
        (("%r1",), "", 64, None),
    ],
)
def test_what_llvm_computes(operands, steps, width, value):
    found = value_of(Place(operands, tuple(steps.split()), 0), R, width)
    assert (None if found is None else int(found[5])) == value


def test_halves_of_a_register():
    pair = Register("%r1", "b32", 4, [0x12345678] * 32)
    assert value_of(Place(("%r1",), (), 16), {"%r1": pair}, 16)[0] == 0x1234  # type: ignore[index]
    assert value_of(Place(("%r1",), (), 0), {"%r1": pair}, 16)[0] == 0x5678  # type: ignore[index]
