"""What the interpreter does together: choices under masks of ranges with what they choose, sums with what they add.

Each is compared, bit for bit, with the same operations where something else reads what is in between, or with NumPy.
"""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl

RANGES = [
    (0, 0, 0, 0),
    (0, 99, 0, 9999),
    (0, 99, -1, 40),
    (-5, 3, 7, 1000),
    (1, 2, 500, 501),
    (0, 99, 3000, 9999),
    (2, 1, 9, 3),
]
SHAPES = [(1, 4096), (8, 512), (64, 64), (2, 2048)]


@triton.jit
def choose(x_ptr, y_ptr, out_ptr, first, last, lo, hi, M: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr):
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    inside = (rows >= first) & (rows < last) & (cols >= lo) & (cols < hi)
    x, y = tl.load(x_ptr + rows * N + cols), tl.load(y_ptr + rows * N + cols)
    if FORM == "difference":  # computed inside only
        out = tl.where(inside, x - y, 7)
    elif FORM == "elements":
        out = tl.where(inside, x, y)
    elif FORM == "in place":
        x = x + y
        out = tl.where(inside, x - y, x)
    elif FORM == "rows":  # what is chosen outside is one number for a whole row
        out = tl.where(inside, x - y, rows.to(x.dtype) + tl.zeros((M, N), x.dtype)) + x
    elif FORM == "and":  # the range as elements
        out = tl.where(inside & (x > y), x - y, y)
    else:  # the difference is wanted everywhere, too
        difference = x - y
        out = tl.where(inside, difference, y) + difference
    tl.store(out_ptr + rows * N + cols, out)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", ["difference", "elements", "in place", "rows", "and", "both"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int8])
def test_choices_under_ranges(dtype, form, shape):
    generator = np.random.default_rng(0)
    x, y = (generator.integers(-9, 9, shape).astype(dtype) for _ in range(2))
    for first, last, lo, hi in RANGES:
        rows, cols = np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
        inside = (rows >= first) & (rows < last) & (cols >= lo) & (cols < hi)
        expected = {
            "difference": lambda inside=inside: np.where(inside, x - y, dtype(7)),
            "elements": lambda inside=inside: np.where(inside, x, y),
            "in place": lambda inside=inside: np.where(inside, x, x + y),
            "rows": lambda inside=inside, rows=rows: np.where(inside, x - y, rows.astype(dtype)) + x,
            "and": lambda inside=inside: np.where(inside & (x > y), x - y, y),
            "both": lambda inside=inside: np.where(inside, x - y, y) + (x - y),
        }[form]()
        out = np.zeros_like(x)
        choose[(1,)](x, y, out, first, last, lo, hi, *shape, FORM=form)
        np.testing.assert_array_equal(out, expected)


@triton.jit
def choose_in_a_row(x_ptr, y_ptr, out_ptr, largest_ptr, lo, hi, N: tl.constexpr):
    cols = tl.arange(0, N)
    inside = (cols >= lo) & (cols < hi)
    x, y = tl.load(x_ptr + cols), tl.load(y_ptr + cols)
    tl.store(out_ptr + cols, tl.where(inside & (x > y), tl.where(inside, x - y, 7), y))
    tl.store(largest_ptr, tl.max(tl.where(inside, x * y, -1000), 0))  # this group stores nothing
    tl.store(largest_ptr + 1, tl.max(tl.where(inside & (x > y), x, -1000), 0))


@pytest.mark.parametrize("n", [16, 512, 1024, 4096])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_choices_in_a_row(dtype, n):
    generator = np.random.default_rng(3)
    x, y = (generator.integers(-9, 9, n).astype(dtype) for _ in range(2))
    cols = np.arange(n)
    for lo, hi in [(0, n), (-3, n + 5), (0, n - 3), (2, n), (5, 5)]:
        inside = (cols >= lo) & (cols < hi)
        out, largest = np.zeros_like(x), np.zeros(2, dtype)
        choose_in_a_row[(1,)](x, y, out, largest, lo, hi, N=n)
        np.testing.assert_array_equal(out, np.where(inside & (x > y), x - y, y))
        chosen = [np.where(inside, x * y, -1000).max(), np.where(inside & (x > y), x, -1000).max()]
        np.testing.assert_array_equal(largest, np.array(chosen, dtype))


