"""Whether a reference takes arguments and survives: torch itself may crash on indices and offsets that point nowhere.

Here:      one call in a process of its own, which ends with it.
Not here:  the sandbox of submissions (sandbox.py): a reference is trusted, and only its crash is kept away.
Idea:      only whole numbers among the arguments make torch's operations read elsewhere, and only in made cases.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from typing import Any

import torch

from tiletwin.judge.inputs import tensors_of

MOST_SECONDS = 60


def is_risky(args: list[Any]) -> bool:
    """Whether there are numbers that may be indices."""
    return any(not value.is_floating_point() for value in tensors_of(args))


def why_not(call: Callable[[], Any]) -> str:
    """Why a call, in a process of its own, gives nothing: it raises an exception, crashes or takes too long. Empty:
    it returns."""
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGALRM):
                signal.signal(number, signal.SIG_DFL)
            signal.alarm(MOST_SECONDS)
            torch.set_num_threads(1)  # others are not there behind a fork, and would be waited for
            call()
            failed = 0
        finally:
            os._exit(failed)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status):
        return "it raises an exception" if os.WEXITSTATUS(status) else ""
    ended = signal.Signals(os.WTERMSIG(status))
    return f"it takes more than {MOST_SECONDS} s" if ended is signal.SIGALRM else f"it crashes ({ended.name})"
