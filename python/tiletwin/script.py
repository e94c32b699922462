"""The user's own code under a command: a script or a module as __main__, or what a file's import runs.

Here:      running it, its exceptions as Python shows them.
Not here:  the commands (cli.py), activation (_activate.py).
Invariant: a traceback begins at the user's first frame; a mistake of ours is shown whole.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from tiletwin import variables
from tiletwin.errors import TileTwinError

Fail = Callable[[str], NoReturn]
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def activated(fail: Fail) -> bool:
    """Whether `import triton` gives tiletwin from now on."""
    from tiletwin import activation

    try:
        return activation.activate()
    except (ValueError, ImportError) as error:
        fail(str(error))


def activated_without_gpu(fail: Fail) -> bool:
    """As activated(), for commands that need no GPU: programs run on the CPU unless the environment says otherwise."""
    variables.put_default("TILETWIN_INTERPRET", "1")
    return activated(fail)


def check(words: list[str] | None, command: str, fail: Fail) -> list[str]:
    """The words `[-m] NAME ARGUMENTS...`, if they name something that can be run."""
    if not words or words == ["-m"]:
        fail(f"say what to run: tiletwin {command} script.py, or tiletwin {command} -m module")
    script = words[0]
    if script == "-m":
        return words
    if script.startswith("-"):
        fail(f"{script}: no such option; -m runs a module, and options of the script stand behind its name")
    if not Path(script).is_file():
        fail(f"{script}: no such file")
    return words


def run(words: list[str]) -> None:
    """Runs `[-m] NAME ARGUMENTS...` as Python would. Errors: whatever it raises."""
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = words
    sys.path.insert(0, str(Path(words[0]).resolve().parent))
    runpy.run_path(words[0], run_name="__main__")


def _is_ours(traceback: TracebackType) -> bool:
    """Whether a frame is of this package, of what parses command lines, or of Python's import system."""
    name = traceback.tb_frame.f_code.co_filename
    module = traceback.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    return name.startswith((_OURS, "<frozen ")) or module in ("typer", "click", "runpy", "importlib")


def _users(error: BaseException) -> TracebackType | None:
    """The traceback from the user's first frame on. Without one: all of it, unless the error says the place itself."""
    part = error.__traceback__
    if part is not None and part.tb_frame.f_globals.get("__name__") == "__main__":
        part = part.tb_next  # what started the command
    while part is not None and _is_ours(part):
        part = part.tb_next
    says_all = isinstance(error, (SyntaxError, ImportError, TileTwinError))
    return error.__traceback__ if part is None and not says_all else part


def show(error: BaseException) -> None:
    """Shows an exception as Python shows one that nobody catches."""
    error.__traceback__ = _users(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)


def exit_code(ended: SystemExit) -> int:
    """The exit code that a script asked for. A text that it gave in place of one is shown, as Python does."""
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    print(ended.code, file=sys.stderr)
    return 1


def run_to_end(words: list[str]) -> int:
    """As run(), for commands that have something to say afterwards. Returns the script's exit code; an exception is
    shown and is 1."""
    try:
        run(words)
    except SystemExit as error:
        return exit_code(error)
    except Exception as error:
        show(error)
        return 1
    return 0


def wait_for_others() -> None:
    """Returns when the script's threads and processes have ended, as Python waits for them before a process ends."""
    threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing ends its own; pools are woken by it
    if processes := sys.modules.get("multiprocessing"):
        for process in processes.active_children():
            if not process.daemon:
                process.join()


def calling(function: Callable[[], Any], status: int = 1) -> Any:
    """What a function that runs the user's code returns. If that raises it is shown, and the process ends."""
    try:
        return function()
    except Exception as error:
        show(error)
    raise SystemExit(status)


def main(words: list[str]) -> None:
    """`python -m tiletwin.script [-m] NAME ARGUMENTS...`: what `tiletwin run` does with these words, without reading
    options. To import what reads them takes longer than all the rest."""

    def fail(message: str) -> NoReturn:
        print(f"tiletwin: {message}", file=sys.stderr)
        raise SystemExit(2)

    if not activated_without_gpu(fail):
        fail("not activated: TILETWIN_INTERPRET is switched off in the environment")
    named = check(words, "debug", fail)
    calling(lambda: run(named))


if __name__ == "__main__":
    main(sys.argv[1:])
