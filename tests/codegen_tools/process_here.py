"""Runs the command `tiletwin` in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tiletwin

HERE = Path(__file__).resolve().parent
PACKAGE_PARENT = Path(tiletwin.__file__).resolve().parents[1]


def run_tiletwin(*words: str, **environment: str) -> subprocess.CompletedProcess:
    """`tiletwin words...`; the files next to the tests can be imported. A terminal 200 columns wide."""
    paths = os.pathsep.join(map(str, (HERE, PACKAGE_PARENT)))
    return subprocess.run(
        [sys.executable, "-m", "tiletwin", *words], capture_output=True, text=True, timeout=180,
        env={**os.environ, "COLUMNS": "200", "PYTHONPATH": paths, **environment},
    )  # fmt: skip
