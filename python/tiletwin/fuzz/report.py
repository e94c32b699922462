"""What campaigns have covered and found: text for a terminal, and one HTML page.

Here:      Facts, read from a database; text(), page().
Not here:  the template's words (pages/fuzz.html.j2), keeping results (results.py).
Invariant: the page names no other resource and has no script.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiletwin.fuzz import coverage
from tiletwin.fuzz.results import NoDatabase, connect
from tiletwin.pages import render


@dataclass
class Facts:
    """Of all campaigns of a database together."""

    programs: int
    seconds: float
    judges: list[dict[str, Any]]
    """name, programs, same, different, not comparable, a second, reasons."""
    findings: list[dict[str, Any]]
    reached: dict[str, Counter[tuple[str, str]]]
    """By kind ("form", "operation"): how many programs had each."""
    rate: list[tuple[float, int]]
    """Programs finished in each tenth of the time: end of the tenth in seconds, number."""


def read(path: str | Path) -> Facts:
    """Errors: NoDatabase."""
    if not Path(path).exists():
        raise NoDatabase(f"{path}: there is no such file")
    database = connect(str(path))
    try:
        return _facts(database)
    finally:
        database.close()


def _facts(database: Any) -> Facts:
    def rows(query: str) -> list[tuple]:
        return database.execute(query).fetchall()

    try:
        ((programs, seconds),) = rows("select coalesce(sum(programs), 0), coalesce(sum(seconds), 0) from campaigns")
    except Exception as error:
        raise NoDatabase(f"this database has no campaigns: {error}") from None
    by_judge: dict[str, Counter[str]] = defaultdict(Counter)
    time_of: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for judge, verdict, reason, count, spent in rows("select judge, verdict, reason, count, seconds from verdicts"):
        by_judge[judge][verdict] += count
        time_of[judge] += spent
        if reason:
            reasons[judge][reason] += count
    judges = []
    for name, verdicts in by_judge.items():
        number = sum(verdicts.values())
        judges.append({
            "name": name, "programs": number, "ran": verdicts["ran"], "same": verdicts["same"],
            "different": verdicts["different"], "not_comparable": verdicts["not comparable"],
            "rate": number / time_of[name] if time_of[name] else 0.0, "seconds": time_of[name],
            "reasons": reasons[name].most_common(6),
        })  # fmt: skip
    names = ("key", "judge", "kind", "place", "seed", "lines", "text", "message", "count")
    found = rows(
        "select key, any_value(judge), any_value(kind), any_value(place), min(seed), arg_min(lines, lines), "
        "arg_min(text, lines), arg_min(message, lines), sum(count) from findings group by key order by sum(count) desc"
    )
    reached: dict[str, Counter[tuple[str, str]]] = {"form": Counter(), "operation": Counter()}
    for kind, name, element, count in rows("select kind, name, element, count from coverage"):
        reached[kind][name, element] += count
    times = [ended for (ended,) in rows("select ended from programs order by ended")]
    return Facts(programs, seconds, judges, [dict(zip(names, row)) for row in found], reached, _rate(times))


def _rate(times: Sequence[float], parts: int = 40) -> list[tuple[float, int]]:
    if len(times) < 2 or times[-1] <= times[0]:
        return []
    span = (times[-1] - times[0]) / parts
    counts = Counter(min(int((at - times[0]) / span), parts - 1) for at in times)
    return [((i + 1) * span, counts[i]) for i in range(parts)]


def share(reached: Counter[tuple[str, str]], wanted: set[tuple[str, str]]) -> float:
    """Percent of what there is to reach."""
    return 100 * len(wanted & reached.keys()) / len(wanted)


def missing(reached: Counter[tuple[str, str]], wanted: set[tuple[str, str]]) -> list[str]:
    return [f"{name} {element}" for name, element in sorted(wanted - reached.keys())]


def text(facts: Facts) -> str:
    """The report as text."""
    rate = facts.programs / facts.seconds if facts.seconds else 0
    lines = [f"{facts.programs} programs in {facts.seconds:.0f} s ({rate:.1f} a second)", ""]
    lines.append(f"{'judge':28s}{'programs':>9s}{'same':>9s}{'different':>11s}{'not comp.':>11s}{'a second':>10s}")
    for row in facts.judges:
        lines.append(
            f"{row['name']:28s}{row['programs']:9d}{row['same'] or row['ran']:9d}{row['different']:11d}"
            f"{row['not_comparable']:11d}{row['rate']:10.1f}"
        )
        lines += [f"    {count} not comparable: {reason[:120]}" for reason, count in row["reasons"]]
    wanted = {"operation": coverage.wanted(), "form": coverage.wanted_forms()}
    lines.append("")
    for kind, pairs in wanted.items():
        gone = missing(facts.reached[kind], pairs)
        lines.append(f"{kind}s by element type: {share(facts.reached[kind], pairs):.1f} % of {len(pairs)}")
        if gone:
            lines.append(f"    missing: {', '.join(gone[:12])}{' ...' if len(gone) > 12 else ''}")
    lines += ["", f"findings: {len(facts.findings)}"]
    lines += [
        f"  {row['count']:5d} x {row['key']} (seed {row['seed']}, {row['lines']} lines)" for row in facts.findings
    ]
    return "\n".join(lines)


# ---- the page ----


def _grid(reached: Counter[tuple[str, str]], wanted: set[tuple[str, str]]) -> dict[str, Any]:
    """Rows of a table: what there is by element type, with the number of programs; None: it does not take the type."""
    columns = sorted({element for _, element in wanted}, key=_by_type)
    rows = [
        {"name": name, "cells": [reached[name, e] if (name, e) in wanted else None for e in columns]}
        for name in sorted({name for name, _ in wanted})
    ]
    return {"columns": columns, "rows": rows}


def _by_type(element: str) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, element))
    return ("fb".find(element[0]) + 1, f"{int(digits or 0):04d}{element}")


def page(facts: Facts) -> str:
    """The report as one HTML page."""
    kinds = {"Operations of the IR": ("operation", coverage.wanted()), "Forms": ("form", coverage.wanted_forms())}
    grids = [
        {"title": title, "share": share(facts.reached[kind], pairs), "count": len(pairs),
         **_grid(facts.reached[kind], pairs)}
        for title, (kind, pairs) in kinds.items()
    ]  # fmt: skip
    slowest = max((row["seconds"] for row in facts.judges), default=0) or 1
    return render("fuzz.html.j2", facts=facts, grids=grids, slowest=slowest)
