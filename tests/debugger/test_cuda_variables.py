"""Variables of CUDA C++ by name: code of `nvcc -G`, at `tiletwin debug` and in an editor. The values follow from
tests/data/debug/variables.cu and from what `programs.py variables` gives it."""

from __future__ import annotations

import re
import sys

import pytest
from editor import Editor
from terminal import PROGRAMS, ROOT, Terminal
from test_editor import launched
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.dwarf import DebugInfo, debug_info

FOLDER = ROOT / "tests" / "data" / "debug"
SOURCE = (FOLDER / "variables.cu").read_text().splitlines()
PTX = (FOLDER / "variables.ptx").read_text()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE, 1) if text in line)


@pytest.fixture(scope="module")
def stopped():
    """In thread 37 at the first sum."""
    with Terminal(PROGRAMS, "variables", cwd=FOLDER) as t:
        t(f"tbreak variables.cu:{line_of('part[i] = scaled')} if thread==37")
        assert f"variables at variables.cu:{line_of('part[i] = scaled')}" in t("run")
        yield t


@pytest.mark.parametrize(
    "expression, value",
    [
        ("i", "37"),
        ("factor", "2"),
        ("wide", str((1 << 40) + 37)),
        ("letter", "108 'l'"),
        ("grid", "{{1, 2, 3}, {4, 5, 6}}"),
        ("grid[1]", "{4, 5, 6}"),
        ("grid[1][2]", "6"),
        ("node.own", "{x = 1.5, counts = {37, -37}}"),
        ("node.own.counts[1]", "-37"),
        ("node.mode", "kMultiply"),
        ("node.mode + 1", "6"),
        ("node.isLast", "false"),
        ("node.point->x", "-8"),
        ("node.point->counts[1]", "-6"),
        ("points[0].counts", "{3, 4}"),
        ("*numbers", "0"),
        ("numbers[9] + 0.5", "9.5"),
        ("*node.point", "{x = -8, counts = {5, -6}}"),
        ("launches", "41"),
        ("wide / 2 + i % 10", str((1 << 39) + 18 + 7)),
        ("i == 37 && !node.isLast", "1"),
    ],
)
def test_values(stopped, expression, value):
    assert stopped(f"print {expression}") == value


@pytest.mark.parametrize(
    "command, text",
    [
        ("print nothing", "nothing: no such variable here"),
        ("print node.none", "node: Node has no member none; members: point, own, mode, isLast"),
        ("print grid[2]", "grid has 2 elements, 0 to 1"),
        ("print i[0]", "i is of type int, which has no element 0"),
        ("print grid + node", "node is of type Node, which is no number"),
        ("watch i", "i is in a register, which has no address"),
        ("print result", "result: no such variable here"),
    ],
)
def test_what_there_is_not(stopped, command, text):
    assert stopped(command) == text


def test_places(stopped):
    assert stopped("print/x i") == "0x25"
    numbers = re.fullmatch(r"\(float \*\) (0x\w+)", stopped("print numbers"))
    assert numbers and stopped("x/2fw numbers + 4") == f"0x{int(numbers[1], 16) + 16:x}:\t4\t5"
    assert stopped("x/3dw grid[1]").split("\t")[1:] == ["4", "5", "6"]
    assert stopped("x/1fw node.own.x").split("\t")[1:] == ["1.5"]
    shown = dict(line.split(" = ", 1) for line in stopped("info locals").splitlines())
    assert list(shown)[:3] == ["numbers", "points", "sums"] and shown["letter"] == "108 'l'"
    assert "launches" not in shown and shown["part"].startswith("{0, 2, 4, 6, ")


