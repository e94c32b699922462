"""What a submission does beside launching kernels, as seen from inside of its process.

Here:      torch operations and their work, files and processes it asks for, functions it replaces, launches it makes.
Not here:  what of it is allowed (evidence.py, in the judge's process).
Invariant: nothing here is trusted: a submission that hides something from this file leaves values that neither its
           inputs nor its kernels explain, and the verifier says so.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import gc
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy
import torch

from tiletwin import knobs
from tiletwin.diff import files
from tiletwin.diff.taking import NotRecordable, take
from tiletwin.judge.work import OperationMode, is_free, work_of
from tiletwin.kernels.jit import JITFunction

MOST_RECORDED, MOST_RECORDED_BYTES = 64, 1 << 27
"""Launches of one call whose data are kept, and their memory: the worker's folder is memory, too."""
_EVENTS = {
    "open": "file", "os.listdir": "file", "os.scandir": "file", "os.remove": "file", "os.rename": "file",
    "os.mkdir": "file", "shutil.rmtree": "file", "glob.glob": "file", "mmap.__new__": "file",
    "socket.__new__": "network", "socket.connect": "network", "socket.getaddrinfo": "network",
    "urllib.Request": "network", "subprocess.Popen": "process", "os.system": "process", "os.fork": "process",
    "os.forkpty": "process", "os.exec": "process", "os.posix_spawn": "process", "pty.spawn": "process",
    "gc.get_objects": "harness", "gc.get_referrers": "harness", "sys.settrace": "harness",
    "sys.setprofile": "harness", "sys.addaudithook": "harness", "ctypes.dlopen": "foreign",
}  # fmt: skip
"""Audit events of Python that a kernel's code has no use for, and what they are evidence of."""
_WATCHED = (
    builtins, math, random, time, numpy, numpy.testing, torch, torch.Tensor, torch.nn.functional, torch.cuda,
    torch.testing, torch.autograd, torch.autograd.Function, torch.linalg, knobs.runtime, JITFunction,
)  # fmt: skip
"""Modules and classes whose functions nobody may replace."""


