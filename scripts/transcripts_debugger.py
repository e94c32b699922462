"""The sessions of docs/howto/debug_gpu_code.md: `tiletwin debug` on a reduction in CUDA and on a product in Triton.

Here:      what is typed, in which order. Not here:  driving the terminal (debug_transcripts.py).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from debug_transcripts import ROOT, Terminal, line_of, session

PROMPT = r"\(tiletwin\) "
TILETWIN = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "tiletwin"


def run(words: str, commands: list[str], folder: Path) -> str:
    """The transcript of a session in a folder."""
    environment = {"PYTHONPATH": str(ROOT / "python"), "INPUTRC": "/dev/null"}
    terminal = Terminal([str(TILETWIN), "debug", *words.split()], PROMPT, folder, environment)
    terminal.wait()
    for command in commands:
        terminal.say(command)
    terminal.end("quit")
    return terminal.transcript(f"tiletwin debug {words}")


@session("debug-reduction")
def reduction() -> str:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for end in ("cu", "ptx"):
            shutil.copy(ROOT / "demo" / "ptx" / f"block_sum.{end}", folder)
        np.savez(folder / "args.npz", np.arange(1024, dtype=np.float32), np.zeros(4, np.float32))
        commands = [
            "break block_sum.cu:8 if block==1 && warp==0",
            "run",
            "info cuda warps",
            "x/2fw part",
            "x/2fw part + 512",
            "who part + 512",
            "watch part,4",
            "delete 1",
            "continue",
            "who part,3",
            "print $f3",
            "cuda thread 5",
            "bt",
            "delete",
            "continue",
        ]
        return run("-m tiletwin sim block_sum.ptx args.npz --grid 4 --block 256", commands, folder)


@session("debug-product")
def product() -> str:
    line = line_of("demo/debug_matmul.py", "acc = tl.dot")
    commands = [
        f"break debug_matmul.py:{line} if block==1234 && k == 16",
        "run",
        "info locals",
        "print acc",
        "gather",
        "print acc[0:4, 0:4]",
        "info cuda blocks",
        "info shared",
        "info shared 0 0",
        "who @shared 0",
        "next",
        "list",
        "disassemble 2",
        "delete",
        "continue",
    ]
    return run("debug_matmul.py", commands, ROOT / "demo")
