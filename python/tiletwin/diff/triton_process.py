"""Real Triton as a backend, in a process of its own: its interpreter, or its compiler where there is a GPU.

Here:      finding a Python that has Triton, starting the process once, sending it launches as files.
Not here:  what it does with them (triton_child.py).
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tiletwin import knobs, variables
from tiletwin.diff import files
from tiletwin.diff.backends import Backend, Outcome, traits_of
from tiletwin.diff.launches import Launch

VARIABLE = "TILETWIN_TRITON"
_START_SECONDS, _RUN_SECONDS = 120, 600


def python() -> str | None:
    """A Python with real Triton: TILETWIN_TRITON, or this one; None: neither."""
    given = variables.get(VARIABLE)
    if given:
        return given
    from importlib import metadata

    try:
        metadata.version("triton")
    except metadata.PackageNotFoundError:
        return None
    return sys.executable


class _Process:
    """The other Python."""

    def __init__(self, mode: str) -> None:
        command = python()
        if command is None:
            raise NotImplementedError(
                f"real Triton is not installed here; set {VARIABLE} to a Python that has it (and torch)"
            )
        base = variables.of_child("TILETWIN", "TRITON", "PYTHONPATH")
        if mode == "sim":  # its entries differ from those of Triton itself
            base["TRITON_CACHE_DIR"] = os.path.join(knobs.cache.dir, "triton-sim")
            base["TRITON_STORE_BINARY_ONLY"] = "1"  # what is before it would cost time, and nobody reads it
        read, write = os.pipe()
        child = Path(__file__).with_name("triton_child.py")
        self.folder = tempfile.TemporaryDirectory(prefix="tiletwin-diff-")
        try:
            self.process = subprocess.Popen(
                [command, str(child), str(write), mode, self.folder.name], stdin=subprocess.PIPE, stdout=2,
                pass_fds=(write,), env=base, text=True,
            )  # fmt: skip
        except OSError as error:
            os.close(read)
            raise NotImplementedError(f"{VARIABLE}={command} cannot be started: {error}") from None
        finally:
            os.close(write)
        self.answers = os.fdopen(read)
        self.count = 0
        self.lock = threading.Lock()
        self.versions = self._answer(_START_SECONDS)
        atexit.register(self.close)

    def _answer(self, seconds: float) -> dict[str, Any]:
        ready, _, _ = select.select([self.answers], [], [], seconds)
        line = self.answers.readline() if ready else ""
        if not line:
            self.close()
            raise NotImplementedError(
                "the process of real Triton ended" if ready else f"real Triton gave no answer for {seconds:.0f} s"
            )
        return json.loads(line)

    def path(self, suffix: str) -> str:
        """Of a new file that the process is to read or write."""
        self.count += 1
        return os.path.join(self.folder.name, f"{self.count}{suffix}")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of triton_child.py. Errors: NotImplementedError, the child cannot do it."""
        assert self.process.stdin is not None
        with self.lock:
            try:
                self.process.stdin.write(json.dumps(request) + "\n")
                self.process.stdin.flush()
                return self._answer(_RUN_SECONDS)
            except OSError:
                raise NotImplementedError("the process of real Triton has ended") from None
            except BaseException:  # a timeout's signal, Ctrl-C: the next request would get this one's answer
                self.close()
                raise

    def run(self, launch: Launch) -> tuple[dict[str, Any], list[np.ndarray]]:
        source, out = self.path(files.SUFFIX), self.path(".npz")
        files.write(launch, source)
        answer = self.ask({"launch": source, "out": out})
        memory = []
        if answer["error"] is None:
            with np.load(out, allow_pickle=False) as arrays:
                memory = [arrays[f"arr_{i}"] for i in range(len(launch.memory))]
            os.unlink(out)
        os.unlink(source)
        return answer, memory

    def close(self) -> None:
        atexit.unregister(self.close)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.answers.close()
        self.folder.cleanup()


_running: dict[tuple[str | None, str], _Process] = {}
"""By Python and mode: a process lives as long as this one, since starting it takes seconds."""


def process(mode: str) -> _Process:
    """The process of a mode of triton_child.py. Errors: NotImplementedError, it cannot be started."""
    key = (python(), mode)
    if key not in _running or _running[key].process.poll() is not None:
        _running[key] = _Process(mode)
    return _running[key]


class TritonBackend(Backend):
    """detail: "" for Triton's interpreter, "gpu" for its compiler."""

    def __init__(self, detail: str = "") -> None:
        self.name = f"triton:{detail}" if detail else "triton"
        self.traits = traits_of(self.name)
        self._mode = "compile" if detail else "interpret"

    def run(self, launch: Launch) -> Outcome:
        if launch.source_problem or not launch.sources:
            return Outcome(self.name, unsupported=launch.source_problem or "the launch has no source")
        try:
            answer, memory = process(self._mode).run(replace(launch, outputs={}, errors={}))
        except NotImplementedError as error:
            return Outcome(self.name, unsupported=str(error))
        if answer["error"] is None:
            return Outcome(self.name, memory, seconds=answer["seconds"])
        if not answer["supported"]:
            return Outcome(self.name, unsupported=answer["error"])
        return Outcome(self.name, error=answer["error"], kind=answer["kind"], seconds=answer["seconds"])
