"""Kernels of public repositories, unchanged and with their own configurations: our GPU code beside Triton's.

    python benchmarks/public_kernels.py --at FOLDER [name ...] [--json FILE]     # FOLDER has the clones
    python benchmarks/public_kernels.py --clone FOLDER                           # makes them
    TILETWIN_INTERPRET=1 python benchmarks/public_kernels.py --at FOLDER --small # tries the cases without a GPU

Each side is a process of its own: with TILETWIN=1 `import triton` is tiletwin. First several processes of each compile
beside each other. Then one of each takes turns on the GPU, case by case; times are those of torch's profiler. A kernel
is a function with @triton.jit of the repository; its time is the sum over one call of the case, the median of all
calls. Results of both sides are compared by samples and moments. `--configs 6` leaves a tuner of either side at most
six of its configurations, evenly picked. Tuners of both sides compare them by the same clock, with cold and with warm
caches.

Needs a GPU, torch, Triton, einops and packaging.
Here:      the processes and their turns, the comparison, the table.
Not here:  what a side does (public_side.py), what is called (public_rows*.py), where it comes from (public_sources.py).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from public_side import load_cases

TOLERANCE = 0.02
WHAT = (
    "benchmarks/public_kernels.py: microseconds of each kernel in one call of the case, median of all calls, caches "
    "cleared, both sides in turns; ratio: Triton / tiletwin; same: results of both sides agree by samples"
)
SIDES = {"tiletwin": {"TILETWIN": "1", "TILETWIN_TUNING": "every"}, "triton": {"TILETWIN": "0"}}


class Side:
    """A process of one compiler, which answers for a case at a time."""

    def __init__(self, which: str, work: Path, timed: bool, most: int, environment: dict[str, str]) -> None:
        cache = str((work / f"cache_{which}").resolve())
        script = str(Path(__file__).with_name("public_side.py"))
        command = [sys.executable, script, "timed" if timed else "warm", str(most)]
        self.log = (work / f"{which}.log").open("a")
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **environment, "TRITON_CACHE_DIR": cache},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def ask(self, name: str) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        return json.loads(answer) if answer else {"error": f"the process ended: {self.process.wait()}", "gone": True}

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compile_all(names: list[str], work: Path, processes: int, most: int) -> None:
    """Fills both caches, with as many processes of each side."""

    def worker(which: str, left: queue.SimpleQueue[str]) -> None:
        side = Side(which, work, False, most, SIDES[which])
        while not left.empty():
            try:
                name = left.get_nowait()
            except queue.Empty:
                break
            found = side.ask(name)
            if "gone" in found:
                side = Side(which, work, False, most, SIDES[which])
            print(f"compiled {name} with {which}: {found.get('seconds')} s {found.get('error', '')}", flush=True)
        side.end()

    threads = []
    for which in SIDES:
        left: queue.SimpleQueue[str] = queue.SimpleQueue()
        for name in reversed(names):  # those with products have the most configurations
            left.put(name)
        threads += [threading.Thread(target=worker, args=(which, left)) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def time_all(names: list[str], work: Path, most: int, turns: int, each: Any) -> dict[str, dict[str, Any]]:
    """By side and case what was found. each: called behind a case with all that is known."""
    sides = {which: Side(which, work, True, most, SIDES[which]) for which in SIDES}
    found: dict[str, dict[str, Any]] = {which: {} for which in SIDES}
    for name in names:
        for _ in range(turns):
            for which in SIDES:
                known = found[which].setdefault(name, {"us": defaultdict(list)})
                if "error" in known:
                    continue
                answer = sides[which].ask(name)
                if answer.get("is", which) != which:
                    raise SystemExit(
                        f"`import triton` of {which}'s process gave {answer['is']}, so the table would compare "
                        f"{answer['is']} with itself: install both tiletwin and Triton (pip install) in this Python"
                    )
                if "gone" in answer:
                    sides[which] = Side(which, work, True, most, SIDES[which])
                for kernel, times in answer.pop("us", {}).items():
                    known["us"][kernel] += times
                known.update(answer)
        each(found)
    for side in sides.values():
        side.end()
    return found


def same(one: list[list[float]], two: list[list[float]]) -> bool:
    """Whether results agree. Samples near zero are compared with the tensor's own size."""
    if len(one) != len(two):
        return False
    for left, right in zip(one, two, strict=True):
        size = max(abs(left[1]), abs(right[1]), 1e-20)
        for a, b in zip(left, right, strict=True):
            if math.isnan(a) != math.isnan(b) or abs(a - b) > TOLERANCE * max(size, abs(a), abs(b)):
                return False
    return True


