"""TILETWIN_BACKEND=sim: a launch runs its kernel's PTX on the simulator, and gives what the interpreter gives."""

from __future__ import annotations

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def scale_rows(x, out, columns, factor, offset: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    tl.store(out + row * columns + at, value * factor + offset, mask=inside)


@triton.jit
def widths(out, a, b, c, d):
    tl.store(out, a.to(tl.int64))
    tl.store(out + 1, b.to(tl.int64))
    tl.store(out + 2, c.to(tl.int64))
    tl.store(out + 3, d.to(tl.int64))


@triton.jit
def floats(out, a: tl.float16, b: tl.bfloat16, c: tl.float32, d: tl.float64):
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, d)


@triton.jit
def past_the_end(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def _on(monkeypatch, backend: str, launch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", backend)
    launch()


@pytest.mark.parametrize("columns", [1, 7, 64, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_same_bits_as_the_interpreter(monkeypatch, columns: int, dtype) -> None:
    x = np.random.default_rng(columns).standard_normal((5, columns)).astype(dtype)
    x[0, 0] = np.nan
    results = {}
    for backend in ("interp", "sim"):
        out = np.full_like(x, 9)
        _on(monkeypatch, backend, lambda out=out: scale_rows[(5,)](x, out, columns, 1.5, 0, BLOCK=128))
        results[backend] = out
    np.testing.assert_array_equal(results["sim"], results["interp"])
    assert not (results["sim"] == 9).any()


def test_numbers_of_all_widths(monkeypatch) -> None:
    out = np.zeros(4, np.int64)
    _on(monkeypatch, "sim", lambda: widths[(1,)](out, True, -(2**31), 2**62, -5))
    assert out.tolist() == [1, -(2**31), 2**62, -5]


@pytest.mark.parametrize("number", [0.1, -0.0, 1.00390625, float("inf"), float("nan"), 1e-45])
def test_floats_of_all_widths(monkeypatch, number: float) -> None:
    """A parameter of bf16 is a structure of two bytes in the text."""
    results = []
    for backend in ("interp", "sim"):
        results.append(np.zeros(4))
        _on(monkeypatch, backend, lambda: floats[(1,)](results[-1], number, number, number, number))
    np.testing.assert_array_equal(*results)
    assert np.array_equal(np.signbit(results[0]), np.signbit(results[1])) and results[0][3].hex() == number.hex()


def test_an_empty_grid_runs_nothing(monkeypatch) -> None:
    x = np.zeros((1, 4), np.float32)
    _on(monkeypatch, "sim", lambda: scale_rows[(0,)](x, x, 4, 2.0, 1, BLOCK=16))
    assert not x.any()


def test_an_access_past_the_end_is_an_error(monkeypatch) -> None:
    x = np.zeros(100, np.float32)
    with pytest.raises(triton.OutOfBoundsError, match=r"past_the_end"):
        _on(monkeypatch, "sim", lambda: past_the_end[(1,)](x, BLOCK=128))
