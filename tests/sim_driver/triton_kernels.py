"""Kernels for real Triton on the virtual GPU (torch_clients.py)."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


tuned = triton.autotune([triton.Config({"B": 128}), triton.Config({"B": 256})], key=["n"])(add)
