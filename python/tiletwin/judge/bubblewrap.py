"""bubblewrap around the process that starts workers, where it is installed.

Here:      the command that enters it, and whether it works on this machine.
Not here:  the layers that each worker enters itself, inside of it or without it (sandbox.py).
Idea:      systems that refuse user namespaces to most programs allow them to bubblewrap. It takes the network, and all
           files but the judge's own folder, from the starter and from every worker. One worker is kept from another by
           the worker's own layers.
"""

from __future__ import annotations

import functools
import shutil
import subprocess

NAME = "bubblewrap"
_SECONDS = 10.0
_OPTIONS = (
    "--ro-bind", "/", "/", "--dev", "/dev", "--bind", "/proc", "/proc",
    "--unshare-net", "--unshare-ipc", "--unshare-uts",
)  # fmt: skip
"""Numbers of processes stay what they are outside: the judge looks at what workers use. Namespaces inside of these are
made by writing to /proc."""
_THEN_REMOVE = '"$@"; status=$?; rmdir -- "$0" 2> /dev/null; exit $status'
"""For a shell outside, which outlives the judge: inside, a folder that is mounted can be emptied, but not removed."""


@functools.cache
def program() -> str | None:
    """Where it lies; None: it is not installed, or this system refuses what it does."""
    path = shutil.which("bwrap")
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, *_OPTIONS, "--", shutil.which("true") or "true"], capture_output=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return path if done.returncode == 0 else None


def around(words: list[str], folder: str) -> list[str]:
    """A command inside of bubblewrap that may write to one folder, and is told so by a last word; the command itself
    where there is no bubblewrap."""
    path = program()
    if path is None:
        return words
    return ["/bin/sh", "-c", _THEN_REMOVE, folder, path, *_OPTIONS, "--bind", folder, folder, "--", *words, NAME]
