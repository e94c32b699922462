"""The program that is debugged: how it is started.

Here:      a script of Triton kernels, which runs on the simulator, or any program, which finds the virtual GPU.
Not here:  what the debugger does with it (session.py).
Invariant: the program has a session of its own, so that Ctrl-C interrupts the debugger and not the program.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from tiletwin import gpu, variables
from tiletwin.debugger.connection import Refused


def is_script(words: Sequence[str]) -> bool:
    """Python's words `script.py ...` or `-m module ...`; anything else is a program."""
    return words[0] == "-m" or words[0].endswith(".py")


def start(
    words: Sequence[str],
    socket: str,
    *,
    options: dict[str, str],
    output: int | IO | None = None,
    cwd: str | None = None,
) -> subprocess.Popen:
    """Starts the program. socket: where it finds the debugger. options: of the virtual GPU. output: where what it
    prints goes, as for Popen; None: where ours goes.

    Errors: Refused, it cannot be started.
    """
    try:
        if is_script(words):
            environment = variables.of_child(TILETWIN_DEBUG=socket, TILETWIN_BACKEND="sim")
            command = [sys.executable, "-m", "tiletwin.script", *words]
        else:
            environment = gpu.environment(options) | {"TILETWIN_DEBUG": socket}
            command = [shutil.which(words[0]) or words[0], *words[1:]]
        errors = subprocess.STDOUT if output == subprocess.PIPE else output
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=cwd,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise Refused(f"{words[0]}: {error.strerror or error}") from None
