"""Kernels of tensor descriptors made on the host, and running them on the interpreter and on the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.launch import tensor_map_arguments
from tiletwin.tools.ragged_tma import atomic_add_ragged, load_ragged, store_ragged

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
INTEGERS = [getattr(torch, f"{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2, torch.float8_e4m3fn]


@triton.jit
def copy_blocks(x, y, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) - 1, tl.program_id(1) - 1
    y.store([i * BM, j * BN], x.load([i * BM, j * BN]))


@triton.jit
def copy_inside(x, y, BM: tl.constexpr, BN: tl.constexpr):
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    y.store(at, x.load(at))


@triton.jit
def copy_1d(x, y, B: tl.constexpr):
    i = tl.program_id(0) - 1
    y.store([i * B], x.load([i * B]))


@triton.jit
def copy_3d(x, y, B: tl.constexpr):
    at = [tl.program_id(0) * 2 - 1, tl.program_id(1) * 3 - 1, tl.program_id(2) * B - B]
    y.store(at, x.load(at))


@triton.jit
def copy_5d(x, y, B: tl.constexpr):
    at = [tl.program_id(0) - 1, tl.program_id(1), 0, tl.program_id(2) * 2 - 1, B - B]
    y.store(at, x.load(at))


@triton.jit
def scale_rows(x, factors, y, rounds, BM: tl.constexpr, BN: tl.constexpr):
    """Loads that share a wait, blocks used twice, a reduction between load and store."""
    for round in range(rounds):
        a = x.load([round * BM, 0]).to(tl.float32)
        b = factors.load([round * BM, 0]).to(tl.float32)
        largest = tl.max(a, 1)
        y.store([round * BM, 0], tl.minimum(a * b, largest[:, None]).to(y.dtype))


@triton.jit
def into_memory(x, out, at0, BM: tl.constexpr, BN: tl.constexpr):
    block = x.load([at0, BN])
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    tl.store(out + rows[:, None] * BN + columns[None, :], block)


@triton.jit
def multiply(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TURNED: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = a.load([row, k])
        right = b.load([column, k]).T if TURNED else b.load([k, column])
        sums = tl.dot(left, right, sums)
    c.store([row, column], sums.to(c.dtype))


@triton.jit
def multiply_batch(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TURNED: tl.constexpr):
    """As `multiply`, of one matrix of each tensor a program: blocks have three dimensions."""
    row, column, matrix = tl.program_id(0) * BM, tl.program_id(1) * BN, tl.program_id(2)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.reshape(a.load([matrix, row, k]), (BM, BK))
        if TURNED:
            right = tl.reshape(b.load([matrix, column, k]), (BN, BK)).T
        else:
            right = tl.reshape(b.load([matrix, k, column]), (BK, BN))
        sums = tl.dot(left, right, sums)
    c.store([matrix, row, column], tl.reshape(sums, (1, BM, BN)).to(c.dtype))


@triton.jit
def multiply_two(a, b, c, d, o, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """o = a @ b + c @ d, in one loop."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([row, k]), b.load([k, column]), sums)
        sums = tl.dot(c.load([row, k]), d.load([k, column]), sums)
    o.store([row, column], sums.to(o.dtype))


@triton.jit
def add_into(x, y, B: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * B
    if KIND == "add":
        y.atomic_add([0, i], x.load([0, i]))
    elif KIND == "min":
        y.atomic_min([0, i], x.load([0, i]))
    elif KIND == "max":
        y.atomic_max([0, i], x.load([0, i]))
    elif KIND == "and":
        y.atomic_and([0, i], x.load([0, i]))
    elif KIND == "or":
        y.atomic_or([0, i], x.load([0, i]))
    else:
        y.atomic_xor([0, i], x.load([0, i]))


@triton.jit
def ragged(x, y, first, size, B: tl.constexpr, KIND: tl.constexpr):
    for i in range(0, 2):
        block = load_ragged(x, first, size, [i * B, 0])
        if KIND == "add":
            atomic_add_ragged(y, first, size, [i * B, 0], block)
        else:
            store_ragged(y, first, size, [i * B, 0], block)


@triton.jit
def stored_then_copied(x, p, y, B: tl.constexpr):
    """What plain stores wrote is copied behind the fence that tells the copies of it."""
    tl.store(p + tl.arange(0, B), tl.arange(0, B).to(tl.float32))
    tl.debug_barrier()
    y.store([0], x.load([0]) + 1)


def bits(x: torch.Tensor) -> np.ndarray:
    return x.contiguous().view(BITS[x.element_size()]).numpy()


def numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 100, shape, generator=generator).to(dtype)


def both(
    monkeypatch: pytest.MonkeyPatch, kernel: Any, grid: tuple[int, ...], outputs: list[torch.Tensor], call: Any
) -> Any:
    """Launches on the interpreter and on the simulator and compares the outputs' bits. call(): the arguments, made of
    `outputs`, which are as they were at first each time."""
    before = [out.clone() for out in outputs]
    results = {}
    for backend in ("interp", "sim"):
        for out, old in zip(outputs, before, strict=True):
            out.copy_(old)
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        compiled = kernel[grid](*call())
        results[backend] = [bits(out).copy() for out in outputs]
    assert not checks.findings()
    for ours, theirs in zip(results["sim"], results["interp"], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return compiled


def maps_of(compiled: Any) -> list[tensor_map_arguments.MapArgument | None]:
    return [tensor_map_arguments.map_argument(kind) for kind in compiled.asm.facts["arguments"]]
