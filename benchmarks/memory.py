"""What a launch allocates, by the heap profiler memray, and its peak memory.

Prints the number of allocations of one launch for growing grids: it must not grow with the number of programs. Then the
peak resident memory of launches over the arguments' size: at most 64 MiB. Exits 1 if either fails.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import timing

timing.interpret()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))

import memray  # noqa: E402
import torch  # noqa: E402
from kernels import product, row_softmax, vector_add  # noqa: E402

LIMIT_MIB = 64


def launches(programs):
    """(name, launch) pairs that run about `programs` programs each."""
    n = programs * 1024
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    yield "vadd", lambda: vector_add[(programs,)](x, y, out, n, BLOCK=1024)
    s, s_out = torch.randn(programs, 512), torch.empty(programs, 512)
    yield "softmax", lambda: row_softmax[(programs,)](s, s_out, 512, 512, BLOCK=512)
    rows = programs * 16
    a, b, c = torch.randn(rows, 64), torch.randn(64, 16), torch.empty(rows, 16)
    yield "matmul", lambda: product(a, b, c, (16, 16, 32), group=1)


def allocations(launch):
    """Number of allocation calls, on all threads, of one launch."""
    launch()  # compiles, and creates frames and workers
    launch()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "launch.bin")
        with memray.Tracker(path):
            launch()
        return memray.FileReader(path).metadata.total_allocations


PEAK = """
import re, sys
sys.path.insert(0, {demo!r})
import torch, kernels
kernels.vector_add[(1,)](torch.ones(8), torch.ones(8), torch.ones(8), 8, BLOCK=8)
size = {size}
if {which!r} == "matmul":
    args = [torch.ones(size, size) for _ in range(3)]
    run = lambda: kernels.product(*args, (128, 128, 64))
elif {which!r} == "attention":
    args = [torch.ones(1, 8, size, 64).half() for _ in range(4)]
    run = lambda: kernels.flash_attention[(size // 64, 8)](*args, size, 0.125, size * 64, BM=64, BN=64, D=64, CAUSAL=False)
else:
    args = [torch.ones(size * size) for _ in range(3)]
    run = lambda: kernels.vector_add[(size * size // 65536,)](*args, size * size, BLOCK=65536)
def status(field):
    return int(re.search(field + r":\\s+(\\d+) kB", open("/proc/self/status").read()).group(1))
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = status("VmRSS")
run()
print((status("VmHWM") - before) / 1024)
"""


def main():
    failed = False
    counts = {}
    for programs in (64, 1024, 16384):
        for name, launch in launches(programs):
            counts.setdefault(name, []).append(allocations(launch))
    print("allocations of one launch for 64, 1,024 and 16,384 programs")
    for name, values in counts.items():
        grows = values[-1] > values[0] + 64
        failed |= grows
        print(f"  {name:10} {values}{'   GROWS WITH THE GRID' if grows else ''}")
    print("peak memory of a launch beyond its arguments")
    for which in ("vadd", "matmul", "attention"):
        code = PEAK.format(demo=str(pathlib.Path(__file__).resolve().parent.parent / "demo"), size=2048, which=which)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        mib = float(done.stdout.split()[-1])
        failed |= mib > LIMIT_MIB
        print(f"  {which:10} {mib:.1f} MiB (limit {LIMIT_MIB})")
    return failed


if __name__ == "__main__":
    sys.exit(main())
