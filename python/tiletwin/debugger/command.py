"""The command `tiletwin debug`: a terminal, or a server for an editor.

Not here:  command line parsing (cli.py).
Exit codes: of the program's last run; 2, the command itself failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from tiletwin.debugger.command_line import PROMPT, CommandLine


def debug(
    words: list[str],
    commands: list[str],
    *,
    dap: bool,
    port: int | None,
    fail: Callable[[str], NoReturn],
) -> int:
    """words: of the program. commands: carried out before the first prompt. dap: serves an editor, which says what to
    run."""
    if dap:
        from tiletwin.debugger import dap as editor

        return editor.serve(port)
    if not words:
        fail("debug: name a script or a program, as in `tiletwin debug script.py`, `tiletwin debug -- program`")
    line = CommandLine(words, {})
    for command in commands:
        print(f"{PROMPT}{command}")
        if not line.execute(command):
            line.session.end()
            return line.exit_code
    return line.run()
