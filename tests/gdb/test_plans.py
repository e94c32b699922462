"""TILETWIN_GDB=1 without gdb: results, errors and limits of debug plans."""

from __future__ import annotations

import subprocess
import textwrap

import children
import pytest
from session import ROOT

PREAMBLE = """
import numpy as np
import triton
import triton.language as tl
"""


def run(text: str, **variables: str) -> subprocess.CompletedProcess:
    """A program with TILETWIN_GDB=1; kernels need a file."""
    return children.run(text, cwd=ROOT, **{"TILETWIN_INTERPRET": "1", "TILETWIN_GDB": "1", **variables})


@pytest.fixture
def program(tmp_path):
    def write(text: str, **variables: str) -> subprocess.CompletedProcess:
        file = tmp_path / "program.py"
        file.write_text(PREAMBLE + textwrap.dedent(text))
        return run(str(file), **variables)

    return write


ADD_ONE = """
@triton.jit
def add_one(x_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

x = np.zeros(100, np.float32)
"""


def test_a_bad_value_is_an_error(program):
    done = program(ADD_ONE + "add_one[(4,)](x, 100, B=32)", TILETWIN_GDB="maybe")
    assert "ValueError" in done.stderr and "TILETWIN_GDB" in done.stderr and "maybe" in done.stderr


def test_it_can_be_switched_while_the_process_runs(program):
    done = program(
        ADD_ONE
        + """
import os
for value in ("1", "0", "1", ""):
    os.environ["TILETWIN_GDB"] = value
    kernel = add_one[(4,)](x, 100, B=32)
    print("Enter add_one" in kernel.module.text("plan"), x[99], flush=True)
""",
    )
    assert done.stdout.split() == ["True", "1.0", "False", "2.0", "True", "3.0", "False", "4.0"], done.stderr


def test_an_error_names_its_place(program):
    done = program(ADD_ONE + "add_one[(5,)](x, 150, B=32)")
    assert "OutOfBoundsError" in done.stderr and "program.py:9" in done.stderr, done.stderr
    assert "program (3, 0, 0)" in done.stderr


def test_a_program_that_waits_for_a_later_one(program):
    done = program(
        """
        @triton.jit
        def barrier(flag_ptr, n):
            tl.atomic_add(flag_ptr, 1)
            while tl.atomic_add(flag_ptr, 0) < n:
                pass

        flag = np.zeros(1, np.int32)
        barrier[(2,)](flag, 2)
        """
    )
    assert "NotImplementedError" in done.stderr and "this program waits for another one" in done.stderr, done.stderr
    assert "TILETWIN_EAGER=1" in done.stderr


def test_values_of_every_kind(program):
    """Tuples, swaps, loops downwards, early returns of called functions, ternaries, static ranges, changes of type."""
    done = program(
        """
        @triton.jit
        def early(x, n):
            if x > n:
                return x - n
            return x + n

        @triton.jit
        def kernel(out_ptr, n, B: tl.constexpr):
            pid = tl.program_id(0)
            a, b = pid, n
            a, b = b, a
            pair = (a + 1, b + 2)
            a = a * 100
            total = 0
            for i in range(n, 0, -1):
                n = n - 1  # the loop's bound stays what it was
                total += early(i, 2)
            for k in tl.static_range(3):
                total += k
            shown = total if pid > 0 else -total
            offs = tl.arange(0, B)
            tile = offs
            tile = tile * pid
            tile = tile.to(tl.float32)
            tile = tile[None, :] + tile[:, None]
            result = tl.sum(tile) + pair[0] * 1000 + pair[1] * 10 + shown
            tl.store(out_ptr + pid, result + a + b + n)

        out = np.zeros(3, np.float32)
        kernel[(3,)](out, 5, B=4)

        def reference(pid, n=5):
            a, b = n, pid
            pair = (a + 1, b + 2)
            a *= 100
            total = 0
            for i in range(n, 0, -1):
                total += i - 2 if i > 2 else i + 2
            total += 3
            shown = total if pid > 0 else -total
            tile = np.arange(4) * pid
            tile = tile[None, :] + tile[:, None]
            return tile.sum() + pair[0] * 1000 + pair[1] * 10 + shown + a + b + 0

        print(out.tolist() == [float(reference(pid)) for pid in range(3)], out)
        """
    )
    assert done.stdout.startswith("True"), done.stdout + done.stderr


TWO_LAUNCHES = """
import sys, threading

@triton.jit
def talks(o_ptr):
    tl.device_print("hello")
    tl.store(o_ptr, 1)

@triton.jit
def quiet(o_ptr):
    tl.store(o_ptr, 2)

ended = threading.Event()
seen = []

def other():
    o = np.zeros(1, np.int32)
    quiet[(1,)](o)
    assert o[0] == 2
    ended.set()

class Out:
    def write(self, text):
        if "hello" in text and not seen:
            {inside}
    def flush(self):
        pass

o = np.zeros(1, np.int32)
sys.stdout, out = Out(), sys.stdout
talks[(1,)](o)
sys.stdout = out
"""


def test_a_launch_of_another_thread_waits(program):
    inside = "threading.Thread(target=other).start(); seen.append(ended.wait(1.0))"
    end = "assert o[0] == 1 and ended.wait(60)\nprint('in the middle:', seen)"
    done = program(textwrap.dedent(TWO_LAUNCHES).replace("{inside}", inside) + end)
    assert done.returncode == 0, done.stderr
    assert "in the middle: [False]" in done.stdout


def test_a_launch_inside_of_a_launch_is_refused(program):
    """It would wait for itself."""
    done = program(textwrap.dedent(TWO_LAUNCHES).replace("{inside}", "seen.append(other())"))
    assert done.returncode != 0
    assert "with TILETWIN_GDB=1 one launch runs at a time" in done.stderr
