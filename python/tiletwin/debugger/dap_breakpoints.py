"""Breakpoints of an editor: on lines, functions and memory, also before there is a program.

Here:      the requests setBreakpoints, setFunctionBreakpoints, setDataBreakpoints and what belongs to them.
Not here:  other requests (dap.py), where a breakpoint lies in a kernel (session.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin.debugger import show
from tiletwin.debugger.conditions import Condition
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.dap_wire import Wire
from tiletwin.debugger.expressions import Evaluation
from tiletwin.debugger.session import Breakpoint, Session
from tiletwin.debugger.thread import Thread


def as_dap(breakpoint: Breakpoint) -> dict[str, Any]:
    found: dict[str, Any] = {"id": breakpoint.number, "verified": bool(breakpoint.at[0])}
    if breakpoint.at[0] and not breakpoint.function:
        return found | {"line": breakpoint.at[1]}
    return found | ({} if breakpoint.at[0] else {"message": "waits for a kernel that has this place"})


class Breakpoints:
    """Of one editor. Methods *_request answer the request of that name. names: the thread of a stack frame's number."""

    def __init__(self, wire: Wire, names: Callable[[int | None], Thread]) -> None:
        self._wire, self._names = wire, names
        self._session: Session | None = None
        self._configured: list[Callable[[], Any]] = []
        """What an editor asked for before it said what to start."""
        self._by_file: dict[str, list[int]] = {}
        self._functions: list[int] = []
        self._data: list[int] = []

    def begin(self, session: Session) -> None:
        """Sets what was asked for so far."""
        self._session = session
        for change in self._configured:
            change()

    def _running(self) -> Session:
        if self._session is None:
            raise Refused("nothing was launched")
        return self._session

    def _replace(self, known: list[int], places: list[dict[str, Any]], conditions: list[str]) -> list[dict[str, Any]]:
        """An editor gives all breakpoints of one sort each time."""
        session = self._running()
        for number in known:
            session.remove(number)
        known.clear()
        answers = []
        for where, condition in zip(places, conditions):
            try:
                added = session.add(**where, condition=Condition.of(condition))
            except Refused as error:
                answers.append({"verified": False, "message": str(error)})
                continue
            known.append(added.number)
            answers.append(as_dap(added))
        return answers

    def _later(self, request: dict, arguments: dict, handle: Callable) -> bool:
        """Before launch: nothing can be set yet, and nothing is verified."""
        if self._session is not None:
            return False
        self._configured.append(lambda: handle(arguments))
        count = len(arguments.get("breakpoints", []))
        self._wire.answer(request, {"breakpoints": [{"verified": False}] * count})
        return True

    def _set_lines(self, arguments: dict) -> list[dict[str, Any]]:
        path = arguments["source"]["path"]
        wanted = arguments.get("breakpoints", [])
        places = [{"file": path, "line": one["line"]} for one in wanted]
        conditions = [one.get("condition") or "" for one in wanted]
        return self._replace(self._by_file.setdefault(path, []), places, conditions)

    def setBreakpoints_request(self, request: dict, arguments: dict) -> None:
        if not self._later(request, arguments, self._set_lines):
            self._wire.answer(request, {"breakpoints": self._set_lines(arguments)})

    def _set_functions(self, arguments: dict) -> list[dict[str, Any]]:
        wanted = arguments["breakpoints"]
        places = [{"function": one["name"]} for one in wanted]
        return self._replace(self._functions, places, [one.get("condition") or "" for one in wanted])

    def setFunctionBreakpoints_request(self, request: dict, arguments: dict) -> None:
        if not self._later(request, arguments, self._set_functions):
            self._wire.answer(request, {"breakpoints": self._set_functions(arguments)})

    def setExceptionBreakpoints_request(self, request: dict, arguments: dict) -> None:
        self._wire.answer(request)  # traps and deadlocks always stop

    def dataBreakpointInfo_request(self, request: dict, arguments: dict) -> None:
        try:
            address = Evaluation(self._names(arguments.get("frameId"))).address(arguments["name"])
        except Refused as error:
            self._wire.answer(request, {"dataId": None, "description": str(error)})
            return
        size = arguments.get("bytes") or address.size or 4
        self._wire.answer(request, {
            "dataId": f"{address.space},{address.at},{size}", "accessTypes": ["write"],
            "description": f"{size} bytes at {show.place(address)}",
        })  # fmt: skip

    def setDataBreakpoints_request(self, request: dict, arguments: dict) -> None:
        session = self._running()
        for number in self._data:
            session.remove(number)
        self._data.clear()
        answers = []
        for one in arguments["breakpoints"]:
            space, at, size = one["dataId"].split(",")
            try:
                self._data.append(session.watch(space, int(at), int(size), one["dataId"]))
                answers.append({"id": self._data[-1], "verified": True})
            except Refused as error:
                answers.append({"verified": False, "message": str(error)})
        self._wire.answer(request, {"breakpoints": answers})
