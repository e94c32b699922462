"""`import triton` means tiletwin in these tests; the helpers of tests/python are importable."""

from __future__ import annotations

import sys
from pathlib import Path

from tiletwin import _activate

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _activate.TritonFinder())
