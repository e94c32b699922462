"""One recording file: rows collected in memory and written in transactions.

Here:      the file's name, values stored once, flushing, the limit, what happens when the disk is full.
Not here:  what is recorded (recorder.py), the tables' meaning (format.py).
Invariant: the file is a whole SQLite database at any moment: a process that is killed leaves everything up to the last
           flush. After `ended` is set nothing is written any more, and no method raises.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import sys
import threading
import time
from typing import Any

from tiletwin import variables
from tiletwin.errors import TileTwinError
from tiletwin.trace.format import APPLICATION_ID, SCHEMA, SUFFIX, VERSION, pack
from tiletwin.trace.selection import size_text
from tiletwin.version import TILETWIN_VERSION

FLUSH_BYTES = 4 << 20
FLUSH_SECONDS = 0.5
ROW_BYTES = 48
"""What a row costs in the file besides its blobs, about."""


class RecordError(TileTwinError):
    """The folder of TILETWIN_RECORD cannot be written."""


def _connect(folder: str) -> tuple[sqlite3.Connection, str]:
    """A new database in the folder. Errors: RecordError."""
    name = time.strftime("%Y%m%d-%H%M%S") + f"-{os.getpid()}"
    try:
        os.makedirs(folder, exist_ok=True)
        for again in range(1000):
            path = os.path.join(folder, name + (f"-{again}" if again else "") + SUFFIX)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644))
                break
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")  # readers look on while this is written
        connection.execute("PRAGMA synchronous = OFF")  # a killed process loses nothing; a power cut may
        connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        return connection, path
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RecordError(
            f"TILETWIN_RECORD={folder}: nothing can be written there ({why}); name a folder that can be written or made"
        ) from None


class Writer:
    """The file that one process writes. Methods may be called from any thread."""

    def __init__(self, folder: str, limit: int) -> None:
        self.connection, self.path = _connect(folder)
        self.limit = limit
        self.pid = os.getpid()
        self.ended: str | None = None
        """Why nothing is recorded any more; None: recording goes on."""
        self.bytes = 0
        self._lock = threading.RLock()
        self._rows: dict[str, list[tuple]] = {}
        self._pending = 0
        self._flushed = time.monotonic()
        self._values: dict[bytes, int] = {}
        self._next: dict[str, int] = {}
        self._write_meta()

    def _write_meta(self) -> None:
        facts = {
            "format": "tiletwin recording",
            "tiletwin": TILETWIN_VERSION,
            "python": sys.version.split()[0],
            "pid": str(self.pid),
            "host": os.uname().nodename,
            "started": repr(time.time()),
            "command": json.dumps([sys.executable, *sys.argv]),
            "limit": str(self.limit),
            "programs": variables.get("TILETWIN_PROGRAM"),
        }
        for key, value in facts.items():
            self.add("meta", (key, value))
        self.flush()

    # ---- rows ----

    def new_id(self, table: str) -> int:
        """The next id of a table, from 1."""
        with self._lock:
            self._next[table] = self._next.get(table, 0) + 1
            return self._next[table]

    def add(self, table: str, row: tuple, size: int = 0) -> None:
        """Adds a row whose blobs have `size` bytes."""
        if self.ended is not None:
            return
        with self._lock:
            self._rows.setdefault(table, []).append(row)
            self._pending += size + ROW_BYTES
            self.bytes += size + ROW_BYTES

    def value(self, kind: str, type_name: str, shape: tuple[int, ...], data: bytes, origin: str | None = None) -> int:
        """The id of a value. Stores it if no value with the same bits is there yet. kind: "tensor" or what values.py
        lists; data: a tensor's elements, or text; origin: the buffer that a pointer was made for."""
        shape_text = ",".join(map(str, shape))
        hashed = hashlib.blake2b(f"{kind};{type_name};{shape_text};{origin};".encode(), digest_size=16)
        hashed.update(data)
        digest = hashed.digest()
        with self._lock:
            known = self._values.get(digest)
            if known is not None:
                return known
            number = self._values[digest] = self.new_id("value")
        codec, packed = pack(type_name, shape, data) if kind == "tensor" else ("text", data)
        self.add("value", (number, kind, type_name, shape_text, codec, packed, origin), len(packed))
        return number

    def update(self, statement: str, row: tuple) -> None:
        """Runs an UPDATE behind everything that was added."""
        with self._lock:
            self.flush()
            if self.ended is None:
                self._guarded(lambda: self.connection.execute(statement, row))

    def check(self) -> bool:
        """Flushes if it is time; whether recording goes on."""
        if self.ended is not None:
            return False
        if self._pending >= FLUSH_BYTES or time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()
        return self.ended is None

    @property
    def full(self) -> bool:
        return self.bytes >= self.limit

    def flush(self) -> None:
        """Writes what was added, in one transaction."""
        with self._lock:
            rows, self._rows = self._rows, {}
            self._pending = 0
            if rows and self.ended is None:
                self._guarded(lambda: self._insert(rows))
            self._flushed = time.monotonic()

    def _insert(self, rows: dict[str, list[tuple]]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for table, added in rows.items():
            marks = ",".join("?" * len(added[0]))
            self.connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", added)
        self.connection.execute("COMMIT")

    def _guarded(self, action: Any) -> None:
        """Runs an action on the database; a failure ends the recording and not the program."""
        try:
            action()
        except (sqlite3.Error, OSError, MemoryError) as error:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            self.end(f"{self.path} could not be written any more ({error})", failed=True)

    # ---- the end ----

    def end(self, reason: str, failed: bool = False) -> None:
        """Stops recording, says so once, and leaves the reason in the file where that is still possible."""
        with self._lock:
            if self.ended is not None:
                return
            if not failed:
                self.add("meta", ("ended", reason))
                self.flush()
            if self.ended is None:
                self.ended = reason
                self._rows = {}
                print(f"tiletwin: recording has stopped: {reason}; the launch goes on", file=sys.stderr)

    def close(self) -> None:
        """At the end of the process: writes what is left."""
        if os.getpid() != self.pid:
            return
        with self._lock:
            if self.ended is None:
                self.add("meta", ("closed", repr(time.time())))
                self.flush()
            with contextlib.suppress(sqlite3.Error):
                self.connection.close()
            self.ended = self.ended or "the process has ended"


def limit_reason(limit: int, where: str) -> str:
    """Why recording stopped at the limit."""
    return f"the limit of {size_text(limit)} was reached {where}; TILETWIN_RECORD_LIMIT=1G sets another one"
