"""gdb on kernels: what a person types and sees. Each test drives gdb at a terminal."""

from __future__ import annotations

import re
import time

import pytest
from session import PROGRAMS, Gdb, available

pytestmark = [pytest.mark.skipif(not available, reason="gdb is not installed"), pytest.mark.timeout(300)]
LINES = PROGRAMS.read_text().splitlines()


def line_of(text: str) -> int:
    """Number of the first line of programs.py that holds `text`."""
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def at(text: str) -> str:
    return f"programs.py:{line_of(text)}"


@pytest.fixture(scope="module")
def addition():
    """vector_add, stopped in program 3 of 4,096 before `total` is computed."""
    with Gdb("vector_add") as gdb:
        gdb(f"break {at('total = x + y')} if pid0==3")
        gdb.seconds = -time.monotonic()
        gdb.stopped = gdb("run")
        gdb.seconds += time.monotonic()
        yield gdb


def test_conditional_breakpoint(addition):
    assert re.search(
        rf"Breakpoint 1(\.1)?, vector_add \(.*n=65531, BLOCK=16\) at .*{at('total = x + y')}", addition.stopped
    )
    assert "total = x + y" in addition.stopped
    assert "auto-loading has been declined" not in addition.stopped


def test_names(addition):
    assert addition("print pid0") == "$1 = 3"
    assert addition("print pid").endswith("= 3")
    assert addition("print offs").endswith("= {48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63}")
    assert addition("print x[0]@8").endswith("= {48, 49, 50, 51, 52, 53, 54, 55}")
    assert addition("print x_ptr[50]").endswith("= 50")
    assert addition("print mask").endswith("= 16 of 16 set: 1 x 16")
    assert addition("print BLOCK").endswith("= 16")
    assert addition("print grid0 * 2").endswith("= 8192")
    assert addition("ptype offs") == "type = int [16]"
    assert addition("ptype x_ptr") == "type = float *"
    assert addition("whatis mask") == "type = int1 [16]"


def test_a_name_without_value_yet_is_unknown(addition):
    assert addition("print total") == 'No symbol "total" in current context.'


def test_locals_and_arguments(addition):
    names = addition("info locals")
    for name in ("pid = 3", "offs = {48,", "mask = 16 of 16 set", "x = {48,", "y = {48,", "pid0 = 3"):
        assert name in names
    assert "total" not in names
    assert "n = 65531" in addition("info args")


def test_locals_in_a_line_each(addition):
    lines = addition("tw locals").splitlines()
    names = [line.split()[0] for line in lines]
    assert {"pid", "offs", "mask", "x", "y", "n", "BLOCK"} <= set(names) and len(names) == len(set(names))
    of = dict(zip(names, (" ".join(line.split()[1:]) for line in lines)))
    assert of["pid"].endswith(" 3") and "total" not in of
    assert of["offs"].endswith("[16] {48, 49, 50, 51, ...}; min 48 at 0, max 63 at 15, mean 55.5, zeros 0")
    assert of["mask"].endswith("; 16 of 16 set") and max(map(len, lines)) < 160
    assert of["x_ptr"].endswith(" x_ptr + 0")


def test_backtrace(addition):
    assert re.match(r"#0  vector_add \(.*\) at .*programs.py:\d+", addition("bt"))


def test_tw_programs(addition):
    text = addition("tw programs")
    assert "vector_add: grid (4096, 1, 1), 4096 programs" in text
    assert "running  (3, 0, 0), number 3" in text and re.search(r"to come +4092", text)


def test_tw_show(addition):
    text = addition("tw show x")
    assert text.startswith("x: fp32, 16, program (3, 0, 0)")
    assert "min 48 at 0, max 63 at 15, mean 55.5, zeros 0, nan 0, inf 0" in text
    assert re.search(r"48 +49 +50 +51 +\.\.\. +60 +61 +62 +63", text)
    assert "16 of 16 set" in addition("tw show mask")
    pointer = r"^x_ptr: pointer<fp32>, scalar, program \(3, 0, 0\), elements of x_ptr\n  x_ptr \+ 0$"
    assert re.search(pointer, addition("tw show x_ptr"))


def test_tw_buffers(addition):
    text = addition("tw buffers")
    for name in ("x_ptr", "y_ptr", "out_ptr"):
        assert re.search(rf"{name} +0x[0-9a-f]+ +0x[0-9a-f]+ +256.0 KiB +{name}", text)


def test_tw_where(addition):
    text = addition("tw where")
    assert re.search(rf"{at('total = x + y')} in vector_add, program \(3, 0, 0\) of grid \(4096, 1, 1\)", text)
    assert "  total = x + y" in text and "arith.addf" in text


