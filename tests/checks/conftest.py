"""`import triton` means tiletwin in these tests; the folder's modules and tests/language are importable."""

from __future__ import annotations

import sys
from pathlib import Path

from tiletwin import _activate

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "language")]
if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _activate.TritonFinder())
