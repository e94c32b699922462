"""Runs the command `tiletwin` in a process of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import children

HERE = Path(__file__).resolve().parent


def run_tiletwin(*words: str, **environment: str) -> subprocess.CompletedProcess:
    """`tiletwin words...`; the files next to the tests can be imported. A terminal 200 columns wide."""
    return children.run_tiletwin(*words, paths=[HERE], COLUMNS="200", **environment)
