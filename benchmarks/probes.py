"""Vector additions with calls of debugging helpers that never fire, for run.py."""

import triton
import triton.language as tl
from tiletwin import breakpoint_if, print_if


@triton.jit
def taken(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Where this program's elements lie, which of them are inside, and both operands."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    return offs, mask, tl.load(x_ptr + offs, mask=mask, other=0.0), tl.load(y_ptr + offs, mask=mask, other=0.0)


@triton.jit
def add_print_if(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs, mask, x, y = taken(x_ptr, y_ptr, n, BLOCK)
    print_if(tl.program_id(0) == -1, "out", x, x + y)
    tl.store(out_ptr + offs, x + y, mask=mask)


@triton.jit
def add_print_if_nan(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs, mask, x, y = taken(x_ptr, y_ptr, n, BLOCK)
    out = x + y
    print_if(out != out, "NaN", out)
    tl.store(out_ptr + offs, out, mask=mask)


@triton.jit
def add_breakpoint_if(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs, mask, x, y = taken(x_ptr, y_ptr, n, BLOCK)
    breakpoint_if(tl.program_id(0) == -1)
    tl.store(out_ptr + offs, x + y, mask=mask)
