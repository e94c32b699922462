"""The modules beside this file and the code generator's mistakes (tests/diff) are importable."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "diff")]
