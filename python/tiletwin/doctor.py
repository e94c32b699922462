"""`tiletwin doctor`: what works on this machine.

Here:      activation, instruction set, threads, versions, the table of them all.
Not here:  GPUs and the programs for their code (cuda/doctor.py), the command (cli.py).
"""

from __future__ import annotations

import os
import platform
import site
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from tiletwin import _C, variables
from tiletwin.cuda import doctor as cuda_doctor
from tiletwin.version import TILETWIN_VERSION, TRITON_VERSION


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _real_triton() -> str:
    """The version of an installed Triton, or "not installed"."""
    found = _version("triton")
    return found if found == "not installed" else f"{found} installed"


def _activation() -> tuple[str, bool]:
    """Whether the start-up file works in this Python."""
    code = "import triton, sys; sys.stdout.write(triton.__name__)"
    environment = variables.of_child(TILETWIN_INTERPRET="1")
    child = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    if child.stdout == "tiletwin":
        return "TILETWIN_INTERPRET=1 python script.py works", True
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    places = [folder for folder in folders if (Path(folder) / "tiletwin_activate.pth").exists()]
    why = (
        "Python does not read .pth files here (python -S or -I?)"
        if places
        else "tiletwin is not installed into this Python's site-packages (PYTHONPATH or --target?)"
    )
    return f"{why}: use tiletwin run script.py, or import tiletwin as triton", False


def tell() -> bool:
    """Prints a line for each; whether all is well."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    try:
        instruction_set, known = _C.instruction_set(), True
    except RuntimeError as error:
        instruction_set, known = str(error), False
    activation, works = _activation()
    found, well = cuda_doctor.rows()
    rows = [
        ("tiletwin", f"{TILETWIN_VERSION}, language of Triton {TRITON_VERSION}"),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("instruction set", instruction_set),
        ("threads", variables.get("TILETWIN_NUM_THREADS") or str(len(os.sched_getaffinity(0)))),
        ("activation", activation),
        ("real triton", _real_triton()),
        *((name, _version(name)) for name in ("torch", "numpy", "ml_dtypes")),
        *found,
        *variables.ours().items(),
    ]
    table = Table(show_header=False, box=None)
    for name, value in rows:
        table.add_row(f"[bold]{name}[/bold]", escape(value))
    Console(soft_wrap=True).print(table)
    return known and works and well
