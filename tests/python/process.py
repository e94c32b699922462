"""Runs Python code in a process of its own, with or without the start-up file."""

import os
import subprocess
import textwrap

import children

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE_PARENT = str(children.PACKAGE_PARENT)


def run_python(*args: str, startup: bool = False, **options: str) -> subprocess.CompletedProcess:
    """`python args...`, tests and package importable. startup: read tiletwin_activate.pth, as if it were installed."""
    paths = [*([os.path.join(HERE, "startup")] if startup else []), HERE]
    return children.run(*args, paths=paths, TEST_PACKAGE_PARENT=PACKAGE_PARENT, **options)


def run_code(text: str, **options: str) -> subprocess.CompletedProcess:
    return run_python("-c", textwrap.dedent(text), **options)
