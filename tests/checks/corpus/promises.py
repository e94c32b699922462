"""Promises that are not kept: tl.multiple_of, tl.max_contiguous, tl.max_constancy, tl.assume, and divisibility that a
kernel compiled ahead was given.

A GPU's compiler widens accesses by them and then reads the wrong elements; the CPU does not look at them, so all of
these mistakes hide.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import inside, normal, seeded

UNUSED = "the CPU computes every address and does not use the promise"


@triton.jit
def multiple_of_16(x_ptr, o_ptr, start, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if BUG:
        offs = tl.multiple_of(offs, 16)  # BUG: promises
    else:
        offs = tl.multiple_of(offs, 2)
    tl.store(o_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@seeded("promises", multiple_of_16, hidden=UNUSED)
def _(bug):
    x, o = normal(130), torch.zeros(130)
    multiple_of_16[(2,)](x, o, 2, 130, BLOCK=64, BUG=bug)
    return o[2:], x[2:]


@triton.jit
def contiguous_but_for_the_wrap(a_ptr, o_ptr, m, K: tl.constexpr, BM: tl.constexpr, BUG: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % m
    if BUG:
        rows = tl.max_contiguous(rows, BM)  # BUG: promises
    else:
        rows = tl.max_contiguous(rows, 4)
    cols = tl.arange(0, K)
    a = tl.load(a_ptr + cols[:, None] * m + rows[None, :])
    out = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(o_ptr + cols[:, None] * m + out[None, :], a, mask=out[None, :] < m)


@seeded("promises", contiguous_but_for_the_wrap, hidden=UNUSED)
def _(bug):
    a, o = normal(16, 40), torch.zeros(16, 40)
    contiguous_but_for_the_wrap[(3,)](a, o, 40, K=16, BM=16, BUG=bug)
    return o, a


@triton.jit
def stride_promised_aligned(x_ptr, o_ptr, stride, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    if BUG:
        stride = tl.multiple_of(stride, 8)  # BUG: promises
    else:
        stride = tl.multiple_of(stride, 4)
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offs, mask=offs < n)
    tl.store(o_ptr + row * n + offs, x, mask=offs < n)


@seeded("promises", stride_promised_aligned, hidden=UNUSED)
def _(bug):
    x, o = normal(4, 20), torch.zeros(4, 20)
    stride_promised_aligned[(4,)](x, o, 20, 20, BLOCK=32, BUG=bug)
    return o, x


@triton.jit
def constant_groups(scale_ptr, o_ptr, group, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = offs // group
    if BUG:
        at = tl.max_constancy(at, 8)  # BUG: promises
    else:
        at = tl.max_constancy(at, 4)
    tl.store(o_ptr + offs, tl.load(scale_ptr + at, mask=offs < n), mask=offs < n)


@seeded("promises", constant_groups, hidden=UNUSED)
def _(bug):
    scale, o = normal(5), torch.zeros(60)
    constant_groups[(1,)](scale, o, 12, 60, BLOCK=64, BUG=bug)
    return o, scale.repeat_interleave(12)


@triton.jit
def assumed_positive(x_ptr, o_ptr, first, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    if BUG:
        tl.assume(first >= 0)  # BUG: promises
    else:
        tl.assume(first >= -8)
    offs = first + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=(offs >= 0) & (offs < n), other=0.0)
    tl.store(o_ptr + tl.arange(0, BLOCK), x)


@seeded("promises", assumed_positive, hidden=UNUSED)
def _(bug):
    x, o = normal(64), torch.zeros(32)
    assumed_positive[(1,)](x, o, -4, 64, BLOCK=32, BUG=bug)
    return o, torch.nn.functional.pad(x, (4, 0))[:32]


@triton.jit
def pointer_promised_aligned(x_ptr, o_ptr, shift, BLOCK: tl.constexpr, BUG: tl.constexpr):
    base = x_ptr + shift
    if BUG:
        base = tl.multiple_of(base, 16)  # BUG: promises
    offs = tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, tl.load(base + offs))


@seeded("promises", pointer_promised_aligned, hidden=UNUSED)
def _(bug):
    x, o = inside(normal(48), after=8), torch.zeros(32)
    pointer_promised_aligned[(1,)](x, o, 3, BLOCK=32, BUG=bug)
    return o, x[3:35]


@triton.jit
def compiled_for_aligned_rows(x_ptr, o_ptr, stride, BLOCK: tl.constexpr, BUG: tl.constexpr):  # BUG: promises
    offs = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    tl.store(o_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.load(x_ptr + offs))


@seeded("promises", compiled_for_aligned_rows, hidden=UNUSED)
def _(bug):
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "stride": "i32", "BLOCK": "constexpr", "BUG": "constexpr"}
    attributes = {(2,): [["tt.divisibility", 16]]} if bug else {}
    constants = {"BLOCK": 16, "BUG": bug}
    source = triton.compiler.ASTSource(compiled_for_aligned_rows, signature, constants, attributes)
    x, o = normal(4, 20), torch.zeros(4, 16)
    triton.compile(source)[(4, 1, 1)](x, o, 20)
    return o, x[:, :16]
