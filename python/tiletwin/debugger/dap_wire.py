"""Messages of the Debug Adapter Protocol on a stream.

Here:      reading and writing messages, their numbers.
Not here:  what they mean (dap.py).
Source:    Debug Adapter Protocol, "Base protocol", microsoft.github.io/debug-adapter-protocol.
"""

from __future__ import annotations

import json
import threading
from typing import Any, BinaryIO


class Wire:
    """Writes from several threads are whole messages."""

    def __init__(self, reads: BinaryIO, writes: BinaryIO) -> None:
        self._reads, self._writes = reads, writes
        self._lock = threading.Lock()
        self._number = 0

    def receive(self) -> dict[str, Any] | None:
        """The next message; None: the other side is gone. Errors: ValueError, what came is no message."""
        size = None
        while True:
            line = self._reads.readline()
            if not line:
                return None
            if not line.strip():
                break
            name, _, value = line.decode("ascii", "replace").partition(":")
            if name.strip().lower() == "content-length":
                size = int(value)
        if size is None:
            raise ValueError("a message without Content-Length")
        body = self._reads.read(size)
        return json.loads(body) if len(body) == size else None

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._number += 1
            body = json.dumps({"seq": self._number, **message}).encode()
            try:
                self._writes.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                self._writes.flush()
            except (OSError, ValueError):
                pass  # the editor is gone; reading notices it

    def event(self, name: str, body: dict[str, Any] | None = None) -> None:
        self.send({"type": "event", "event": name, "body": body or {}})

    def answer(self, request: dict[str, Any], body: dict[str, Any] | None = None) -> None:
        self._respond(request, {"success": True, "body": body or {}})

    def refuse(self, request: dict[str, Any], why: str) -> None:
        self._respond(request, {"success": False, "message": why, "body": {"error": {"id": 1, "format": why}}})

    def _respond(self, request: dict[str, Any], rest: dict[str, Any]) -> None:
        self.send({"type": "response", "request_seq": request["seq"], "command": request["command"], **rest})
