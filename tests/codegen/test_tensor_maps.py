"""Tensor descriptors made on the host, in code for sm_90: blocks are copied with tensor maps (TMA), and the results are
the interpreter's, bit for bit. The simulator looks at every copy: bounds, races, fences between proxies, waits.
Not here:  what stays plain, and maps in ttgir (test_tensor_map_choice.py)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from tensor_map_kernels import (
    FLOATS,
    INTEGERS,
    add_into,
    bits,
    both,
    copy_1d,
    copy_3d,
    copy_5d,
    copy_blocks,
    copy_inside,
    into_memory,
    maps_of,
    multiply,
    multiply_batch,
    multiply_two,
    numbers,
    ragged,
    scale_rows,
    stored_then_copied,
)
from tiletwin import checks
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.ragged_tma import create_ragged_descriptor
from tiletwin.tools.tensor_descriptor import TensorDescriptor


def _slow(value: Any) -> Any:
    return pytest.param(value, marks=pytest.mark.slow)


@pytest.fixture
def everything_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    checks.clear()


@pytest.mark.parametrize("dtype", [*(_slow(t) for t in INTEGERS[1:]), INTEGERS[0], *FLOATS], ids=str)
@pytest.mark.parametrize("kernel", [copy_blocks, copy_inside], ids=lambda k: k.__name__)
def test_blocks_over_the_edges(monkeypatch, everything_checked, dtype: torch.dtype, kernel: Any) -> None:
    """Programs all around the tensor: blocks inside, cut, and outside on every side. What may begin below zero is not
    stored by a map, which an H200 would refuse as an illegal instruction."""
    x = numbers((21, 48), dtype)
    y = torch.zeros_like(x)
    inside = slice(0, 41)
    block = [8, 32]
    make = lambda t: TensorDescriptor(t, [19, 41], [48, 1], block)
    compiled = both(monkeypatch, kernel, (5, 4), [y], lambda: (make(x), make(y), *block))
    assert np.array_equal(bits(y)[:19, inside], bits(x)[:19, inside])
    assert not bits(y)[19:].any() and not bits(y)[:, 41:].any()
    stored = kernel is copy_inside
    assert [m is not None for m in maps_of(compiled)] == [True, *[False] * 4, stored, *[False] * 4]
    ptx = compiled.asm["ptx"]
    assert re.search(r"cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global", ptx)
    assert bool(re.search(r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta", ptx)) == stored
    assert bool(re.search(r"\bst\.global", ptx)) != stored and not re.search(r"\bld\.global", ptx)


@pytest.mark.parametrize("block", [[1, 16], [2, 8], [64, 64], [16, 128], [512, 8], [1, 512], [4, 256]], ids=str)
def test_boxes_and_swizzles(monkeypatch, everything_checked, block: list[int]) -> None:
    """Rows of 32 to 1024 bytes, more rows or columns than a box has."""
    x = numbers((block[0] + 3, 2 * block[1] - 4), torch.float16)
    wide = torch.zeros((x.shape[0], x.shape[1] + 12), dtype=x.dtype)[:, : -(-x.shape[1] // 8) * 8]
    wide[:, : x.shape[1]] = x
    source = wide.contiguous()
    y = torch.zeros_like(source)
    grid = tuple(2 - -extent // size for extent, size in zip(x.shape, block, strict=True))
    make = lambda t: TensorDescriptor(t, list(x.shape), [t.stride(0), 1], block)
    compiled = both(monkeypatch, copy_blocks, grid, [y], lambda: (make(source), make(y), *block))
    described = maps_of(compiled)[0]
    assert described is not None and max(described.box) <= 256
    assert np.array_equal(bits(y), bits(source))


@pytest.mark.parametrize("block", [16, 256, 2048])
def test_one_dimension(monkeypatch, everything_checked, block: int) -> None:
    x = numbers((2 * block - 5,), torch.float32)
    y = torch.full_like(x, -1)
    make = lambda t: TensorDescriptor.from_tensor(t, [block])
    compiled = both(monkeypatch, copy_1d, (4,), [y], lambda: (make(x), make(y), block))
    assert torch.equal(x, y) and maps_of(compiled)[0]


def test_three_dimensions(monkeypatch, everything_checked) -> None:
    x = numbers((5, 7, 40), torch.bfloat16)
    y = torch.zeros_like(x)
    make = lambda t: TensorDescriptor(t, [5, 7, 37], list(t.stride()), [2, 4, 16])
    compiled = both(monkeypatch, copy_3d, (3, 3, 5), [y], lambda: (make(x), make(y), 16))
    assert "cp.async.bulk.tensor.3d" in compiled.asm["ptx"]


def test_five_dimensions(monkeypatch, everything_checked) -> None:
    x = numbers((2, 3, 2, 5, 8), torch.float32)
    y = torch.zeros_like(x)
    make = lambda t: TensorDescriptor.from_tensor(t, [2, 1, 2, 2, 8])
    compiled = both(monkeypatch, copy_5d, (3, 3, 3), [y], lambda: (make(x), make(y), 8))
    assert "cp.async.bulk.tensor.5d" in compiled.asm["ptx"]


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("warps", [1, 8])
def test_loads_that_share_a_wait(monkeypatch, everything_checked, rounds: int, warps: int) -> None:
    x, f = numbers((45, 32), torch.float32), numbers((45, 32), torch.float32, 1)
    y = torch.zeros((45, 32))
    make = lambda t: TensorDescriptor.from_tensor(t, [16, 32])
    launched = lambda: (make(x), make(f), make(y), rounds, 16, 32)
    before = scale_rows

    class WithWarps:
        def __getitem__(self, grid: Any) -> Any:
            return lambda *args: before[grid](*args, num_warps=warps)

    compiled = both(monkeypatch, WithWarps(), (1,), [y], launched)
    assert compiled.asm["ttgir"].count("twg.barrier_wait") == 1


@pytest.mark.parametrize("dtype", FLOATS[:4], ids=str)
@pytest.mark.parametrize("at", [0, -3, 100])
def test_nan_outside(monkeypatch, everything_checked, dtype: torch.dtype, at: int) -> None:
    """NaN are NaN: the hardware's have bits of their own."""
    x = numbers((6, 40), dtype)
    results = {}
    for backend in ("interp", "sim"):
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        out = torch.zeros((4, 32), dtype=dtype)
        into_memory[(1,)](TensorDescriptor(x, [5, 37], [40, 1], [4, 32], "nan"), out, at, 4, 32)
        results[backend] = out.double().numpy()
    assert not checks.findings()
    np.testing.assert_array_equal(results["sim"], results["interp"])
    assert np.isnan(results["sim"]).any()