def test_wrong_inputs(addition):
    assert 'No symbol "nosuch" in current context.' in addition("tw show nosuch")
    assert "It has a value later only" in addition("tw show total")
    assert "tw show: which tile?" in addition("tw show")
    assert "(9999, 0, 0) is not in the grid (4096, 1, 1)" in addition("tw program 9999 0 0")
    assert "(-1, 0, 0) is not in the grid" in addition("tw program -1")
    assert "(1, 0, 0) has run already" in addition("tw program 1")
    assert "is the program that is running" in addition("tw program 3 0 0")
    assert "one to three numbers" in addition("tw program 1 2 3 4")
    assert 'there is no command "nonsense"' in addition("tw nonsense")
    assert 'No symbol "abc" in current context' in addition("tw program abc")


def test_step_and_run_on():
    with Gdb("vector_add") as gdb:
        gdb("break vector_add if pid0==5")
        first = gdb("run")
        assert "pid = tl.program_id(0)" in first
        assert "offs = pid * BLOCK" in gdb("next")
        assert gdb("print pid").endswith("= 5")
        assert "mask = offs < n" in gdb("next")
        assert gdb("print offs[0]").endswith("= 80")
        gdb("delete")
        text = gdb("tw program 4000 0 0")
        assert "program (4000, 0, 0) of grid (4096, 1, 1)" in text and "pid = tl.program_id(0)" in text
        assert gdb("print pid0").endswith("= 4000")
        assert "program (4001, 0, 0)" in gdb("tw next-program")
        gdb("tw program 4095")
        assert "is the last one" in gdb("tw next-program")
        end = gdb("continue")
        assert "result is right" in end and "exited normally" in end
        assert "no program runs" in gdb("tw programs")


def test_a_changed_variable_is_used():
    with Gdb("vector_add") as gdb:
        gdb(f"break {at('tl.store(out_ptr + offs, total')} if pid0==2")
        gdb("run")
        gdb("set var total[1] = 1234.5")
        gdb("delete")
        assert "result is wrong" in gdb("continue")


def test_matmul_steps_into_functions():
    with Gdb("matmul") as gdb:
        gdb(f"break {at('acc = tl.dot(a, b, acc')} if pid0==7 && pid1==9 && k==1")
        text = gdb("run")
        assert "matmul (" in text and "acc = tl.dot" in text
        assert "float [16][16]" in gdb("ptype acc")
        assert gdb("print k").endswith("= 1")
        before = gdb("print acc[3][4]").split("= ")[1]
        assert re.search(r"acc: fp32, 16 x 16, program \(7, 9, 0\)", gdb("tw show acc"))
        gdb("watch acc[3][4]")
        text = gdb("continue")
        assert "Hardware watchpoint 2: acc[3][4]" in text and f"Old value = {before}" in text
        assert re.search(r"matmul \(.*\) at .*programs.py:\d+", text)
        gdb("delete")
        gdb(f"tbreak {line_of('b = tl.load(b_ptr + tile_offsets(k')}")
        gdb("tw next-program")
        gdb("continue")
        text = gdb("step")
        assert "tile_offsets (row=0, col=9, stride=1024" in text and "rows = row * M" in text
        text = gdb("bt")
        assert re.search(r"#0 +tile_offsets .*\n#1 .* matmul \(", text)
        gdb("next")
        assert gdb("print rows[15]").endswith("= 15")
        assert "matmul (" in gdb("up") and "k = 0" in gdb("info locals")
        gdb("down")
        text = gdb("finish")
        assert "Run till exit" in text and "matmul (" in text
        assert "acc = tl.dot" in gdb("next")


def test_attention():
    with Gdb("attention") as gdb:
        gdb("break online_softmax if pid0==2 && pid1==600")
        text = gdb("run")
        assert "online_softmax (" in text and "m_new = tl.maximum" in text
        assert "-inf" in gdb("print m")
        gdb("next")
        gdb("next")
        assert "p = " in gdb("info locals") and "m_new = " in gdb("info locals")
        assert "max" in gdb("tw show p")
        assert re.search(r"#1 .* attention \(", gdb("bt"))
        assert "program (2, 600, 0) of grid (4, 1024, 1)" in gdb("tw where")
        gdb("delete")
        assert "attention (" in gdb("finish")
        assert "result is right" in gdb("continue")


