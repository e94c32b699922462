"""What a launch costs through the virtual GPU's driver, beside the same launch given to the simulator.

    python benchmarks/driver_launches.py

Prints the median of each over rounds that alternate, and what the driver adds (the aim: at most 100 µs).
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tiletwin import sim

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "sim_driver"))
import virtual_gpu as gpu

ROUNDS, LAUNCHES = 31, 200


def seconds(run: Callable[[], object]) -> float:
    """Of one launch, on average."""
    begin = time.perf_counter()
    for _ in range(LAUNCHES):
        run()
    return (time.perf_counter() - begin) / LAUNCHES


def main() -> None:
    x = np.ones(64, np.float32)
    kernel = sim.load(gpu.ADD)["add"]
    y, z = x.copy(), x.copy()
    with gpu.context():
        add, memory = gpu.function("add"), gpu.to_device(x)
        values = gpu.pointers([*[ctypes.c_uint64(memory)] * 3, ctypes.c_uint32(64)])
        launch = gpu.LIBRARY.cuLaunchKernel
        words = [ctypes.c_uint64(v) for v in (add, 1, 1, 1, 64, 1, 1, 0, 0)]
        through = [seconds(lambda: launch(*words, values, None)) for _ in range(3)]
        direct = [seconds(lambda: kernel(x, y, z, 64, grid=1, block=64)) for _ in range(3)]
        through, direct = [], []
        for _ in range(ROUNDS):
            through.append(seconds(lambda: launch(*words, values, None)))
            direct.append(seconds(lambda: kernel(x, y, z, 64, grid=1, block=64)))
    ours, theirs = statistics.median(through) * 1e6, statistics.median(direct) * 1e6
    print(f"through the driver {ours:.1f} µs, by the simulator's Python interface {theirs:.1f} µs")
    print(f"the driver adds {ours - theirs:.1f} µs")


if __name__ == "__main__":
    main()
