"""`import triton` means tiletwin in these tests; the helpers of tests/language and of scripts are importable."""

from __future__ import annotations

import sys
from pathlib import Path

from tiletwin import _activate

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "language"), str(ROOT / "scripts")]
if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _activate.TritonFinder())
