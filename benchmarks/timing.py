"""What the benchmarks share: this process under the interpreter, options, times of one side or of two in turns.

Not here:  what is timed, gates and tables (run.py and its like).
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRITON = ROOT / ".venv-triton" / "bin" / "python"
"""A Python with real Triton, if scripts/setup.sh --peers has made it."""


def options(text, threads=2):
    """A parser of what most benchmarks take. text: of the module. threads: of both sides by default."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--repeats", type=int, default=9)
    return parser


def environment(**changes):
    """This process's variables without tiletwin's and Triton's, and with these changes."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("TILETWIN", "TRITON"))} | changes


def interpret(threads=None):
    """Starts this script anew under TILETWIN_INTERPRET=1 unless it runs so. threads: of each launch."""
    if os.environ.get("TILETWIN_INTERPRET") != "1":
        os.environ["TILETWIN_INTERPRET"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if threads:
        os.environ["TILETWIN_NUM_THREADS"] = str(threads)


def seconds(run, rest=0.02):
    """Time of one run on an idle machine.

    torch's workers spin on for some milliseconds after a call and would take a core from whoever comes next.
    """
    time.sleep(rest)
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def in_turns(ours, theirs, repeats, warm=2, rest=0.02):
    """Times of both, taken alternately, after some runs that do not count."""
    for _ in range(warm):
        ours(), theirs()
    times = [(seconds(ours, rest), seconds(theirs, rest)) for _ in range(repeats)]
    return tuple(zip(*times))


def median_seconds(run, repeats):
    """The median of runs one after the other."""
    return statistics.median(seconds(run, 0) for _ in range(repeats))
