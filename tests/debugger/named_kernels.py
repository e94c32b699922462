"""Kernels whose variables a debugger shows: `named_kernels.py NAME` launches one. Their numbers are whole, so that
every order of sums has the same bits."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N, K, B: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    column = tl.program_id(1) * B + tl.arange(0, B)
    lefts = a_ptr + row[:, None] * K
    acc = tl.full((B, B), 0, tl.float32)
    for k in range(0, K, B):
        inner = k + tl.arange(0, B)
        a = tl.load(lefts + inner[None, :], mask=inner[None, :] < K, other=0)
        rights = b_ptr + inner[:, None] * N + column[None, :]
        b = tl.load(rights, mask=inner[:, None] < K, other=0)
        acc = tl.dot(a, b, acc)
    scaled = acc * 2
    at = row[:, None] * N + column[None, :]
    tl.store(c_ptr + at, scaled)


@triton.jit
def clipped(x, least, most):
    low = tl.maximum(x, least)
    both = tl.minimum(low, most)
    return both


@triton.jit
def masked(x_ptr, o_ptr, n, scale, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * B + tl.arange(0, B)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=-1)
    name = x + 1
    if pid > 0:
        name = name * scale
        sign = -1
    else:
        sign = 1
    name = clipped(name, -50, 50)
    total = tl.sum(name, axis=0)
    half = (name.to(tl.float32) * 0.5).to(tl.float16)
    tl.store(o_ptr + at, half.to(tl.float32) + total * sign, mask=mask)


@triton.jit
def halved(x_ptr, o_ptr, n, B: tl.constexpr):
    at = tl.arange(0, B)
    x = tl.load(x_ptr + at)
    steps = 0
    left = n
    while left > 1:
        left = left // 2
        if left % 2 == 0:
            x = x + left
        steps += 1
    wide = x.to(tl.int64) * 3
    is_even = wide % 2 == 0
    tl.store(o_ptr + at, tl.where(is_even, wide, steps))


@triton.jit
def rows(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    peak = tl.max(x, axis=1)
    moved = x - peak[:, None]
    sums = tl.sum(moved, axis=1)
    turned = tl.trans(moved)
    unsigned = i.to(tl.uint8)
    tl.store(o_ptr + j[:, None] * M + i[None, :], turned + sums[None, :] + unsigned[None, :])


def run_product(**options):
    b = (torch.arange(64 * 64) % 97).reshape(64, 64).half()
    a, c = (torch.arange(64 * 64) % 5).reshape(64, 64).half(), torch.zeros(64, 64)
    product[(4, 4)](a, b, c, 64, 64, B=16, num_warps=2, **options)  # type: ignore[index]


def run_warpgroups():
    b = (torch.arange(128 * 256) % 13).reshape(256, 128).half()
    a, c = (torch.arange(128 * 256) % 5).reshape(128, 256).half(), torch.zeros(128, 128)
    product[(2, 2)](a, b, c, 128, 256, B=64, num_warps=4, num_stages=3)  # type: ignore[index]


def run_masked():
    x, out = torch.arange(200, dtype=torch.int32) - 90, torch.zeros(200)
    masked[(2,)](x, out, 200, 3, B=128)  # type: ignore[index]


def run_halved():
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    halved[(1,)](x, out, 20, B=64)  # type: ignore[index]


def run_rows():
    x, out = (torch.arange(32 * 64) * 7 % 31).reshape(32, 64).float(), torch.zeros(64, 32)
    rows[(1,)](x, out, M=32, N=64)  # type: ignore[index]


PROGRAMS = {
    "product": lambda: run_product(num_stages=1),
    "pipelined": lambda: run_product(num_stages=3),
    "warpgroups": run_warpgroups,
    "masked": run_masked,
    "halved": run_halved,
    "rows": run_rows,
}
if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