_PACKAGES = (os.path.dirname(torch.__file__), os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""Folders of torch and of tiletwin."""


def line_in(file: str, frame: FrameType | None) -> int:
    """The innermost line of `file` that is running; 0: none."""
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def _own_line(file: str, frame: FrameType | None) -> int:
    """The line of `file` that does something itself, through Python's own library at most; 0: a package does it."""
    while frame is not None:
        name, module = frame.f_code.co_filename, frame.f_globals.get("__name__", "")
        if name == file:
            return frame.f_lineno
        if "importlib" in name or "site-packages" in name or module.partition(".")[0] in ("tiletwin", "torch", "numpy"):
            return 0
        if module in ("linecache", "inspect", "tokenize", "traceback"):
            return 0
        frame = frame.f_back
    return 0


_objects = gc.get_objects


class Watch:
    """What one process has been seen doing. Attributes: file, the submission's; events, lists of [kind, what, line];
    each once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.events: list[list[Any]] = []
        torch.manual_seed(0)  # torch and tiletwin replace some functions by others at their first use
        self._functions = _functions()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple) -> None:
        kind = _EVENTS.get(event)
        if kind:
            line = _own_line(self.file, sys._getframe(1))
            entry = [kind, f"{event} {_shown(arguments)}", line]
            if line and len(self.events) < 100 and entry not in self.events:
                self.events.append(entry)

    def replaced(self) -> list[str]:
        """Names of functions that are others now than they were."""
        now = _functions()
        return sorted(
            name
            for name, known in self._functions.items()
            if now.get(name) is not known and not _is_torchs_own(now, name)
        )


def _shown(arguments: tuple) -> str:
    return ", ".join(str(argument)[:80] for argument in arguments[:2])


def _is_torchs_own(functions: dict[str, Any], name: str) -> bool:
    """torch.compile and tiletwin put wrappers around functions when they are first used."""
    found = functions.get(name)
    known = getattr(found, "__module__", None) or ""
    code = getattr(found, "__code__", None)
    is_package = code is not None and code.co_filename.startswith(_PACKAGES)
    return (
        known.partition(".")[0] in ("torch", "tiletwin")
        and is_package
        and getattr(found, "__name__", "") == name.rpartition(".")[2]
    )


def _functions() -> dict[str, Any]:
    found = {}
    for place in _WATCHED:
        prefix = getattr(place, "__module__", "") + "." if isinstance(place, type) else ""
        name = prefix + getattr(place, "__name__", type(place).__name__)
        for attribute, value in list(vars(place).items()):
            if callable(value) and not isinstance(value, type(sys)):
                found[f"{name}.{attribute}"] = value
    return found


class Operations(OperationMode):
    """Counts torch operations by name and line of the submission. only_own: not those of others, such as tests."""

    def __init__(self, file: str, only_own: bool = False) -> None:
        super().__init__()
        self.file, self.only_own = file, only_own
        self.counted: dict[tuple[str, int], list[float]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        line = 0 if is_free(func) else line_in(self.file, sys._getframe(1))
        if not is_free(func) and (line or not self.only_own):
            entry = self.counted.setdefault((func._schema.name, line), [0, 0.0])
            entry[0] += 1
            entry[1] += work_of(func, args, kwargs or {}, result)
        return result

    def rows(self) -> list[list[Any]]:
        """[name, line, calls, work], most work first."""
        rows = [[name, line, int(calls), work] for (name, line), (calls, work) in self.counted.items()]
        return sorted(rows, key=lambda row: -row[3])


class Launches:
    """Records the launches of a call as files, in a folder. Attributes: count, of all; rows, of the recorded ones: the
    kernel's name, the launch's line, where its storages lie; reasons, why some are not recorded."""

    def __init__(self, file: str, folder: str, records: bool) -> None:
        self.file, self.folder, self.records = file, folder, records
        self.count = 0
        self.rows: list[dict[str, Any]] = []
        self.reasons: list[str] = []
        self._bytes = 0
        self._kept: list[Any] = []
        """What recorded launches were given: their memory is nobody else's until the call has ended."""

    def __enter__(self) -> Launches:
        knobs.runtime.launch_enter_hook.add(self._before)
        return self

    def __exit__(self, *_: object) -> None:
        knobs.runtime.launch_enter_hook.remove(self._before)

    def _before(self, metadata: Any) -> None:
        self.count += 1
        if not self.records:
            return
        if len(self.rows) >= MOST_RECORDED:
            self.reasons.append(f"more than {MOST_RECORDED} launches")
        elif metadata.launch is None:
            self.reasons.append("a kernel that came as IR")
        else:
            self._take(*metadata.launch)

    def _take(self, fn: Any, kernel: Any, arguments: dict[str, Any], grid: Any) -> None:
        try:
            launch, taker = take(fn, kernel, arguments, grid, follows=True)
        except NotRecordable as error:
            self.reasons.append(str(error))
            return
        size = sum(data.nbytes for data in launch.memory)
        if self._bytes + size > MOST_RECORDED_BYTES:
            self.reasons.append(
                f"{fn.__name__}: the launches of one call have more than {MOST_RECORDED_BYTES >> 20} MB"
            )
            return
        self._bytes += size
        path = f"{self.folder}/{len(self.rows)}{files.SUFFIX}"
        files.write(launch, path)
        self._kept.append(arguments)
        line = line_in(self.file, sys._getframe(1))
        self.rows.append({"kernel": fn.__name__, "line": line, "places": taker.places, "path": path})


class Spoiled:
    """Ruins what kernels store, after each launch: results that stay the same come from elsewhere. Attribute missed:
    launches whose arguments cannot be taken, or that store what was there before, so that nothing follows."""

    def __init__(self) -> None:
        self.missed = 0
        self._taken: Any = None
        self._mask = 0x2B
        """Another one for each launch: a kernel that copies would undo the last one."""

    def __enter__(self) -> Spoiled:
        knobs.runtime.launch_enter_hook.add(self._before)
        knobs.runtime.launch_exit_hook.add(self._after)
        return self

    def __exit__(self, *_: object) -> None:
        knobs.runtime.launch_enter_hook.remove(self._before)
        knobs.runtime.launch_exit_hook.remove(self._after)

    def _before(self, metadata: Any) -> None:
        self._taken = None
        if metadata.launch is not None:
            with contextlib.suppress(NotRecordable):
                self._taken = take(*metadata.launch, follows=True)

    def _after(self, _: Any) -> None:
        ruined = 0
        for launch, taker, number in self._storages():
            begin, end = taker.places[number]
            if end > begin:
                now = numpy.ctypeslib.as_array((ctypes.c_uint8 * (end - begin)).from_address(begin))
                changed = now != taker.memory[number]
                for one in launch.addresses:  # recorded as 0, and no kernel survives ruined ones
                    if one.storage == number:
                        changed[one.offset : one.offset + 8] = False
                now[changed] ^= self._mask
                ruined += int(changed.sum())
        self.missed += not ruined
        self._mask = (5 * self._mask + 3) % 256 or 1

    def _storages(self) -> Iterator[tuple[Any, Any, int]]:
        """Of the launch that has been taken: it, its taker, and the number of each storage."""
        if self._taken is not None:
            launch, taker = self._taken
            yield from ((launch, taker, number) for number in range(len(taker.places)))


def tensors() -> int:
    """How many tensors live."""
    gc.collect()
    return sum(issubclass(type(value), torch.Tensor) for value in _objects())


def guarded(run: Callable[[], Any], file: str) -> tuple[Any, dict[str, Any] | None]:
    """The result, or how it failed: kind and text of the exception, the submission's line, and what the error of a
    kernel knows of its place."""
    try:
        return run(), None
    except BaseException as error:
        line, part = 0, error.__traceback__
        while part is not None:
            if part.tb_frame.f_code.co_filename == file:
                line = part.tb_lineno
            part = part.tb_next
        facts: dict[str, Any] = {"kind": type(error).__name__, "text": str(error)[:4000], "line": line}
        facts["kinds"] = [kind.__name__ for kind in type(error).__mro__]
        if isinstance(getattr(error, "file", None), str) and isinstance(getattr(error, "line", None), int):
            facts |= {"file": error.file, "line": error.line}  # type: ignore[attr-defined]
        if isinstance(program := getattr(error, "program", None), tuple):
            facts["program"] = list(program)
        if isinstance(error, SyntaxError):
            facts["line"] = error.lineno or 0
        return None, facts
