"""What other keys of the same kernel were measured to take, as a forecast for a new one.

Here:      records in memory and in a file, how near two keys are, the forecast.
Not here:  choices that come back from disk whole (gpu_tuning.py).
Invariant: a forecast orders candidates. It leaves one out only if at least two near keys agree that it is far slower.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

NEAR = 2.0
"""Binary orders of magnitude by which each number of a near key may differ."""
FAR_SLOWER = 2.5
KEPT = 64
"""Most keys of a kernel whose times are kept."""

Record = tuple[tuple, dict[str, float]]
"""A key, and milliseconds by the text of a configuration; infinite: it cannot run."""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def steps(key: Sequence[Any], other: Sequence[Any]) -> list[float] | None:
    """By how many binary orders of magnitude the numbers of two keys differ; None: they differ in something else."""
    if len(key) != len(other):
        return None
    found = []
    for a, b in zip(key, other):
        if _is_number(a) and _is_number(b):
            found.append(abs(math.log2((a + 1) / (b + 1))))
        elif a != b:
            return None
    return found


def _slowdowns(record: Record) -> dict[str, float]:
    """By configuration, how many times slower than the fastest."""
    best = min(record[1].values(), default=math.inf)
    return {name: time / best for name, time in record[1].items()} if 0 < best < math.inf else {}


def forecast(records: Iterable[Record], key: tuple, names: Sequence[str]) -> dict[str, float]:
    """By configuration, how many times slower than the fastest it may be; infinite: it need not be tried. Those of
    which nothing is known are 1, and come among the first."""
    known = [(apart, _slowdowns(record)) for record in records if (apart := steps(key, record[0])) is not None]
    found = {}
    for name in names:
        rows = [(apart, slowdowns[name]) for apart, slowdowns in known if name in slowdowns]
        near = [slowdown for apart, slowdown in rows if max(apart, default=0) <= NEAR]
        if len(near) >= 2 and min(near) >= FAR_SLOWER:
            found[name] = math.inf
            continue
        finite = [(1 / (1 + sum(apart)) ** 2, math.log(slowdown)) for apart, slowdown in rows if slowdown < math.inf]
        total = sum(weight for weight, _ in finite)
        found[name] = math.exp(sum(weight * slowdown for weight, slowdown in finite) / total) if finite else 1.0
    return found


def of_timings(key: tuple, timings: dict[Hashable, Sequence[float]]) -> Record:
    """timings: by configuration, the time that decides first."""
    return key, {str(config): times[0] for config, times in timings.items()}


def merged(records: Iterable[Record], new: Record) -> list[Record]:
    """With the newest last, and those left out that are too many."""
    return [*(record for record in records if record[0] != new[0]), new][-KEPT:]


def written(records: Iterable[Record]) -> str:
    """As the text of a file. Keys of other things than numbers and texts are left out."""
    rows = []
    for key, times in records:
        if all(value is None or isinstance(value, (bool, int, float, str)) for value in key):
            rows.append([list(key), {name: time if time < math.inf else None for name, time in times.items()}])
    return json.dumps(rows)


def read(text: str) -> list[Record]:
    """The records of a file; none where something else wrote it."""
    try:
        rows = [
            (tuple(key), {str(name): math.inf if time is None else float(time) for name, time in times.items()})
            for key, times in json.loads(text)
        ]
    except (ValueError, TypeError, AttributeError):
        return []
    usable = all(statistics.fmean(times.values() or [1.0]) > 0 for _, times in rows)
    return rows if usable else []
