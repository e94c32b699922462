"""Runs recorded_kernels.py, whose recording the tests read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "recorded_kernels.py"


def run_recorded(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs recorded_kernels.py with these words; its recording goes to `folder`."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("TILETWIN")}
    variables |= {"TILETWIN_INTERPRET": "1", "TILETWIN_RECORD": str(folder), **environment}
    command = [sys.executable, str(SCRIPT), *words]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300)
