"""The error of estimated times (tiletwin/counters/estimate.py) beside an H200's; the search for the model's constants.

    python benchmarks/estimate.py [--rows]      # error over kernels that were not used to calibrate; --rows: each one
    python benchmarks/estimate.py --calibrate   # searches constants with the others, and prints them
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
import random
import statistics
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from tiletwin.counters import estimate, occupancy
from tiletwin.counters.counts import Timeline, Traffic

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "sim"
SEEN = DATA / "times_h200.xz"
WORST = 0.6
"""Of |log(estimate / measured)|: what the search takes no notice beyond."""


class Timed(NamedTuple):
    """A launch that was measured. microseconds: with caches full of other data."""

    case: str
    kernel: str
    compiler: str
    microseconds: float
    work: estimate.Work

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
    sizes = row["ctas"], row["warps"], row["shared"], max(fits.ctas, 1), row["loaded"]
    work = estimate.Work(*sizes, Timeline(*row["timeline"]), traffic)
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


def _loss(rows: list[Timed], constants: estimate.Constants) -> float:
    return statistics.mean(min(abs(math.log(ratio(one, constants))), WORST) for one in rows)


# What constants may be; the others may be from a half to three times what they are named after.
_RANGES = {
    "start": (1e-6, 3e-6), "memory": (0.7, 1), "l2": (8e12, 3e13), "exponent": (1.5, 12), "chain": (0.9, 1.15),
    "latency": (0.7, 4), "issue": (0.5, 2), "arithmetic": (0.5, 2), "integer": (0.4, 2), "special": (0.6, 2),
    "tensor": (1, 1.2), "memory_unit": (0.3, 3), "copies": (0.8, 1.1), "unhidden": (0, 1.5), "unhidden_memory": (0, 1),
    "queueing": (0.2, 1.5), "throttle": (0.05, 0.5), "waves": (0, 1), "uneven": (0, 1.5),
}  # fmt: skip


def calibrated(rows: list[Timed], steps: int, seed: int = 0) -> estimate.Constants:
    """The constants with the least loss that a random walk from those of today finds."""
    drawn = random.Random(seed)
    best, constants, width = _loss(rows, estimate.CONSTANTS), estimate.CONSTANTS, 0.2
    for step in range(steps):
        tried = constants._asdict()
        for name in drawn.sample(list(tried), drawn.choice((1, 1, 2, 3))):
            low, high = _RANGES[name]
            tried[name] = min(max(tried[name] * math.exp(drawn.gauss(0, width)), low), high)
        made = estimate.Constants(**tried)
        if (loss := _loss(rows, made)) < best:
            best, constants = loss, made
        if step % (steps // 12 + 1) == 0:
            width *= 0.8
    return constants


def show(rows: list[Timed], constants: estimate.Constants, each: bool) -> None:
    for title, chosen in (("judging", True), ("calibrating", False)):
        some = [one for one in rows if one.judges == chosen]
        print(f"{title}: {len(some)} launches, mean error {100 * error(some, constants):.1f} %")
        for kind in ("matmul", "attention", "other"):
            part = [one for one in some if one.kind == kind]
            errors = sorted(abs(ratio(one, constants) - 1) for one in part)
            print(f"   {kind}: {len(part)}, {100 * error(part, constants):.1f} %, "
                  f"median {100 * statistics.median(errors):.1f} %, nine of ten within "
                  f"{100 * errors[int(0.9 * len(errors))]:.0f} %")  # fmt: skip
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
    parser.add_argument("--calibrate", type=int, nargs="?", const=4000, help="steps of the search")
    parser.add_argument("--simulate", action="store_true", help="run some CTAs of each launch again")
    arguments = parser.parse_args()
    if arguments.simulate:
        import timed_launches

        rows = timed_launches.seen(DATA / "timed_launches_h200.xz")
        SEEN.write_bytes(lzma.compress(json.dumps({"device": "NVIDIA H200", "rows": rows}).encode(), preset=9))
    rows = read()
    constants = estimate.CONSTANTS
    if arguments.calibrate:
        constants = calibrated([one for one in rows if not one.judges], arguments.calibrate)
        print(", ".join(f"{name}={value:.4g}" for name, value in constants._asdict().items()))
    show(rows, constants, arguments.rows)


if __name__ == "__main__":
    main()
