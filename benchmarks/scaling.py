"""Speed of one launch by thread count, on a compute-bound and a memory-bound kernel.   usage: scaling.py [THREADS ...]

Each count runs in a process of its own. Prints the speed-up over one thread.
"""

import os
import pathlib
import subprocess
import sys

import timing

HERE = pathlib.Path(__file__).resolve().parent


def child():
    sys.path.insert(0, str(HERE.parent / "demo"))
    import torch
    from kernels import product, vector_add

    size, n = 2048, 1 << 26
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    runs = (
        lambda: product(a, b, c, (128, 128, 64)),
        lambda: vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024),
    )
    for run in runs:
        run(), run()
        print(timing.median_seconds(run, 7))


def main():
    counts = [int(a) for a in sys.argv[1:]] or [1, 2]
    base = None
    print(f"{'threads':>8} {'matmul f32 2048':>24} {'vadd f32 2^26':>24}")
    for count in counts:
        ours = {"TILETWIN_INTERPRET": "1", "TILETWIN_NUM_THREADS": str(count), "TILETWIN_SCALING_CHILD": "1"}
        done = subprocess.run([sys.executable, __file__], env=os.environ | ours, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        times = [float(line) for line in done.stdout.split()]
        base = base or times
        cells = [f"{t * 1e3:9.2f} ms  {b / t:6.2f} x" for t, b in zip(times, base)]
        print(f"{count:>8} {cells[0]:>24} {cells[1]:>24}")


if __name__ == "__main__":
    child() if os.environ.get("TILETWIN_SCALING_CHILD") else main()
