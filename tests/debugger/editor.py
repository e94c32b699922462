"""A client of the Debug Adapter Protocol, as an editor is one: requests and answers, events that are waited for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import children

ROOT = Path(__file__).resolve().parents[2]


class Editor:
    """`tiletwin debug --dap` on standard input and output."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-m", "tiletwin", "debug", "--dap"], cwd=ROOT, env=children.environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self.output = ""

    def _receive(self) -> dict[str, Any]:
        assert self.server.stdout is not None
        size = 0
        while line := self.server.stdout.readline().strip():
            size = int(line.split(b":")[1])
        assert size, "the server has ended"
        return json.loads(self.server.stdout.read(size))

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The answer's body. Errors: AssertionError with the server's text, it refuses."""
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()
        while True:
            found = self._receive()
            if found["type"] == "event":
                self._events.append(found)
                continue
            assert found["request_seq"] == self._number and found["command"] == command
            assert found["success"], found.get("message")
            return found["body"]

    def event(self, name: str) -> dict[str, Any]:
        """The body of the next event of this name; others in front of it are dropped, but the output is kept."""
        while True:
            found = self._events.pop(0) if self._events else self._receive()
            if found["event"] == "output":
                self.output += found["body"]["output"]
            if found["event"] == name:
                return found["body"]

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait(60)
