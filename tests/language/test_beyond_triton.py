"""Functions that Triton does not have: interpreted, in eager mode, and compiled, on the simulator. NumPy is the
reference."""

from __future__ import annotations

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REFUSED = (triton.CompilationError, ValueError)
"""What a kernel that is not right raises: compiled, and in eager mode."""


@pytest.fixture(params=["interp", "eager", "sim"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs in each of these ways."""
    if request.param == "eager":
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    else:
        monkeypatch.setenv("TILETWIN_BACKEND", request.param)
    return request.param


def edges(element: str, count: int) -> np.ndarray:
    """The ends of the range, numbers of one bit, alternating bits, and random ones."""
    kind = np.dtype(element)
    bits = 8 * kind.itemsize
    ones = (1 << bits) - 1
    chosen = [0, 1, ones, 1 << (bits - 1), ones >> 1, ones // 3, ones - ones // 3, *(1 << b for b in range(bits))]
    rest = np.random.default_rng(bits).integers(0, ones, count, np.uint64, endpoint=True)
    return np.concatenate([np.array(chosen, np.uint64), rest])[:count].astype(f"u{kind.itemsize}").view(kind)


# ---- popcount


@triton.jit
def counted(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.popcount(tl.load(x + i)))


@triton.jit
def counted_of_one(x, o):
    tl.store(o, tl.math.popcount(tl.load(x)))


@pytest.mark.parametrize("element", INTEGERS)
def test_popcount(element: str) -> None:
    x = edges(element, 256)
    out = np.full_like(x, 99)
    counted[(1,)](x, out, x.size)
    width = 8 * x.itemsize
    np.testing.assert_array_equal(out, [f"{int(v) & ((1 << width) - 1):b}".count("1") for v in x])


@pytest.mark.parametrize("element", INTEGERS)
def test_popcount_of_one(element: str) -> None:
    x, out = edges(element, 3)[2:], np.zeros(1, element)
    counted_of_one[(1,)](x, out)
    assert out[0] == 8 * x.itemsize


@pytest.mark.parametrize("element", ["float32", "bool"])
def test_popcount_wants_integers(element: str) -> None:
    x = np.zeros(4, element)
    with pytest.raises(REFUSED, match=r"tl\.popcount takes integers of 8 to 64 bits, got <\[4\], (fp32|int1)>"):
        counted[(1,)](x, np.zeros(4, np.int32), 4)


# ---- prefetch


@triton.jit
def fetched_ahead(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros([B], tl.int32)
    for start in range(0, n, B):
        at = start + i
        tl.prefetch(x + B + at, mask=B + at < n)
        total += tl.load(x + at, mask=at < n, other=0)
    tl.prefetch(x)
    tl.prefetch(x + n + i)  # outside: it reads nothing
    tl.store(o + i, total)


@pytest.mark.parametrize("n", [1, 64, 1000])
def test_prefetch_changes_nothing(n: int) -> None:
    block = 64
    x, out = np.arange(n, dtype=np.int32) - 7, np.zeros(block, np.int32)
    kept = x.copy()
    fetched_ahead[(1,)](x, out, n, block)
    padded = np.concatenate([kept, np.zeros(-n % block, np.int32)])
    np.testing.assert_array_equal(out, padded.reshape(-1, block).sum(0))
    np.testing.assert_array_equal(x, kept)


@triton.jit
def fetched_by_mask(x, WHAT: tl.constexpr):
    i = tl.arange(0, 8)
    if WHAT == "number":
        tl.prefetch(i)
    elif WHAT == "mask":
        tl.prefetch(x + i, mask=i)
    else:
        tl.prefetch(x, mask=i < 3)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("number", r"tl\.prefetch: Unsupported ptr type <\[8\], int32>"),
        ("mask", r"tl\.prefetch: Mask must have boolean scalar type"),
        ("block", r"tl\.prefetch: Mask argument cannot be block type if pointer argument is not a block"),
    ],
)
def test_prefetch_refuses(what: str, message: str) -> None:
    with pytest.raises(REFUSED, match=message):
        fetched_by_mask[(1,)](np.zeros(8, np.int32), what)


# ---- reduce_and


@triton.jit
def common_bits(x, o, AXIS: tl.constexpr, KEEP: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    made = tl.reduce_and(tl.load(x + at), AXIS, KEEP)
    if AXIS is None:
        tl.store(o, made)
    else:
        tl.store(o + tl.arange(0, K), tl.ravel(made))


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("shape", [(1, 1), (1, 32), (8, 16)], ids=str)
def test_reduce_and(shape: tuple[int, int], axis: int | None, element: str) -> None:
    ones = np.array(-1).astype(element)
    x = edges(element, shape[0] * shape[1]).reshape(shape) | (ones ^ np.array(0b101).astype(element))
    want = np.bitwise_and.reduce(x, axis=axis).reshape(-1)
    out = np.zeros(want.size, element)
    common_bits[(1,)](x, out, axis, axis is not None, *shape, want.size)
    np.testing.assert_array_equal(out, want)


@triton.jit
def all_true(x, o, N: tl.constexpr):
    tl.store(o, tl.reduce_and(tl.load(x + tl.arange(0, N)) > 0, None))


@pytest.mark.parametrize("size", [1, 128])
def test_reduce_and_of_truth(size: int) -> None:
    for wrong in (None, 0, size - 1):
        x, out = np.ones(size, np.float32), np.zeros(1, np.int8)
        if wrong is not None:
            x[wrong] = np.nan
        all_true[(1,)](x, out, size)
        assert out[0] == (wrong is None)


def test_reduce_and_wants_integers() -> None:
    with pytest.raises(triton.CompilationError, match="reduce_and: needs integers"):
        common_bits[(1,)](np.zeros((8, 16), np.float32), np.zeros(8, np.float32), 1, False, 8, 16, 8)
