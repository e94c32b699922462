"""The sessions of docs/differential.md: `tiletwin diff` on the demos, and `tiletwin replay` of what it saved.

Here:      the commands, in a folder that holds the demos. TILETWIN_TRITON names a Python that has real Triton.
Not here:  documents (debug_transcripts.py), what is expected of the tester (tests/diff).
Invariant: every command is one that a reader can type in the repository.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from debug_transcripts import ROOT, clean_environment, normalised, output_of, session


def shell(commands: Iterable[str], *demos: str) -> str:
    """Commands and what they print, without the numbers of processes and of the compiled code's places."""
    parts = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "demo").mkdir()
        for demo in demos:
            shutil.copy(ROOT / "demo" / demo, folder / "demo")
        kept = {name: os.environ[name] for name in ("TILETWIN_TRITON",) if name in os.environ}
        environment = clean_environment(**kept, TERM="dumb")
        for command in commands:
            words = [sys.executable, "-m", *shlex.split(command)]
            parts.append(f"$ {command}\n{output_of(words, folder, environment, stderr=False)}")
        text = normalised("".join(parts), folder)
    text = re.sub(r"-[0-9a-f]{8}\.twlaunch", "-5d2f01c9.twlaunch", text)
    text = re.sub(r"warp \d+, lane \d+", "warp 2, lane 0", text)
    return re.sub(r"(nothing orders the two accesses).*", r"\1 ...", text)


@session("diff-real-triton")
def real_triton() -> str:
    return shell(["tiletwin diff --backends interp,triton --save '' demo/diff_conversions.py"], "diff_conversions.py")


@session("diff-missing-barrier")
def missing_barrier() -> str:
    commands = [
        "tiletwin diff --backends interp,sim demo/diff_missing_barrier.py",
        "tiletwin replay tiletwin-differences --backend recorded",
    ]
    return shell(commands, "diff_missing_barrier.py")