def test_nan_outside_of_integers_of_a_map_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    x = torch.zeros((8, 64)).to(torch.float8_e5m2)
    out = torch.zeros((4, 32)).to(torch.float8_e5m2)
    with pytest.raises(ValueError, match=r"into_memory\(\): the tensor descriptor that is argument 0: padding='nan'"):
        into_memory[(1,)](TensorDescriptor.from_tensor(x, [4, 32], "nan"), out, 0, 4, 32)


def test_rounds_to_tf32(monkeypatch, everything_checked) -> None:
    x = numbers((8, 64), torch.float32)
    x[0, 32], x[1, 33], x[2, 34] = float("inf"), 1 + 2**-11, 1 + 3 * 2**-11
    out = torch.zeros((4, 32))
    make = lambda: TensorDescriptor.from_tensor(x, [4, 32], round_f32_to_tf32=True)
    both(monkeypatch, into_memory, (1,), [out], lambda: (make(), out, 0, 4, 32))
    assert not torch.equal(out, x[:4, 32:])


@pytest.mark.parametrize("shape", [(0, 64), (5, 0), (0, 0)])
def test_tensors_without_elements(monkeypatch, everything_checked, shape: tuple[int, int]) -> None:
    base = numbers((5, 64), torch.float16)
    y = torch.ones((8, 64), dtype=torch.float16)
    x = TensorDescriptor(base, list(shape), [64, 1], [4, 32])
    both(monkeypatch, copy_blocks, (3, 3), [y], lambda: (x, TensorDescriptor.from_tensor(y, [4, 32]), 4, 32))
    assert not y.any()
    z = torch.ones((8, 64), dtype=torch.float16)
    nothing = lambda: TensorDescriptor(z, list(shape), [64, 1], [4, 32])
    both(monkeypatch, copy_blocks, (3, 3), [z], lambda: (x, nothing(), 4, 32))
    assert z.all()


def test_no_programs(monkeypatch, everything_checked) -> None:
    x, y = numbers((8, 64), torch.float16), torch.zeros((8, 64), dtype=torch.float16)
    make = lambda t: TensorDescriptor.from_tensor(t, [4, 32])
    both(monkeypatch, copy_blocks, (0, 3), [y], lambda: (make(x), make(y), 4, 32))
    assert not y.any()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("batch", [(), (2,)], ids=["matrices", "batches"])
