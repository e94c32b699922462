"""The kernel that benchmarks/cold_compile_worker.py compiles before it measures."""

import triton
import triton.language as tl


@triton.jit
def warm(x, n):
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
