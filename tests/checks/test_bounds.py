"""TILETWIN_CHECK=bounds: accesses outside of the view that was passed, inside of its storage."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from memory_findings import findings_of, source
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def copy(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(o_ptr + offs, x, mask=offs < n)


@triton.jit
def copy_rows(x_ptr, o_ptr, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
    tl.store(o_ptr + rows[:, None] * COLS + cols[None, :], x)


def run_copy(x, o, n, block=64):
    return lambda: copy[(triton.cdiv(n, block),)](x, o, n, BLOCK=block)


def test_a_load_past_a_slice() -> None:
    storage, o = torch.arange(100.0), torch.zeros(100)
    (found,) = findings_of("bounds", run_copy(storage[:90], o, 100))
    assert found.check == "bounds" and found.operation == "tl.load" and found.variable == "x"
    assert source(found) == "x = tl.load(x_ptr + offs, mask=offs < n)"
    assert found.program == (1, 0, 0) and found.programs == 1 and found.count == 10
    assert found.elements == ((26,), (27,), (28,), (29,))
    assert "reads 4 bytes of x_ptr's storage" in found.message and "right behind its last element" in found.message
    assert torch.equal(o, storage)  # nothing is changed


def test_a_store_past_a_slice_is_made_and_reported() -> None:
    storage, o = torch.arange(100.0), torch.zeros(100)
    (found,) = findings_of("bounds", run_copy(storage, o[10:60], 90))
    assert found.operation == "tl.store" and found.program == (0, 0, 0) and found.programs == 2
    assert o[60:].any()


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(64.0),
        torch.arange(128.0)[:64],
        torch.arange(128.0)[64:],
        np.arange(64, dtype=np.float32),
        np.arange(128, dtype=np.float32)[32:96],
    ],
)
def test_nothing_inside_of_a_view(x) -> None:
    assert findings_of("bounds", run_copy(x, torch.zeros(64), 64)) == []


def test_before_the_view() -> None:
    @triton.jit
    def left(x_ptr, o_ptr):
        offs = tl.arange(0, 16)
        tl.store(o_ptr + offs, tl.load(x_ptr + offs - 1))

    x = np.arange(32, dtype=np.int32)
    (found,) = findings_of("bounds", lambda: left[(1,)](x[8:24], torch.zeros(16, dtype=torch.int32)))
    assert found.count == 1 and found.elements == ((0,),) and "4 bytes before its first element" in found.message


def test_holes_between_rows() -> None:
    storage, o = torch.arange(8 * 64.0).view(8, 64), torch.zeros(8, 32)
    view = storage[:, :20]
    (found,) = findings_of("bounds", lambda: copy_rows[(1,)](view, o, view.stride(0), ROWS=8, COLS=32))
    assert "between its rows, at byte 80 of it" in found.message
    assert found.shape == (8, 32) and found.count == 7 * 12 + 12 and found.elements[0] == (0, 20)
    clean = storage[:, 8:40]
    assert findings_of("bounds", lambda: copy_rows[(1,)](clean, o, clean.stride(0), ROWS=8, COLS=32)) == []


@pytest.mark.parametrize("make", [lambda s: s.T, lambda s: s.flip(0), lambda s: s[::2], lambda s: s.expand(8, 64)])
def test_views_of_all_kinds_are_clean_where_they_are_read_by_their_strides(make) -> None:
    @triton.jit
    def by_strides(x_ptr, o_ptr, s0, s1, ROWS: tl.constexpr, COLS: tl.constexpr):
        rows, cols = tl.arange(0, ROWS)[:, None], tl.arange(0, COLS)[None, :]
        tl.store(o_ptr + rows * COLS + cols, tl.load(x_ptr + rows * s0 + cols * s1))

    storage = (
        torch.arange(64.0).view(1, 64) if make(torch.zeros(1, 64)).shape == (8, 64) else torch.arange(512.0).view(8, 64)
    )
    x = make(storage)
    rows, cols = (n if n & (n - 1) == 0 else 4 for n in x.shape)
    o = torch.zeros(rows, cols)
    assert findings_of("bounds", lambda: by_strides[(1,)](x, o, *x.stride(), ROWS=rows, COLS=cols)) == []
    assert torch.equal(o, x[:rows, :cols])


def test_a_view_without_elements() -> None:
    storage = np.arange(64, dtype=np.float32)
    found = findings_of("bounds", run_copy(storage[5:5], torch.zeros(64), 1))
    assert [f.operation for f in found] == ["tl.load"] and "it has no elements" in found[0].message
    assert findings_of("bounds", run_copy(storage[5:5], torch.zeros(64), 0)) == []


def test_gathers_scalars_atomics_and_descriptors() -> None:
    @triton.jit
    def many(x_ptr, index_ptr, o_ptr, desc):
        offs = tl.arange(0, 16)
        picked = tl.load(x_ptr + tl.load(index_ptr + offs))
        one = tl.load(x_ptr + 40)
        tl.atomic_add(o_ptr + offs, picked + one)
        tl.store(o_ptr + offs, tl.sum(desc.load([0, 0])) + tl.load(o_ptr + offs))

    storage, index = torch.arange(64.0), torch.arange(16) * 3
    o, wide = torch.zeros(32), torch.zeros(8, 16)

    def run(x, out, tensor):
        desc = TensorDescriptor(tensor, [4, 16], [16, 1], [4, 16])
        return lambda: many[(1,)](x, index, out, desc)

    found = findings_of("bounds", run(storage[:32], o[:10], wide[:2]))
    assert sorted((f.operation, source(f).split("(")[0]) for f in found) == [
        ("descriptor.load", "tl.store"),
        ("tl.atomic_add", "tl.atomic_add"),
        ("tl.load", "one = tl.load"),
        ("tl.load", "picked = tl.load"),
        ("tl.load", "tl.store"),
        ("tl.store", "tl.store"),
    ]
    assert findings_of("bounds", run(storage, o, wide)) == []


def test_the_lowest_program_is_named_whatever_the_threads() -> None:
    storage, o = torch.arange(4096.0), torch.zeros(4096)
    for threads in ("1", "2"):
        (found,) = findings_of("bounds", run_copy(storage[:1000], o, 4096), TILETWIN_NUM_THREADS=threads)
        assert found.program == (15, 0, 0) and found.programs == 49


@triton.jit
def read_all(tensors, o_ptr, n: tl.constexpr):
    offs = tl.arange(0, 8)
    for i in tl.static_range(n):
        tl.store(o_ptr + i * 8 + offs, tl.load(tensors[i] + offs))


@pytest.mark.parametrize("short", [0, 60, 61, 62, 63, 69])
def test_one_argument_of_many(short: int) -> None:
    storages = [torch.arange(8.0) + i for i in range(70)]
    tensors = tuple(s[:5] if i == short else s for i, s in enumerate(storages))
    o = torch.zeros(70 * 8)
    (found,) = findings_of("bounds", lambda: read_all[(1,)](tensors, o, 70))
    assert found.count == 3 and found.elements == ((5,), (6,), (7,)) and f"tensors[{short}]" in found.message
    assert torch.equal(o, torch.cat(storages))


def test_outside_of_the_storage_is_still_an_error() -> None:
    from triton import OutOfBoundsError

    with pytest.raises(OutOfBoundsError):
        findings_of("bounds", run_copy(torch.zeros(64)[:32], torch.zeros(128), 100))
