"""Dots of loops whose products wait for more of them, or whose operand stays or is shared.

Each is compared, bit for bit, with one where something reads the sum in every round, and with NumPy.
"""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import variables

TYPES = {
    "fp32": (torch.float32, torch.float32),
    "fp16": (torch.float16, torch.float32),
    "bf16": (torch.bfloat16, torch.float32),
    "fp64": (torch.float64, torch.float64),
    "int8": (torch.int8, torch.int32),
    "into fp16": (torch.float16, torch.float16),
}


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, out_ptr, seen_ptr, K, stride_a, stride_b, stride_k, M: tl.constexpr, N: tl.constexpr,
    BK: tl.constexpr, READ: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, BK)
    a_ptrs = a_ptr + m * stride_a + k[None, :]
    b_ptrs = b_ptr + k[:, None] * stride_k + n * stride_b
    acc = tl.load(c_ptr + m * N + n)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=k[None, :] < K - start, other=0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - start, other=0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=acc.dtype)
        if READ:
            tl.store(seen_ptr + m * N + n, acc)
        a_ptrs += BK
        b_ptrs += BK * stride_k
    tl.store(out_ptr + m * N + n, acc)


def tensor(generator, shape, dtype):
    if dtype == torch.int8:
        return torch.from_numpy(generator.integers(-128, 128, shape).astype(np.int8))
    return torch.from_numpy(generator.standard_normal(shape)).to(dtype)


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("tile", [(64, 64, 32), (16, 16, 128), (128, 32, 64), (16, 256, 32), (512, 16, 32)], ids=str)
@pytest.mark.parametrize("name", TYPES)
def test_sums_that_nothing_reads_in_the_loop(name, tile, columns):
    m, n, bk = tile
    dtype, sum_type = TYPES[name]
    generator = np.random.default_rng(0)
    for k in (0, 1, bk, 5 * bk, 17 * bk - 3):
        a, b = tensor(generator, (m, k + 1), dtype), tensor(generator, (n, k + 1) if columns else (k + 1, n), dtype)
        c = tensor(generator, (m, n), torch.float32 if sum_type == torch.int32 else sum_type).to(sum_type)
        out, read, seen = torch.empty_like(c), torch.empty_like(c), torch.empty_like(c)
        strides = (a.stride(0), b.stride(0), 1) if columns else (a.stride(0), 1, b.stride(0))
        for to, reads in ((out, False), (read, True)):
            product[(1,)](a, b, c, to, seen, k, *strides, M=m, N=n, BK=bk, READ=reads, PRECISION="ieee")
        assert torch.equal(out, read), k
        x, y = a[:, :k].double(), (b[:, :k].T if columns else b[:k]).double()
        want, size = c.double() + x @ y, c.double().abs() + x.abs() @ y.abs()
        if dtype == torch.int8:
            assert torch.equal(out.double(), want)
        else:
            bound = {torch.float16: 2.0**-10, torch.float32: 2.0**-23, torch.float64: 2.0**-50}[sum_type]
            assert ((out.double() - want).abs() <= (k + 1) * bound * size).all()