@triton.jit
def sums(x_ptr, y_ptr, out_ptr, terms_ptr, M: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr, STORED: tl.constexpr):
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + cols)
    y = tl.load(y_ptr + (cols if FORM == "row" else rows * N + cols))
    if FORM == "widened":
        terms = x.to(tl.float32)
    elif FORM == "square":
        x = x.to(tl.float32) - 1
        terms = x * x
    elif FORM == "two computed":
        terms = (x.to(tl.float32) - 1) * (y.to(tl.float32) + 1)
    elif FORM == "transposed":
        terms = tl.reshape(tl.trans(x), (M, N)).to(tl.float32) * y.to(tl.float32)
    else:
        terms = x.to(tl.float32) * y.to(tl.float32)
    if STORED:
        tl.store(terms_ptr + rows * N + cols, terms)
    total = tl.sum(terms, axis=1)
    tl.store(out_ptr + tl.arange(0, M), total + tl.sum(x.to(tl.float32), axis=1))


@pytest.mark.parametrize("shape", [*SHAPES, (4, 1), (2, 2), (4, 16), (16, 128)], ids=str)
@pytest.mark.parametrize("form", ["widened", "square", "two computed", "transposed", "row", "product"])
@pytest.mark.parametrize(
    "types",
    [(np.float32, np.float32), (np.float16, np.float16), (np.float16, np.float32), (np.float32, np.float16)],
)
def test_sums_that_compute_what_they_add(types, form, shape):
    generator = np.random.default_rng(1)
    x, y = (generator.standard_normal(shape).astype(dtype) for dtype in types)
    x[0, 0], y[-1, -1] = -0.0, 0.0
    terms, out, expected = (np.zeros(size, np.float32) for size in (shape, shape[0], shape[0]))
    sums[(1,)](x, y, out, terms, *shape, FORM=form, STORED=False)
    assert not terms.any()
    sums[(1,)](x, y, expected, terms, *shape, FORM=form, STORED=True)
    np.testing.assert_array_equal(out.view(np.int32), expected.view(np.int32))
    x64, y64 = x.astype(np.float64), y.astype(np.float64)
    wide = {
        "widened": x64,
        "square": (x64 - 1) ** 2,
        "two computed": (x64 - 1) * (y64 + 1),
        "transposed": x64.T.reshape(shape) * y64,
        "row": x64 * y64[:1],
        "product": x64 * y64,
    }[form]
    total = (wide + (x64 - 1 if form == "square" else x64)).sum(axis=1)
    np.testing.assert_allclose(expected, total, rtol=1e-4, atol=1e-4 * shape[1] ** 0.5)


@triton.jit
def only_the_sum_reads(x_ptr, y_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr):
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = rows * N + cols
    inside = cols < n
    x = tl.load(x_ptr + at, mask=inside)  # lanes that the mask leaves out hold 0
    y = tl.load(y_ptr + at, mask=inside)
    if FORM == "computed and loaded":
        terms = tl.exp(x) * x
    elif FORM == "loaded and computed":
        terms = x * tl.exp(y)
    elif FORM == "computed, widened":
        terms = (x.to(tl.float16) + y.to(tl.float16)).to(tl.float32)
    elif FORM == "computed, widened, product":
        terms = (x.to(tl.float16) + y.to(tl.float16)).to(tl.float32) * x
    elif FORM == "chosen":
        terms = tl.where(inside, x - 1, 0) * y
    elif FORM == "square":
        difference = x - y
        terms = difference * difference
    else:  # the store overwrites what the product was computed from
        difference = x - y
        terms = difference * x
        tl.store(x_ptr + at, difference, mask=inside)
    tl.store(out_ptr + tl.arange(0, M), tl.sum(terms, axis=1))


@pytest.mark.parametrize("shape", [(1, 1024), (8, 512), (4, 16)], ids=str)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    "form",
    [
        "computed and loaded",
        "loaded and computed",
        "computed, widened",
        "computed, widened, product",
        "chosen",
        "square",
        "stored before",
    ],
)
def test_what_only_a_sum_reads(form, masked, shape):
    generator = np.random.default_rng(2)
    x, y = (generator.standard_normal(shape).astype(np.float32) for _ in range(2))
    n = shape[1] - 3 if masked else shape[1]
    x[:, n:], y[:, n:] = np.nan, np.nan  # not to be seen
    x64, y64 = x[:, :n].astype(np.float64), y[:, :n].astype(np.float64)
    terms = {
        "computed and loaded": np.exp(x64) * x64,
        "loaded and computed": x64 * np.exp(y64),
        "computed, widened": x64 + y64,
        "computed, widened, product": (x64 + y64) * x64,
        "chosen": (x64 - 1) * y64,
        "square": (x64 - y64) ** 2,
        "stored before": (x64 - y64) * x64,
    }[form]
    out = np.full(shape[0], np.nan, np.float32)
    only_the_sum_reads[(1,)](x, y, out, n, *shape, FORM=form)
    half = "widened" in form
    np.testing.assert_allclose(out, terms.sum(axis=1), rtol=1e-5, atol=(2e-3 if half else 1e-5) * shape[1])
