"""Random numbers: the words against Philox written in Python integers, the floats against an H200."""

from __future__ import annotations

import numpy as np
import pytest
import random_kernels as kernels
import torch
from kernel_cases import DATA

MASK = 0xFFFFFFFF


def philox(seed: int, offset: int, rounds: int) -> list[int]:
    """Philox-4x32 as its authors define it: counter (offset, 0, 0), key seed."""
    c = [offset & MASK, offset >> 32 & MASK, 0, 0]
    key = [seed & MASK, seed >> 32 & MASK]
    for _ in range(rounds):
        low, high = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [high >> 32 ^ c[1] ^ key[0], high & MASK, low >> 32 ^ c[3] ^ key[1], low & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return c


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31, 2**40 + 5, -1])
@pytest.mark.parametrize("offset", [0, 16, 2**33 + 3])
@pytest.mark.parametrize("rounds", [10, 7])
def test_words(seed: int, offset: int, rounds: int) -> None:
    n = 16
    out = torch.zeros(4 * n, dtype=torch.uint32)
    kernels.four_words[(1,)](out, seed, offset, rounds, n)
    want = np.array([philox(seed & 2**64 - 1, offset + i, rounds) for i in range(n)], dtype=np.uint32).T.reshape(-1)
    assert (out.numpy() == want).all()


def test_like_the_gpu() -> None:
    with np.load(DATA / "random.npz") as stored:
        n, seed = len(stored["rand"]), int(stored["seed"])
        rand, randn = torch.zeros(n), torch.zeros(n)
        randint = torch.zeros(n)
        kernels.numbers[(n // 128,)](rand, randn, randint, seed, 128)
        assert (rand.numpy() == stored["rand"]).all()
        assert (randint.numpy() == stored["randint"]).all()
        # The GPU's log, sqrt, cos and sin are approximations.
        assert np.allclose(randn.numpy(), stored["randn"], rtol=1e-5, atol=2e-6)
