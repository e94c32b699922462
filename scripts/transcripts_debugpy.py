"""Sessions of debugpy for the documents, as VS Code has them: a matrix product, flash attention.

Here:      what the editor asks, in which order, and how requests, answers and events are written down.
Not here:  the protocol (dap_client.py), documents (debug_transcripts.py).
Invariant: a line `->` is one request, lines from `<-` one answer or event; answers that say nothing are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dap_client import Client
from debug_transcripts import ROOT, clean_environment, line_of, normalised, session

COMMAND = "python -m debugpy.adapter"
# pydevd warns that it does not look into Python's frozen modules.
ENVIRONMENT = {"TILETWIN_INTERPRET": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
WIDTH = 118


def one_line(text: str, width: int) -> str:
    """A value as an editor's list of variables has room for it: its begin and its end."""
    text = re.sub(r"\s+", " ", text)
    if len(text) <= width:
        return text
    half = (width - 5) // 2
    return f"{text[:half]} ... {text[-(width - 5 - half) :]}"


class Notes:
    """What went over the wire, as lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.scopes: dict[int, str] = {}  # reference -> "Locals"
        self.frames: dict[int, str] = {}
        self.printed = {"stdout": "", "stderr": ""}

    def told(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        name = message["event"] if kind == "event" else message["command"]
        body = message["arguments"] if kind == "request" else message.get("body") or {}
        make = getattr(self, f"{kind}_{name}", None)
        said = make(body) if make else name if kind == "request" else None
        if said is not None:
            first, *rest = said.split("\n")
            self.lines += [f"{'->' if kind == 'request' else '<-'} {first}", *(f"   {line}" for line in rest)]

    def request_launch(self, asked: dict[str, Any]) -> str:
        shown = [f"{name}={value}" for name, value in asked["env"].items() if name.startswith("TILETWIN")]
        return " ".join(["launch", asked["program"], "with", *shown])

    def request_setBreakpoints(self, asked: dict[str, Any]) -> str:
        file = os.path.basename(asked["source"]["path"])
        places = [f"{file}:{place['line']} if {place['condition']}" for place in asked["breakpoints"]]
        return f"setBreakpoints {', '.join(places) or f'none in {file}'}"

    def response_setBreakpoints(self, body: dict[str, Any]) -> str | None:
        found = [f"line {p['line']} {'verified' if p['verified'] else p.get('message')}" for p in body["breakpoints"]]
        return f"breakpoint: {', '.join(found)}" if found else None

    def response_stackTrace(self, body: dict[str, Any]) -> str:
        self.frames |= {frame["id"]: frame["name"] for frame in body["stackFrames"]}
        return "\n".join(
            f"{frame['name']}, {os.path.basename(frame['source']['path'])}:{frame['line']}"
            for frame in body["stackFrames"]
        )

    def request_scopes(self, asked: dict[str, Any]) -> str:
        return f"scopes of {self.frames[asked['frameId']]}"

    def response_scopes(self, body: dict[str, Any]) -> str:
        self.scopes |= {scope["variablesReference"]: scope["name"] for scope in body["scopes"]}
        return ", ".join(scope["name"] for scope in body["scopes"])

    def request_variables(self, asked: dict[str, Any]) -> str:
        return f"variables of {self.scopes[asked['variablesReference']]}"

    def response_variables(self, body: dict[str, Any]) -> str:
        found = [(v["name"], v["value"]) for v in body["variables"]]
        return "\n".join(f"{name} = {one_line(value, WIDTH - 6 - len(name))}" for name, value in found)

    def request_evaluate(self, asked: dict[str, Any]) -> str:
        return f"evaluate {asked['expression']}"

    def response_evaluate(self, body: dict[str, Any]) -> str:
        return str(body["result"])

    def request_setVariable(self, asked: dict[str, Any]) -> str:
        return f"setVariable {asked['name']} = {asked['value']}"

    def response_setVariable(self, body: dict[str, Any]) -> str:
        return one_line(body["value"], WIDTH - 3)

    def event_initialized(self, body: dict[str, Any]) -> str:
        return "initialized"

    def event_output(self, body: dict[str, Any]) -> None:
        where = body.get("category")
        if where in self.printed:  # not what debugpy says of itself
            self.printed[where] += body["output"]
            *lines, self.printed[where] = self.printed[where].split("\n")
            self.lines += [f"<- output to {where}: {line}" for line in lines]

    def event_stopped(self, body: dict[str, Any]) -> str:
        return f"stopped: {body['reason']}"

    def event_terminated(self, body: dict[str, Any]) -> str:
        return "terminated"

    def transcript(self) -> str:
        return normalised("\n".join([f"$ {COMMAND}", *self.lines]))


class Session:
    """A script that VS Code debugs, stopped where its one breakpoint is."""

    def __init__(
        self,
        file: str,
        text: str,
        condition: str,
        told: Callable[[dict[str, Any]], None],
        environment: dict[str, str] = ENVIRONMENT,
    ) -> None:
        """told: called with every message. Errors: RuntimeError, a request failed; queue.Empty, no answer came."""
        self.file: Path = ROOT / file
        self.client = Client(told, clean_environment(PYTHONDONTWRITEBYTECODE=""))
        place = {"line": line_of(file, text), "condition": condition}
        self.client.launch(str(self.file), {str(self.file): [place]}, environment)
        self.stop()

    def stop(self) -> None:
        self.thread, self.frames = self.client.stopped()

    def go(self, command: str) -> None:
        """next, stepIn or stepOut, up to the stop."""
        self.client.ask(command, threadId=self.thread)
        self.stop()

    def evaluate(self, expression: str) -> None:
        self.client.ask("evaluate", expression=expression, frameId=self.frames[0]["id"], context="repl")

    def end(self) -> None:
        """Without breakpoints to the script's end."""
        self.client.ask("setBreakpoints", source={"path": str(self.file)}, breakpoints=[])
        self.client.ask("continue", threadId=self.thread)
        self.client.event("terminated")
        self.client.close()


@session("debugpy-matmul")
def matmul() -> str:
    """Stops in one program of 4,096, looks at tiles, changes one, goes on."""
    notes = Notes()
    debugged = Session("demo/debug_matmul.py", "acc = tl.dot", "pid == 1234 and k == 32", notes.told)
    found = debugged.client.variables(debugged.frames[0]["id"])
    debugged.evaluate("a")
    debugged.evaluate("tl.max(a, 1)[0:4]")
    debugged.go("next")
    debugged.client.ask("setVariable", variablesReference=found["acc"]["scope"], name="acc", value="acc * 0")
    debugged.end()
    return notes.transcript()


@session("debugpy-attention")
def attention() -> str:
    """Steps into a jit function and out of it."""
    notes = Notes()
    condition = "block == 5 and head == 17 and n == 64"
    debugged = Session("demo/debug_attention.py", "acc, total = rescale", condition, notes.told)
    debugged.evaluate("s")
    debugged.go("stepIn")
    debugged.go("next")
    debugged.client.variables(debugged.frames[0]["id"])
    debugged.go("stepOut")
    debugged.end()
    return notes.transcript()
