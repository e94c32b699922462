"""Runs recorded_kernels.py, whose recording the tests read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import children

SCRIPT = Path(__file__).parent / "recorded_kernels.py"


def run_recorded(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs recorded_kernels.py with these words; its recording goes to `folder`."""
    return children.run(SCRIPT, *words, **{"TILETWIN_INTERPRET": "1", "TILETWIN_RECORD": str(folder), **environment})
