"""Loads that every program of a launch makes alike: they are made once, unless a program may write what they read."""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import variables

N, B = 40, 64


@pytest.fixture(autouse=True)
def one_after_the_other():
    with variables.Changes(TILETWIN_NUM_THREADS="1"):
        yield


@triton.jit
def add_row(x_ptr, w_ptr, out_ptr, n, other, B: tl.constexpr, OTHER: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    if OTHER:
        w = tl.load(w_ptr + i, mask=i < n, other=other)
    else:
        w = tl.load(w_ptr + i, mask=i < n)
    x = tl.load(x_ptr + row * B + i)
    tl.store(out_ptr + row * B + i, tl.where(i < n, x + w, w if OTHER else x))


@pytest.mark.parametrize("n", [0, 1, N, B])
def test_each_launch_reads_anew(n):
    generator = np.random.default_rng(0)
    x, out = generator.standard_normal((5, B)).astype(np.float32), np.empty((5, B), np.float32)
    w = np.zeros(max(n, 1), np.float32)
    for other in (1.5, -2.0):
        w[:] = generator.standard_normal(max(n, 1))
        add_row[(5,)](x, w, out, n, other, B=B, OTHER=True)
        assert (out[:, :n] == x[:, :n] + w[:n]).all() and (out[:, n:] == np.float32(other)).all()
        add_row[(5,)](x, w, out, n, other, B=B, OTHER=False)
        assert (out[:, :n] == x[:, :n] + w[:n]).all() and (out[:, n:] == x[:, n:]).all()


@triton.jit
def grow(w_ptr, out_ptr, n, B: tl.constexpr, HOW: tl.constexpr):
    i = tl.arange(0, B)
    w = tl.load(w_ptr + i, mask=i < n)
    if HOW == "store":
        tl.store(out_ptr + i, w + 1, mask=i < n)
    elif HOW == "scatter":
        tl.store(out_ptr + (i * 7) % n, tl.load(w_ptr + (i * 7) % n) * 0 + 1 + tl.sum(w, 0) / n, mask=i < n)
    elif HOW == "scalar":
        tl.store(out_ptr, tl.sum(w, 0))
    elif HOW == "atomic":
        tl.atomic_add(out_ptr + i, tl.where(i < n, 1 + w * 0, 0), mask=i < n)
    else:
        tl.store(out_ptr.to(tl.int64).to(tl.pointer_type(tl.float32)) + i, w + 1, mask=i < n)


@pytest.mark.parametrize("how", ["store", "scatter", "scalar", "atomic", "pointer"])
def test_what_a_program_writes_the_next_one_reads(how):
    programs = 4
    expected = np.full(N, 2.0, np.float32)
    for _ in range(programs):
        if how == "scalar":
            expected[0] = expected.sum()
        else:
            expected = expected + 1 if how != "scatter" else np.full(N, 1 + expected.sum() / N, np.float32)
    same = torch.full((N,), 2.0)
    grow[(programs,)](same, same, N, B=B, HOW=how)
    assert np.allclose(same.numpy(), expected)
    # The same numbers under two arguments; and two halves of one storage, which do not meet.
    whole = torch.full((2 * N,), 2.0)
    grow[(programs,)](whole[:N], whole.view(2, N)[0], N, B=B, HOW=how)
    assert np.allclose(whole[:N].numpy(), expected) and (whole[N:] == 2).all()
    whole = torch.full((2 * N,), 2.0)
    if how != "atomic":
        once = torch.full((2 * N,), 2.0)
        grow[(1,)](once[:N], once[N:], N, B=B, HOW=how)
        grow[(programs,)](whole[:N], whole[N:], N, B=B, HOW=how)
        assert torch.equal(whole, once)


@triton.jit
def either(w_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for r in range(row):
        if r % 2 == 1:
            acc += tl.load(w_ptr + i, mask=i < n, other=0.5)
    tl.store(out_ptr + row * B + i, acc)


def test_a_load_that_only_some_programs_make():
    w, out = np.arange(N, dtype=np.float32), np.empty((6, B), np.float32)
    either[(6,)](w, out, N, B=B)
    row = np.append(w, np.full(B - N, 0.5, np.float32))
    assert (out == np.array([r // 2 for r in range(6)], np.float32)[:, None] * row).all()
