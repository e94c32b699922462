"""A process that has imported what workers need, and forks one for each submission: a worker begins in milliseconds
where a new Python takes seconds.

Here:      the judge's side (Starter) and the process itself (main).
Not here:  what a worker does (worker.py, verifier.py).
Invariant: the process never runs a submission's code, never sees a reference, and has no thread but its first when it
           forks. Workers get none of its descriptors but the pipes that are meant for them.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

from tiletwin import variables


class Starter:
    """Starts workers by forking. Close it when no worker is left."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._socket, theirs = socket.socketpair()
        words = [sys.executable, "-s", "-m", "tiletwin.judge.starter", str(theirs.fileno())]
        self._process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), env=environment, start_new_session=True
        )
        theirs.close()

    def start(self, module: str, words: list[str], pipes: tuple[int, int, int]) -> int:
        """The number of a new process that runs `main` of a module. words: its arguments in front of and behind the two
        pipes. Errors: OSError, the starter has ended."""
        socket.send_fds(self._socket, [json.dumps({"module": module, "words": words}).encode()], pipes)
        return int(self._answer())

    def wait(self, process: int) -> int:
        """How a worker ended, as a wait status. It must be about to end."""
        self._socket.send(json.dumps({"wait": process}).encode())
        return int(self._answer())

    def _answer(self) -> str:
        data = self._socket.recv(64)
        if not data:
            raise OSError("the process that starts workers has ended")
        return data.decode()

    def close(self) -> None:
        self._socket.close()
        self._process.wait()

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def main(number: str) -> None:
    for name in ("frames", "watching", "worker", "verifier", "tracing", "sandbox"):
        importlib.import_module(f"tiletwin.judge.{name}")
    for name in ("tiletwin.diff.bounds", "tiletwin.findings.results", "tiletwin.language", "triton"):
        importlib.import_module(name)
    asked = socket.socket(fileno=int(number))
    while True:
        data, pipes, _, _ = socket.recv_fds(asked, 1 << 16, 3)
        if not data:
            return
        said = json.loads(data)
        if "wait" in said:
            asked.send(str(os.waitpid(said["wait"], 0)[1]).encode())
            continue
        process = os.fork()
        if process == 0:
            _become(asked, said, pipes)
        for pipe in pipes:
            os.close(pipe)
        asked.send(str(process).encode())


def _become(asked: socket.socket, said: dict[str, Any], pipes: list[int]) -> None:
    """The new process: its own session, its output into a pipe."""
    try:
        asked.close()
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        ask, answer, printed = pipes
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.close(printed)
        folder, *limits = said["words"]
        for name in ("HOME", "TMPDIR", "TILETWIN_CACHE_DIR"):
            variables.put(name, folder)
        importlib.import_module(said["module"]).main(folder, str(ask), str(answer), *limits)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
