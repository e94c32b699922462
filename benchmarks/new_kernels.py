"""Seconds of the first launch of a kernel that this process has not seen, once it has launched others: a mean of 200.

Run by run.py, in processes of its own, under TILETWIN_INTERPRET=1. The kernels differ by a constant and their names.
"""

import importlib
import pathlib
import sys
import tempfile
import time

import torch

HEAD = "import triton, triton.language as tl\n"
KERNEL = """
@triton.jit
def kernel_{n}(x_ptr, y_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < size)
    y = x * {n}.5 + tl.exp(x)
    tl.store(y_ptr + offsets, tl.where(y > 0, y, -y), mask=offsets < size)
"""
FIRST, COUNT = 5, 200

x, y = torch.randn(128), torch.empty(128)
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "many_kernels.py")
    file.write_text(HEAD + "".join(KERNEL.format(n=n) for n in range(FIRST + COUNT)))
    sys.path.insert(0, folder)
    module = importlib.import_module("many_kernels")
    kernels = [getattr(module, f"kernel_{n}") for n in range(FIRST + COUNT)]
    for kernel in kernels[:FIRST]:
        kernel[(1,)](x, y, 128, BLOCK=128)
    start = time.perf_counter()
    for kernel in kernels[FIRST:]:
        kernel[(1,)](x, y, 128, BLOCK=128)
    print((time.perf_counter() - start) / COUNT)
