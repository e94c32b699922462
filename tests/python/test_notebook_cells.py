"""Errors and findings name a notebook's cell as IPython does, and quote its line."""

from __future__ import annotations

import pytest
from process import run_python

CELL = """
import numpy as np, tiletwin as triton, tiletwin.language as tl
@triton.jit
def beyond(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i))
@triton.jit
def race(x_ptr, o_ptr, B: tl.constexpr):
    tl.store(o_ptr, tl.load(x_ptr) + tl.program_id(0))
@triton.jit
def wrong(x_ptr, o_ptr, B: tl.constexpr):
    tl.store(o_ptr, tl.arange(0, B) + nothing)
def launch(kernel):
    kernel[(2,)](np.zeros(4, np.float32), np.zeros(8, np.float32), B=8)
"""
SESSION = f"""
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(history_length=0, colors="NoColor")
shell.run_cell("1", store_history=True, silent=False)
shell.run_cell({CELL!r}, store_history=True)
print("ERROR", shell.run_cell("launch(" + sys.argv[1] + ")", store_history=True).error_in_exec)
"""


@pytest.mark.parametrize(
    ("kernel", "place", "line"),
    [
        ("beyond", "Cell In[2]:5:25: tl.load: program (0, 0, 0), element 4: reads 4 bytes", "tl.load(x_ptr + i)"),
        ("wrong", "Cell In[2]:11:", "tl.store(o_ptr, tl.arange(0, B) + nothing)"),
        ("race", "tiletwin: races: Cell In[2]:8:5: tl.store: program (0, 0, 0)", "tl.store(o_ptr, tl.load(x_ptr)"),
    ],
)
def test_a_cell_is_named(kernel: str, place: str, line: str) -> None:
    pytest.importorskip("IPython")
    ran = run_python("-c", SESSION, kernel, TILETWIN_INTERPRET="1", TILETWIN_CHECK="races", IPYTHONDIR="/nonexistent")
    said = ran.stderr if kernel == "race" else ran.stdout[ran.stdout.index("ERROR") :]
    assert place in said and line in said, ran.stdout + ran.stderr
    assert ".py:" not in said
