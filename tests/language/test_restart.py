"""Index arithmetic after stores: no program may start again then, and every index still has its exact value."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
import restart_kernels as kernels
import tiletwin
import torch


@pytest.mark.parametrize(("m", "n", "k"), [(37, 53, 29), (64, 32, 16), (1, 33, 7), (95, 17, 64)])
@pytest.mark.parametrize("programs", [1, 3])
def test_persistent_matmul(m: int, n: int, k: int, programs: int) -> None:
    rng = np.random.default_rng(m * n + k)
    a, b = (torch.from_numpy(rng.integers(-8, 8, shape).astype(np.float32)) for shape in ((m, k), (k, n)))
    out = torch.full((m, n), float("nan"))
    kernels.persistent_matmul[(programs,)](a, b, out, m, n, k, 16, 16, 16)
    assert torch.equal(out, a @ b)  # sums of small integers are exact


@pytest.mark.parametrize("n", [64, 61, 7, 1])
def test_in_place(n: int) -> None:
    x = torch.arange(n, dtype=torch.int32)
    want = x.numpy().copy()
    rounds, block = 5, 16
    for r in range(rounds):
        for start in range(0, n, block):
            at = np.arange(start, start + block)
            other = want[(at + r) % n]
            want[at[at < n]] += other[at < n]
    kernels.rotate_and_add[(1,)](x, n, rounds, block)
    assert (x.numpy() == want).all()


@pytest.mark.parametrize("width", [1, 5, 16, 48, 100])
def test_rows_and_columns(width: int) -> None:
    n = 100
    out = torch.zeros(n, dtype=torch.int32)
    kernels.rows_and_columns[(1,)](out, width, n, 16)
    at = np.arange(n)
    assert (out.numpy() == at // width * 1000 + at % width).all()


@pytest.mark.parametrize("seed", [0, 53000, 2**31 - 20, -5])
def test_hashes(seed: int) -> None:
    n, rounds, block = 50, 40, 64
    out, negative = torch.zeros(rounds * n, dtype=torch.int32), torch.zeros(rounds * n, dtype=torch.int32)
    wide = torch.zeros(rounds * n, dtype=torch.int64)
    kernels.hashes[(1,)](out, wide, negative, seed, n, rounds, block)
    at, start = np.arange(n, dtype=np.int32), np.int32(seed)
    with np.errstate(over="ignore"):
        for r in range(rounds):
            h = (at + start) * np.int32(40503) + np.int32(r * 2654435)
            row = slice(r * n, r * n + n)
            assert (out.numpy()[row] == h ^ (h >> 15)).all()
            assert (wide.numpy()[row] == h.astype(np.int64) * 3).all()
            assert (negative.numpy()[row] == np.where(h < 0, at, -1)).all()
            start += np.int32(40503)


def test_select_by_hash() -> None:
    rounds, block = 60, 1024
    out = torch.zeros(block, dtype=torch.int32)
    want, at, seed = np.zeros(block, np.int32), np.arange(block, dtype=np.int32), np.int32(7)
    kernels.select_by_hash[(1,)](out, 7, rounds, block)
    with np.errstate(over="ignore"):
        for r in range(rounds):
            want[at * np.int32(40503) + seed < 0] = r + 1
            seed += np.int32(123456789)
    assert (out.numpy() == want).all()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_lanes_outside_the_mask_may_wrap(n: int) -> None:
    """The block begins at 2^31 - 3, so that its offsets wrap around from lane 3 on; the program has written before."""
    size, block = 2**31, 16
    # A large mapping lies high enough for the address of an element 8 GiB before it to be one.
    x = torch.from_numpy(np.frombuffer(mmap.mmap(-1, 1 << 20), np.float32))[:16]
    x.copy_(torch.arange(16))
    out = torch.zeros(block + 1)

    class Shifted:
        """An array whose element 2^31 - 3 is the first of x."""

        dtype = torch.float32

        def data_ptr(self) -> int:
            return x.data_ptr() - 4 * (size - 3)

    want = torch.full((block + 1,), 5.0)
    want[0], want[1 : n + 1] = -1.0, x[:n]
    changed = x + (torch.arange(16) < n)
    kernels.last_blocks[(1,)](Shifted(), out, n, size - 3, block)
    assert torch.equal(out, want) and torch.equal(x, changed)


def test_lanes_inside_the_mask_must_not_wrap() -> None:
    x, out = torch.zeros(16), torch.zeros(17)
    with pytest.raises(tiletwin.OutOfBoundsError, match="wrapped around"):
        kernels.last_blocks[(1,)](x, out, 4, 2**31 - 3, 16)


@pytest.mark.parametrize(("dtype", "factor"), [("int16", 1), ("int16", 100), ("int16", 1000), ("int8", 1), ("int8", 7)])
@pytest.mark.parametrize(("start", "limit"), [(0, 50), (30000, 31000), (-32000, 0), (100, -100)])
def test_narrow_masks(dtype: str, factor: int, start: int, limit: int) -> None:
    block = 2048
    out = torch.zeros(block, dtype=torch.int32)
    kernels.narrow_masks[(1,)](out, start, limit, factor, getattr(kernels.tl, dtype), block)
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        at = np.arange(block).astype(kind) * kind(factor) + np.int64(start).astype(kind)
    bound, i = np.int64(limit).astype(kind), np.arange(block)
    assert (out.numpy() == np.where(at == bound, -2, np.where(at < bound, i, -1))).all()


@pytest.mark.parametrize("factor", [1, -1, 3, 1024])
@pytest.mark.parametrize(("start", "limit"), [(0, 0), (2**31 - 5, 2**31 - 3), (2**31 - 5, -(2**31)), (-(2**31) + 9, 7)])
def test_masks_that_wrap_once(factor: int, start: int, limit: int) -> None:
    """The lanes that such a mask lets through are still one interval, or else the launch says what is wrong."""
    block = 512
    out = torch.zeros(block, dtype=torch.int32)
    i = np.arange(block)
    passes = (i * factor + start + 2**31) % 2**32 - 2**31 >= limit
    if (np.diff(passes.astype(int)) == 1).sum() + passes[0] > 1:
        with pytest.raises(tiletwin.OutOfBoundsError, match="wrapped around"):
            kernels.wrapping_mask[(1,)](out, start, limit, factor, block)
    else:
        kernels.wrapping_mask[(1,)](out, start, limit, factor, block)
        assert (out.numpy() == np.where(passes, i, -1)).all()