@triton.jit
def nested(a_ptr, b_ptr, out_ptr, rounds, inner, B: tl.constexpr, RESET: tl.constexpr, READ: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    at = i * B + j
    acc = tl.zeros((B, B), tl.float32)
    last = tl.zeros((B, B), tl.float32)
    for r in range(rounds):
        if RESET:
            acc = tl.zeros((B, B), tl.float32)
        other = tl.full((B, B), 1.0, tl.float32)
        same = tl.load(b_ptr + (r * B * B + at))  # the same in the whole inner loop, another one in the next
        for s in range(inner):
            a = tl.load(a_ptr + (s * B * B + at))
            acc = tl.dot(a, same, acc, input_precision="ieee")
            other = tl.dot(same, a, other, input_precision="ieee")
            changing = tl.dot(a, same, input_precision="ieee") * 0.5
            last = last * 0.25 + changing + tl.dot(same, a, last, input_precision="ieee") * 0.125
            if READ:
                tl.store(out_ptr + 3 * B * B + at, acc + other)
        tl.store(out_ptr + at, acc)
        tl.store(out_ptr + B * B + at, other)
        tl.store(out_ptr + 2 * B * B + at, last)


@pytest.mark.parametrize("reset", [False, True])
def test_loops_in_loops(reset):
    size, rounds, inner = 16, 3, 11
    generator = np.random.default_rng(1)
    a, b = (generator.standard_normal((n, size, size)).astype(np.float32) / size for n in (inner, rounds))
    results = []
    for read in (False, True):
        out = np.zeros((4, size, size), np.float32)
        nested[(1,)](a, b, out, rounds, inner, B=size, RESET=reset, READ=read)
        results.append(out[:3])
    assert (results[0] == results[1]).all()
    acc, last = np.zeros((size, size)), np.zeros((size, size))
    for same in b.astype(np.float64):
        acc = np.zeros((size, size)) if reset else acc
        other = np.ones((size, size))
        for x in a.astype(np.float64):
            acc, other = acc + x @ same, other + same @ x
            last = last * 0.25 + x @ same * 0.5 + (last + same @ x) * 0.125
    assert np.allclose(results[0], [acc, other, last], rtol=1e-5, atol=1e-6)


@triton.jit
def overwritten(q_ptr, k_ptr, out_ptr, rounds, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    q = tl.load(q_ptr + at)
    most = tl.full((B, B), -1e30, tl.float32)
    for r in range(rounds):
        most = tl.maximum(most, tl.dot(q, tl.load(k_ptr + (r * B * B + at)), input_precision="ieee"))
        tl.store(q_ptr + at, most)  # what was loaded stays
    tl.store(out_ptr + at, most)


def test_an_operand_that_stays_is_the_one_that_was_loaded():
    generator = np.random.default_rng(2)
    q, k = generator.integers(-4, 5, (16, 16)).astype(np.float32), generator.integers(-4, 5, (7, 16, 16)).astype("f4")
    want, out = (q @ k).max(0), np.empty((16, 16), np.float32)
    overwritten[(1,)](q, k, out, 7, B=16)
    assert (out == want).all()
    assert (q == want).all()


@triton.jit
def ordered(
    a_ptr, b_ptr, out_ptr, order_ptr, count_ptr, most, B: tl.constexpr, N: tl.constexpr, SUM: tl.constexpr,
    WRITE: tl.constexpr, LAST: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    i, j, k = tl.arange(0, B)[:, None], tl.arange(0, N)[None, :], tl.arange(0, B)
    acc = tl.zeros((B, N), tl.float32)
    for r in range(tl.load(count_ptr + row)):
        block = tl.load(order_ptr + row * most + r)
        a = tl.load(a_ptr + r * B * B + i * B + k[None, :])
        b = tl.load(b_ptr + block * B * N + k[:, None] * N + j, mask=k[:, None] < tl.where(r < LAST, B, B - 1), other=0)
        if SUM:
            acc = tl.dot(a, b, acc)
        else:
            acc = tl.maximum(acc, tl.dot(a, b))
    tl.store(out_ptr + row * B * N + i * N + j, acc)
    if WRITE:  # the next program reads it
        tl.store(b_ptr + k[:, None] * N + j, tl.zeros((B, N), b_ptr.dtype.element_ty) + row % 3)


@pytest.mark.parametrize("last", [99, 7], ids=["whole", "cut"])
@pytest.mark.parametrize("writes", [False, True], ids=["", "writes"])
@pytest.mark.parametrize("sums", [False, True], ids=["most", "sum"])
@pytest.mark.parametrize("columns", [16, 64, 256])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_programs_that_read_the_same_in_any_order(dtype, columns, sums, writes, last):
    """Blocks that programs share, in runs that begin alike, differ later, or end early: whole numbers, so exact."""
    size, most, blocks = 16, 40, 50
    generator = np.random.default_rng(3)
    straight = np.arange(most, dtype=np.int32)
    orders = [straight] * 3 + [straight + 3] * 2 + [straight, straight]
    for at in (1, 5, 8, 9, 39):  # from here on something else
        orders += [straight, np.append(straight[:at], generator.integers(0, blocks, most - at)).astype(np.int32)] * 2
    orders += [np.zeros(most, np.int32)] * 3 + [straight[::-1].copy()] * 3 + [straight]
    counts = np.array(
        [[most, 40, 7, 1, 0, 12, 33][i % 7] if i % 3 == 0 else most for i in range(len(orders))], np.int32
    )
    a = generator.integers(-3, 4, (most, size, size)).astype(np.float32)
    b = generator.integers(-3, 4, (blocks, size, columns)).astype(np.float32)
    with variables.Changes(TILETWIN_NUM_THREADS="1"):
        for _ in range(2):  # a launch knows nothing of the one before
            ours = torch.from_numpy(b.copy()).to(dtype)
            out = torch.empty(len(orders), size, columns)
            ordered[(len(orders),)](
                torch.from_numpy(a).to(dtype), ours, out, np.array(orders), counts, most,
                B=size, N=columns, SUM=sums, WRITE=writes, LAST=last,
            )  # fmt: skip
            there = b.copy()
            for row, (order, count) in enumerate(zip(orders, counts)):
                read = there[order[:count]]
                read[last:, -1] = 0
                terms = a[:count] @ read
                want = terms.sum(0) if sums else np.maximum(terms.max(0, initial=0), 0)
                assert (out[row].numpy() == want).all(), row
                if writes:
                    there[0] = row % 3
            b = generator.integers(-3, 4, b.shape).astype(np.float32)
