"""Whether a reference survives arguments: torch itself may crash on indices and offsets that point nowhere.

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


def survives(call: Callable[[], Any]) -> bool:
    """Whether a process that makes the call ends by itself; an exception is no crash."""
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGALRM):
                signal.signal(number, signal.SIG_DFL)
            signal.alarm(MOST_SECONDS)
            torch.set_num_threads(1)  # others are not there behind a fork, and would be waited for
            call()
        finally:
            os._exit(0)
    return os.WIFEXITED(os.waitpid(child, 0)[1])
