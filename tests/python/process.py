"""Runs Python code in a process of its own, with or without the start-up file."""

import os
import subprocess
import sys
import textwrap

import tiletwin

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.abspath(tiletwin.__file__)))


def run_python(
    *args: str, startup: bool = False, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess:
    """`python args...`, tests and package importable. startup: read tiletwin_activate.pth, as if it were installed."""
    paths = [HERE, PACKAGE_PARENT]
    base = {k: v for k, v in os.environ.items() if not k.startswith(("TILETWIN", "TRITON"))}
    if startup:
        paths.insert(0, os.path.join(HERE, "startup"))
    return subprocess.run(
        [python, *args], capture_output=True, text=True, timeout=180,
        env={**base, "PYTHONPATH": os.pathsep.join(paths), "TEST_PACKAGE_PARENT": PACKAGE_PARENT, **environment},
    )  # fmt: skip


def run_code(text: str, **options: str) -> subprocess.CompletedProcess:
    return run_python("-c", textwrap.dedent(text), **options)
