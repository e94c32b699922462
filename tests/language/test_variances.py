"""Sums of squares of differences, whose numbers are not stored but computed again by who reads them next.

Compiled and eager mode give the same bits; eager mode stores every number.
"""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from both_modes import in_both_modes

N = 1024


@triton.jit
def variances(x_ptr, y_ptr, out_ptr, numbers_ptr, n, lo, N: tl.constexpr, FORM: tl.constexpr):
    cols = tl.arange(0, N)
    inside = cols < n
    x = tl.load(x_ptr + cols, mask=inside, other=0.5)
    y = tl.load(y_ptr + cols)
    mean = tl.sum(x.to(tl.float32), 0) / n
    if FORM == "one row of a tile":
        x = x[None, :]
        inside = inside[None, :]
    elif FORM == "computed before":
        x = x.to(tl.float32) * 2 + y
    x = x.to(tl.float32)
    other = 1.5 if FORM == "other numbers elsewhere" else 0.0
    if FORM == "all lanes":
        centred = x - mean
    elif FORM == "from another element on":
        centred = tl.where((cols >= lo) & inside, x - mean, other)
    elif FORM == "chosen by elements":
        centred = tl.where(x > y, x - mean, other)
    else:
        centred = tl.where(inside, x - mean, other)
    if FORM == "another product":
        variance = tl.sum(centred * x, 0)
    elif FORM == "one row of a tile":
        variance = tl.sum(tl.sum(centred * centred, 1), 0)
        centred = tl.reshape(centred, (N,))
    else:
        squares = centred * centred
        variance = tl.sum(squares, 0)
        if FORM == "squares are read":
            variance += tl.max(squares, 0)
    tl.store(numbers_ptr, variance)
    if FORM == "read twice":
        variance += tl.max(centred, 0)
        centred = centred + tl.sum(centred * y, 0)
    elif FORM == "in a loop":
        for i in range(3):
            centred = centred + i * tl.sum(centred * centred, 0)
    elif FORM == "stored in between":
        tl.store(x_ptr + cols, y.to(x_ptr.dtype.element_ty))
    elif FORM == "another sum":
        variance += tl.sum((centred - 1.5) * (centred - 1.5), 0)
    out = (centred / tl.sqrt(variance + 1) * y + y).to(x_ptr.dtype.element_ty)
    if FORM == "in place":
        tl.store(x_ptr + cols, out, mask=cols < n)
    elif FORM == "shifted":
        tl.store(x_ptr + cols + 1, out, mask=cols < n - 1)
    elif FORM == "stored everywhere":
        tl.store(out_ptr + cols, out)
    elif FORM == "stored under another mask":
        tl.store(out_ptr + cols, out, mask=cols < lo)
    elif FORM == "two stores":
        tl.store(out_ptr + cols, out, mask=cols < n)
        tl.store(y_ptr + cols, out, mask=cols < n - 1)
    elif FORM == "chosen and stored":
        tl.store(out_ptr + cols, tl.where(cols < n, x, y).to(out.dtype), mask=cols < n)
    elif FORM == "mask stored":
        tl.store(out_ptr + cols, (cols < n).to(out.dtype) + tl.where(cols < n, out, 3), mask=cols < n)
    else:
        tl.store(out_ptr + cols, out, mask=cols < n)


FORMS = """plain|all lanes|from another element on|chosen by elements|other numbers elsewhere|one row of a tile
computed before|another product|squares are read|read twice|in a loop|stored in between|another sum|in place|shifted
stored everywhere|stored under another mask|two stores|chosen and stored|mask stored"""


@pytest.mark.parametrize("form", FORMS.replace("\n", "|").split("|"))
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_variances(dtype, form):
    generator = np.random.default_rng(0)
    for n in (1, 3, 500, 1000, N):
        for lo in (0, 2, 700):
            x = np.append(generator.standard_normal(N), 9).astype(dtype)
            x[n:] = np.nan  # not to be seen
            y = generator.standard_normal(N).astype(np.float32)
            out, numbers = np.full(N, 7, dtype), np.zeros(1, np.float32)
            in_both_modes(variances, (1,), x, y, out, numbers, n, lo, N=N, FORM=form)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30])
def test_numbers_that_are_special(special):
    for n in (1000, N):
        x = np.random.default_rng(0).standard_normal(N).astype(np.float32)
        x[7] = special
        x[n:] = np.nan
        arrays = x, np.ones(N, np.float32), np.zeros(N, np.float32), np.zeros(1, np.float32)
        in_both_modes(variances, (1,), *arrays, n, 0, N=N, FORM="plain")


def test_against_numpy():
    x = np.random.default_rng(0).standard_normal(N).astype(np.float32)
    n = 1000
    arrays = x, np.ones(N, np.float32), np.zeros(N, np.float32), np.zeros(1, np.float32)
    variance = in_both_modes(variances, (1,), *arrays, n, 0, N=N, FORM="plain")[3][0]
    wide = x[:n].astype(np.float64)
    mean = (wide.sum() + (N - n) * 0.5) / n  # what the mask leaves out is 0.5 there
    np.testing.assert_allclose(variance, ((wide - mean) ** 2).sum(), rtol=1e-6)


@triton.jit
def of_rows(x_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    inside = cols < n
    x = tl.load(x_ptr + rows * N + cols, mask=inside, other=0.0)
    centred = tl.where(inside, x - tl.sum(x, 1)[:, None] / n, 0.0)
    out = centred / tl.sqrt(tl.sum(centred * centred, 1)[:, None] / n + 1e-5)
    tl.store(out_ptr + rows * N + cols, out, mask=inside)


@pytest.mark.parametrize("shape", [(1, 1024), (4, 256), (16, 1)])
def test_rows_of_a_tile(shape):
    for n in (shape[1], max(1, shape[1] - 24)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        in_both_modes(of_rows, (1,), x, np.zeros(shape, np.float32), n, M=shape[0], N=shape[1])
