"""What the benchmarks share: this process under the interpreter, times of one side or of two in turns.

Not here:  what is timed, gates and tables (run.py and its like).
"""

import os
import statistics
import sys
import time


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
