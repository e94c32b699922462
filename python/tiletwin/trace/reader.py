"""Opening recordings: which files a folder holds, whether they can be read, rows by table.

Here:      checks of a file before anything is believed, queries whose failures name the file.
Not here:  what rows mean (model.py), writing (writer.py).
Invariant: whatever a file holds, the outcome is rows or a TraceError that says which file and why.
"""

from __future__ import annotations

import functools
import os
import shutil
import sqlite3
import tempfile
from typing import Any

from tiletwin.errors import TileTwinError
from tiletwin.trace.format import APPLICATION_ID, SUFFIX, TABLES, VERSION

_MAGIC = b"SQLite format 3\0"
_NONE = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    "i": (int,), "I": (int, _NONE), "r": (float, int), "t": (str,), "T": (str, _NONE), "b": (bytes,)
}  # fmt: skip


class TraceError(TileTwinError):
    """A recording cannot be read, or does not hold what the caller wants."""


def files_of(place: str) -> list[str]:
    """The recordings in a folder, oldest first; `place` itself if it is a file.

    Raises:
        TraceError: the folder cannot be read, or holds no recording.
    """
    if os.path.isfile(place):
        return [place]
    if not os.path.isdir(place):
        raise TraceError(f"{place}: no such folder; TILETWIN_RECORD={place} python script.py makes a recording there")
    try:
        names = sorted(name for name in os.listdir(place) if name.endswith(SUFFIX))
    except OSError as error:
        raise TraceError(f"{place}: the folder cannot be read ({error.strerror})") from None
    if not names:
        raise TraceError(
            f"{place}: no recording is in this folder (*{SUFFIX}); TILETWIN_RECORD={place} python script.py makes one"
        )
    return [os.path.join(place, name) for name in names]


class File:
    """One recording, open for reading."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._check_header()
        self._connection = self._connect()
        self._check_content()

    def fail(self, why: str) -> TraceError:
        return TraceError(f"{self.path}: {why}")

    def _check_header(self) -> None:
        try:
            with open(self.path, "rb") as file:
                head = file.read(100)
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise self.fail(f"cannot be read ({error.strerror})") from None
        pages_in_log = os.path.exists(self.path + "-wal") and os.path.getsize(self.path + "-wal") > 0
        if size == 0:
            if pages_in_log:
                return
            raise self.fail("is empty: the process ended before it recorded anything")
        if not head.startswith(_MAGIC):
            raise self.fail("is no recording (it does not begin as an SQLite file)")
        if len(head) < 100:
            raise self.fail(f"is cut off after {size} bytes")
        page = int.from_bytes(head[16:18], "big")
        page = 65536 if page == 1 else page
        if page == 0 or (size < page and not pages_in_log):
            raise self.fail(f"is cut off after {size} bytes")

    def _connect(self) -> sqlite3.Connection:
        """Reading a log of changes needs to write beside the file; where that is impossible a copy is read."""
        path = self.path
        if not os.access(os.path.dirname(os.path.abspath(path)), os.W_OK) or not os.access(path, os.W_OK):
            self._copy = tempfile.TemporaryDirectory(prefix="tiletwin-trace-")
            copied = os.path.join(self._copy.name, os.path.basename(path))
            shutil.copyfile(path, copied)
            if os.path.exists(path + "-wal"):
                shutil.copyfile(path + "-wal", copied + "-wal")
            path = copied
        try:
            connection = sqlite3.connect(path, isolation_level=None, timeout=10, check_same_thread=False)
            connection.text_factory = str
            return connection
        except sqlite3.Error as error:
            raise self.fail(f"cannot be opened ({error})") from None

    def _check_content(self) -> None:
        (identity,) = self.rows("PRAGMA application_id", "i")[0]
        (version,) = self.rows("PRAGMA user_version", "i")[0]
        tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'", "t")}
        if identity != APPLICATION_ID:
            raise self.fail("is an SQLite file of another program, no recording of tiletwin")
        if version > VERSION:
            raise self.fail(
                f"was recorded by a newer tiletwin (format {version}; this one reads up to {VERSION}): update tiletwin"
            )
        if version < 1 or not tables >= TABLES:
            missing = ", ".join(sorted(TABLES - tables)) or "its version"
            raise self.fail(f"is incomplete: {missing} is missing; the process ended before it recorded anything")

    @functools.cached_property
    def origin(self) -> str:
        """What a query of `value` asks for a pointer's origin: older recordings lack the column."""
        columns = {name for (name,) in self.rows("SELECT name FROM pragma_table_info('value')", "t")}
        return "origin" if "origin" in columns else "NULL"

    def rows(self, query: str, kinds: str, values: tuple = ()) -> list[Any]:
        """All rows of a query. kinds: a letter a column: i integer, r real, t text, b bytes; capitals may be NULL.

        Raises:
            TraceError: the file is damaged.
        """
        allowed = [_KINDS[letter] for letter in kinds]
        try:
            found = self._connection.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
            raise self.fail(f"cannot be read, its content is damaged ({error})") from None
        for row in found:
            for value, types in zip(row, allowed, strict=True):
                if type(value) not in types:
                    raise self.fail(f"cannot be read, its content is damaged ({value!r:.40} in: {query:.60})")
        return found

    def close(self) -> None:
        self._connection.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None
