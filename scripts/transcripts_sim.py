"""The sessions of docs/simulator.md: the command `tiletwin sim` on a sound kernel and on some with a mistake.

Here:      the commands, in a folder that holds the files they name.
Not here:  the kernels (demo/ptx, tests/sim/bugs), documents (debug_transcripts.py).
Invariant: every command is one that a reader can type where those files are.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from debug_transcripts import ROOT, clean_environment, normalised, output_of, session

BUGS = ROOT / "tests" / "sim" / "bugs"


def shell(commands: Iterable[str], files: Iterable[Path], arrays: Iterable[int] = ()) -> str:
    """Commands and what they print. arrays: bytes of each argument in args.npz, zeros; none: the commands make it."""
    parts = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file in files:
            shutil.copy(file, folder)
        sizes = list(arrays)
        if sizes:
            np.savez(folder / "args.npz", *(np.zeros(size // 4, np.uint32) for size in sizes))
        environment = clean_environment(PYTHONPATH=str(ROOT / "python"), TERM="dumb", COLUMNS="118")
        for command in commands:
            words = shlex.split(command)
            program = sys.executable if words[0] == "python" else str(Path(sys.executable).with_name(words[0]))
            parts.append(f"$ {command}\n{output_of([program, *words[1:]], folder, environment)}")
        return normalised("".join(parts), folder)


@session("sim-run")
def run() -> str:
    make = "import numpy as np; x = np.arange(1000, dtype='f4'); np.savez('args.npz', 1000, np.float32(2), x, x + 1)"
    run = "tiletwin sim saxpy.ptx args.npz --grid 8 --block 128 --out after.npz"
    return shell([f'python -c "{make}"', run], [ROOT / "demo" / "ptx" / "saxpy.ptx"])


@session("sim-list")
def listing() -> str:
    return shell(["tiletwin sim saxpy.ptx --list"], [ROOT / "demo" / "ptx" / "saxpy.ptx"])


def bug(name: str, options: str, sizes: Iterable[int] = (1024,)) -> str:
    return shell([f"tiletwin sim {name}.ptx args.npz {options}"], [BUGS / f"{name}.ptx"], sizes)


@session("sim-bounds")
def bounds() -> str:
    return bug("out_of_bounds_global", "--block 32", (1024, 128))


@session("sim-barriers")
def barriers() -> str:
    return bug("divergent_barrier", "--block 64")


@session("sim-deadlock")
def deadlock() -> str:
    return bug("mbarrier_wrong_bytes", "--block 32", (1024, 4096))


@session("sim-async")
def asynchronous() -> str:
    return bug("missing_wait_group", "--block 32", (1024, 4096))


@session("sim-uninitialized")
def uninitialized() -> str:
    return bug("uninitialized_shared", "--block 64 --check uninitialized")


@session("sim-races")
def races() -> str:
    return bug("missing_barrier", "--block 64 --check races")
