"""A recorded launch once more: on any backend, or its Python text under pdb or gdb.

Here:      what `tiletwin replay` does.
Not here:  files (files.py), comparing (comparing.py).
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiletwin import variables
from tiletwin.diff.backend_names import make
from tiletwin.diff.backends import Backend, RecordedBackend
from tiletwin.diff.comparing import compare_launch
from tiletwin.diff.launches import Array, Constant, Descriptor, Launch, rebuilt
from tiletwin.diff.reports import Report


def replay(launch: Launch, names: Sequence[str] = ("interp",)) -> Report:
    """Runs a launch on backends. The first of the results that the file holds is what they are compared with; without
    one, the first backend's. "recorded" alone compares all results of the file with each other.

    Errors: ValueError, an unknown backend, or nothing to compare with and nothing to run.
    """
    recorded = sorted({*launch.outputs, *launch.errors}, key=lambda name: (name != "interp", name))
    backends: list[Backend] = []
    if list(names) == ["recorded"]:
        backends = [RecordedBackend(name) for name in recorded]
        if not backends:
            raise ValueError("the file holds no results")
    else:
        if recorded:
            backends.append(RecordedBackend(recorded[0]))
        backends += [make(name) for name in names]
    try:
        return compare_launch(launch, backends)
    finally:
        for backend in backends:
            backend.close()


def write_sources(launch: Launch, folder: str) -> list[str]:
    """The texts as files; returns their paths, the kernel's first."""
    paths = []
    for module, text in launch.sources.items():
        path = Path(folder) / f"{module}.py"
        path.write_text(text)
        paths.append(str(path))
    return paths


def _check_source(launch: Launch) -> None:
    if launch.source_problem or not launch.sources:
        raise ValueError(f"the recording's source cannot run on its own: {launch.source_problem or 'there is none'}")


def run_source(launch: Launch, folder: str = "") -> list[np.ndarray]:
    """Runs the kernel's text; returns the memory afterwards.

    Errors: ValueError, the recording has no text that runs; what the kernel does wrong.
    """
    _check_source(launch)
    own = folder or tempfile.mkdtemp(prefix="tiletwin-replay-")
    write_sources(launch, own)
    sys.path.insert(0, own)
    try:
        for module in launch.sources:
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        module = importlib.import_module(next(iter(launch.sources)))
        memory = launch.copies()

        def value(item: Any) -> Any:
            if isinstance(item, Constant) and item.kind == "function":
                return getattr(module, item.text)
            if isinstance(item, tuple):
                return tuple(value(part) for part in item)
            if isinstance(item, (Array, Descriptor, Constant)):
                return rebuilt(item, memory)
            return item

        names = ("num_warps", "num_stages", "num_ctas")
        given = (name for name in names if name not in launch.arguments)  # a kernel may have a parameter of that name
        options = launch.given_options(*given)
        kernel = getattr(module, launch.name)
        args, kwargs = kernel.as_call({name: value(item) for name, item in launch.arguments.items()})
        kernel[launch.grid](*args, **kwargs, **options)
        return memory
    finally:
        sys.path.remove(own)
        if not folder:
            shutil.rmtree(own, ignore_errors=True)


def first_statement(launch: Launch) -> int:
    """The line of the kernel's text at which its body begins."""
    import ast

    tree = ast.parse(next(iter(launch.sources.values())))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == launch.name:
            body = node.body
            is_doc = isinstance(body[0], ast.Expr) and isinstance(getattr(body[0], "value", None), ast.Constant)
            return (body[1] if is_doc and len(body) > 1 else body[0]).lineno
    return launch.first_line


def under_pdb(launch: Launch, program: str) -> None:
    """Stops in pdb at the kernel's first statement, in one program. Errors: ValueError, the recording has no text that
    runs; what the kernel does wrong."""
    _check_source(launch)
    folder = tempfile.mkdtemp(prefix="tiletwin-replay-")
    path = os.path.join(folder, f"{next(iter(launch.sources), 'kernel')}.py")
    variables.put("TILETWIN_BREAK", f"{path}:{first_statement(launch)}")
    variables.put("TILETWIN_PROGRAM", program or "0,0,0")
    try:
        run_source(launch, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ids(program: str) -> list[int]:
    """The numbers of "3,0,0". Errors: ValueError."""
    try:
        ids = [int(number) for number in program.split(",")] if program else []
    except ValueError:
        ids = [-1]
    if len(ids) > 3 or min(ids, default=0) < 0:
        raise ValueError(f"--program takes one to three numbers joined by commas, not {program!r}")
    return ids


def gdb_command(launch: Launch, file: str, folder: str, program: str = "") -> list[str]:
    """The command that runs this replay under gdb, stopped at the kernel's first statement, in one program if that is
    given. gdb takes the package's own commands. Errors: ValueError, `program` is no program's id."""
    where = f"{next(iter(launch.sources), 'kernel')}.py:{first_statement(launch)}"
    conditions = " && ".join(f"pid{axis}=={number}" for axis, number in enumerate(_ids(program)))
    return [
        "gdb", "-q", "-iex", f"add-auto-load-safe-path {Path(__file__).resolve().parents[1]}",
        "-ex", "set breakpoint pending on", "-ex", f"break {where}" + (f" if {conditions}" if conditions else ""),
        "-ex", "run", "--args", sys.executable, "-m", "tiletwin.diff.replay", str(file), folder,
    ]  # fmt: skip


def under_gdb(launch: Launch, file: str, program: str = "") -> int:
    """Runs gdb on a process that runs the recording's source. Errors: ValueError, there is no gdb, or the recording has
    no text that runs."""
    import subprocess

    if shutil.which("gdb") is None:
        raise ValueError("gdb was not found in PATH")
    _check_source(launch)
    folder = tempfile.mkdtemp(prefix="tiletwin-replay-")
    try:
        write_sources(launch, folder)
        command = gdb_command(launch, os.path.abspath(file), folder, program)
        return subprocess.call(command, env=variables.of_child(TILETWIN_GDB="1"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":  # in the process that gdb debugs
    variables.put_default("TILETWIN_INTERPRET", "1")
    from tiletwin import activation
    from tiletwin.diff import files

    activation.activate()
    run_source(files.read(sys.argv[1]), sys.argv[2])
