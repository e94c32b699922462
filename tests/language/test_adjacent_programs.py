"""Programs whose rows follow each other run as one: results, masks and traps are those of each program by itself."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from tiletwin.errors import OutOfBoundsError

BLOCK = 64


@triton.jit
def scaled_sum(x_ptr, y_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask, other=1.0)
    tl.store(out_ptr + offs, x * scale + y, mask=mask)


@triton.jit
def places(x_ptr, out_ptr, x_step, out_step, x_from, out_from, BLOCK: tl.constexpr):
    """Program p reads at x_from + p * x_step and writes at out_from + p * out_step."""
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    tl.store(out_ptr + out_from + pid * out_step + cols, tl.load(x_ptr + x_from + pid * x_step + cols) * 2)


@triton.jit
def rows_of_planes(x_ptr, out_ptr, plane, BLOCK: tl.constexpr):
    offs = tl.program_id(1) * plane + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + tl.program_id(1))


@triton.jit
def numbers_of_programs(x_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + pid)


@triton.jit
def wrapping_places(x_ptr, out_ptr, first, BLOCK: tl.constexpr):
    """The 32 bits of pid * BLOCK + first wrap around; the places that follow from them are in the tensor."""
    pid = tl.program_id(0)
    start = (pid * BLOCK + first) & 0x7FFFFFFF
    offs = start + tl.arange(0, BLOCK)
    tl.store(out_ptr + pid * BLOCK + tl.arange(0, BLOCK), tl.load(x_ptr + offs))


@triton.jit
def narrow_counter(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """A number of 8 bits, which is negative from program 128 on and starts again at 256."""
    pid = tl.program_id(0).to(tl.int8).to(tl.int32)
    cols = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + cols, tl.load(x_ptr + (pid + 128) * BLOCK + cols))


@triton.jit
def narrow_limits(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """The masks of programs 128 to 159 are shorter than their rows, those of the first and the last program are not."""
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < pid.to(tl.int8).to(tl.int32) + 160
    x = tl.load(x_ptr + pid * BLOCK + cols, mask=mask)
    tl.store(out_ptr + pid * BLOCK + cols, x + 1, mask=mask)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("programs", [1, 2, 3, 200])
@pytest.mark.parametrize("missing", [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5])
def test_masked_rows(threads, programs, missing, monkeypatch):
    monkeypatch.setenv("TILETWIN_NUM_THREADS", str(threads))
    n = max(programs * BLOCK - missing, 0)
    x, y = torch.randn(n), torch.randn(n)
    for dtype in (torch.float32, torch.float16, torch.float64):
        out = torch.full((n + BLOCK,), -7.0, dtype=dtype)
        for _ in range(2):  # the second launch has measured programs
            scaled_sum[(programs,)](x.to(dtype), y.to(dtype), out, n, 2.0, BLOCK=BLOCK)
        assert torch.equal(out[:n], x.to(dtype) * 2 + y.to(dtype))
        assert (out[n:] == -7).all()


@pytest.mark.parametrize(
    "x_step, out_step, x_from, out_from",
    [
        (64, 64, 0, 0),
        (64, 64, 3, 5),
        (0, 64, 0, 0),
        (64, 70, 0, 0),
        (70, 64, 0, 0),
        (32, 64, 0, 0),
        (-64, -64, 6336, 6336),
        (-64, 64, 6336, 0),
    ],
)
def test_distances(x_step, out_step, x_from, out_from):
    x, out = torch.randn(8000), torch.zeros(8000)
    expected = out.clone()
    for p in range(100):
        to, at = out_from + p * out_step, x_from + p * x_step
        expected[to : to + BLOCK] = x[at : at + BLOCK] * 2
    for _ in range(2):
        places[(100,)](x, out, x_step, out_step, x_from, out_from, BLOCK=BLOCK)
    assert torch.equal(out, expected)


def test_a_program_reads_what_another_one_wrote(monkeypatch):
    """One by one, in order: each reads the row that the one before has stored."""
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")
    memory = torch.ones(16 * 21)
    places[(20,)](memory, memory, 16, 16, 0, 16, BLOCK=16)
    assert torch.equal(memory.view(21, 16), (2.0 ** torch.arange(21))[:, None].expand(21, 16))
    memory = torch.randn(64 * 20)
    expected = memory * 2
    places[(20,)](memory, memory, 64, 64, 0, 0, BLOCK=BLOCK)
    assert torch.equal(memory, expected)


def test_rows_of_a_grid():
    x, out = torch.randn(3, 40 * BLOCK), torch.zeros(3, 40 * BLOCK)
    rows_of_planes[(40, 3)](x, out, 40 * BLOCK, BLOCK=BLOCK)
    assert torch.equal(out, x + torch.arange(3.0)[:, None])


def test_a_value_that_differs():
    x, out = torch.randn(50, BLOCK), torch.zeros(50, BLOCK)
    numbers_of_programs[(50,)](x, out, BLOCK=BLOCK)
    assert torch.equal(out, x + torch.arange(50.0)[:, None])


def test_numbers_that_wrap_around(monkeypatch):
    monkeypatch.setenv("TILETWIN_NUM_THREADS", "1")  # long chunks
    x, out = torch.randn(64 * BLOCK), torch.zeros(2 * BLOCK)
    wrapping_places[(2,)](x, out, -(2**31), BLOCK=BLOCK)
    assert torch.equal(out, x[: 2 * BLOCK])
    x, out = torch.randn(256, BLOCK), torch.zeros(600, BLOCK)
    narrow_counter[(600,)](x, out, BLOCK=BLOCK)
    assert torch.equal(out, x[(torch.arange(600) + 128) % 256])
    x, out = torch.randn(256, BLOCK), torch.zeros(256, BLOCK)
    expected = x + 1
    for p in range(128, 160):
        expected[p, p - 96 :] = 0
    for _ in range(2):
        narrow_limits[(256,)](x, out, BLOCK=BLOCK)
    assert torch.equal(out, expected)


def test_the_first_bad_program_is_named():
    x, out = torch.randn(10 * BLOCK + 5), torch.zeros(40 * BLOCK)
    with pytest.raises(OutOfBoundsError, match=r"program \(10, 0, 0\)"):
        places[(40,)](x, out, 64, 64, 0, 0, BLOCK=BLOCK)
    assert torch.equal(out[: 10 * BLOCK], x[: 10 * BLOCK] * 2)
    x = torch.randn(3 * BLOCK)  # programs 0 and 2 are inside, 1 is not
    with pytest.raises(OutOfBoundsError, match=r"program \((1|3), 0, 0\)"):
        places[(4,)](x, out, 64, 64, 0, 0, BLOCK=BLOCK)