def test_dots_read_blocks_where_they_arrive(
    monkeypatch, everything_checked, dtype: torch.dtype, turned: bool, batch: tuple[int, ...]
) -> None:
    m, n, k = 100, 72, 88
    a, b = numbers((*batch, m, k), dtype), numbers((*batch, n, k) if turned else (*batch, k, n), dtype, 1)
    c = torch.zeros((*batch, m, n), dtype=torch.float32)
    one = [1] * len(batch)
    blocks = {"a": [*one, 64, 32], "b": [*one, 64, 32] if turned else [*one, 32, 64], "c": [*one, 64, 64]}
    kernel = multiply_batch if batch else multiply

    def call() -> tuple[Any, ...]:
        made = [TensorDescriptor.from_tensor(t, blocks[name]) for name, t in (("a", a), ("b", b), ("c", c))]
        return (*made, k, 64, 64, 32, turned)

    results = {}
    for backend in ("interp", "sim"):
        c.zero_()
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        compiled = kernel[(2, 2, *batch)](*call())
        results[backend] = c.clone()
    assert not checks.findings()
    torch.testing.assert_close(results["sim"], results["interp"], rtol=2e-3, atol=2e-2)
    ptx, ttgir = compiled.asm["ptx"], compiled.asm["ttgir"]
    straight = dtype != torch.float32 or turned
    assert "wgmma" in ptx and ("twg.local_load" not in ttgir) == straight
    # c goes through shared memory, and nothing else: an operand in registers is read where the copy put it.
    assert ttgir.count("twg.local_alloc %") == 1 and ("transposed" in ttgir) != straight


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_products_wait_for_each_other_where_memory_is_short(monkeypatch, everything_checked, dtype) -> None:
    """In float32, two operands are turned on the way. Their memory is used twice, or the kernel does not fit."""
    blocks = [64, 64], [64, 128], [64, 64], [64, 128], [64, 128]
    operands = [numbers(shape, dtype, i) for i, shape in enumerate([(64, 160), (160, 128)] * 2)]
    o = torch.zeros((64, 128), dtype=torch.float32)
    results = {}
    for backend in ("interp", "sim"):
        o.zero_()
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        made = [TensorDescriptor.from_tensor(t, block) for t, block in zip((*operands, o), blocks)]
        compiled = multiply_two[(1,)](*made, 160, 64, 128, 64, num_stages=2)
        results[backend] = o.clone()
    assert not checks.findings()
    torch.testing.assert_close(results["sim"], results["interp"], rtol=2e-3, atol=2e-2)
    assert compiled.metadata.shared <= 227 * 1024
    assert ("in_flight" in compiled.asm["ttgir"]) == (dtype == torch.float16)


@pytest.mark.parametrize(
    "dtype, kind",
    [
        pytest.param(dtype, kind, marks=[] if (i + j) % 4 == 0 else pytest.mark.slow, id=f"{dtype}-{kind}")
        for i, dtype in enumerate([torch.int32, torch.uint32, torch.int64, torch.uint64])
        for j, kind in enumerate(["add", "min", "max", "and", "or", "xor"])
    ],
)
def test_reductions_of_integers(monkeypatch, everything_checked, dtype: torch.dtype, kind: str) -> None:
    x = torch.from_numpy(np.arange(40, dtype=np.int64).reshape(1, 40) - 20).repeat(3, 1).to(torch.int64)
    x = (x.to(torch.int32) if dtype.itemsize == 4 else x).view(dtype).contiguous()
    y = numbers((3, 40), torch.int32).to(torch.int64)
    y = (y.to(torch.int32) if dtype.itemsize == 4 else y).view(dtype).contiguous()
    make = lambda t: TensorDescriptor(t, [3, 38], [40, 1], [4, 16])
    compiled = both(monkeypatch, add_into, (3,), [y], lambda: (make(x), make(y), 16, kind))
    assert f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{kind}" in compiled.asm["ptx"]


@pytest.mark.parametrize("dtype", FLOATS[:3], ids=str)
def test_sums_of_floats(monkeypatch, everything_checked, dtype: torch.dtype) -> None:
    x, y = numbers((3, 40), dtype), numbers((3, 40), dtype, 1)
    make = lambda t: TensorDescriptor(t, [3, 38], [40, 1], [4, 16])
    compiled = both(monkeypatch, add_into, (3,), [y], lambda: (make(x), make(y), 16, "add"))
    assert "cp.reduce.async.bulk.tensor" in compiled.asm["ptx"]


@pytest.mark.parametrize("kind", ["store", "add"])
def test_ragged_slices(monkeypatch, everything_checked, kind: str) -> None:
    """The map's arithmetic wraps around 2^64 as the descriptor's does."""
    x, y = numbers((40, 32), torch.float32), numbers((40, 32), torch.float32, 1)
    make = lambda t: create_ragged_descriptor(t, [16, 32])
    compiled = both(monkeypatch, ragged, (1,), [y], lambda: (make(x), make(y), 3, 21, 16, kind))
    assert "cp.async.bulk.tensor.4d" in compiled.asm["ptx"]


def test_plain_stores_before_copies(monkeypatch, everything_checked) -> None:
    x, y = torch.zeros(64), torch.zeros(64)
    make = lambda t: TensorDescriptor.from_tensor(t, [64])
    compiled = both(monkeypatch, stored_then_copied, (1,), [x, y], lambda: (make(x), x, make(y), 64))
    assert torch.equal(y, torch.arange(64) + 1.0)
    assert re.search(r"fence\.proxy\.async;", compiled.asm["ptx"])
