"""`import triton` means tiletwin in these tests, and the modules beside this file are importable."""

from __future__ import annotations

import sys
from pathlib import Path

from tiletwin import _activate

sys.path.insert(0, str(Path(__file__).resolve().parent))
if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _activate.TritonFinder())
