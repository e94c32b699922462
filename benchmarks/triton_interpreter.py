"""Kernels bound by a launch's overhead, timed in whichever `triton` there is: Triton's interpreter or tiletwin."""

import json
import pathlib
import sys

import timing
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))
from kernels import product, row_softmax, vector_add


def measure(repeats):
    """Returns {name: seconds}, medians. "small tiles" in a name: at most 1,024 elements a tile."""
    torch.manual_seed(0)
    results = {}

    def timed(name, run):
        run()
        results[name] = timing.median_seconds(run, repeats)

    n = 1 << 20
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    timed("vadd 2^20, BLOCK 1024, small tiles", lambda: vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024))
    m = 512
    s, s_out = torch.randn(m, 1000), torch.empty(m, 1000)
    timed("softmax 512 x 1000, small tiles", lambda: row_softmax[(m,)](s, s_out, 1000, 1000, BLOCK=1024))
    size = 256
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    timed("matmul 256, tiles 16x16x16, small tiles", lambda: product(a, b, c, (16, 16, 16), group=4))
    timed("vadd 2^20, BLOCK 65536", lambda: vector_add[(n // 65536,)](x, y, out, n, BLOCK=65536))
    timed("matmul 256, tiles 128x128x64", lambda: product(a, b, c, (128, 128, 64), group=4))
    return results


if __name__ == "__main__":
    print(json.dumps(measure(repeats=3)))
