"""Kernels with block pointers, in the ways that kernels written for Triton 2 and 3.0 to 3.5 use them."""

import triton
import triton.language as tl


@triton.jit
def load_2d(x_ptr, o_ptr, s0, s1, t0, t1, at0, at1, B0: tl.constexpr, B1: tl.constexpr, CHECK: tl.constexpr,
            PAD: tl.constexpr, ORDER: tl.constexpr):  # fmt: skip
    block = tl.make_block_ptr(x_ptr, (s0, s1), (t0, t1), (at0, at1), (B0, B1), ORDER)
    x = tl.load(block, boundary_check=CHECK, padding_option=PAD)
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], x)


@triton.jit
def store_2d(x_ptr, o_ptr, s0, s1, t0, t1, at0, at1, B0: tl.constexpr, B1: tl.constexpr, CHECK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :])
    block = tl.make_block_ptr(
        base=o_ptr, shape=[s0, s1], strides=[t0, t1], offsets=[at0, at1], block_shape=[B0, B1], order=[1, 0]
    )
    tl.store(block, x.to(block.dtype.element_ty), boundary_check=CHECK)


@triton.jit
def copy_any_rank(x_ptr, o_ptr, S, T, AT, B: tl.constexpr, ORDER: tl.constexpr, CHECK: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, S, T, AT, B, ORDER)
    o = tl.make_block_ptr(o_ptr, S, T, AT, B, ORDER)
    tl.store(o, tl.load(x, boundary_check=CHECK), boundary_check=CHECK)


@triton.jit
def fill(o_ptr, n, at, B: tl.constexpr):
    tl.store(tl.make_block_ptr(o_ptr, (n,), (1,), (at,), (B,), (0,)), 3.0, boundary_check=0)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):  # fmt: skip
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    a = tl.make_block_ptr(a_ptr, (M, K), (sam, sak), (pid_m * BM, 0), (BM, BK), (1, 0))
    b = tl.make_block_ptr(b_ptr, (K, N), (sbk, sbn), (0, pid_n * BN), (BK, BN), (1, 0))
    sums = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(a, boundary_check=(0, 1))
        y = tl.load(b, boundary_check=(0, 1))
        sums = tl.dot(x, y, sums, input_precision="ieee")
        a = tl.advance(a, (0, BK))
        b = tl.advance(b, (BK, 0))
    c = tl.make_block_ptr(c_ptr, (M, N), (scm, scn), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
    tl.store(c, sums.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, stride, L, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """One head, causal, as in the tutorials for Triton 2.1."""
    start = tl.program_id(0) * BM
    q_block = tl.make_block_ptr(q_ptr, (L, D), (stride, 1), (start, 0), (BM, D), (1, 0))
    k_block = tl.make_block_ptr(k_ptr, (D, L), (1, stride), (0, 0), (D, BN), (0, 1))
    v_block = tl.make_block_ptr(v_ptr, (L, D), (stride, 1), (0, 0), (BN, D), (1, 0))
    o_block = tl.make_block_ptr(o_ptr, (L, D), (stride, 1), (start, 0), (BM, D), (1, 0))
    rows, columns = start + tl.arange(0, BM), tl.arange(0, BN)
    largest = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    out = tl.zeros([BM, D], tl.float32)
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    for begin in range(0, tl.minimum(start + BM, L), BN):
        k = tl.load(k_block, boundary_check=(1,), padding_option="zero")
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        s = tl.dot(q, k, input_precision="ieee") * scale
        s = tl.where(rows[:, None] >= (begin + columns)[None, :], s, float("-inf"))
        now = tl.maximum(largest, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        shrink = tl.exp(largest - now)
        total = total * shrink + tl.sum(p, 1)
        out = out * shrink[:, None]
        out = tl.dot(p, v, out, input_precision="ieee")
        largest = now
        k_block = tl.advance(k_block, (0, BN))
        v_block = v_block.advance((BN, 0))
    out = out / total[:, None]
    tl.store(o_block, out.to(o_ptr.type.element_ty), boundary_check=(0,))


@triton.jit
def step(block, by, B: tl.constexpr):
    return tl.advance(block, (by,)), tl.sum(tl.load(block, boundary_check=(0,), padding_option="zero"), 0)


@triton.jit
def through_functions(x_ptr, o_ptr, n, rounds, B: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    total = 0.0
    for _ in range(rounds):
        block, part = step(block, B, B)
        total += part
    tl.store(o_ptr, total)


@triton.jit
def in_branches(x_ptr, y_ptr, o_ptr, n, take_y, forward, B: tl.constexpr):
    if take_y != 0:
        block = tl.make_block_ptr(y_ptr, (n,), (2,), (0,), (B,), (0,))
    else:
        block = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    if forward != 0:
        block = tl.advance(block, (B,))
    tl.store(o_ptr + tl.arange(0, B), tl.load(block, boundary_check=(0,), padding_option="zero"))


@triton.jit
def in_while(x_ptr, o_ptr, n, B: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    total = tl.zeros((B,), tl.float32)
    at = 0
    while at < n:
        total += tl.load(block, boundary_check=(0,), padding_option="zero")
        block = tl.advance(block, (B,))
        at += B
    tl.store(o_ptr + tl.arange(0, B), total)


@triton.jit
def in_tuple(x_ptr, o_ptr, n, B: tl.constexpr):
    blocks = (
        tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,)),
        tl.make_block_ptr(o_ptr, (n,), (1,), (0,), (B,), (0,)),
    )
    for _ in range(0, n, B):
        tl.store(blocks[1], tl.load(blocks[0], boundary_check=(0,)) * 2, boundary_check=(0,))
        blocks = (tl.advance(blocks[0], (B,)), blocks[1].advance([B]))


@triton.jit
def facts(x_ptr, o_ptr, n, B: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (n, 4), (4, 1), (2, n), (B, 4), (1, 0))
    tl.static_assert(block.dtype.element_ty.element_ty == x_ptr.dtype.element_ty)
    tl.static_assert(block.type.element_ty.shape[0] == B)
    tl.store(o_ptr, block.offsets[0] * 1000 + block.offsets[1])


@triton.jit
def bool_block(x_ptr, o_ptr, n, B: tl.constexpr):
    x = tl.load(tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,)), boundary_check=(0,), padding_option="zero")
    tl.static_assert(x.dtype == tl.int8)
    tl.store(o_ptr + tl.arange(0, B), x.to(tl.int32))
