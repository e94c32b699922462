"""Drives gdb as a person would: types commands, reads the screen up to the next prompt."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import children
import pexpect

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).with_name("programs.py")
PROMPT = "(gdb) "
ESCAPES = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")

available = shutil.which("gdb") is not None


class Gdb:
    """`gdb --args python programs.py NAME`. `trust`: a folder for gdb's safe-path, where a user puts the package's."""

    def __init__(
        self,
        program: str,
        *,
        python: str | Path = sys.executable,
        trust: Path | None = ROOT,
        script: Path = PROGRAMS,
        timeout: int = 120,
        cwd: Path = ROOT,
        home: Path | None = None,
    ) -> None:
        variables = children.environment(
            package=False, TILETWIN_GDB="1", TILETWIN_INTERPRET="1", TERM="dumb", LINES="0", COLUMNS="0"
        )
        words = ["-q", "-nx", "-iex", "set pagination off", "-iex", "set style enabled off", "-iex", "set width 0"]
        if trust:
            words += ["-iex", f"add-auto-load-safe-path {trust}"]
        words += ["-ex", "set breakpoint pending on", "-ex", "set confirm off"]
        words += ["--args", str(python), str(script), program]
        self.child = pexpect.spawn(
            "gdb",
            words,
            encoding="utf-8",
            timeout=timeout,
            cwd=str(cwd),
            env=variables,
            echo=False,
            dimensions=(200, 250),
        )
        self.child.expect_exact(PROMPT)

    def __call__(self, command: str) -> str:
        """What gdb and the program print for a command."""
        self.child.sendline(command)
        self.child.expect_exact(PROMPT)
        return ESCAPES.sub("", self.child.before).replace("\r\n", "\n").replace("\r", "").strip()

    def close(self) -> None:
        self.child.sendline("kill")
        self.child.close(force=True)

    def __enter__(self) -> Gdb:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
