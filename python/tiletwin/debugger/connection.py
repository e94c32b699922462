"""The socket between the debugger and the programs that it debugs: sim/debugger/Channel.h has the other side.

Here:      Listener: where programs connect, the lines that come; Refused: the engine cannot do what it was asked.
Not here:  what the lines mean (session.py).
Invariant: one program is debugged at a time, the first that came; launches of others run free.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import socket
import tempfile
from collections.abc import Callable
from typing import Any


class Refused(Exception):
    """What was asked for cannot be done; the text says why."""


class _Peer:
    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.received = b""
        self.process = 0

    def lines(self) -> list[dict[str, Any]] | None:
        """What has come; waits for something. None: the other side is gone."""
        try:
            data = self.link.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            return None
        *whole, self.received = (self.received + data).split(b"\n")
        return [json.loads(line.decode(errors="replace")) for line in whole]

    def send(self, *words: object) -> bool:
        line = "\t".join(str(word).replace("\t", " ").replace("\n", " ") for word in words) + "\n"
        try:
            self.link.sendall(line.encode())
        except OSError:
            return False
        return True


class Listener:
    """A socket of this user's own. Attributes: path."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="tiletwin-debug-")
        self.path = os.path.join(self._folder, "socket")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.path)
        self._socket.listen()
        self._peers: list[_Peer] = []
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ, None)
        self._waiting: list[dict[str, Any]] = []

    @property
    def is_connected(self) -> bool:
        return bool(self._peers)

    def ask(self, *words: object) -> dict[str, Any]:
        """The engine's answer. Errors: Refused; ConnectionError, the program has ended."""
        if not self._peers or not self._peers[0].send(*words):
            raise ConnectionError("no program is there")
        while True:
            lines = self._peers[0].lines()
            if lines is None:
                raise ConnectionError("the program has ended")
            self._waiting += [line for line in lines if "event" in line]
            for answer in (line for line in lines if "event" not in line):
                if "error" in answer:
                    raise Refused(answer["error"])
                return answer  # an event may have come with it

    def tell(self, *words: object) -> None:
        """Sends what is not answered now."""
        if self._peers:
            self._peers[0].send(*words)

    def event(self, seconds: float | None, is_over: Callable[[], bool]) -> dict[str, Any] | None:
        """The next event of the program that is debugged. None: there was none in this time, or `is_over`, which is
        asked a few times a second, says that none will come."""
        left = seconds
        while not self._waiting:
            ready = self._selector.select(0.1 if left is None else min(left, 0.1))
            for key, _ in ready:
                self._take(key.data)
            if self._waiting:
                break
            if not ready:
                if is_over():
                    return None
                if left is not None and (left := left - 0.1) <= 0:
                    return None
        return self._waiting.pop(0)

    def _take(self, peer: _Peer | None) -> None:
        if peer is None:
            link, _ = self._socket.accept()
            peer = _Peer(link)
            self._peers.append(peer)
            self._selector.register(link, selectors.EVENT_READ, peer)
            return
        lines = peer.lines()
        if lines is None:
            self._selector.unregister(peer.link)
            peer.link.close()
            self._peers.remove(peer)
            return
        for line in lines:
            if peer is self._peers[0]:
                self._waiting.append(line)
            elif line.get("event") == "stopped":
                peer.send("detach")

    def let_go(self) -> None:
        """Programs go on without a debugger, also those that run. One whose debugger dies ends instead."""
        for peer in self._peers:
            peer.send("detach")

    def close(self) -> None:
        for peer in self._peers:
            peer.link.close()
        self._selector.close()
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)
