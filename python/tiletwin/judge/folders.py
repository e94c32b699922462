"""The folder of one run of the judge, in the system's folder for temporary files: nobody's folder stays behind.

Here:      making one, removing those whose owner was killed.
Not here:  what lies in it (starter.py).
Idea:      the owner holds a lock on its folder, which the system gives back however the owner ends. A folder of this
           user that nobody locks is left over.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile

PREFIX = "tiletwin-judge-"


class Folder:
    """Attribute path. It is locked by this process until `remove`."""

    def __init__(self) -> None:
        sweep()
        while True:
            self.path = tempfile.mkdtemp(prefix=PREFIX)
            self._lock = _open(self.path)
            # Another run may have taken it for one that was left over, between both calls.
            if self._lock >= 0 and _locked(self._lock) and os.path.isdir(self.path):
                return
            self.remove()

    def remove(self) -> None:
        """Also where another process has removed it already."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _open(path: str) -> int:
    """A descriptor of one of this user's folders; -1: it is none, or not there."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return -1
    if os.fstat(number).st_uid == os.getuid():
        return number
    os.close(number)
    return -1


def _locked(number: int) -> bool:
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def sweep() -> None:
    """Removes what judges that were killed have left."""
    parent = tempfile.gettempdir()
    for name in os.listdir(parent):
        if not name.startswith(PREFIX):
            continue
        path = os.path.join(parent, name)
        number = _open(path)
        if number >= 0:
            if _locked(number):
                shutil.rmtree(path, ignore_errors=True)
            os.close(number)
