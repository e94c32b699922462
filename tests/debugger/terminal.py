"""Types at `tiletwin debug` as a person would, and reads up to the next prompt."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import children
import pexpect

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).with_name("programs.py")
PROMPT = "(tiletwin) "
_ESCAPES = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")


class Terminal:
    """`tiletwin debug WORDS`."""

    def __init__(self, *words: str | Path, cwd: Path = ROOT, **variables: str) -> None:
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "tiletwin", "debug", *map(str, words)],
            encoding="utf-8",
            timeout=180,
            cwd=str(cwd),
            env=children.environment(TERM="dumb", INPUTRC="/dev/null") | variables,
            echo=False,
            dimensions=(200, 250),
        )
        self.child.expect_exact(PROMPT)

    def __call__(self, command: str) -> str:
        """What the debugger and the program print for a command."""
        self.child.sendline(command)
        self.child.expect_exact(PROMPT)
        text = _ESCAPES.sub("", self.child.before or "").replace("\r\n", "\n").replace("\r", "").strip()
        return text.removeprefix(command).strip()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)
