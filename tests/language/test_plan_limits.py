"""Counts at, below and above what the interpreter's plans hold at a time: they work, or say at once what is too much.

Here:      stores that join one group, arguments, dimensions of tiles, steps of a region, strides whose spans wrap,
           tensors without dimensions and without elements.
Not here:  limits of the language (test_rejected.py).
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

# Groups are flushed at 96 nodes; sinks once had numbers of one byte.
COUNTS = [1, 47, 48, 49, 94, 95, 96, 97, 98, 255, 256, 257, 300]


@triton.jit
def rows_of_one_tile(x_ptr, o_ptr, stride, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(x_ptr + i) * 2 + 1
    for row in tl.static_range(COUNT):
        tl.store(o_ptr + row * stride + i, y)


@triton.jit
def rows_of_many_tiles(x_ptr, o_ptr, stride, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(x_ptr + i)
    for row in tl.static_range(COUNT):
        y = y + 1
        tl.store(o_ptr + row * stride + i, y, mask=i < N - 1)


@triton.jit
def descriptor_rows(x_ptr, o_ptr, stride, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = (tl.load(x_ptr + i) * 2 + 1)[None, :]
    o = tl.make_tensor_descriptor(o_ptr, [COUNT, N], [stride, 1], [1, N])
    for row in tl.static_range(COUNT):
        o.store([row, 0], y)


@pytest.mark.parametrize("count", COUNTS)
def test_stores_of_one_tile(count: int) -> None:
    x, o = torch.arange(64.0), torch.zeros(count, 64)
    rows_of_one_tile[(1,)](x, o, o.stride(0), COUNT=count, N=64)
    assert torch.equal(o, (x * 2 + 1).expand(count, 64))
    o.zero_()
    descriptor_rows[(1,)](x, o, 64, COUNT=count, N=64)
    assert torch.equal(o, (x * 2 + 1).expand(count, 64))


@pytest.mark.parametrize("count", COUNTS)
def test_stores_of_many_tiles(count: int) -> None:
    x, o = torch.arange(64.0), torch.zeros(count, 64)
    rows_of_many_tiles[(1,)](x, o, o.stride(0), COUNT=count, N=64)
    want = x + torch.arange(1.0, count + 1)[:, None]
    want[:, 63] = 0
    assert torch.equal(o, want)


@pytest.mark.parametrize("count", [62, 63, 64, 65, 255, 256, 257])
def test_arguments(count: int, tmp_path) -> None:
    """62 have a bit of their own in launches with checks."""
    names = [f"p{i}" for i in range(count)]
    text = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef total(o_ptr, " + ", ".join(names) + "):\n"
    text += "    s = 0\n" + "".join(f"    s += tl.load({name})\n" for name in names) + "    tl.store(o_ptr, s)\n"
    file = tmp_path / f"total{count}.py"
    file.write_text(text)
    scope: dict = {}
    exec(compile(text, str(file), "exec"), scope)
    o = torch.zeros(1, dtype=torch.int32)
    given = [torch.tensor([i], dtype=torch.int32) for i in range(count)]
    scope["total"][(1,)](o, *given)
    assert o.item() == count * (count - 1) // 2


@triton.jit
def reshaped(x_ptr, o_ptr, SHAPE: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.reshape(tl.load(x_ptr + i), SHAPE)
    tl.store(tl.reshape(o_ptr + i, SHAPE), x * 2 + 1)


@pytest.mark.parametrize("rank", [1, 23, 24])
def test_dimensions(rank: int) -> None:
    x, o = torch.arange(64.0), torch.zeros(64)
    reshaped[(1,)](x, o, SHAPE=[1] * (rank - 1) + [64])
    assert torch.equal(o, x * 2 + 1)


@pytest.mark.parametrize("rank", [25, 31, 40])
def test_more_dimensions_are_an_error(rank: int) -> None:
    o = torch.zeros(64)
    with pytest.raises(triton.CompilationError, match=rf"with a tile of {rank} dimensions \(24 are the most"):
        reshaped[(1,)](torch.arange(64.0), o, SHAPE=[1] * (rank - 1) + [64])
    assert not o.any()


@triton.jit
def _many_steps(a, b):
    for _ in tl.static_range(17000):
        a = a + b
    return a


def test_steps_of_a_region() -> None:
    @triton.jit
    def reduce(x_ptr, o_ptr):
        tl.store(o_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 4)), 0, _many_steps))

    with pytest.raises(triton.CompilationError, match="whose region takes more than 16384 steps"):
        reduce[(1,)](torch.ones(4), torch.ones(1))


@triton.jit
def strided(x_ptr, o_ptr, a, b, c, d, LOAD: tl.constexpr):
    i = tl.arange(0, 2)
    j = i.to(tl.int64)
    offsets = (
        j[:, None, None, None] * a
        + j[None, :, None, None] * b
        + j[None, None, :, None] * c
        + j[None, None, None, :] * d
    )
    own = i[:, None, None, None] * 8 + i[None, :, None, None] * 4 + i[None, None, :, None] * 2 + i[None, None, None, :]
    if LOAD:
        tl.store(o_ptr + own, tl.load(x_ptr + offsets))
    else:
        tl.store(x_ptr + offsets, tl.load(o_ptr + own))


@pytest.mark.parametrize("load", [True, False])
@pytest.mark.parametrize("strides", [
    (2**61, 2**61, 1, 2), (1, -(2**61), 2, -(2**61)), (2**60, 2**60, 2**60, 2**60), (2**61 - 1, 1, 2**61 - 1, 1),
    (-(2**61), 1, 2, 4), (2**61, -(2**61), 1, 2), (2**63 - 1, 2**63 - 1, 2, 1),
])  # fmt: skip
def test_spans_that_wrap_around(strides: tuple[int, ...], load: bool) -> None:
    """Corners of the tile meet again after 2^64 bytes; what lies between them is nobody's."""
    x, o = torch.ones(64, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    with pytest.raises(triton.OutOfBoundsError):
        strided[(1,)](x, o, *strides, LOAD=load)
    assert torch.equal(x, torch.ones(64, dtype=torch.int32)) and not o.any()


# ---- no dimensions, no elements ----


@triton.jit
def add_one(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@pytest.mark.parametrize(
    "make",
    [torch.tensor, lambda value: np.array(value, np.float32), lambda value: torch.tensor([value])[0]],
    ids=["torch", "numpy", "element"],
)
def test_tensors_without_dimensions(make) -> None:
    x, o = make(4.0), make(0.0)
    add_one[(1,)](x, o, 1, N=16)
    assert float(x) == 4 and float(o) == 5
    with pytest.raises(triton.OutOfBoundsError):
        add_one[(1,)](x, o, 2, N=16)


@pytest.mark.parametrize(
    "make", [lambda: torch.zeros(0), lambda: np.zeros(0, np.float32), lambda: torch.zeros(3, 0, 2)]
)
def test_tensors_without_elements(make) -> None:
    x, o = make(), make()
    add_one[(0,)](x, o, 0, N=16)
    add_one[(3,)](x, o, 0, N=16)
    with pytest.raises(triton.OutOfBoundsError):
        add_one[(1,)](x, o, 1, N=16)
