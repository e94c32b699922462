"""`tiletwin debug` at a terminal: a product in Triton, a reduction in CUDA that lacks a barrier, a kernel whose copies
have a warp of their own."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import children
import pytest
from terminal import PROGRAMS, ROOT, Terminal

SOURCE = PROGRAMS.read_text().splitlines()


def line_of(text: str) -> int:
    """The first line of programs.py that holds the text."""
    return next(number for number, line in enumerate(SOURCE, 1) if text in line)


DOT = line_of("acc = tl.dot(a, b, acc)")
SUM = f"sum {64.0 * sum(n % 97 for n in range(64 * 64))}"
"""What the product prints: each number of b goes into 64 sums, times 0.5 * 2."""


def test_a_product_stops_steps_and_ends():
    with Terminal(PROGRAMS, "matmul") as t:
        assert "waits for a kernel" in t(f"break programs.py:{DOT} if block==(1,2,0) && warp==1")
        stop = t("run")
        assert f"Breakpoint 1, product at tests/debugger/programs.py:{DOT}" in stop
        assert "[block (1,2,0), thread (32,0,0), warp 1, lane 0]" in stop
        assert stop.endswith(f"{DOT}\t{SOURCE[DOT - 1]}")
        assert re.fullmatch(r"#0  product at tests/debugger/programs\.py:\d+", t("bt"))
        assert "6 of 16 blocks" not in t("info cuda blocks") and "9 of 16 blocks have ended" in t("info cuda blocks")
        warps = t("info cuda warps").splitlines()
        assert len(warps) == 3 and warps[2].startswith("* (1,2,0)     1     all") and "running" in warps[2]
        before = t("disassemble 2")
        assert t("stepi") and t("disassemble 2") != before
        stepped = t("next")
        assert re.match(r"\d+\t", stepped) and not stepped.startswith(f"{DOT}\t")
        assert "grid (4,4,1), block (64,1,1)" in t("info launch")
        t("delete")
        done = t("continue")
        assert SUM in done and "[the program has ended with exit code 0]" in done
        assert "no program runs" in t("next")


def test_conditions_on_registers_and_functions():
    with Terminal(PROGRAMS, "reduction") as t:
        t("break block_sum if block==2 && threadIdx.x == 0 && blockIdx.x == 2")
        assert "block (2,0,0), thread (0,0,0)" in t("run")
        t("delete")
        t("tbreak block_sum.cu:8 if thread==40")  # the place of every round of the loop
        assert "thread (40,0,0), warp 1, lane 8" in t("continue")
        assert "no breakpoints" in t("info breakpoints")
        assert "no such register" in t("print $nothing")
        assert t("print threadIdx.x + 2 * blockIdx.x") == "44"


def test_a_missing_barrier_is_seen_in_shared_memory():
    """Warp 0 adds what warp 4 has not written: its sum is that of its own numbers."""
    with Terminal(PROGRAMS, "reduction") as t:
        t("break block_sum.cu:8 if block==1 && warp==0")
        t("run")
        assert re.search(r"part\s+@shared 0x0, 1024 bytes, b8", t("info symbols"))
        assert t("x/2fw part") == t("x/2fw @shared 0") == "@shared 0x0:\t256\t257"
        assert t("x/2fw @shared 512") == "@shared 0x200:\t0\t0"
        assert "no thread of this launch has written" in t("who @shared 512")
        wrote = t("who @shared 4")
        assert "block (1,0,0), thread (1,0,0), warp 0, lane 1: block_sum at " in wrote and "block_sum.cu:6" in wrote
        t("delete")
        t("watch @shared 0,4")
        changed = t("continue")
        assert "Old value: 0x43800000" in changed and "written by block (1,0,0), thread (0,0,0)" in changed
        assert "block_sum.cu:8" in changed
        writers = t("who @shared 0,3")  # the first sum changed nothing: it added the 0 that warp 4 has not replaced
        assert re.findall(r"block_sum\.cu:(\d+)", writers) == ["8", "8", "6"]


def test_threads_are_chosen_and_listed():
    with Terminal(PROGRAMS, "reduction") as t:
        t("break block_sum.cu:9 if warp==3")
        t("run")
        assert "warp 3, lane 0" in t("cuda thread 96")
        assert "thread (101,0,0), warp 3, lane 5" in t("cuda lane 5")
        first = t("info registers r2").splitlines()
        assert len(first) == 32 and first[5].split() == ["*", "%r2", "lane", "5", "0x00000065", "101", "1.41531e-43"]
        assert t("print $r2") == "0x00000065  101  1.41531e-43" and t("print/x $r2") == "0x65"
        assert t("print $r2 * 2 == 202 && threadIdx.x == 101") == "1"
        assert "block 3 does not run now" in t("cuda block 3")
        assert "there is no such block" in t("cuda block 4")
        assert "the block has 8 warps, 0 to 7" in t("cuda warp 8")
        threads = t("info cuda threads")
        assert re.search(r"block \(0,0,0\), threads .*: block_sum at .*block_sum.cu:\d+", threads)
        lanes = t("info cuda lanes").splitlines()
        assert len(lanes) == 32 and lanes[5].startswith("* lane 5")


@pytest.mark.parametrize("locking, others", [("warp", "stay"), ("off", "go")])
def test_who_runs_during_a_step(locking, others):
    with Terminal(PROGRAMS, "matmul") as t:
        t(f"set scheduler-locking {locking}")
        t("start")
        before = t("info cuda warps").splitlines()[2:]
        t("stepi 36")
        after = t("info cuda warps").splitlines()[2:]
        assert (before == after) == (others == "stay")


def test_a_step_to_a_barrier_takes_the_others_along():
    with Terminal(PROGRAMS, "reduction") as t:
        t("break block_sum.cu:9 if warp==0")
        t("run")
        assert re.match(r"\d+\t", t("step"))  # behind the barrier: seven warps have come by
        assert "waiting" not in t("info cuda warps").splitlines()[1]


def test_warps_with_other_tasks():
    with Terminal(PROGRAMS, "specialised") as t:
        dot = line_of("acc = tl.dot(a.load")
        t(f"break programs.py:{dot} if warp==4")
        assert "warp 4, lane " in t("run")
        warps = t("info cuda warps").splitlines()[1:]
        assert len({line.split("where")[0].split()[1 if line[0] != "*" else 2] for line in warps}) >= 5
        t("delete")
        assert "sum 1048576.0" in t("continue")


def test_a_trap_stops_at_its_line():
    with Terminal(PROGRAMS, "wild") as t:
        stop = t("run")
        line = line_of("tl.store(x_ptr + at, 1.0)")
        assert "the kernel has failed" in stop and "writes" in stop and stop.endswith(f"{line}\t{SOURCE[line - 1]}")
        assert "OutOfBoundsError" in (ended := t("continue")) and "exit code 1" in ended


def test_ctrl_c_stops_a_kernel_that_does_not_end():
    with Terminal(PROGRAMS, "endless") as t:
        t.child.sendline("run")
        time.sleep(3)
        t.child.kill(signal.SIGINT)
        t.child.expect_exact("(tiletwin) ")
        shown = t.child.before or ""
        assert "interrupted" in shown and "spin at spin.ptx" in shown
        assert t("print $v").startswith("0x00000000")


def is_alive(process: str) -> bool:
    """A process that its parent has not looked at yet is dead, too."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_program_ends_when_its_debugger_is_killed():
    with Terminal(PROGRAMS, "endless") as t:
        t.child.sendline("run")
        children_of = Path(f"/proc/{t.child.pid}/task/{t.child.pid}/children")
        while not (program := children_of.read_text().split()):
            time.sleep(0.1)
        time.sleep(3)
        t.child.kill(signal.SIGKILL)
        until = time.monotonic() + 60
        while is_alive(program[0]) and time.monotonic() < until:
            time.sleep(0.1)
        assert not is_alive(program[0])


def test_commands_of_a_file_and_mistakes():
    done = children.run(
        "-m", "tiletwin", "debug", "-x", "break block_sum", "-x", "run", "-x", "print $r", "-x", "nonsense", "-x",
        "x/3q 0", "-x", "quit", PROGRAMS, "reduction", cwd=ROOT,
    )  # fmt: skip
    assert "Breakpoint 1, block_sum at" in done.stdout
    assert "nonsense: no such command" in done.stdout and "x/8fw ADDRESS" in done.stdout
