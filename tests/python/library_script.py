"""Runs a script where CUDA is emulated, with a library that has kernels in Python (library_kernels.py)."""

from __future__ import annotations

import textwrap

from process import run_python

START = """
import gc, torch
from library_kernels import *
x, y, h = torch.arange(3.0).cuda(), torch.ones(3).cuda(), torch.arange(3.0)
"""


def lines(text: str) -> list[str]:
    done = run_python("-c", START + textwrap.dedent(text), startup=True, TILETWIN_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
