"""What a GPU refuses although the CPU runs it: tiles that need too much shared memory, blocks of too many threads,
types that a target lacks."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

RUNS = "the CPU has no such limit"


@triton.jit
def matmul_of_large_tiles(
    a_ptr, b_ptr, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BUG: tl.constexpr
):
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * BN + cols[None, :])
        acc = tl.dot(a, b, acc)  # BUG: device:h100
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)


@seeded("device:h100", matmul_of_large_tiles, hidden=RUNS)
def _(bug):
    a, b, c = normal(128, 256).half(), normal(256, 128, seed=1).half(), torch.zeros(128, 128)
    stages = 5 if bug else 3
    matmul_of_large_tiles[(1,)](a, b, c, 256, BM=128, BN=128, BK=128, BUG=bug, num_stages=stages)
    return c, a.float() @ b.float()


@triton.jit
def single_tiles_of_floats(a_ptr, b_ptr, c_ptr, k_size, BM: tl.constexpr, BK: tl.constexpr, BUG: tl.constexpr):
    rows, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), tl.float32)
    for start in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * BM + rows[None, :])
        acc = tl.dot(a, b, acc)  # BUG: device:rtx4090
    tl.store(c_ptr + rows[:, None] * BM + rows[None, :], acc)


@seeded("device:rtx4090", single_tiles_of_floats, hidden=RUNS)
def _(bug):
    a, b, c = normal(64, 128).round(), normal(128, 64, seed=1).round(), torch.zeros(64, 64)
    single_tiles_of_floats[(1,)](a, b, c, 128, BM=64, BK=64 if bug else 32, BUG=bug, num_stages=5)
    return c, a @ b


@triton.jit
def too_many_warps(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):  # BUG: device:h100
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, tl.load(x_ptr + offs) + 1)


@seeded("device:h100", too_many_warps, hidden=RUNS)
def _(bug):
    x, o = normal(2048), torch.zeros(2048)
    too_many_warps[(1,)](x, o, BLOCK=2048, BUG=bug, num_warps=64 if bug else 32)
    return o, x + 1


@triton.jit
def fp8_of_a_later_gpu(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    if BUG:
        q = x.to(tl.float8e4nv)  # BUG: device:a100
    else:
        q = x.to(tl.float8e5)
    tl.store(o_ptr + offs, q.to(tl.float32), mask=offs < n)


@seeded("device:a100", fp8_of_a_later_gpu, hidden=RUNS)
def _(bug):
    x, o = normal(40), torch.zeros(40)
    fp8_of_a_later_gpu[(1,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, x.to(torch.float8_e4m3fn if bug else torch.float8_e5m2).float()


@triton.jit
def product_of_bytes(a_ptr, b_ptr, o_ptr, B: tl.constexpr, BUG: tl.constexpr):
    rows, cols = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    a, b = tl.load(a_ptr + rows * B + cols), tl.load(b_ptr + rows * B + cols)
    if BUG:
        c = tl.dot(a, b)  # BUG: device:t4
    else:
        c = tl.dot(a.to(tl.float16), b.to(tl.float16)).to(tl.int32)
    tl.store(o_ptr + rows * B + cols, c)


@seeded("device:t4", product_of_bytes, hidden=RUNS)
def _(bug):
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randint(-8, 8, (32, 32), generator=generator, dtype=torch.int8) for _ in range(2))
    o = torch.zeros(32, 32, dtype=torch.int32)
    product_of_bytes[(1,)](a, b, o, B=32, BUG=bug)
    return o, a.int() @ b.int()


@triton.jit
def cluster_of_32(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):  # BUG: device:h200
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, tl.load(x_ptr + offs) + 1)


@seeded("device:h200", cluster_of_32, hidden=RUNS)
def _(bug):
    x, o = normal(1024), torch.zeros(1024)
    cluster_of_32[(1,)](x, o, BLOCK=1024, BUG=bug, num_ctas=32 if bug else 16)
    return o, x + 1


@triton.jit
def attention_of_wide_heads(q_ptr, k_ptr, v_ptr, o_ptr, length, D: tl.constexpr, B: tl.constexpr, BUG: tl.constexpr):
    rows, dims = tl.arange(0, B), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :])
    peak = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, length, B):
        cols = start + tl.arange(0, B)
        k = tl.load(k_ptr + cols[:, None] * D + dims[None, :])
        v = tl.load(v_ptr + cols[:, None] * D + dims[None, :])
        s = tl.dot(q, tl.trans(k))  # BUG: device:a100
        new_peak = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp(s - new_peak[:, None])
        alpha = tl.exp(peak - new_peak)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        peak = new_peak
    tl.store(o_ptr + rows[:, None] * D + dims[None, :], acc / total[:, None])


@seeded("device:a100", attention_of_wide_heads, hidden=RUNS)
def _(bug):
    q, k, v = (normal(64, 128, seed=i).half() / 4 for i in range(3))
    o = torch.zeros(64, 128)
    attention_of_wide_heads[(1,)](q, k, v, o, 64, D=128, B=64, BUG=bug, num_stages=6 if bug else 3)
    return o.half(), ((q.float() @ k.float().T).softmax(1) @ v.float()).half()
