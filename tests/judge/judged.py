"""Judging texts: writes a submission and a reference into a folder and judges them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import children
import tiletwin.judge
from tiletwin.judge.verdict import Verdict

HERE = Path(__file__).resolve().parent
SOFTMAX = (HERE / "simple/right.py").read_text()
REFERENCE = (HERE / "simple/reference.py").read_text()
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def judged(folder: Path, submission: str, reference: str = REFERENCE, **settings: int | float | str) -> Verdict:
    """The verdict of a text. settings: of tiletwin.judge."""
    paths = folder / "submission.py", folder / "reference.py"
    for path, text in zip(paths, (submission, reference)):
        path.write_text(textwrap.dedent(text))
    return tiletwin.judge.judge(str(paths[0]), reference=str(paths[1]), **{"cases": 4, "seconds": 60.0, **settings})


def judged_alone(folder: Path, submission: str, reference: str, cases: int = 1) -> dict[str, Any]:
    """The verdict of the command, whose process has the emulated device that a reference may need."""
    paths = folder / "submission.py", folder / "reference.py"
    for path, text in zip(paths, (submission, reference)):
        path.write_text(text)
    words = [sys.executable, "-m", "tiletwin", "judge", *paths[:1], "--reference", paths[1], "--cases", str(cases)]
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, env=children.environment(), timeout=600)
    return json.loads(done.stdout)


def changed(old: str, new: str, text: str = SOFTMAX) -> str:
    """A right text with a mistake."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def line_of(part: str, text: str) -> int:
    """Number of the line that has it."""
    return next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


SCALED = """
@triton.jit
def _scaled(x, y, n, factor, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, mask=i < n)
    tl.store(y + i, MADE, mask=i < n)


def scaled(x, factor):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        _scaled[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), factor, B=64)
    return y
"""
SCALED_REFERENCE = """
import torch
def scaled(x, factor):
    return MADE
def get_inputs():
    return [torch.randn(5, 40), 0.5]
"""


def scaled(made: str, expected: str, folder: Path, **settings: int | float | str) -> Verdict:
    """The verdict of an expression of `value` and `factor` against one of `x` and `factor`, which is 0.5."""
    texts = HEAD + SCALED.replace("MADE", made), SCALED_REFERENCE.replace("MADE", expected)
    return judged(folder, *texts, **{"cases": 60, "seconds": 600.0, **settings})
