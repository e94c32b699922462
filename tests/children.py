"""Child processes of tests, and their environment: the one place that says which of this process's variables they get.

Here:      the environment, starting Python and `tiletwin` in it, taking the same variables from this process.
Not here:  children of programs that are no Python (compilers, lit), terminals that a test types at.
Invariant: a child does not see what a person has set for tiletwin, Triton or pytest, unless it says where something is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import tiletwin

HERE = Path(__file__).resolve().parent
PACKAGE_PARENT = Path(tiletwin.__file__).resolve().parents[1]
LEFT_OUT = ("TILETWIN", "TRITON", "PYTEST_", "PYTHONBREAKPOINT", "PYTHONSTARTUP", "DEBUGINFOD_URLS")
"""What begins so changes what a child does."""
KEPT = (
    "TILETWIN_CACHE_DIR",
    "TILETWIN_LIBRARIES",
    "TILETWIN_PTXAS",
    "TILETWIN_TEST_",
    "TILETWIN_TOOLS",
    "TILETWIN_TRITON",
)
"""Of that: where this machine has something, and which tests run."""


def foreign(without: tuple[str, ...] = (), kept: tuple[str, ...] = KEPT) -> set[str]:
    """Names of this process's variables that are none of a child's business; without: further beginnings of such."""
    return {
        name
        for name in os.environ
        if name.startswith(without) or (name.startswith(LEFT_OUT) and not name.startswith(kept))
    }


def environment(
    *paths: Path | str, without: tuple[str, ...] = (), package: bool = True, **values: str
) -> dict[str, str]:
    """Of a child that can import what lies in `paths`; package: and the package that is tested, and this module."""
    mine = {name: value for name, value in os.environ.items() if name not in foreign(without)}
    importable = [
        *map(str, paths),
        *([str(PACKAGE_PARENT), str(HERE)] if package else []),
        *filter(None, [mine.get("PYTHONPATH")]),
    ]
    return {**mine, **({"PYTHONPATH": os.pathsep.join(importable)} if importable else {}), **values}


def clean(monkeypatch: pytest.MonkeyPatch, without: tuple[str, ...] = (), kept: tuple[str, ...] = KEPT) -> None:
    """Takes from this process what a child would not get; children that others start inherit the rest."""
    for name in foreign(without, kept):
        monkeypatch.delenv(name)


def run(
    *words: Path | str,
    paths: Collection[Path | str] = (),
    program: Path | str = sys.executable,
    cwd: Path | str | None = None,
    typed: str = "",
    timeout: float | None = 300,
    **values: str,
) -> subprocess.CompletedProcess[str]:
    """Python (or `program`) with these words; `typed` is its input, `values` are variables."""
    return subprocess.run(
        [str(program), *map(str, words)],
        env=environment(*paths) | values,
        cwd=cwd,
        input=typed,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def start(*words: Path | str, paths: Collection[Path | str] = (), **values: str) -> subprocess.Popen[str]:
    """The same, not waited for."""
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        env=environment(*paths) | values,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_code(text: str, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return run("-c", textwrap.dedent(text), *words, **options)


def run_tiletwin(*words: Path | str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command, as `python -m tiletwin`."""
    return run("-m", "tiletwin", *words, **options)


def run_tests(file: Path, *words: str, **options: Any) -> str:
    """What pytest prints for a file of tests, which must pass."""
    settings = ("-q", "-p", "no:cacheprovider", "-c", str(HERE.parent / "pyproject.toml"))
    done = run("-m", "pytest", *settings, *words, file, timeout=None, **options)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def libraries_python() -> str:
    """The Python that has the libraries; skips the test where there is none."""
    python = os.environ.get("TILETWIN_LIBRARIES") or str(HERE.parent / ".venv-libraries" / "bin" / "python")
    if not os.path.exists(python):
        pytest.skip(
            "the libraries are not installed: scripts/setup.sh --libraries does that, or TILETWIN_LIBRARIES names a "
            "Python that has them"
        )
    return python
