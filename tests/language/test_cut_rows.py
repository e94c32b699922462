"""Rows whose end a mask cuts: loads leave them in memory, and readers see the rest as if it were there.

Compiled and eager mode give the same bits; eager mode has all elements of a row, one operation after the other.
"""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from both_modes import in_both_modes

N = 1024
ENDS = [0, 1, 3, 500, 512, 1000, N - 1, N, N + 7]
OTHERS = [None, 0.0, -0.0, 2.5, -np.inf, np.inf, np.nan]


def array(dtype, n=N, seed=0):
    """Random elements; behind them NaN, infinities or large numbers, not to be seen."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        x = np.concatenate([generator.standard_normal(n), [np.nan, np.inf, -np.inf] * 2]).astype(dtype)
    else:
        x = np.concatenate([generator.integers(-9, 9, n), [100] * 6]).astype(dtype)
    x[5 % n] = 0
    return x


@triton.jit
def rows(x_ptr, y_ptr, out_ptr, numbers_ptr, n, other, N: tl.constexpr, OTHER: tl.constexpr, FORM: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, N)
    inside = cols < n
    if OTHER:
        x = tl.load(x_ptr + row * n + cols, mask=inside, other=other)
    else:
        x = tl.load(x_ptr + row * n + cols, mask=inside)
    y = tl.load(y_ptr + cols, mask=inside)
    if FORM == "softmax":
        x = tl.exp((x - tl.max(x, 0)).to(tl.float32))
        out = x / tl.sum(x, 0)
    elif FORM == "layer norm":
        x = x.to(tl.float32)
        centred = tl.where(inside, x - tl.sum(x, 0) / n, 0.0)
        out = centred / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5) * y + y
    elif FORM == "variance of all lanes":
        x = x.to(tl.float32)
        centred = x - tl.sum(x, 0) / n
        out = centred / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    elif FORM == "root mean square":
        wide = x.to(tl.float32)
        out = wide / tl.sqrt(tl.sum(wide * wide, 0) / n) * y
    else:  # product of two rows
        out = x.to(tl.float32) * tl.sum(x.to(tl.float32) * y.to(tl.float32), 0)
    tl.store(numbers_ptr + row, tl.sum(out, 0))
    tl.store(out_ptr + row * N + cols, out.to(out_ptr.dtype.element_ty), mask=inside)


FORMS = ["softmax", "layer norm", "variance of all lanes", "root mean square", "product"]


@pytest.mark.parametrize("other", OTHERS, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_row_kernels(dtype, form, other):
    for n in ENDS[1:]:
        x, y = array(dtype, 3 * n), array(dtype, n, 1)
        out, numbers = np.full((3, N), 7, dtype), np.zeros(3, np.float32)
        constants = dict(N=N, OTHER=other is not None, FORM=form)
        x = x[: 2 * n + n]  # the last row ends with the buffer
        if n > N:
            x, y, n = array(dtype, 3 * n), array(dtype, n, 1), N
        out, _ = in_both_modes(rows, (3,), x, y, out, numbers, n, other or 0.0, **constants)[2:]
        assert (out[:, n:] == 7).all()


@triton.jit
def readers(x_ptr, y_ptr, out_ptr, n, m, other, N: tl.constexpr, FORM: tl.constexpr):
    cols = tl.arange(0, N)
    inside = cols < n
    x = tl.load(x_ptr + cols, mask=inside, other=other)
    y = tl.load(y_ptr + cols)
    if FORM == "all stored":  # elements behind the end are computed, too
        tl.store(out_ptr + cols, x * 2 + 1)
    elif FORM == "reversed":
        tl.store(out_ptr + N - 1 - cols, x * 2 + 1)
    elif FORM == "with whole rows":
        tl.store(out_ptr + cols, x * 2 + y)
    elif FORM == "two ends":
        tl.store(out_ptr + cols, x + tl.load(y_ptr + cols, mask=cols < m, other=3))
    elif FORM == "with indices":
        tl.store(out_ptr + cols, x + cols.to(x.dtype))
    elif FORM == "chosen":
        tl.store(out_ptr + cols, tl.where(cols < m, x + 1, 3))
    elif FORM == "chosen by a tile":
        tl.store(out_ptr + cols, tl.where(cols < m, x + 1, y))
    elif FORM == "mask as elements":
        tl.store(out_ptr + cols, (cols < m).to(x.dtype) + x)
    elif FORM == "stored to another end":
        tl.store(out_ptr + cols, x + 1, mask=cols < m)
    elif FORM == "stored from":
        tl.store(out_ptr + cols, x + 1, mask=cols >= m)
    elif FORM == "kept for later":
        twice = x * 2
        tl.store(out_ptr + cols, twice + tl.sum(twice, 0) + tl.max(tl.where(cols < m, twice, 1), 0))
    elif FORM == "stored twice":
        tl.store(out_ptr + cols, x + 1)
        tl.store(out_ptr + (cols + 1) % N, x + 2, mask=cols < m)
    elif FORM == "in place":
        tl.store(x_ptr + cols, x + 1, mask=inside)
    elif FORM == "in place, shifted":
        tl.store(x_ptr + 1 + cols, x + 1, mask=cols < n - 1)
    elif FORM == "read after a store":
        tl.store(x_ptr + cols, y, mask=inside)
        tl.store(out_ptr + cols, x + 1)
    elif FORM == "prefixes":
        tl.store(out_ptr + cols, tl.cumsum(x, 0))
    elif FORM == "largest":
        value, index = tl.max(x, 0, return_indices=True)
        tl.store(out_ptr + cols, value + index.to(x.dtype))
    elif FORM == "sorted":
        tl.store(out_ptr + cols, tl.sort(x))
    elif FORM == "bits":
        tl.store(out_ptr + cols, (x.to(tl.int32, bitcast=True) & 0x7FFFFFFF).to(x.dtype, bitcast=True))
    elif FORM == "two dimensions":
        square = tl.reshape(x, (N // 16, 16))
        tl.store(out_ptr + cols, tl.reshape(square + tl.sum(square, 1)[:, None] + tl.max(square, 0)[None, :], (N,)))
    elif FORM == "spread":
        four = x[None, :] + tl.arange(0, 4)[:, None].to(x.dtype)
        tl.store(out_ptr + cols, tl.sum(four, 0) + tl.sum(tl.sum(four, 1), 0))
    elif FORM == "one row of a tile":
        row = x[None, :]
        tl.store(out_ptr + cols, tl.reshape(row - tl.sum(row, 1)[:, None], (N,)))
    elif FORM == "one column of a tile":
        column = x[:, None]
        tl.store(out_ptr + cols, tl.reshape(column - tl.sum(column, 0)[None, :], (N,)))
    elif FORM == "picked":
        tl.store(out_ptr + cols, tl.gather(x, (cols * 7) % N, 0))
    elif FORM == "halves":
        left, right = tl.split(tl.reshape(x, (N // 2, 2)))
        tl.store(out_ptr + tl.arange(0, N // 2), left - right)
    elif FORM == "in a loop":
        total = x
        for i in range(3):
            total += x * i + tl.sum(x + i, 0)
        tl.store(out_ptr + cols, total)
    else:  # carried through a loop
        z = x
        for i in range(3):
            if i == m:
                z = y
            tl.store(out_ptr + cols, z + i, mask=cols < n + i)
            z = tl.load(x_ptr + cols, mask=cols < n - i, other=other)


READERS = """all stored|reversed|with whole rows|two ends|with indices|chosen|chosen by a tile|mask as elements
stored to another end|stored from|kept for later|stored twice|in place|in place, shifted|read after a store|prefixes
largest|sorted|bits|two dimensions|spread|one row of a tile|one column of a tile|picked|halves|in a loop|carried"""


@pytest.mark.parametrize("form", READERS.replace("\n", "|").split("|"))
def test_readers(form):
    for dtype in (np.float32, np.int32):
        for n in ENDS:
            for m in (0, 3, n, N):
                for other in (0.0, np.nan, -3.0) if dtype == np.float32 else (0, -3):
                    x, y, out = array(dtype), array(dtype, seed=1), np.zeros(N + 6, dtype)
                    in_both_modes(readers, (1,), x, y, out, min(n, N), m, other, N=N, FORM=form)


@triton.jit
def reduced(x_ptr, out_ptr, n, N: tl.constexpr):
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + cols, mask=cols < n, other=1)
    tl.store(out_ptr, tl.sum(x, 0))
    tl.store(out_ptr + 1, tl.max(x, 0))
    tl.store(out_ptr + 2, tl.min(x, 0))
    tl.store(out_ptr + 3, tl.xor_sum(x, 0))
    tl.store(out_ptr + 4, tl.sum(x.to(tl.int64) * 3, 0).to(x.dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_integers(dtype):
    for n in ENDS:
        x = array(dtype)
        n = min(n, N)
        out = in_both_modes(reduced, (1,), x, np.zeros(5, dtype), n, N=N)[1]
        whole = x[:N].copy()
        whole[n:] = 1
        expected = [whole.sum(), whole.max(), whole.min(), np.bitwise_xor.reduce(whole), whole.sum() * 3]
        np.testing.assert_array_equal(out, np.array(expected).astype(dtype))


@triton.jit
def between(x_ptr, out_ptr, lo, hi, N: tl.constexpr):
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + cols, mask=(cols >= lo) & (cols < hi), other=-1.0)
    tl.store(out_ptr + cols, x + tl.sum(x, 0))


@pytest.mark.parametrize("ends", [(0, 900), (1, 900), (-4, 900), (300, 2000), (5, 5), (9, 3)], ids=str)
def test_ranges_that_begin_elsewhere(ends):
    x = np.arange(N, dtype=np.float32)
    out = in_both_modes(between, (1,), x, np.zeros(N, np.float32), *ends, N=N)[1]
    cols = np.arange(N)
    whole = np.where((cols >= ends[0]) & (cols < ends[1]), x, np.float32(-1))
    np.testing.assert_allclose(out, whole + whole.sum(), rtol=1e-6)


@triton.jit
def every_second(x_ptr, out_ptr, n, N: tl.constexpr):
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + 2 * cols, mask=cols < n, other=4.0)
    tl.store(out_ptr + cols, x - tl.max(x, 0))


@pytest.mark.parametrize("n", ENDS)
def test_elements_that_are_no_neighbours(n):
    x = np.arange(2 * N, dtype=np.float32)
    out = in_both_modes(every_second, (1,), x, np.zeros(N, np.float32), min(n, N), N=N)[1]
    whole = np.where(np.arange(N) < n, x[::2], np.float32(4))
    np.testing.assert_array_equal(out, whole - whole.max())


@triton.jit
def past_the_end(x_ptr, out_ptr, n, N: tl.constexpr):
    cols = tl.arange(0, N)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + cols, mask=cols < n), 0))


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_an_access_past_the_end_is_found(dtype):
    x, out = np.ones(600, dtype), np.zeros(1, dtype)
    past_the_end[(1,)](x, out, 600, N=N)
    assert out[0] == 600
    with pytest.raises(triton.OutOfBoundsError, match="element 600"):
        past_the_end[(1,)](x, out, 601, N=N)
