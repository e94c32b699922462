"""A small client of the Debug Adapter Protocol, which VS Code speaks with debugpy.

Here:      starting debugpy's adapter, requests and their answers, events.
Not here:  who uses it: sessions for the documents (transcripts_debugpy.py), tests/eager/test_debugpy.py, benchmarks.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

TIMEOUT = 240.0


class Client:
    """debugpy's adapter in a process of its own, talked to over its standard input and output.

    told: called with each request that is sent, each answer and each event when it is looked at, as the protocol has
    them. env: of the adapter.
    """

    def __init__(
        self, told: Callable[[dict[str, Any]], None] = lambda message: None, env: dict[str, str] | None = None
    ) -> None:
        self.told = told
        self.process = subprocess.Popen(
            [sys.executable, "-m", "debugpy.adapter"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        self.numbers = 0
        self.output = ""
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._events: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            self._messages.put(json.loads(stream.read(length)))

    def _take(self) -> None:
        message = self._messages.get(timeout=TIMEOUT)
        if message["type"] == "response":
            self._answers[message["request_seq"]] = message
        elif message["type"] == "event":
            if message["event"] == "output":
                self.output += message["body"].get("output", "")
            self._events.append(message)

    def send(self, command: str, **arguments: Any) -> int:
        """Sends a request; its number."""
        self.numbers += 1
        message = {"seq": self.numbers, "type": "request", "command": command, "arguments": arguments}
        self.told(message)
        text = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        return self.numbers

    def answer(self, number: int) -> dict[str, Any]:
        """The body of the answer to a request. Errors: RuntimeError, the request failed."""
        while number not in self._answers:
            self._take()
        answer = self._answers.pop(number)
        self.told(answer)
        if not answer["success"]:
            raise RuntimeError(f"{answer['command']}: {answer.get('message')}")
        return answer.get("body") or {}

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.send(command, **arguments))

    def event(self, name: str) -> dict[str, Any]:
        """The next event of that name; those before it are dropped."""
        while True:
            while self._events:
                event = self._events.pop(0)
                self.told(event)
                if event["event"] == name:
                    return event.get("body") or {}
            self._take()

    def launch(self, program: str, breakpoints: dict[str, list[dict[str, Any]]], env: dict[str, str]) -> None:
        """Starts a script with breakpoints: file -> [{"line": 3, "condition": "pid == 2"}]."""
        self.ask("initialize", adapterID="test", clientID="test", pathFormat="path", linesStartAt1=True)
        launched = self.send(
            "launch", type="python", request="launch", program=program, console="internalConsole", env=env,
            python=[sys.executable], justMyCode=True, redirectOutput=True,
        )  # fmt: skip
        self.event("initialized")
        for file, lines in breakpoints.items():
            self.ask("setBreakpoints", source={"path": file}, breakpoints=lines)
        self.ask("configurationDone")
        self.answer(launched)

    def stopped(self) -> tuple[int, list[dict[str, Any]]]:
        """Waits until the program stops; the thread and its frames, innermost first."""
        thread = self.event("stopped")["threadId"]
        return thread, self.ask("stackTrace", threadId=thread)["stackFrames"]

    def variables(self, frame: int) -> dict[str, dict[str, Any]]:
        """The locals of a frame by name."""
        scope = next(s for s in self.ask("scopes", frameId=frame)["scopes"] if s["name"] == "Locals")
        found = self.ask("variables", variablesReference=scope["variablesReference"])["variables"]
        return {v["name"]: {**v, "scope": scope["variablesReference"]} for v in found}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
