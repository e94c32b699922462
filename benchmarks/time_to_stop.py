"""Seconds from starting a debugger to its stop in a kernel, besides Python's own imports: at most 2.

A session of pdb, of debugpy (as VS Code starts it) and of gdb stops in one program of a grid of 4,096, in a loop of a
matrix product and of flash attention. In turns with it the same debugger stops in a script that imports NumPy and torch
and does nothing else; the difference is what tiletwin, the script's own data, the launch and the programs before the
stop take. `tiletwin debug` stops in kernels on the simulator: a product, a CUDA reduction, a product whose copies have
a warp of their own; what is taken off there are imports without a debugger. Exits 1 if a median is above the limit.
usage: time_to_stop.py [REPEATS [PART OF A NAME]]
"""

from __future__ import annotations

import functools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import transcripts_debugger  # noqa: E402
import transcripts_debugpy  # noqa: E402
import transcripts_gdb  # noqa: E402
import transcripts_pdb  # noqa: E402
from debug_transcripts import Terminal, line_of  # noqa: E402

LIMIT = 2.0


class Stop(NamedTuple):
    """Where a session stops: the line of `file` that holds `text`."""

    file: str
    text: str
    condition: str  # in Python
    in_gdb: str  # what stands behind `break`, {line} for the line

    @property
    def line(self) -> int:
        return line_of(self.file, self.text)


KERNELS = {
    "matmul": Stop(
        "demo/debug_matmul.py",
        "acc = tl.dot",
        "pid == 1234 and k == 32",
        "debug_matmul.py:{line} if pid0==1234 && k==32",
    ),
    "flash attention": Stop(
        "demo/debug_attention.py",
        "acc, total = rescale",
        "block == 5 and head == 17 and n == 64",
        "debug_attention.py:{line} if pid0==5 && pid1==17 && n==64",
    ),
}
IMPORTS = "import os\nimport numpy, torch\nstop = os.getloadavg()\n"  # gdb stops in C's function of that name


def typed(start: Callable[[], Terminal], lines: list[str], stop: str, last: str) -> float:
    """Seconds from starting a program at a terminal to the prompt behind the last of `lines`."""
    began = time.perf_counter()
    terminal = start()
    terminal.child.delaybeforesend = None
    for line in lines:
        seen = terminal.say(line)
    took = time.perf_counter() - began
    if stop not in seen:
        raise RuntimeError(f"no stop at {stop}:\n{terminal.screen}")
    terminal.end(last)
    return took


def pdb_seconds(stop: Stop, environment: dict[str, str]) -> float:
    start = functools.partial(transcripts_pdb.start, stop.file, environment)
    return typed(start, [f"b {stop.line}, {stop.condition}", "c"], f"({stop.line})", "q")


def debugpy_seconds(stop: Stop, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    session = transcripts_debugpy.Session(stop.file, stop.text, stop.condition, lambda message: None, environment)
    took = time.perf_counter() - began
    if session.frames[0]["line"] != stop.line:
        raise RuntimeError(f"no stop at line {stop.line}: {session.frames[0]}")
    session.client.ask("disconnect", terminateDebuggee=True)
    session.client.close()
    return took


def gdb_seconds(stop: Stop, environment: dict[str, str]) -> float:
    start = functools.partial(transcripts_gdb.start, stop.file, environment)
    return typed(start, [f"break {stop.in_gdb.format(line=stop.line)}", "run"], "hit Breakpoint 1, ", "quit")


DEBUGGERS = {
    "pdb": (pdb_seconds, transcripts_pdb.ENVIRONMENT),
    "debugpy": (debugpy_seconds, transcripts_debugpy.ENVIRONMENT),
    "gdb": (gdb_seconds, transcripts_gdb.ENVIRONMENT),
}


PROGRAMS = "tests/debugger/programs.py"
SIMULATED = {
    # Its name there; a line that holds the text; the condition; what it imports.
    "matmul": ("matmul", PROGRAMS, "acc = tl.dot(a, b, acc)", "block==(1,2,0) && warp==1", "numpy, torch"),
    "a reduction": ("reduction", "demo/ptx/block_sum.cu", "if (i < half)", "block==1 && warp==0", "numpy"),
    "a product with a warp that copies": ("specialised", PROGRAMS, "acc = tl.dot(a.load", "warp==4", "numpy, torch"),
}


def simulated_seconds(program: str, file: str, text: str, condition: str) -> float:
    def start() -> Terminal:
        command = [sys.executable, "-m", "tiletwin", "debug", PROGRAMS, program]
        environment = {"PYTHONPATH": str(ROOT / "python"), "INPUTRC": "/dev/null"}
        terminal = Terminal(command, transcripts_debugger.PROMPT, environment=environment)
        terminal.wait()
        return terminal

    place = f"{Path(file).name}:{line_of(file, text)}"
    return typed(start, [f"break {place} if {condition}", "run"], f":{line_of(file, text)}", "quit")


def import_seconds(modules: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)
    return time.perf_counter() - began


def bench_simulated(record: Callable, only: str, repeats: int) -> None:
    """Records the medians of `tiletwin debug`."""
    for kernel, (program, file, text, condition, modules) in SIMULATED.items():
        name = name_of("tiletwin debug", kernel)
        if only not in name:
            continue
        rounds = [
            simulated_seconds(program, file, text, condition) - import_seconds(modules) for _ in range(repeats + 1)
        ]
        median = max(statistics.median(rounds[1:]), 1e-3)
        record(name, median, None, LIMIT / median, 1.0, note="limit / ours")


def name_of(debugger: str, kernel: str) -> str:
    return f"{debugger}: start to stop in {kernel}, besides imports (limit {LIMIT:g} s)"


def bench(record: Callable, only: str = "", repeats: int = 3) -> None:
    """Records, for each debugger and kernel, the median of the seconds besides imports; the gate is LIMIT."""
    bench_simulated(record, only, repeats)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "imports.py"
        file.write_text(IMPORTS)
        imports = Stop(str(file), "stop = ", "True", "getloadavg")
        for debugger, (seconds, environment) in DEBUGGERS.items():
            plain = {k: v for k, v in environment.items() if not k.startswith("TILETWIN")}
            stops = {kernel: stop for kernel, stop in KERNELS.items() if only in name_of(debugger, kernel)}
            took: dict[str, list[float]] = {kernel: [] for kernel in stops}
            for number in range(repeats + 1 if stops else 0):
                without = seconds(imports, plain)
                for kernel, stop in stops.items():
                    within = seconds(stop, environment)
                    if number:  # the first round reads files from the disk and compiles Python's
                        took[kernel].append(within - without)
            for kernel, values in took.items():
                median = max(statistics.median(values), 1e-3)  # it may be less than what the imports vary by
                record(name_of(debugger, kernel), median, None, LIMIT / median, 1.0, note="limit / ours")


def main() -> int:
    failed = False

    def record(name: str, ours: float, *_: object, **__: object) -> None:
        nonlocal failed
        failed |= ours > LIMIT
        print(f"{name}: {ours:.2f} s{'' if ours <= LIMIT else '   ABOVE THE LIMIT'}", flush=True)

    repeats, only = int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2] if len(sys.argv) > 2 else ""
    bench(record, only, repeats)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
