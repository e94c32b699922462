"""A process that has imported what workers need, and forks one for each of them: a worker begins in milliseconds where
a new Python takes seconds. It ends them too, also when the judge is killed.

Here:      the judge's side (Starter) and the process itself (main).
Not here:  what a worker does (worker.py, verifier.py), talking with it (process.py).
Invariant: the process never runs a submission's code, never sees a reference, and has no thread but its first when it
           forks. Workers get none of its descriptors but the pipes that are meant for them. When its judge has gone,
           however that ended, it ends all workers and removes their folders.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import Any

from tiletwin import variables
from tiletwin.judge import bubblewrap, sandbox, usage
from tiletwin.judge.folders import Folder

_PASSED = ("PATH", "LANG", "LC_ALL", "TILETWIN_LIBRARIES", "LD_LIBRARY_PATH", "PYTHONPATH")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


_IMPORTED = (
    *(f"tiletwin.judge.{name}" for name in ("frames", "watching", "worker", "verifier", "tracing", "sandbox")),
    "tiletwin.diff.bounds", "tiletwin.diff.files", "tiletwin.eager", "tiletwin.findings.results", "tiletwin.devices",
    "tiletwin.kernels.jit", "tiletwin.language", "tiletwin.compiler", "tiletwin.eager.decide",
    "tiletwin.eager.stops", "triton", "triton.compiler", "triton.language", "encodings.cp437", "numpy.ctypeslib",
    "numpy.ma", "torch._inductor.config", "torch._dynamo",
)  # fmt: skip
"""What submissions and workers use, much of it only by way of torch, which imports it at its first use."""


class StarterEnded(OSError):
    """The process that starts workers has ended: the system has no memory, or somebody has killed it."""


class Starter:
    """Starts and ends workers. Any thread may ask."""

    def __init__(self) -> None:
        self._folder = Folder()
        # Messages with borders. The other side reads an end of file when this process ends, however it does.
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, "-s", "-m", "tiletwin.judge.starter", str(theirs.fileno()), self._folder.path]
        words = bubblewrap.around(words, self._folder.path)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), env=environment(self._folder.path),
            start_new_session=True,
        )  # fmt: skip
        theirs.close()

    @property
    def folder(self) -> str:
        """It is removed with the starter, however the judge ends. Workers have theirs inside."""
        return self._folder.path

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def start(self, module: str, words: list[str], pipes: tuple[int, int, int]) -> int:
        """The number of a new process that runs `main` of a module, with its own folder, two of the pipes and `words`
        as arguments; its output goes into the third. Errors: StarterEnded."""
        return self._ask({"start": module, "words": words}, pipes)

    def end(self, process: int) -> int:
        """Ends a worker and all that it started, removes its folder. Returns its wait status. Errors: StarterEnded."""
        return self._ask({"end": process}, ())

    def _ask(self, said: dict[str, Any], pipes: tuple[int, ...]) -> int:
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(said).encode()], pipes)
                data = self._socket.recv(64)
            except OSError as error:
                raise StarterEnded(error.errno, "the process that starts workers has ended") from None
        if not data:
            raise StarterEnded(0, "the process that starts workers has ended")
        return int(data)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()
        self._folder.remove()

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def environment(folder: str) -> dict[str, str]:
    """Of processes that run submissions: nothing of this one's that they have no use for. folder: their own."""
    kept = {name: value for name in _PASSED if (value := variables.given(name)) is not None}
    return kept | _own_folder(folder) | {
        "TILETWIN_INTERPRET": "1", "TILETWIN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
    }  # fmt: skip


def _own_folder(folder: str) -> dict[str, str]:
    return dict.fromkeys(("HOME", "TMPDIR", "TILETWIN_CACHE_DIR"), folder)


class _Process:
    """The process that forks. folder: the judge's, where each worker has one of its own."""

    def __init__(self, asked: socket.socket, folder: str) -> None:
        self.asked, self.folder = asked, folder
        self.folders: dict[int, str] = {}
        """Of each worker that `end` was not asked for."""
        self.ended: dict[int, int] = {}
        """Of those that have ended by themselves: how."""

    def serve(self) -> None:
        """Until the judge has gone."""
        try:
            with contextlib.suppress(ConnectionError):
                while True:
                    data, pipes, _, _ = socket.recv_fds(self.asked, 1 << 16, 3)
                    if not data:
                        return
                    said = json.loads(data)
                    answer = self.end(said["end"]) if "end" in said else self.start(said, pipes)
                    self.asked.send(str(answer).encode())
        finally:
            for process in list(self.folders):
                self.end(process)
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, said: dict[str, Any], pipes: list[int]) -> int:
        folder = tempfile.mkdtemp(prefix="worker-", dir=self.folder)
        own = os.getpid()
        process = os.fork()
        if process == 0:
            _become(self.asked, own, said, folder, pipes)
        for pipe in pipes:
            os.close(pipe)
        self.folders[process] = folder
        return process

    def end(self, process: int) -> int:
        """The innermost process first: it is the first one of its own processes, which end with it."""
        for number in reversed(usage.tree(process)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        while process not in self.ended:
            self._reap(0)
        # What lost its parent is this process's child now, and has been killed.
        with contextlib.suppress(ChildProcessError):
            while self._reap(os.WNOHANG):
                pass
        shutil.rmtree(self.folders.pop(process), ignore_errors=True)
        return self.ended.pop(process)

    def _reap(self, flags: int) -> int:
        number, status = os.waitpid(-1, flags)
        if number in self.folders:
            self.ended[number] = status
        return number


def _become(asked: socket.socket, parent: int, said: dict[str, Any], folder: str, pipes: list[int]) -> None:
    """The new process: its own session, its output into a pipe, its end with its parent's."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            return
        asked.close()
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        ask, answer, printed = pipes
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.close(printed)
        for name, value in _own_folder(folder).items():
            variables.put(name, value)
        tempfile.tempdir = folder
        importlib.import_module(said["start"]).main(folder, str(ask), str(answer), *said["words"])
    finally:
        os._exit(0)


def main(number: str, folder: str, *outer: str) -> None:
    """outer: layers of a sandbox around this process and all that it starts."""
    sandbox.outer[:] = outer
    asked = socket.socket(fileno=int(number))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in _IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # what is here lives as long as the process: workers need not look at it, nor copy its pages
    _Process(asked, folder).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