def table(found: dict[str, dict[str, Any]], cases: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each kernel that both sides launched, slowest ratio first."""
    rows = []
    for name, mine in found["tiletwin"].items():
        other = found["triton"][name]
        if "error" in mine or "error" in other:
            continue
        agree = same(mine["result"], other["result"])
        for kernel in sorted(mine["us"].keys() & other["us"].keys()):
            # Kernels of torch itself are C++ templates or libraries.
            if (
                "::" in kernel
                or "<" in kernel
                or kernel.startswith(("Mem", "void", "nvjet", "sm90", "sm80", "cutlass"))
            ):
                continue
            one, two = statistics.median(mine["us"][kernel]), statistics.median(other["us"][kernel])
            if one > 0 and two > 0:
                row = {"case": name, "repository": cases[name].repository, "kernel": kernel}
                times = {"us": round(one, 2), "triton_us": round(two, 2), "ratio": round(two / one, 3)}
                chosen = {"config": mine["chosen"].get(kernel), "triton_config": other["chosen"].get(kernel)}
                chosen = {key: config for key, config in chosen.items() if config}
                rows.append({**row, **times, "same": agree, **chosen})
    return sorted(rows, key=lambda row: row["ratio"])


def show(rows: list[dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    for row in rows:
        mark = "" if row["same"] else "  results differ"
        times = f"{row['ratio']:6.3f} {row['us']:9.1f} {row['triton_us']:9.1f} us"
        print(f"{times}  {row['repository']}: {row['kernel']} ({row['case']}){mark}")
    for which, answers in found.items():
        for name, answer in answers.items():
            if "error" in answer:
                print(f"{name} with {which}: {answer['error']}")
    if rows:
        mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))
        slow, fast = sum(row["ratio"] < 0.95 for row in rows), sum(row["ratio"] > 1.05 for row in rows)
        count = len({row["repository"] for row in rows})
        print(f"{len(rows)} kernels of {count} repositories: geometric mean {mean:.3f} x Triton's speed")
        print(f"{slow} below 0.95, {fast} above 1.05, the least {rows[0]['ratio']:.3f}")


def write(found: dict[str, dict[str, Any]], cases: dict[str, Any], most: int, out: Path) -> None:
    rows = table(found, cases)
    answers = [answer for answer in found["triton"].values() if "device" in answer]
    if not answers:
        return
    about = {key: answers[-1][key] for key in ("device", "triton", "torch")}
    what = WHAT + (f"; tuners took one of at most {most} configurations" if most else "")
    timed = {row["case"] for row in rows}
    day = time.strftime("%Y-%m-%d", time.gmtime())
    missing = sorted(cases.keys() - timed)
    about |= {"date": day, "what": what, "not_timed": missing}
    out.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


def clone(at: Path) -> None:
    from public_sources import REPOSITORIES

    for folder, source in REPOSITORIES.items():
        address, commit = source.split()
        if not (at / folder).exists():
            subprocess.run(["git", "clone", "-q", address, str(at / folder)], check=True)
        subprocess.run(["git", "-C", str(at / folder), "checkout", "-q", commit], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases, or beginnings of their names")
    parser.add_argument("--at", type=Path, help="the folder with the clones")
    parser.add_argument("--clone", type=Path, metavar="FOLDER", help="clones the repositories into FOLDER")
    parser.add_argument("--json", type=Path, help="writes the table, anew behind each case")
    parser.add_argument("--processes", type=int, default=8, help="processes of a side that compile (8)")
    parser.add_argument("--configs", type=int, default=0, help="configurations that a tuner may try (0: all)")
    parser.add_argument("--turns", type=int, default=2, help="how often each side times a case (2)")
    parser.add_argument("--small", action="store_true", help="small sizes, this process's triton, no times")
    parser.add_argument("--work", type=Path, default=Path("public_kernels.d"), help="caches and logs")
    given = parser.parse_args()
    if given.clone:
        clone(given.clone)
        return
    if not given.at:
        parser.error("--at FOLDER is missing: the clones' folder; --clone FOLDER makes it")
    os.environ["PUBLIC_KERNELS_AT"] = str(given.at.resolve())
    if given.small:
        os.environ["PUBLIC_KERNELS_SMALL"] = "1"
    cases = load_cases()
    names = [name for name in cases if not given.names or any(name.startswith(word) for word in given.names)]
    given.work.mkdir(exist_ok=True)
    if given.small:
        side = Side("small", given.work, False, 0, {})
        for name in names:
            found = side.ask(name)
            print(name, found.get("seconds"), found.get("error", ""), flush=True)
        side.end()
        return
    compile_all(names, given.work, given.processes, given.configs)

    def each(found: dict[str, dict[str, Any]]) -> None:
        if given.json:
            write(found, cases, given.configs, given.json)

    found = time_all(names, given.work, given.configs, given.turns, each)
    show(table(found, cases), found)


if __name__ == "__main__":
    main()