def test_a_missing_barrier_by_names():
    """Warp 0 comes to the sum before warp 1 has written its half."""
    with Terminal(PROGRAMS, "variables", cwd=FOLDER) as t:
        t(f"break variables.cu:{line_of('if (i < half)')} if warp==0 && half == 32")
        assert "warp 0" in t("run")
        assert (t("print half"), t("print part[5]"), t("print part[37]")) == ("32", "10", "0")
        assert "no thread of this launch has written" in t("who part[37]")
        assert f"variables.cu:{line_of('part[i] = scaled')}" in t("who part[5]")
        t("delete")
        t("watch part[3]")
        changed = t("continue")
        assert "written by block (0,0,0), thread (3,0,0)" in changed
        t("delete")
        assert "exit code 0" in t("continue")


def test_functions_and_their_callers():
    with Terminal(PROGRAMS, "variables", cwd=FOLDER) as t:
        t("break depth if n == 1")
        t("run")
        assert [frame.split(" at ")[0].split()[1] for frame in t("bt").splitlines()] == ["depth", "depth", "variables"]
        assert t("print n") == "1"
        t("up")
        assert t("print n") == "2"
        t("up")
        assert t("print node.mode") == "kMultiply" and t("print n") == "n: no such variable here"


@pytest.mark.parametrize("place", ["scaled<double>", "scaled if times == 6"])
def test_functions_of_a_template(place):
    with Terminal(PROGRAMS, "variables", cwd=FOLDER) as t:
        t(f"break {place}")
        assert "scaled<double> at" in t("run")
        assert t("print value * times") == "12"


def test_a_condition_holds_in_one_thread_of_a_warp():
    with Terminal(PROGRAMS, "variables", cwd=FOLDER) as t:
        t(f"break variables.cu:{line_of('part[i] = scaled')} if i == 37 && letter == 108")
        assert "thread (37,0,0), warp 1, lane 5" in t("run")
        assert t("print i") == "37"
        assert "exit code 0" in t("continue")


def test_an_editor_shows_them():
    with Editor() as e:
        launched(e, "variables")
        line = line_of("part[i] = scaled")
        e.ask("setBreakpoints", source={"path": str(FOLDER / "variables.cu")}, breakpoints=[
            {"line": line, "condition": "thread==37"}])  # fmt: skip
        e.ask("configurationDone")
        stop = e.event("stopped")
        (frame,) = e.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
        assert (frame["name"], frame["line"]) == ("variables", line)
        scopes = {s["name"]: s["variablesReference"] for s in e.ask("scopes", frameId=frame["id"])["scopes"]}
        shown = {v["name"]: v["value"] for v in e.ask("variables", variablesReference=scopes["Locals"])["variables"]}
        assert shown["i"] == "37" and shown["node"].endswith("mode = kMultiply, isLast = false}")
        value = e.ask("evaluate", expression="node.own.counts[1]", frameId=frame["id"])
        assert value["result"] == "-37" and value["type"] == "short"
        info = e.ask("dataBreakpointInfo", name="part[3]", frameId=frame["id"])
        assert info["dataId"] == "shared,12,4"
        e.ask("disconnect")


def test_a_variable_is_where_the_list_says():
    """`half` moves from register to register; between them it is nowhere."""
    lines = PTX.splitlines()
    head = next(n for n, line in enumerate(lines, 1) if f".loc\t1 {line_of('for (int half')} 3" in line)
    places = {}
    information = debug_info(PTX)
    for number in range(head, len(lines)):
        for one in information.variables(number):
            if one.name == "half" and one.place:
                places.setdefault(one.place.register, []).append(number)
    assert len(places) >= 3 and all(register.startswith("%r") for register in places)


def test_damaged_and_absent_information():
    assert not DebugInfo([]).is_there
    lines = PTX.splitlines()
    abbrev = next(n for n, line in enumerate(lines) if ".debug_abbrev" in line and ".section" in line)
    with pytest.raises(Refused, match="the debug information cannot be read"):
        DebugInfo([*lines[: abbrev + 2], ".b8 0", "}", *lines[abbrev + 60 :]]).variables(200)


def test_the_package_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "elftools.dwarf.dwarf_expr", None)
    with pytest.raises(Refused, match=r"pip install 'tiletwin\[debug\]'"):
        DebugInfo(PTX.splitlines())
