"""`import triton` means tiletwin in these tests; the helpers of tests/language are importable."""

from __future__ import annotations

import sys
from pathlib import Path

from tiletwin import _activate

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "language"))
if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _activate.TritonFinder())
