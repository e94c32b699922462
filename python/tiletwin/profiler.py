"""A profiler of launches under the names of `triton.profiler` (Proton): wall time of kernels on the CPU, by scopes.

Here:      sessions, scopes, the tree of what ran, its file in the Hatchet format (`NAME.hatchet`).
Not here:  anything about a GPU: times are those of the interpreter, and say nothing about a GPU's.
Invariant: while no session is active, launches are not watched.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin import knobs, whole_files

DEFAULT_PROFILE_NAME = "proton"


class _Node:
    """A scope or a kernel: what was measured in it, and what ran below it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.metrics: dict[str, float] = {}
        self.children: dict[str, _Node] = {}

    def child(self, name: str) -> _Node:
        return self.children.setdefault(name, _Node(name))

    def add(self, metrics: dict[str, Any] | None) -> None:
        """Adds numbers to those that are there."""
        for key, value in (metrics or {}).items():
            self.metrics[key] = self.metrics.get(key, 0) + (value.item() if hasattr(value, "item") else value)

    def as_dict(self) -> dict[str, Any]:
        children = [child.as_dict() for child in self.children.values()]
        return {"frame": {"name": self.name, "type": "function"}, "metrics": self.metrics, "children": children}


class _Session:
    def __init__(self, name: str, named_by_hook: bool) -> None:
        self.name = name
        self.named_by_hook = named_by_hook
        self.active = True
        self.clear()

    def clear(self) -> None:
        self.root = _Node("ROOT")
        self._main = [self.root]
        self._own = threading.local()

    @property
    def path(self) -> list[_Node]:
        """The scopes that this thread has open, the innermost last. A thread begins with those of the main thread."""
        if threading.current_thread() is threading.main_thread():
            return self._main
        if not hasattr(self._own, "path"):
            self._own.path = list(self._main)
        return self._own.path

    def record(self, metadata: Any, nanoseconds: int) -> None:
        """Adds a launch below the scopes that are open."""
        facts = metadata.get() if self.named_by_hook else metadata.data
        node = self.path[-1].child(str(facts["name"]))
        node.add({"time (ns)": nanoseconds, "count": 1})
        if self.named_by_hook:
            own = ("function", "stream")
            node.add({k: v for k, v in facts.items() if isinstance(v, (int, float)) and k not in own})


_sessions: dict[int, _Session] = {}
_launching = threading.local()
"""`starts`: when the launches of a thread that are running began, the innermost last."""

_next_session = 0
_lock = threading.RLock()
"""Around every change of the trees, which all threads share."""


def _active() -> list[_Session]:
    return [session for session in _sessions.values() if session.active]


def _before(metadata: Any) -> None:
    if not hasattr(_launching, "starts"):
        _launching.starts = []
    _launching.starts.append(time.perf_counter_ns())


def _after(metadata: Any) -> None:
    if not getattr(_launching, "starts", None):
        return
    spent = time.perf_counter_ns() - _launching.starts.pop()
    with _lock:
        for session in _active():
            session.record(metadata, spent)


def _watch() -> None:
    """Installs or removes the hooks around launches."""
    for chain, hook in ((knobs.runtime.launch_enter_hook, _before), (knobs.runtime.launch_exit_hook, _after)):
        if not isinstance(chain, knobs.HookChain):
            raise RuntimeError("knobs.runtime.launch_enter_hook was replaced by a function: add() it to the chain")
        (chain.add if _active() else chain.remove)(hook)


def _chosen(session: int | None) -> list[_Session]:
    if session is None:
        return list(_sessions.values())
    if session not in _sessions:
        raise ValueError(f"there is no profiling session {session}")
    return [_sessions[session]]


def start(
    name: str | None = None,
    *,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: Any = None,
) -> int | None:
    """Begins a session; returns its number (None if TRITON_PROTON_DISABLE is set).

    Args:
        name: of the file that `finalize` writes.
        hook: "triton" names kernels and adds numbers as their `launch_metadata` functions say.
        context: of GPU profilers; taken, without effect.
        backend: of GPU profilers; taken, without effect.
        mode: of GPU profilers; taken, without effect.

    Raises:
        NotImplementedError: data="trace", backend="instrumentation": those look into GPU code.
    """
    global _next_session
    if knobs.proton.disable:
        return None
    if data not in (None, "tree") or backend == "instrumentation":
        raise NotImplementedError(
            "only trees of whole launches are recorded here (data='tree'); the others look into GPU code"
        )
    session, _next_session = _next_session, _next_session + 1
    _sessions[session] = _Session(name or DEFAULT_PROFILE_NAME, hook is not None)
    _watch()
    return session


