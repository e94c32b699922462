"""The sessions of docs/debugging.md: three broken kernels, each found with the commands as they are printed.

Here:      a check (softmax), pdb (decode), gdb (tiles), and the runs after the repair.
Not here:  the kernels (demo/broken), terminals and documents (debug_transcripts.py).
Invariant: every command is typed from the root of the repository, as a reader does.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from debug_transcripts import ROOT, Terminal, clean_environment, normalised, output_of, session
from transcripts_gdb import run as gdb

PDB = r"\(Pdb\) "


def split(command: str) -> tuple[list[str], dict[str, str]]:
    """ "NAME=value python x.py" as arguments, with this Python, and the environment."""
    words = command.split()
    values: dict[str, str] = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        values[name] = value
    return [sys.executable if word == "python" else word for word in words], values


def shell(command: str, folder: Path = ROOT) -> str:
    """A command and what it printed, stdout and stderr as they came."""
    arguments, values = split(command)
    return normalised(f"$ {command}\n{output_of(arguments, folder, clean_environment(**values))}", folder)


def repaired(name: str, before: str, after: str) -> str:
    """The run of a kernel after one change."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(ROOT / "demo" / "broken", folder / "demo" / "broken")
        file = folder / "demo" / "broken" / f"{name}.py"
        text = file.read_text()
        if text.count(before) != 1:
            raise ValueError(f"{file.name} holds {text.count(before)} times: {before}")
        file.write_text(text.replace(before, after))
        return shell(f"TILETWIN_INTERPRET=1 TILETWIN_CHECK=all python demo/broken/{name}.py", folder)


@session("walk-softmax-run")
def softmax_run() -> str:
    return shell("TILETWIN_INTERPRET=1 python demo/broken/softmax.py")


@session("walk-softmax-check")
def softmax_check() -> str:
    return shell("TILETWIN_INTERPRET=1 TILETWIN_CHECK=all python demo/broken/softmax.py")


@session("walk-softmax-repaired")
def softmax_repaired() -> str:
    return repaired("softmax", "mask=mask)\n    peak", 'mask=mask, other=float("-inf"))\n    peak')


@session("walk-decode-run")
def decode_run() -> str:
    return shell("TILETWIN_INTERPRET=1 TILETWIN_CHECK=all python demo/broken/decode.py")


@session("walk-decode-pdb")
def decode_pdb() -> str:
    command = "TILETWIN_INTERPRET=1 TILETWIN_PROGRAM=3 python -m pdb demo/broken/decode.py"
    arguments, values = split(command)
    terminal = Terminal(arguments, PDB, environment=values)
    terminal.wait()
    for line in (
        "b 23",
        "c",
        "p start, alpha, total",
        "n",
        "p total",
        "c",
        "p start, alpha, total",
        "n",
        "p total, tl.sum(p)",
    ):
        terminal.say(line)
    terminal.end("q")
    return terminal.transcript(command)


@session("walk-decode-repaired")
def decode_repaired() -> str:
    return repaired("decode", "total = total + tl.sum", "total = total * alpha + tl.sum")


@session("walk-tiles-run")
def tiles_run() -> str:
    return shell("TILETWIN_INTERPRET=1 TILETWIN_CHECK=all python demo/broken/tiles.py")


@session("walk-tiles-gdb")
def tiles_gdb() -> str:
    commands = ["break tiles.py:23 if row >= 62", "run", "print pid", "print row", "tw show rm"]
    return gdb("demo/broken/tiles.py", commands)


@session("walk-tiles-repaired")
def tiles_repaired() -> str:
    return repaired(
        "tiles",
        "    row = group * GROUP + inside % GROUP\n    col = inside // GROUP",
        "    rows = tl.minimum(n_rows - group * GROUP, GROUP)\n"
        "    row = group * GROUP + inside % rows\n"
        "    col = inside // rows",
    )
