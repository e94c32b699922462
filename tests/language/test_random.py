"""Random numbers: the words against Philox written in Python integers, the floats against an H200."""

from __future__ import annotations

import numpy as np
import pytest
import random_kernels as kernels
import torch
from floating import F32, rounded
from kernel_cases import DATA
from mpmath import mp, mpf

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


def philox64(seed: int, counters: list[int], rounds: int = 10) -> list[int]:
    """Philox-4x64, the same with words twice as wide."""
    mask = 2**64 - 1
    c, key = list(counters), [seed, 0]
    for _ in range(rounds):
        low, high = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [high >> 64 ^ c[1] ^ key[0], high & mask, low >> 64 ^ c[3] ^ key[1], low & mask]
        key = [(key[0] + 0x9E3779B97F4A7C15) & mask, (key[1] + 0xBB67AE8584CAA73B) & mask]
    return c


def uniform(word: int, bits: int = 32) -> np.float32:
    """A word as a float in [0, 1): folded at its sign bit, rounded, times Triton's constant."""
    folded = word if word >> (bits - 1) == 0 else ~word & (1 << bits) - 1
    scale = {32: 4.6566127342e-10, 64: 1.0842020432385337e-19}[bits]
    return np.float32(folded) * np.float32(scale)


def normal(u1: np.float32, u2: np.float32) -> tuple[float, float]:
    """Box-Muller with every operation rounded once to float32."""

    def near(x: mpf) -> mpf:
        return mpf(rounded(x, F32))

    u1 = max(u1, np.float32(1e-7))
    angle = near(mpf(float(np.float32(6.283185307179586))) * mpf(float(u2)))
    radius = near(mp.sqrt(near(-2 * near(mp.log(mpf(float(u1)))))))
    return tuple(float(near(radius * near(f(angle)))) for f in (mp.cos, mp.sin))


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


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("signed", [False, True])
def test_words_to_uniform_floats(bits: int, signed: bool) -> None:
    random = np.random.default_rng(bits)
    top = 1 << (bits - 1)
    edges = [0, 1, 2, top - 1, top, top + 1, 2 * top - 1, top - 64, top + 63, 2**24 + 1, 2**25 + 3]
    words = np.concatenate([np.array(edges, np.uint64), random.integers(0, 2 * top, 245, dtype=np.uint64)])
    kind = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    out = torch.zeros(256)
    kernels.uniform[(1,)](torch.from_numpy(words.astype(f"u{bits // 8}").view(kind)), out, 256)
    want = np.array([uniform(int(w), bits) for w in words])
    assert (out.numpy() == want).all()
    assert (want >= 0).all() and (want < 1).all()


@pytest.mark.parametrize("numerics", ["fast", "ieee"])
@pytest.mark.parametrize(("seed", "offset"), [(0, 0), (42, 100), (2**40 + 5, 2**33 + 3)])
def test_four_uniform_and_four_normal(seed: int, offset: int, numerics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """rand4x bit for bit; randn4x within 3 units of operations rounded once, and equal to them with ieee numerics."""
    monkeypatch.setenv("TILETWIN_NUMERICS", numerics)
    n = 256
    rand, randn = torch.zeros(4, n), torch.zeros(4, n)
    kernels.four_of_each[(1,)](rand, randn, seed, offset, n)
    words = [philox(seed, offset + i, 10) for i in range(n)]
    uniforms = np.array([[uniform(w) for w in row] for row in words], np.float32).T
    assert (rand.numpy() == uniforms).all()
    want = np.array([[*normal(u[0], u[1]), *normal(u[2], u[3])] for u in uniforms.T]).T
    off = np.abs(randn.numpy() - want) / np.spacing(np.abs(want).astype(np.float32))
    assert off.max() <= (0 if numerics == "ieee" else 3), off.max()
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    eager = torch.zeros(4, n)
    kernels.four_of_each[(1,)](rand, eager, seed, offset, n)
    assert torch.equal(eager, randn)


def test_words_of_64_bits() -> None:
    out, seed = torch.zeros(64, dtype=torch.uint64), 2**40 + 5
    kernels.wide_words[(1,)](out, seed, 16)
    want = np.array([philox64(seed, [i, 7, 0, 3]) for i in range(16)], np.uint64).T.reshape(-1)
    assert (out.numpy() == want).all()
