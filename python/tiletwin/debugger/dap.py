"""`tiletwin debug --dap`: a server of the Debug Adapter Protocol, to which editors attach.

Here:      requests of an editor, events for it. Its threads are warps.
Not here:  breakpoints (dap_breakpoints.py), messages on the wire (dap_wire.py), the program (session.py), what a thread
           holds (thread.py).
Idea:      one thread reads requests, another waits for the program. Requests that look at a kernel are answered only
           while it stands, and then nobody waits.
Source:    Debug Adapter Protocol, "Specification", microsoft.github.io/debug-adapter-protocol.
"""

from __future__ import annotations

import base64
import contextlib
import io
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from tiletwin.debugger import show, value_text
from tiletwin.debugger.command_line import CommandLine
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.dap_breakpoints import Breakpoints, as_dap
from tiletwin.debugger.dap_wire import Wire
from tiletwin.debugger.expressions import Address, Evaluation, Parted
from tiletwin.debugger.session import Session, Stop
from tiletwin.debugger.thread import Thread
from tiletwin.debugger.values import Register

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsDataBreakpoints": True,
    "supportsReadMemoryRequest": True,
    "supportsSteppingGranularity": True,
    "supportsTerminateRequest": True,
}
_REASONS = {"watchpoint": "data breakpoint", "trap": "exception", "deadlock": "exception", "launch": "entry"}
_LOOKING = set("info i x print p who list l bt disassemble cuda gather set".split())
"""Commands of the command line that work in an editor's console."""
_WARPS = 1 << 5
"""Warps of a block at the most; a thread's number is 1 + block * _WARPS + warp."""
Variable = dict[str, Any]


