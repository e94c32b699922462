"""Debuggers driven for real: a terminal for pdb, small scripts, lines found by their text."""

from __future__ import annotations

import sys
from pathlib import Path

from debug_transcripts import Terminal, normalised

ROOT = Path(__file__).resolve().parents[2]
PROMPT = r"\(Pdb\) |>>> |ipdb> "
MATMUL, ATTENTION = ROOT / "demo" / "debug_matmul.py", ROOT / "demo" / "debug_attention.py"
START = """
import time
_start = time.perf_counter()
import numpy, torch
_imported = time.perf_counter() - _start
"""


def line_of(file: Path, text: str) -> int:
    """Number of the first line that holds `text`."""
    lines = file.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def pdb(file: Path, *arguments: str, **environment: str) -> Terminal:
    """A script under `python -m pdb`, at its first prompt."""
    command = [sys.executable, *(arguments or ("-m", "pdb")), str(file)]
    terminal = Terminal(command, PROMPT, file.parent, {"TILETWIN_INTERPRET": "1", **environment})
    terminal.wait()
    return terminal


def plain(text: str, file: Path) -> str:
    """Text of a terminal without colours and the folder of the script."""
    return normalised(text, file.parent)
