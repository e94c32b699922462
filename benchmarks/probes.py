"""Vector additions with calls of debugging helpers that never fire, for run.py."""

import triton
import triton.language as tl
from tiletwin import breakpoint_if, print_if


@triton.jit
def add_print_if(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    out = x + y
    print_if(pid == -1, "out", x, out)
    tl.store(out_ptr + offs, out, mask=mask)


@triton.jit
def add_print_if_nan(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    out = tl.load(x_ptr + offs, mask=mask, other=0.0) + tl.load(y_ptr + offs, mask=mask, other=0.0)
    print_if(out != out, "NaN", out)
    tl.store(out_ptr + offs, out, mask=mask)


@triton.jit
def add_breakpoint_if(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    out = x + y
    breakpoint_if(pid == -1)
    tl.store(out_ptr + offs, out, mask=mask)
