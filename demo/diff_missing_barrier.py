"""A kernel that is right on the interpreter and wrong on a GPU: threads read what others have not written yet.

tiletwin diff --backends interp,sim demo/diff_missing_barrier.py
"""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def reversed_rows(x, scratch, out, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    twice = tl.load(x + row * B + i) * 2
    tl.store(scratch + row * B + i, twice)
    # tl.debug_barrier() is missing
    back = tl.load(scratch + row * B + (B - 1 - i))
    tl.store(out + row * B + i, back + 1)


x = np.arange(1, 2049, dtype=np.float32).reshape(4, 512)
reversed_rows[(4,)](x, np.zeros_like(x), np.zeros_like(x), B=512)