class Server:
    """One editor, one program."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._session: Session | None = None
        self._line: CommandLine | None = None
        self._lock = threading.RLock()
        """Around the session, but not while somebody waits for the program."""
        self._frames: list[tuple[int, int]] = []
        self._scopes: list[Callable[[], list[Variable]]] = []
        self._breakpoints = Breakpoints(wire, self._names)
        self._is_over = False

    # ---- Messages ----------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Until the editor is gone or says so."""
        while not self._is_over:
            message = self._wire.receive()
            if message is None:
                break
            if message.get("type") != "request":
                continue
            name = f"{message['command']}_request"
            handle = getattr(self, f"_{name}", None) or getattr(self._breakpoints, name, None)
            if handle is None:
                self._wire.refuse(message, f"{message['command']} is not supported")
                continue
            try:
                with self._lock:
                    after = handle(message, message.get("arguments") or {})
            except (Refused, KeyError, ValueError, IndexError) as error:
                self._wire.refuse(message, str(error) or type(error).__name__)
                continue
            if after:
                after()
        if self._session is not None:
            self._session.end()

    def _initialize_request(self, request: dict, arguments: dict) -> None:
        self._wire.answer(request, CAPABILITIES)
        self._wire.event("initialized")

    def _launch_request(self, request: dict, arguments: dict) -> None:
        program = arguments.get("program")
        module = arguments.get("module")
        if not program and not module:
            raise Refused("launch.json: say which `program` runs the kernels, a script or another program")
        words = ["-m", str(module)] if module else [str(program)]
        words += [str(word) for word in arguments.get("args", [])]
        self._line = CommandLine(words, {"arch": arguments.get("arch", "")})
        self._session = self._line.session
        self._session.use(output=subprocess.PIPE, cwd=arguments.get("cwd"))
        self._session.stops_at_launch = bool(arguments.get("stopOnEntry"))
        self._breakpoints.begin(self._session)
        self._wire.answer(request)
        if self._is_configured:
            self._begin()

    _attach_request = _launch_request
    _is_configured = False

    def _configurationDone_request(self, request: dict, arguments: dict) -> None:
        self._is_configured = True
        self._wire.answer(request)
        if self._session is not None:
            self._begin()

    def _begin(self) -> None:
        assert self._session is not None
        try:
            self._session.start()
        except Refused as error:
            self._wire.event("output", {"category": "stderr", "output": f"{error}\n"})
            self._wire.event("terminated")
            return
        process = self._session.process
        assert process is not None and process.stdout is not None
        threading.Thread(target=self._relay, args=(process.stdout,), daemon=True).start()
        self._wait()

    def _relay(self, stream: Any) -> None:
        """What the program prints, for the editor's console."""
        while data := os.read(stream.fileno(), 1 << 14):
            self._wire.event("output", {"category": "stdout", "output": data.decode(errors="replace")})

    def _wait(self) -> None:
        threading.Thread(target=self._tell_stop, daemon=True).start()

    def _tell_stop(self) -> None:
        session = self._session
        assert session is not None
        try:
            stop = session.wait()
        except Refused:
            return  # it was ended
        with self._lock:
            self._forget()
            if stop.exit_code is not None:
                self._wire.event("exited", {"exitCode": stop.exit_code})
                self._wire.event("terminated")
                return
            self._stopped(stop)

    def _stopped(self, stop: Stop) -> None:
        facts = stop.facts
        body: dict[str, Any] = {"reason": _REASONS.get(stop.reason, stop.reason), "allThreadsStopped": True}
        if "focus" in facts:
            body["threadId"] = self._thread_number(facts["focus"]["block"], facts["focus"]["warp"])
        if stop.reason == "breakpoint":
            body["hitBreakpointIds"] = facts["breakpoints"]
        if "message" in facts:
            body["text"] = facts["message"]
        if stop.reason == "watchpoint" and facts["writer"]:
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                print(show.writer(facts["writer"]))
            body["description"] = "changed: " + output.getvalue().strip()
        for breakpoint in self._running.breakpoints.values():
            self._wire.event("breakpoint", {"reason": "changed", "breakpoint": as_dap(breakpoint)})
        self._wire.event("stopped", body)

    def _forget(self) -> None:
        self._frames.clear()
        self._scopes.clear()

    @property
    def _running(self) -> Session:
        if self._session is None:
            raise Refused("nothing was launched")
        return self._session

    # ---- Threads and stacks ------------------------------------------------------------------------------------------

    def _linear(self, block: list[int]) -> int:
        x, y, _ = self._running.launch["grid"]
        return block[0] + x * (block[1] + y * block[2])

    def _thread_number(self, block: list[int], warp: int) -> int:
        return 1 + self._linear(block) * _WARPS + warp

    def _threads_request(self, request: dict, arguments: dict) -> None:
        session = self._running
        if session.stop is None:
            self._wire.answer(request, {"threads": [{"id": 1, "name": "the program"}]})
            return
        threads = [
            {
                "id": self._thread_number(row["block"], row["warp"]),
                "name": f"block {show.triple(row['block'])} warp {row['warp']}",
            }
            for row in session.ask("warps")["warps"]
            if row["groups"]
        ]
        self._wire.answer(request, {"threads": threads})

    def _focus(self, number: int) -> None:
        """Looks at a warp: at the lane that is looked at if it is of this warp, else at its first live one."""
        session = self._running
        block, warp = divmod(number - 1, _WARPS)
        focus = session.stop.facts.get("focus") if session.stop else None
        if focus and self._linear(focus["block"]) == block and focus["warp"] == warp:
            return
        rows = [
            row for row in session.ask("warps")["warps"] if row["warp"] == warp and self._linear(row["block"]) == block
        ]
        lanes = [lane for row in rows for lane in range(32) if row["live"] >> lane & 1]
        session.focus(block=block, warp=warp, lane=lanes[0] if lanes else 0)

    def _stackTrace_request(self, request: dict, arguments: dict) -> None:
        session = self._running
        number = arguments["threadId"]
        self._focus(number)
        frames = []
        for at, frame in enumerate(Thread(session).frames()):
            self._frames.append((number, at))
            path = session.sources.path(frame.file)
            source = {"name": os.path.basename(frame.file)}
            source |= (
                {"path": str(path)} if path else {"path": frame.file, "sourceReference": self._reference(frame.file)}
            )
            frames.append({
                "id": len(self._frames), "name": frame.function, "source": source, "line": frame.line,
                "column": max(frame.column, 1), "instructionPointerReference": str(frame.ptx),
            })  # fmt: skip
        first, count = arguments.get("startFrame", 0), arguments.get("levels") or len(frames)
        self._wire.answer(request, {"stackFrames": frames[first : first + count], "totalFrames": len(frames)})

    def _reference(self, name: str) -> int:
        """Of a text that is no file; 0: there is none."""
        return 1 if self._running.sources.lines(name) else 0

    def _source_request(self, request: dict, arguments: dict) -> None:
        name = arguments.get("source", {}).get("path") or self._running.launch["file"]
        self._wire.answer(request, {"content": "\n".join(self._running.sources.lines(name))})

    def _names(self, frame: int | None) -> Thread:
        if frame:
            number, at = self._frames[frame - 1]
            self._focus(number)
            return Thread(self._running, at)
        return Thread(self._running)

    # ---- Values ------------------------------------------------------------------------------------------------------

    def _scopes_request(self, request: dict, arguments: dict) -> None:
        frame = arguments["frameId"]
        parts: list[tuple[str, Callable[[], list[Variable]], bool]] = [
            ("Locals", lambda: self._locals(frame), False),
            ("Thread", lambda: [_shown(n, v) for n, v in self._names(frame).indices().items()], False),
            ("Registers", lambda: self._registers(frame), True),
            ("Memory", lambda: self._symbols(frame), True),
        ]
        scopes = []
        for name, fill, is_expensive in parts:
            self._scopes.append(fill)
            scopes.append({"name": name, "variablesReference": len(self._scopes), "expensive": is_expensive})
        self._wire.answer(request, {"scopes": scopes})

    def _variables_request(self, request: dict, arguments: dict) -> None:
        fill = self._scopes[arguments["variablesReference"] - 1]
        found = fill()
        first, count = arguments.get("start", 0), arguments.get("count") or len(found)
        self._wire.answer(request, {"variables": found[first : first + count]})

    def _locals(self, frame: int) -> list[Variable]:
        thread = self._names(frame)
        return [_shown(name, value) for name, value in value_text.locals_of(self._running, thread)]

    def _registers(self, frame: int) -> list[Variable]:
        thread = self._names(frame)
        return [
            {"name": "$" + r.name.lstrip("%$"), "value": r.show(thread.lane), "type": r.kind, "variablesReference": 0}
            for r in thread.registers()
        ]

    def _symbols(self, frame: int) -> list[Variable]:
        found = []
        for name, at in self._names(frame).symbols().items():
            found.append({
                "name": name, "value": f"{at.size} bytes at @{at.space} 0x{at.at:x}", "type": at.kind,
                "variablesReference": 0, "memoryReference": f"{at.space},{at.at}",
            })  # fmt: skip
        return found

    def _evaluate_request(self, request: dict, arguments: dict) -> None:
        text = arguments["expression"].strip()
        if text.startswith("-exec "):
            self._wire.answer(request, {"result": self._command(text.removeprefix("-exec ")), "variablesReference": 0})
            return
        thread = self._names(arguments.get("frameId"))
        value = Evaluation(thread).of(text)
        body = {"result": value_text.of(thread, value), "variablesReference": 0}
        if isinstance(value, Address):
            body["memoryReference"] = f"{value.space},{value.at}"
        if isinstance(value, Register):
            body["type"] = value.kind
        if isinstance(value, Parted):
            body["type"] = value.type_name
        self._wire.answer(request, body)

    def _command(self, text: str) -> str:
        """A command of the command line that only looks."""
        word = text.split()[0] if text.split() else ""
        if word.partition("/")[0] not in _LOOKING:
            raise Refused(f"-exec {word}: only {', '.join(sorted(_LOOKING))} work here")
        assert self._line is not None
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self._line.execute(text)
        return output.getvalue().rstrip("\n")

    def _readMemory_request(self, request: dict, arguments: dict) -> None:
        reference = arguments["memoryReference"]
        space, _, at = reference.rpartition(",")
        address = int(at, 0) + arguments.get("offset", 0)
        count = arguments["count"]
        data = b""
        if count:
            data = Thread(self._running).memory(Address(space or "generic", address), count)
        self._wire.answer(request, {"address": hex(address), "data": base64.b64encode(data).decode()})

    # ---- Going on ----------------------------------------------------------------------------------------------------

    def _go(self, request: dict, arguments: dict, way: str) -> Callable[[], None]:
        session = self._running
        if arguments.get("granularity") == "instruction" and way != "continue":
            way = "stepi"
        if session.stop is None:
            raise Refused("the program runs")
        if way != "continue" and "threadId" in arguments:
            self._focus(arguments["threadId"])
        session.go(way)
        self._forget()
        self._wire.answer(request, {"allThreadsContinued": True})
        return self._wait

    def _continue_request(self, request: dict, arguments: dict) -> Callable[[], None]:
        return self._go(request, arguments, "continue")

    def _next_request(self, request: dict, arguments: dict) -> Callable[[], None]:
        return self._go(request, arguments, "next")

    def _stepIn_request(self, request: dict, arguments: dict) -> Callable[[], None]:
        return self._go(request, arguments, "step")

    def _stepOut_request(self, request: dict, arguments: dict) -> Callable[[], None]:
        return self._go(request, arguments, "finish")

    def _pause_request(self, request: dict, arguments: dict) -> None:
        self._running.pause()
        self._wire.answer(request)

    def _disconnect_request(self, request: dict, arguments: dict) -> None:
        if self._session is not None:
            self._session.end()
        self._is_over = True
        self._wire.answer(request)

    def _terminate_request(self, request: dict, arguments: dict) -> None:
        if self._session is not None:
            self._session.end()
        self._wire.answer(request)
        self._wire.event("terminated")


def _shown(name: str, value: Any) -> Variable:
    return {"name": name, "value": str(value), "variablesReference": 0}


def serve(port: int | None) -> int:
    """Serves one editor: on a port of this machine, which is printed, or without one on standard input and output."""
    if port is None:
        reads, writes = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # what is printed is no message
        Server(Wire(reads, writes)).serve()
        return 0
    with socket.create_server(("127.0.0.1", port)) as listener:
        print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
        link, _ = listener.accept()
        with link, link.makefile("rb") as reads, link.makefile("wb") as writes:
            Server(Wire(reads, writes)).serve()
    return 0
