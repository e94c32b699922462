"""How long a kernel takes from Python source to cubin the first time, ours beside Triton's: Triton's time / our time.

    python benchmarks/cold_compile.py [name ...] [--json FILE] [--repeats N] [--all | --sample] [--ptxas PATH]

Both compile for sm_90a with the same ptxas, in processes of their own that have imported everything and compiled
another kernel before; the cache folder is empty each time. Rounds alternate, the best of each side counts. Gate: 1.0
for every kernel. "cpu" is the same ratio in processor time, which what else runs on the machine disturbs less.
No GPU is needed. The Python with Triton is TILETWIN_TRITON, that of .venv-triton, or this one.
Kernels: a choice of tests/data/kernels (--all: all of them), those of benchmarks/gpu.py and of benchmarks/kernels.py.
What either side cannot compile is listed with its reason and not compared. Exits with 1 if a gate is not met.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cold_compile_cases  # noqa: E402
import timing  # noqa: E402

GATE = 1.0


def triton_python() -> str | None:
    """A Python that has Triton: TILETWIN_TRITON, .venv-triton's, or this one; None: there is none."""
    given = os.environ.get("TILETWIN_TRITON")
    if given:
        return given
    if timing.TRITON.exists():
        return str(timing.TRITON)
    try:
        metadata.version("triton")
    except metadata.PackageNotFoundError:
        return None
    return sys.executable


class Side:
    """A process that compiles with one of the two."""

    def __init__(self, name: str, python: str, **variables: str) -> None:
        self.name = name
        env = timing.environment(**variables)
        if python != sys.executable:
            env.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, str(HERE / "cold_compile_worker.py"), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
        )  # fmt: skip
        self.version = self._answer()["version"]

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process that compiles with {self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def compile(self, case: dict[str, Any]) -> dict[str, Any]:
        """What compile_cold in cold_compile_worker.py says of one compilation, or {"error": ...}."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        self.process.communicate()


def start(ptxas: str | None) -> tuple[Side, Side] | None:
    """Our process and Triton's; None: there is no Triton. ptxas: default is the one that we find."""
    python = triton_python()
    if python is None:
        return None
    ours = {"TILETWIN_PTXAS": ptxas} if ptxas else {}
    if ptxas is None:
        from tiletwin import toolkit

        tool = toolkit.find("ptxas")
        ptxas = str(tool.path) if tool else None
    theirs = {"TRITON_PTXAS_PATH": ptxas} if ptxas else {}
    return Side("tiletwin", sys.executable, **ours), Side("triton", python, **theirs)


def measure(sides: tuple[Side, Side], case: dict[str, Any], repeats: int) -> dict[str, Any]:
    """A row: the best of both, or why there is no comparison."""
    best: list[dict[str, Any]] = [{}, {}]
    cpu = [math.inf, math.inf]
    for _ in range(repeats):
        for i, side in enumerate(sides):
            got = side.compile(case)
            if "error" in got:
                return {"name": case["name"], "side": side.name, "error": got["error"]}
            if not best[i] or got["seconds"] < best[i]["seconds"]:
                best[i] = got
            cpu[i] = min(cpu[i], got["cpu"])
    ours, theirs = best
    compiling = [got["seconds"] - got["assembling"] for got in best]
    ratio = theirs["seconds"] / ours["seconds"]
    return {
        "name": case["name"],
        "ours_ms": ours["seconds"] * 1e3,
        "peer_ms": theirs["seconds"] * 1e3,
        "ratio": ratio,
        "gate": GATE,
        "met": ratio >= GATE,
        "ours_without_ptxas_ms": compiling[0] * 1e3,
        "peer_without_ptxas_ms": compiling[1] * 1e3,
        "ratio_without_ptxas": compiling[1] / compiling[0],
        "ours_cpu_ms": cpu[0] * 1e3,
        "peer_cpu_ms": cpu[1] * 1e3,
        "ratio_cpu": cpu[1] / cpu[0],
        "ptx_lines": [got["ptx_lines"] for got in best],
    }


def line_of(row: dict[str, Any]) -> str:
    name = row["name"] if len(row["name"]) <= 60 else row["name"][:57] + "..."
    if "error" in row:
        return f"{name:60} not compared, {row['side']}: {row['error']}"
    return (
        f"{name:60} {row['ours_ms']:8.1f} ms {row['peer_ms']:8.1f} ms  ratio {row['ratio']:5.2f}"
        f"{'' if row['met'] else '  NOT MET'}   without ptxas {row['ours_without_ptxas_ms']:7.1f} ms"
        f" {row['peer_without_ptxas_ms']:7.1f} ms  {row['ratio_without_ptxas']:5.2f}   cpu {row['ratio_cpu']:5.2f}"
    )


def bench(record: Callable[..., None], only: str) -> None:
    """A sample, for run.py."""
    if only not in "cold compile":
        return
    sides = start(None)
    if sides is None:
        print("no Triton: run `scripts/setup.sh --peers` for the comparison of cold compiles", file=sys.stderr)
        return
    for case in cold_compile_cases.sample():
        row = measure(sides, case, 3)
        if "error" in row:
            print(line_of(row), file=sys.stderr)
            continue
        note = f"without ptxas {row['ratio_without_ptxas']:.2f}"
        record(f"cold compile {row['name']}", row["ours_ms"] / 1e3, row["peer_ms"] / 1e3, row["ratio"], GATE, note=note)
    for side in sides:
        side.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of names")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="the whole corpus")
    parser.add_argument("--sample", action="store_true", help="what `make bench` compiles")
    parser.add_argument("--ptxas", help="the ptxas of both; default: the one that tiletwin finds")
    arguments = parser.parse_args()
    sides = start(arguments.ptxas)
    if sides is None:
        sys.exit("no Python with Triton: scripts/setup.sh --peers, or TILETWIN_TRITON=PYTHON")
    cases = cold_compile_cases.sample() if arguments.sample else cold_compile_cases.every(arguments.all)
    results: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "triton": sides[1].version,
        "tiletwin": sides[0].version,
        "date": time.strftime("%Y-%m-%d"),
        "rows": [],
    }
    print({name: value for name, value in results.items() if name != "rows"})
    print(f"{'':60} {'ours':>8}    {'Triton':>8}")
    for case in cases:
        if arguments.names and not any(name in case["name"] for name in arguments.names):
            continue
        row = measure(sides, case, arguments.repeats)
        results["rows"].append(row)
        print(line_of(row), flush=True)
    for side in sides:
        side.close()
    compared = [row for row in results["rows"] if "error" not in row]
    met = [row for row in compared if row["met"]]
    if compared:
        ratios = sorted(row["ratio"] for row in compared)
        without = statistics.median(row["ratio_without_ptxas"] for row in compared)
        print(
            f"{len(met)} of {len(compared)} kernels met {GATE}; {len(results['rows']) - len(compared)} not compared; "
            f"ratio from {ratios[0]:.2f} to {ratios[-1]:.2f}, median {statistics.median(ratios):.2f}, "
            f"without ptxas {without:.2f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if compared and len(met) == len(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
