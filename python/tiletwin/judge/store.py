"""Verdicts in a file: a DuckDB database, or lines of JSON.

Here:      opening, what is known, adding.
Not here:  the database's errors (fuzz/results.py).
Invariant: one process writes. What was added is in the file when `add` returns, so who is killed loses nothing that was
           judged. A line that was cut off by that is not read.
"""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from tiletwin.fuzz.results import NoDatabase, connect

_TABLE = """
create table if not exists verdicts (
  submission varchar, key varchar, reference varchar, verdict varchar, entry varchar, rule varchar, line integer,
  reason varchar, cases integer, launches bigint, atol double, rtol double, worst double, seconds double,
  tiletwin varchar, ended timestamp, json json, primary key (submission, key))
"""


class Store(Protocol):
    path: Path

    def rows(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """All that it has: submission, key, verdict."""
        ...

    def add(self, submission: str, key: str, verdict: dict[str, Any]) -> None:
        """Errors: OSError, the disk is full or the file cannot be written."""
        ...

    def close(self) -> None: ...


class Database:
    """A DuckDB database with the table `verdicts`; its column `json` has all of a verdict. Errors: NoDatabase."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = connect(str(path))
        self._database.execute(_TABLE)

    def rows(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        found = self._database.execute("select submission, key, json from verdicts").fetchall()
        return ((submission, key, json.loads(text)) for submission, key, text in found)

    def add(self, submission: str, key: str, verdict: dict[str, Any]) -> None:
        first = verdict["reasons"][0] if verdict["reasons"] else {"rule": None, "line": None, "text": None}
        row = [
            submission, key, verdict["reference"], verdict["verdict"], verdict["entry"], first["rule"], first["line"],
            first["text"], len(verdict["cases"]), verdict["launches"], verdict["atol"], verdict["rtol"],
            verdict["worst"], verdict["seconds"], verdict["tiletwin"],
            time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()), json.dumps(verdict),
        ]  # fmt: skip
        self._database.execute(f"insert or replace into verdicts values ({', '.join('?' * len(row))})", row)

    def close(self) -> None:
        self._database.close()


class Lines:
    """A file with one line of JSON for each verdict: {"submission": ..., "key": ..., "verdict": ...}."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open(path, "ab+")
        end = self._file.seek(0, os.SEEK_END)
        if end:
            self._file.seek(end - 1)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def rows(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                try:
                    said = json.loads(line)
                    yield said["submission"], said["key"], said["verdict"]
                except (ValueError, KeyError, TypeError):
                    continue

    def add(self, submission: str, key: str, verdict: dict[str, Any]) -> None:
        self._file.write(json.dumps({"submission": submission, "key": key, "verdict": verdict}).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def open_store(path: str, folder: Path) -> Store:
    """path: ends in .duckdb or .jsonl; empty: in the folder, the first if DuckDB is installed, else the second.

    Errors: NoDatabase; OSError; ValueError, another ending."""
    if not path:
        has_database = importlib.util.find_spec("duckdb") is not None
        path = str(folder / ("verdicts.duckdb" if has_database else "verdicts.jsonl"))
    if path.endswith(".jsonl"):
        return Lines(Path(path))
    if path.endswith(".duckdb"):
        return Database(Path(path))
    raise ValueError(f"{path}: results are kept in a file that ends in .duckdb or .jsonl")


__all__ = ["Database", "Lines", "NoDatabase", "Store", "open_store"]
