"""Programs that the tests look at with gdb: python programs.py vector_add|matmul|attention|formats|branches."""
# ruff: noqa: F841

import sys

import numpy as np
import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    total = x + y
    tl.store(out_ptr + offs, total, mask=mask)


@triton.jit
def tile_offsets(row, col, stride, M: tl.constexpr, N: tl.constexpr):
    rows = row * M + tl.arange(0, M)
    cols = col * N + tl.arange(0, N)
    return rows[:, None] * stride + cols[None, :]


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, N, BLOCK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K // BLOCK):
        a = tl.load(a_ptr + tile_offsets(pid_m, k, K, BLOCK, BLOCK))
        b = tl.load(b_ptr + tile_offsets(k, pid_n, N, BLOCK, BLOCK))
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + tile_offsets(pid_m, pid_n, N, BLOCK, BLOCK), acc)


@triton.jit
def online_softmax(scores, m, l):
    m_new = tl.maximum(m, tl.max(scores, 1))
    p = tl.exp(scores - m_new[:, None])
    alpha = tl.exp(m - m_new)
    return p, m_new, l * alpha + tl.sum(p, 1), alpha


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, length, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1)
    start = head * length * D
    rows = block * BLOCK + tl.arange(0, BLOCK)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + start + rows[:, None] * D + dims[None, :])
    m = tl.full((BLOCK,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK,), tl.float32)
    acc = tl.zeros((BLOCK, D), tl.float32)
    for first in range(0, length, BLOCK):
        cols = first + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + start + cols[None, :] * D + dims[:, None])
        scores = tl.dot(q, k, input_precision="ieee") * scale
        p, m, l, alpha = online_softmax(scores, m, l)
        v = tl.load(v_ptr + start + cols[:, None] * D + dims[None, :])
        acc = tl.dot(p, v, acc * alpha[:, None], input_precision="ieee")
    acc = acc / l[:, None]
    tl.store(o_ptr + start + rows[:, None] * D + dims[None, :], acc)


@triton.jit
def formats(out_ptr, n, scale, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    half = offs.to(tl.float16) * 0.5
    brain = offs.to(tl.bfloat16) * 1.5
    small = offs.to(tl.float32).to(tl.float8e5)
    fine = offs.to(tl.float32).to(tl.float8e4nv)
    byte = offs.to(tl.uint8)
    even = offs % 2 == 0
    square = offs[:, None] < offs[None, :]
    wide = offs.to(tl.int64) << 40
    tl.store(out_ptr + offs, half.to(tl.float32) + scale, mask=offs < n)


@triton.jit
def branches(out_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    value = pid * 10
    if pid % 2 == 0:
        even = value + 1
        value = even
    else:
        value = value - 1
    count = 0
    while count < pid:
        count += 1
    value, count = count, value
    tl.store(out_ptr + pid, value * 1000 + count)


def run_vector_add():
    n = 4096 * 16 - 5
    x = np.arange(n, dtype=np.float32)
    out = np.zeros_like(x)
    vector_add[(4096,)](x, x, out, n, BLOCK=16)
    return np.array_equal(out, 2 * x)


def run_matmul():
    size, block = 1024, 16
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 4, (2, size, 32)).astype(np.float32)
    c = np.zeros((size, size), np.float32)
    matmul[(size // block, size // block)](a, np.ascontiguousarray(b.T), c, 32, size, BLOCK=block)
    return np.array_equal(c, a @ b.T)


def run_attention():
    heads, length, dim, block = 1024, 64, 16, 16
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, heads, length, dim)).astype(np.float32)
    o = np.zeros_like(q)
    attention[(length // block, heads)](q, k, v, o, length, 0.25, D=dim, BLOCK=block)
    scores = np.exp(q @ k.transpose(0, 2, 1) * 0.25)
    return np.allclose(o, scores / scores.sum(-1, keepdims=True) @ v, atol=1e-5)


def run_formats():
    out = np.zeros(64, np.float32)
    formats[(1,)](out, 50, 0.25, BLOCK=64)
    return out[49] == 49 * 0.5 + 0.25 and out[50] == 0


def run_branches():
    out = np.full(8, -1, np.int32)
    branches[(8,)](out, 6)
    return out.tolist() == [1, 1009, 2021, 3029, 4041, 5049, -1, -1]


if __name__ == "__main__":
    print("launching", flush=True)
    print("result is", "right" if globals()["run_" + sys.argv[1]]() else "wrong", flush=True)