def test_formats():
    with Gdb("formats") as gdb:
        gdb(f"break {at('tl.store(out_ptr + offs, half')}")
        gdb("run")
        assert gdb("print half[5]").endswith("= 2.5")
        assert gdb("print brain[0]@4").endswith("= {0, 1.5, 3, 4.5}")
        assert gdb("print small[3]").endswith("= 3")
        assert gdb("print fine[0]@5").endswith("= {0, 1, 2, 3, 4}")
        assert gdb("print byte[63]").endswith("= 63")
        assert gdb("print byte[60]@4").endswith("= {60, 61, 62, 63}")
        assert "32 of 64 set: 1 x 1, 0 x 1, 1 x 1" in gdb("print even")
        assert "2016 of 4096 set: row 0: 0 x 1, 1 x 63; row 1: 0 x 2, 1 x 62" in gdb("print square")
        assert gdb("print wide[2]").endswith(f"= {2 << 40}")
        assert gdb("print scale").endswith("= 0.25")
        assert "fp8e5, 64" in gdb("tw show small")
        assert "bf16, 64" in gdb("tw show brain")


def test_branches_and_loops():
    with Gdb("branches") as gdb:
        gdb(f"break {at('value, count = count, value')}")
        gdb("run")
        gdb("continue")
        assert gdb("print value").endswith("= 9") and gdb("print count").endswith("= 1")
        assert 'No symbol "even"' in gdb("print even")
        gdb("next")
        assert gdb("print value").endswith("= 1") and gdb("print count").endswith("= 9")
        gdb("delete")
        gdb(f"break {at('value = even')}")
        gdb("continue")
        assert gdb("print even").endswith("= 21")
        gdb("delete")
        assert "result is right" in gdb("continue")


def test_programs_that_breakpoints_ask_for():
    """The others are not stopped in; every change of the breakpoints counts."""
    with Gdb("vector_add") as gdb:
        gdb(f"break {at('total = x + y')} if pid0==2")
        gdb(f"break {at('mask = offs < n')} if pid0==4 && pid==4")
        assert "total = x + y" in gdb("run") and gdb("print pid0").endswith("= 2")
        assert "mask = offs < n" in gdb("continue") and gdb("print pid0").endswith("= 4")
        gdb("condition 1 pid0>8")  # not understood: every program is looked at
        gdb("continue")
        assert gdb("print pid0").endswith("= 9")
        gdb("condition 1 pid0==20")
        gdb(f"tbreak {at('offs = pid * BLOCK')}")
        gdb("continue")
        assert gdb("print pid0").endswith("= 10")
        gdb("continue")
        assert gdb("print pid0").endswith("= 20")
        gdb("disable")
        gdb(f"break {at('tl.store(out_ptr + offs, total')} if pid0==4095")
        gdb("continue")
        assert gdb("print pid0").endswith("= 4095")
        assert "result is right" in gdb("continue")


def test_outside_of_kernels():
    with Gdb("vector_add") as gdb:
        assert 'Undefined command: "tw"' in gdb("tw programs")  # nothing has been loaded yet
        gdb(f"tbreak {at('total = x + y')}")
        gdb("run")
        gdb("break write")
        gdb("continue")  # the program prints its result
        for command in ("programs", "program 1", "next-program", "show x", "buffers", "where"):
            assert "tw: no kernel is running here" in gdb(f"tw {command}")
        gdb("delete")
        gdb("continue")
        assert "tw: no program runs" in gdb("tw programs")


def test_a_frame_that_is_no_kernels():
    with Gdb("vector_add") as gdb:
        gdb(f"tbreak {at('total = x + y')}")
        gdb("run")
        gdb("up")
        for command in ("show x", "where"):
            assert "tw: this is not a frame of vector_add" in gdb(f"tw {command}")
        gdb("down")
        assert "x: fp32, 16" in gdb("tw show x")


def test_without_a_trusted_place():
    with Gdb("vector_add", trust=None) as gdb:
        gdb(f"break {at('total = x + y')} if pid0==1")
        text = gdb("run")
        assert "total = x + y" in text
        [source] = re.findall(r"^ +(source .*tw\.py)$", text, re.MULTILINE)
        assert "add-auto-load-safe-path" in text
        gdb(source)
        assert "running  (1, 0, 0)" in gdb("tw programs")
        assert gdb("print mask").endswith("1 x 16")


@pytest.mark.parametrize(
    "name, where, condition",
    [
        ("vector_add", "total = x + y", "pid0==4000"),
        ("matmul", "acc = tl.dot(a", "pid0==32 && pid1==40 && k==1"),
        ("attention", "acc = tl.dot(p", "pid1==1000 && pid0==3 && first==32"),
    ],
)
def test_a_stop_late_in_a_large_grid(name, where, condition):
    """Among 4,096 programs and more; benchmarks/time_to_stop.py says how long it takes."""
    with Gdb(name) as gdb:
        gdb(f"break {at(where)} if {condition}")
        gdb.child.sendline("run")
        gdb.child.expect_exact("launching")
        gdb.child.expect(rf"{PROGRAMS.name}:{line_of(where)}\r?\n")
