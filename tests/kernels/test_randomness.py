"""Kernels of randomness.py: against Philox in NumPy, and by the statistics of what they draw."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from checking import DEVICE, assert_close, integers, normal
from randomness import dropout, dropout_residual_norm, hash_buckets, initialise, stochastic_bf16


def philox(seed: int, counters: np.ndarray) -> np.ndarray:
    """Philox-4x32-10 as uint32 [4, n]: counter (low, high, 0, 0), the seed as the key."""
    c = [
        counters.astype(np.uint64) & 0xFFFFFFFF,
        counters.astype(np.uint64) >> 32,
        *np.zeros((2, len(counters)), np.uint64),
    ]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            second & 0xFFFFFFFF,
            (first >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            first & 0xFFFFFFFF,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c).astype(np.uint32)


def uniform(words: np.ndarray) -> torch.Tensor:
    signed = words.view(np.int32)
    positive = np.where(signed < 0, -signed - 1, signed).astype(np.float32)
    return torch.from_numpy(positive * np.float32(4.6566127342e-10)).to(DEVICE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("n", [1, 5000])
def test_dropout(n, p, dtype) -> None:
    x, seed = normal(n, dtype=dtype), 123456789012345
    keep = uniform(philox(seed, np.arange(n))[0]) > np.float32(p)
    y = dropout(x, p, seed)
    assert_close(y, torch.where(keep, x.double() / (1 - p), 0.0), units=2)
    gradient = dropout(torch.ones_like(x), p, seed)
    assert torch.equal(gradient != 0, keep)


@pytest.mark.parametrize("shape", [(9, 1000), (4, 64), (2, 5)])
def test_dropout_residual_norm(shape) -> None:
    x, r, w = normal(*shape), normal(*shape, seed=1), normal(shape[1])
    n, seed, p = shape[1], 99, 0.3
    quarter = max(16, 1 << (n - 1).bit_length()) // 4
    words = philox(seed, np.arange(shape[0] * quarter)).reshape(4, shape[0], quarter)
    u = uniform(np.ascontiguousarray(words.transpose(1, 2, 0)).reshape(shape[0], -1))[:, :n]
    h = r.double() + torch.where(u > p, x.double() / (1 - p), 0.0)
    assert_close(dropout_residual_norm(x, r, w, p, seed), F.rms_norm(h, (n,), w.double(), 1e-6))


def test_initialisers() -> None:
    n = 40_000
    uniform_values = initialise(n, "uniform", -2.0, 3.0, 5).double()
    assert uniform_values.min() >= -2 and uniform_values.max() < 3
    assert abs(uniform_values.mean() - 0.5) < 5 * 5 / math.sqrt(12 * n)
    values = initialise(n, "normal", 1.0, 2.0, 6).double()
    assert abs(values.mean() - 1) < 5 * 2 / math.sqrt(n) and abs(values.std() / 2 - 1) < 5 / math.sqrt(2 * n)
    truncated = initialise(n, "truncated", 0.0, 1.0, 7).double()
    assert truncated.abs().max() <= 2 and abs(truncated.std() - 0.8796) < 0.02
    assert torch.equal(initialise(n, "normal", 1.0, 2.0, 6).double(), values)
    half = initialise(33, "uniform", 0.0, 1.0, 5, torch.float16)
    assert torch.equal(half, initialise(33, "uniform", 0.0, 1.0, 5).half())


def test_stochastic_rounding() -> None:
    x = torch.full((20_000,), 1 + 0.3 * 2.0**-7, device=DEVICE)
    y = stochastic_bf16(x, 11)
    assert set(y.unique().tolist()) == {1.0, 1 + 2.0**-7}
    assert abs((y > 1).double().mean() - 0.3) < 5 * math.sqrt(0.21 / len(x))
    exact = torch.tensor([0.0, -0.0, 1.5, -2.0, float("inf")], device=DEVICE)
    assert torch.equal(stochastic_bf16(exact, 1).float(), exact)


@pytest.mark.parametrize("buckets", [1 << 10, 1000, 7])
def test_hash(buckets) -> None:
    x = integers(-(2**31), 2**31 - 1, 3001)
    h = x.cpu().numpy().view(np.uint32)
    h = h ^ (h >> 16)
    h = h * np.uint32(0x85EBCA6B)
    h = h ^ (h >> 13)
    h = h * np.uint32(0xC2B2AE35)
    h = h ^ (h >> 16)
    expected = (h.astype(np.uint64) * buckets >> np.uint64(32)).astype(np.int32)
    assert torch.equal(hash_buckets(x, buckets).cpu(), torch.from_numpy(expected))


@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated"])
def test_eager(same_in_eager, kind) -> None:
    x, keys = normal(3, 20), integers(-100, 100, 20)

    def run():
        made = initialise(20, kind, 0.0, 1.0, 3, block=16)
        normed = dropout_residual_norm(x, x, x[0], 0.2, 3)
        return made, dropout(x, 0.4, 9, block=16), normed, stochastic_bf16(x, 2, 32), hash_buckets(keys, 10, 16)

    same_in_eager(run)
