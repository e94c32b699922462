"""Programs of the CUDA toolkit: where they are looked for, and which one is taken.

Here:      ptxas, nvdisasm, cuobjdump as paths with their versions.
Not here:  what is done with them (cuda/ptxas.py, cuda/sass.py).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tiletwin import variables

VARIABLES = {"ptxas": ("TILETWIN_PTXAS", "TRITON_PTXAS_PATH")}
"""Variables that name a program; TRITON_NAME_PATH for the others."""


class Place(NamedTuple):
    """Where a program is looked for."""

    why: str
    """ "TILETWIN_PTXAS", "the wheel nvidia-cuda-nvcc", "CUDA_HOME", "PATH"."""
    path: Path


class Tool(NamedTuple):
    """A program that was found."""

    path: Path
    why: str
    cuda: tuple[int, int]
    """Its CUDA version: (13, 0)."""

    def __str__(self) -> str:
        return f"{self.path} (CUDA {self.cuda[0]}.{self.cuda[1]}, found by {self.why})"


def _in_packages(*parts: str) -> list[Path]:
    """Files of installed packages, in the order of sys.path; "*" stands for any folder. Nothing is imported.

    Compilations ask for this: where a package is not installed it costs one call of the system for a folder.
    """
    found = [folder for folder in sys.path if folder]
    for part in parts[:-1]:
        if part == "*":
            found = [os.path.join(folder, name) for folder in found for name in _names_in(folder)]
        else:
            found = [path for folder in found if os.path.isdir(path := os.path.join(folder, part))]
    files = (os.path.join(folder, parts[-1]) for folder in found)
    return [Path(path) for path in files if os.path.exists(path)]


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def places(name: str) -> Iterator[Place]:
    """Where a program is looked for, best first. A variable that is set is the only place."""
    for variable in VARIABLES.get(name, (f"TRITON_{name.upper().replace('-', '_')}_PATH",)):
        if path := variables.get(variable):
            yield Place(variable, Path(path))
            return
    yield from (Place("a wheel of NVIDIA's", path) for path in _in_packages("nvidia", "*", "bin", name))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := variables.get(variable):
            yield Place(variable, Path(home) / "bin" / name)
    on_path = shutil.which(name)
    if on_path:
        yield Place("PATH", Path(on_path))
    yield Place("the usual folder", Path("/usr/local/cuda/bin") / name)
    yield from (
        Place("the installed Triton", path) for path in _in_packages("triton", "backends", "nvidia", "bin", name)
    )


@cache
def _version(path: Path, changed: float) -> tuple[int, int] | str:
    """The CUDA version of a program, or why it cannot be run. changed: when the file was."""
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {error}"
    release = re.search(r"release (\d+)\.(\d+)", run.stdout)
    if run.returncode or release is None:
        return f"does not say its version (exit status {run.returncode})"
    return int(release[1]), int(release[2])


def version_of(path: str | Path) -> tuple[int, int] | str:
    """The CUDA version of the program at a path, or why it has none."""
    if not os.path.isfile(path):
        return "not there"
    if not os.access(path, os.X_OK):
        return "not executable"
    return _version(Path(path), os.stat(path).st_mtime)


def _state(place: Place) -> Tool | str:
    """The program at a place, or why that file is not one."""
    version = version_of(place.path)
    return version if isinstance(version, str) else Tool(place.path, place.why, version)


def find(name: str) -> Tool | None:
    """A program of the toolkit, or None. Errors: RuntimeError, a variable names one that does not run."""
    for place in places(name):
        state = _state(place)
        if isinstance(state, Tool):
            return state
        is_named = place.why.endswith(("_PTXAS", "_PATH")) and variables.given(place.why) is not None
        if is_named and place.why != "CUDA_PATH":
            raise RuntimeError(f"{place.why} names {place.path}, which is {state}" if state.startswith("not") else
                               f"{place.why} names {place.path}, which {state}")  # fmt: skip
    return None


def where_looked(name: str) -> str:
    """Every place and what was found there, one line each."""
    found = ((place, _state(place)) for place in places(name))
    return "\n".join(f"  {p.why}: {p.path}: {s if isinstance(s, str) else 'found'}" for p, s in found)