def activate(session: int | None = None) -> None:
    """Lets a session (or all) record again."""
    for chosen in _chosen(session):
        chosen.active = True
    _watch()


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Lets a session (or all) pause."""
    for chosen in _chosen(session):
        chosen.active = False
    _watch()


def finalize(session: int | None = None, output_format: str | None = "") -> None:
    """Ends a session (or all) and writes NAME.hatchet.

    Raises:
        NotImplementedError: another format.
    """
    if output_format not in (None, "", "hatchet"):
        raise NotImplementedError(f"only the format 'hatchet' is written here, not {output_format!r}")
    for chosen in _chosen(session):
        whole_files.write(f"{chosen.name}.hatchet", json.dumps([chosen.root.as_dict(), {}]))
    if session is None:
        _sessions.clear()
    else:
        del _sessions[session]
    _watch()


def profile(func: Callable | None = None, **options: Any) -> Any:
    """Decorator: a session around each call of the function; options as for `start`."""
    if func is None:
        return lambda function: profile(function, **options)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        session = start(**options)
        try:
            return func(*args, **kwargs)
        finally:
            if session is not None:
                finalize(session)

    return wrapper


def enter_scope(name: str, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Opens a scope in all active sessions. metrics: numbers to add to it. None without an active session."""
    sessions = _active()
    with _lock:
        for session in sessions:
            session.path.append(session.path[-1].child(name))
            session.path[-1].add(metrics)
    return len(sessions[0].path) - 1 if sessions else None


def exit_scope(name: str | None = None, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Closes the innermost scope.

    Raises:
        ValueError: it has another name.
    """
    sessions = [session for session in _active() if len(session.path) > 1]
    for session in sessions:
        if name is not None and session.path[-1].name != name:
            raise ValueError(f"the innermost scope is {session.path[-1].name!r}, not {name!r}")
        with _lock:
            session.path.pop().add(metrics)
    return len(sessions[0].path) if sessions else None


class scope(contextlib.ContextDecorator):
    """`with proton.scope("name", {"bytes": n}):`, or a decorator: launches inside are recorded below that name."""

    def __init__(self, name: str, metrics: dict[str, Any] | None = None) -> None:
        self.name, self.metrics = name, metrics

    def __enter__(self) -> scope:
        self._open = enter_scope(self.name, metrics=self.metrics) is not None
        return self

    def __exit__(self, *error: Any) -> None:
        if self._open:
            exit_scope(self.name)


class cpu_timed_scope(scope):
    """A scope that also records its own time, as "cpu_time (ns)"."""

    def __enter__(self) -> cpu_timed_scope:
        super().__enter__()
        self._start = time.perf_counter_ns()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._open:
            exit_scope(self.name, metrics={"cpu_time (ns)": time.perf_counter_ns() - self._start})


class state(scope):
    """A scope; what Proton calls a state of the program."""


def enter_state(name: str) -> None:
    """Opens a state."""
    enter_scope(name)


def exit_state() -> None:
    """Closes the innermost state."""
    exit_scope()


@contextlib.contextmanager
def metadata_state(*args: Any) -> Iterator[None]:
    """Where metadata of a launch is computed; changes nothing."""
    yield


class _Data:
    """`proton.data`: what a session has recorded so far."""

    @staticmethod
    def get(session: int = 0, phase: int = 0) -> list[dict[str, Any]]:
        """The tree, as `finalize` writes it."""
        return [_chosen(session)[0].root.as_dict(), {}]

    @staticmethod
    def clear(session: int | None = None, phase: int = 0) -> None:
        """Forgets it."""
        for chosen in _chosen(session):
            chosen.clear()


class _Context:
    """`proton.context`"""

    @staticmethod
    def depth(session: int | None = 0) -> int | None:
        """How many scopes are open."""
        return len(_sessions[session].path) - 1 if session in _sessions else None


data = _Data()
context = _Context()
