"""What a campaign has found out, in a DuckDB database or in memory alone.

Here:      Results: programs, what judges said, coverage, findings; queries for reports.
Not here:  drawing them (report.py).
Invariant: the process that leads a campaign is the only one that writes. What is written is committed at every flush,
           so a campaign that is killed keeps all but its last seconds.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiletwin.diff.reports import NOT_COMPARABLE

_TABLES = """
create table if not exists campaigns (id integer, started double, seed bigint, judges varchar, workers varchar,
                                      seconds double, programs bigint);
create table if not exists programs (campaign integer, seed bigint, status varchar, seconds double, worker varchar,
                                     ended double);
create table if not exists verdicts (campaign integer, judge varchar, verdict varchar, reason varchar, count bigint,
                                     seconds double);
create table if not exists coverage (campaign integer, kind varchar, name varchar, element varchar, count bigint);
create table if not exists findings (campaign integer, key varchar, judge varchar, kind varchar, place varchar,
                                     seed bigint, lines integer, text varchar, message varchar, count bigint);
"""


class NoDatabase(RuntimeError):
    """DuckDB is not installed, or the file is another program's."""


def connect(path: str) -> Any:
    """A connection. Errors: NoDatabase."""
    try:
        import duckdb
    except ImportError:
        raise NoDatabase("results are kept in DuckDB, which is not installed: pip install 'tiletwin[fuzz]'") from None
    try:
        return duckdb.connect(path)
    except duckdb.Error as error:
        raise NoDatabase(f"{path}: {error}") from None


@dataclass
class Kept:
    """A finding with its smallest program. text: the file that shows it."""

    key: str
    judge: str
    kind: str
    place: str
    seed: int
    lines: int
    text: str
    message: str
    count: int = 1


class Results:
    """path: of the database; empty: nothing is kept beyond this object. Errors: NoDatabase."""

    def __init__(self, path: str | Path = "", *, seed: int = 0, judges: str = "", workers: str = "") -> None:
        self.started, self.flushed = time.time(), time.time()
        self.flush_seconds = 0.0
        self.programs = 0
        self.verdicts: Counter[tuple[str, str, str]] = Counter()
        self.seconds: Counter[tuple[str, str, str]] = Counter()
        self.coverage: Counter[tuple[str, str, str]] = Counter()
        self.findings: dict[str, Kept] = {}
        self.statuses: Counter[str] = Counter()
        self._rows: list[tuple] = []
        self.database: Any = connect(str(path)) if path else None
        self.campaign = 0
        if self.database is not None:
            for statement in _TABLES.split(";")[:-1]:
                self.database.execute(statement)
            (last,) = self.database.execute("select coalesce(max(id), 0) from campaigns").fetchone()
            self.campaign = last + 1
            row = [self.campaign, self.started, seed, judges, workers, 0.0, 0]
            self.database.execute("insert into campaigns values (?, ?, ?, ?, ?, ?, ?)", row)

    def add(self, record: dict[str, Any]) -> None:
        """Takes what a worker says of one program (work.py)."""
        self.programs += 1
        self.statuses[record["status"]] += 1
        for judge, verdict, reason, seconds in record["verdicts"]:
            self.verdicts[judge, verdict, reason] += 1
            self.seconds[judge, verdict, reason] += seconds
        for kind in ("form", "operation"):
            self.coverage.update((kind, name, element) for name, element in record[kind])
        for item in record["findings"]:
            self.found(Kept(**item))
        worker = record.get("worker", "")
        self._rows.append((self.campaign, record["seed"], record["status"], record["seconds"], worker, time.time()))

    def found(self, kept: Kept) -> None:
        known = self.findings.setdefault(kept.key, kept)
        if known is kept:
            return
        if kept.text and (not known.text or kept.lines < known.lines):
            kept.count += known.count
            self.findings[kept.key] = kept
        else:
            known.count += kept.count

    def without_comparison(self, judges: Iterable[str]) -> dict[str, str]:
        """The judges that have compared no program, each with the reason that it gave most often."""
        silent = {}
        for name in judges:
            said = Counter({(v, why): n for (judge, v, why), n in self.verdicts.items() if judge == name})
            if all(verdict == NOT_COMPARABLE for verdict, _ in said):
                silent[name] = said.most_common(1)[0][0][1] if said else "it was asked about no program"
        return silent

    def flush(self) -> None:
        """Writes all, in one transaction."""
        started = time.time()
        self._write()
        self.flushed = time.time()
        self.flush_seconds = self.flushed - started

    def _write(self) -> None:
        if self.database is None:
            self._rows.clear()
            return
        run, number = self.database.execute, self.campaign
        run("begin")
        self._insert("programs", self._rows)
        for table in ("verdicts", "coverage", "findings"):
            run(f"delete from {table} where campaign = ?", [number])
        self._insert("verdicts", [(number, *k, n, self.seconds[k]) for k, n in self.verdicts.items()])
        self._insert("coverage", [(number, *k, n) for k, n in self.coverage.items()])
        self._insert("findings", [(number, *vars(kept).values()) for kept in self.findings.values()])
        seconds = time.time() - self.started
        run("update campaigns set seconds = ?, programs = ? where id = ?", [seconds, self.programs, number])
        run("commit")
        self._rows.clear()

    def _insert(self, table: str, rows: list[tuple]) -> None:
        if rows:
            holes = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * len(rows))
            self.database.execute(f"insert into {table} values {holes}", [value for row in rows for value in row])

    def close(self) -> None:
        self.flush()
        if self.database is not None:
            self.database.close()
