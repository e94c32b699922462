"""What `make lint` asks of every Python file, asked by the sample, too: a line too long is seen before CI sees it."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("python", "tests", "tools", "benchmarks", "demo", "scripts", "docs/tools")


def test_ruff_finds_nothing():
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--quiet", *FOLDERS]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
