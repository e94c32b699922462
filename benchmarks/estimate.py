"""The error of estimated times (tiletwin/counters/estimate.py) beside an H200's; the search for the model's constants.

    python benchmarks/estimate.py [--rows]      # error over kernels that were not used to calibrate; --rows: each one
    python benchmarks/estimate.py --calibrate   # searches constants with the others, and prints them
    python benchmarks/estimate.py --cross       # errors if each fifth of the cases is judged by the other four
    python benchmarks/estimate.py --json benchmarks/results/estimate_h200.json
    python benchmarks/estimate.py --simulate    # runs some CTAs of each launch again, and writes what they did

tests/data/sim/timed_launches_h200.xz has PTX, arguments and measured times, from tools/record_times.py;
tests/data/sim/times_h200.xz has what the simulator saw of it. The names of cases decide who judges: those with an even
CRC32 do, in all their launches and of both compilers.
Here:      the two sets, the search, the table.
Not here:  the model, running the launches (timed_launches.py).
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import statistics
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from tiletwin.counters import estimate, occupancy, trust
from tiletwin.counters.counts import Timeline, Traffic
from tiletwin.counters.work import Work

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "sim"
SEEN = DATA / "times_h200.xz"
KINDS = ("matmul", "attention", "other")


class Timed(NamedTuple):
    """A launch that was measured. microseconds: with caches full of other data."""

    case: str
    kernel: str
    compiler: str
    microseconds: float
    work: Work

    @property
    def judges(self) -> bool:
        return zlib.crc32(self.case.encode()) % 2 == 0

    @property
    def kind(self) -> str:
        name = (self.case + self.kernel).lower()
        if "attention" in name or "flash" in name:
            return "attention"
        return "matmul" if "matmul" in name else "other"


def timed(row: dict[str, Any]) -> Timed:
    """From a row of the file."""
    fits = occupancy.of(90, 32 * row["warps"], row["registers"], row["shared"])
    traffic = [Traffic(*one) for one in row["traffic"]]
    sizes = row["ctas"], row["warps"], row["shared"], max(fits.ctas, 1), row["spilled"], row["loaded"]
    work = Work(*sizes, Timeline(*row["timeline"]), traffic)
    return Timed(row["case"], row["kernel"], row["compiler"], row["cold_us"], work)


def read() -> list[Timed]:
    return [timed(row) for row in json.loads(lzma.decompress(SEEN.read_bytes()))["rows"]]


def ratio(one: Timed, constants: estimate.Constants = estimate.CONSTANTS) -> float:
    """Estimate / measured."""
    found = estimate.of(one.work, estimate.DEVICES[90][0], constants)
    return found.seconds * 1e6 / one.microseconds


def error(rows: list[Timed], constants: estimate.Constants = estimate.CONSTANTS) -> float:
    """Mean of |estimate / measured - 1|."""
    return statistics.mean(abs(ratio(one, constants) - 1) for one in rows)


# Where constants are sought: from, to; and where the search begins: what is published, or a guess.
_RANGES = {
    "memory": (0.75, 0.95, 0.85), "latency": (0.8, 2, 1.1), "issue": (0.7, 1.8, 1), "integer": (0.3, 1, 0.7),
    "memory_unit": (0.8, 1.6, 1), "together": (100, 10_000, 1000), "throttle": (0.15, 0.3, 0.24),
    "spills": (0.5, 3, 1.5),
}  # fmt: skip
_NEAR, _OTHERS = 0.08, 0.7
"""Errors beyond this count in proportion, below with their square; what launches but products and attention count."""


def calibrated(rows: list[Timed]) -> estimate.Constants:
    """Least squares of log(estimate / measured), with little weight on what is far off (soft L1)."""
    import numpy as np
    from scipy.optimize import least_squares

    low, high, begin = np.array([_RANGES[name] for name in estimate.Constants._fields]).T
    begin = (begin - low) / (high - low)
    weights = np.array([_OTHERS if one.kind == "other" else 1.0 for one in rows])

    def errors(x: Any) -> Any:
        constants = estimate.Constants(*(low + (high - low) * x))
        found = np.log([ratio(one, constants) for one in rows]) * weights / _NEAR
        return np.concatenate([found, 0.4 * (x - begin)])  # what hardly matters stays where it begins

    found = least_squares(errors, begin, bounds=(0, 1), loss="soft_l1", diff_step=1e-3, max_nfev=60)
    return estimate.Constants(*map(float, low + (high - low) * found.x))


def cross_validated(rows: list[Timed], parts: int = 5) -> list[tuple[Timed, float]]:
    """Estimate / measured of each launch by constants that come from the other parts of the cases."""
    found = []
    for part in range(parts):
        chosen = [zlib.crc32(one.case.encode()) // 2 % parts == part for one in rows]
        constants = calibrated([one for one, judges in zip(rows, chosen) if not judges])
        found += [(one, ratio(one, constants)) for one, judges in zip(rows, chosen) if judges]
    return found


def crossed(found: list[tuple[Timed, float]]) -> dict[str, Any]:
    """Errors in percent of launches that were judged so: by the kind of the case, and, as profiles print them, by the
    units that a launch uses."""
    errors = [(one, 100 * abs(found - 1)) for one, found in found]
    kinds = {kind: [error for one, error in errors if one.kind == kind] for kind in KINDS}
    units = {kind: sorted(e for one, e in errors if trust.kind_of(one.work) == kind) for kind in trust.ERRORS}
    return {
        "each fifth by the other four": {kind: round(statistics.mean(some), 1) for kind, some in kinds.items()},
        "by units": {
            kind: {
                "launches": len(some), "mean": round(statistics.mean(some), 1),
                "nine of ten within": round(some[int(0.9 * len(some))]),
            }
            for kind, some in units.items()
        },
    }  # fmt: skip


def ranges(rows: list[Timed]) -> dict[str, tuple[float, float]]:
    """The smallest and the largest number of launches, of each of trust.measures."""
    found = [trust.measures(one.work, one.microseconds / 1e6) for one in rows]
    return {name: (min(one[name] for one in found), max(one[name] for one in found)) for name in found[0]}


def summary(rows: list[Timed], constants: estimate.Constants) -> dict[str, Any]:
    """Errors in percent by kind, of the launches that judge and of those that calibrate, with their cases."""
    found: dict[str, Any] = {"constants": {name: float(f"{value:.4g}") for name, value in constants._asdict().items()}}
    for title, chosen in (("judging", True), ("calibrating", False)):
        some = [one for one in rows if one.judges == chosen]
        found[title] = kinds = {"all": {"launches": len(some), "mean": round(100 * error(some, constants), 1)}}
        for kind in KINDS:
            part = [one for one in some if one.kind == kind]
            errors = sorted(100 * abs(ratio(one, constants) - 1) for one in part)
            kinds[kind] = {
                "launches": len(part), "mean": round(statistics.mean(errors), 1),
                "median": round(statistics.median(errors), 1),
                "nine of ten within": round(errors[int(0.9 * len(errors))]),
            }  # fmt: skip
        found[f"cases {title}"] = sorted({one.case for one in some})
    return found


def show(rows: list[Timed], constants: estimate.Constants, each: bool) -> None:
    found = summary(rows, constants)
    for title in ("judging", "calibrating"):
        for kind, numbers in found[title].items():
            print(f"{title}: {kind}: " + ", ".join(f"{name} {number}" for name, number in numbers.items()))
    if not each:
        return
    for one in sorted(rows, key=lambda one: -abs(math.log(ratio(one, constants)))):
        found = estimate.of(one.work, estimate.DEVICES[90][0], constants)
        needs = ", ".join(f"{name} {1e6 * need:.1f}" for name, need in (found.needs | found.units).items())
        names = f"{one.compiler[:8]:8} {one.case[:44]:44} {one.kernel[:16]:16}"
        shown = f"{one.microseconds:8.1f} us, {ratio(one, constants):5.2f} of it estimated, limit {found.limit}"
        print(f"{'judges    ' if one.judges else 'calibrates'} {names} {shown} ({needs})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", action="store_true", help="each launch, the worst ones first")
    parser.add_argument("--calibrate", action="store_true", help="search the constants")
    parser.add_argument("--cross", action="store_true", help="judge each fifth of the cases by the others")
    parser.add_argument("--json", type=Path, help="where the table goes")
    parser.add_argument("--simulate", action="store_true", help="run some CTAs of each launch again")
    arguments = parser.parse_args()
    if arguments.simulate:
        import timed_launches

        rows = timed_launches.seen(DATA / "timed_launches_h200.xz")
        SEEN.write_bytes(lzma.compress(json.dumps({"device": "NVIDIA H200", "rows": rows}).encode(), preset=9))
    rows = read()
    constants = estimate.CONSTANTS
    if arguments.calibrate:
        constants = calibrated([one for one in rows if not one.judges])
        print(", ".join(f"{name}={value:.4g}" for name, value in constants._asdict().items()))
    show(rows, constants, arguments.rows)
    found = summary(rows, constants)
    if arguments.cross or arguments.json:
        found |= crossed(cross_validated(rows))
        print("each fifth by the other four:", json.dumps(found["each fifth by the other four"]))
        print("by units:", json.dumps(found["by units"]))
        print("ranges:", ranges([one for one in rows if not one.judges]))
    if arguments.json:
        device = "NVIDIA H200, driver 580.159.04, torch 2.11.0+cu130, Triton 3.6.0; recorded 2026-11-27"
        arguments.json.write_text(json.dumps({"device": device, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
