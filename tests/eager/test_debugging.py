"""Debuggers in kernels: pdb stops in the user's file, sees the user's names, and steps into jit functions."""

from __future__ import annotations

import textwrap
from pathlib import Path

import children
import pytest

SCRIPT = """
import torch
import tiletwin as triton
import tiletwin.language as tl

@triton.jit
def double(v):
    twice = v * 2
    return twice

@triton.jit
def kernel(x_ptr, o_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = double(x)
    STOP
    if pid == 1 and 0 < n < 100:
        y = y + 1
    tl.store(o_ptr + i, y, mask=i < n)

o = torch.zeros(8)
kernel[(2,)](torch.arange(8.), o, 8, B=4)
print("result", o.tolist())
"""
RESULT = "result [0.0, 2.0, 4.0, 6.0, 9.0, 11.0, 13.0, 15.0]"


def run(folder: Path, stop: str, commands: str, *arguments: str, **environment: str) -> str:
    file = folder / "script.py"
    file.write_text(textwrap.dedent(SCRIPT).replace("STOP", stop))
    done = children.run(*arguments, file, typed=commands, **environment)
    return done.stdout + done.stderr


def test_breakpoint_in_a_kernel(tmp_path: Path) -> None:
    text = run(tmp_path, "breakpoint()", "pp sorted(locals())\np y\nc\nc\n")
    assert "['B', 'i', 'n', 'o_ptr', 'pid', 'x', 'x_ptr', 'y']" in text
    assert "script.py(18)kernel()" in text and "[0., 2., 4., 6.]" in text
    assert RESULT in text


def test_set_trace_in_a_kernel(tmp_path: Path) -> None:
    text = run(tmp_path, "import pdb; pdb.set_trace()", "p pid\nc\np pid\nc\n")
    assert "script.py(18)kernel()" in text and RESULT in text


def test_step_enters_jit_functions_only(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    steps = "".join("s\n" for _ in range(8))
    text = run(tmp_path, "pass", f"b {file}:16\nc\n{steps}w\nq\n", "-m", "pdb")
    assert "script.py(7)double()" in text and "script.py(9)double()" in text
    places = [line for line in text.splitlines() if line.startswith(("(Pdb) > ", "> "))]
    assert places and all("script.py" in line for line in places), places


def test_without_a_breakpoint_the_kernel_is_compiled(tmp_path: Path) -> None:
    assert "runs in Python" not in run(tmp_path, "pass", "")


@pytest.mark.parametrize("stop", ["print('x is', x, f'{pid} of {n}')", "pass"])
def test_forced_eager(tmp_path: Path, stop: str) -> None:
    text = run(tmp_path, stop, "", TILETWIN_EAGER="1")
    assert RESULT in text
    if stop != "pass":
        assert "x is tensor([0., 1., 2., 3.], fp32) 0 of 8" in text
