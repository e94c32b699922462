"""Tensor descriptors made on the host, in code for sm_90: blocks are copied with tensor maps (TMA), and the results are
the interpreter's, bit for bit. The simulator looks at every copy: bounds, races, fences between proxies, waits."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_kernels as sk
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.backends.compiler import GPUTarget
from tiletwin.launch import sim_launch, tensor_map_arguments
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged
from tiletwin.tools.tensor_descriptor import TensorDescriptor


def _slow(value: Any) -> Any:
    return pytest.param(value, marks=pytest.mark.slow)


BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
INTEGERS = [getattr(torch, f"{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2, torch.float8_e4m3fn]


@triton.jit
def copy_blocks(x, y, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) - 1, tl.program_id(1) - 1
    y.store([i * BM, j * BN], x.load([i * BM, j * BN]))


@triton.jit
def copy_inside(x, y, BM: tl.constexpr, BN: tl.constexpr):
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    y.store(at, x.load(at))


@triton.jit
def copy_1d(x, y, B: tl.constexpr):
    i = tl.program_id(0) - 1
    y.store([i * B], x.load([i * B]))


@triton.jit
def copy_3d(x, y, B: tl.constexpr):
    at = [tl.program_id(0) * 2 - 1, tl.program_id(1) * 3 - 1, tl.program_id(2) * B - B]
    y.store(at, x.load(at))


@triton.jit
def copy_5d(x, y, B: tl.constexpr):
    at = [tl.program_id(0) - 1, tl.program_id(1), 0, tl.program_id(2) * 2 - 1, B - B]
    y.store(at, x.load(at))


@triton.jit
def scale_rows(x, factors, y, rounds, BM: tl.constexpr, BN: tl.constexpr):
    """Loads that share a wait, blocks used twice, a reduction between load and store."""
    for round in range(rounds):
        a = x.load([round * BM, 0]).to(tl.float32)
        b = factors.load([round * BM, 0]).to(tl.float32)
        largest = tl.max(a, 1)
        y.store([round * BM, 0], tl.minimum(a * b, largest[:, None]).to(y.dtype))


@triton.jit
def into_memory(x, out, at0, BM: tl.constexpr, BN: tl.constexpr):
    block = x.load([at0, BN])
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    tl.store(out + rows[:, None] * BN + columns[None, :], block)


@triton.jit
def multiply(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TURNED: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = a.load([row, k])
        right = b.load([column, k]).T if TURNED else b.load([k, column])
        sums = tl.dot(left, right, sums)
    c.store([row, column], sums.to(c.dtype))


@triton.jit
def add_into(x, y, B: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * B
    if KIND == "add":
        y.atomic_add([0, i], x.load([0, i]))
    elif KIND == "min":
        y.atomic_min([0, i], x.load([0, i]))
    elif KIND == "max":
        y.atomic_max([0, i], x.load([0, i]))
    elif KIND == "and":
        y.atomic_and([0, i], x.load([0, i]))
    elif KIND == "or":
        y.atomic_or([0, i], x.load([0, i]))
    else:
        y.atomic_xor([0, i], x.load([0, i]))


@triton.jit
def ragged(x, y, first, size, B: tl.constexpr, KIND: tl.constexpr):
    for i in range(0, 2):
        block = load_ragged(x, first, size, [i * B, 0])
        if KIND == "add":
            atomic_add_ragged(y, first, size, [i * B, 0], block)
        else:
            store_ragged(y, first, size, [i * B, 0], block)


@triton.jit
def stored_then_copied(x, p, y, B: tl.constexpr):
    """What plain stores wrote is copied behind the fence that tells the copies of it."""
    tl.store(p + tl.arange(0, B), tl.arange(0, B).to(tl.float32))
    tl.debug_barrier()
    y.store([0], x.load([0]) + 1)


@pytest.fixture
def everything_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    checks.clear()


def bits(x: torch.Tensor) -> np.ndarray:
    return x.contiguous().view(BITS[x.element_size()]).numpy()


def numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 100, shape, generator=generator).to(dtype)


def both(
    monkeypatch: pytest.MonkeyPatch, kernel: Any, grid: tuple[int, ...], outputs: list[torch.Tensor], call: Any
) -> Any:
    """Launches on the interpreter and on the simulator and compares the outputs' bits. call(): the arguments, made of
    `outputs`, which are as they were at first each time."""
    before = [out.clone() for out in outputs]
    results = {}
    for backend in ("interp", "sim"):
        for out, old in zip(outputs, before, strict=True):
            out.copy_(old)
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        compiled = kernel[grid](*call())
        results[backend] = [bits(out).copy() for out in outputs]
    assert not checks.findings()
    for ours, theirs in zip(results["sim"], results["interp"], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return compiled


def maps_of(compiled: Any) -> list[tensor_map_arguments.MapArgument | None]:
    return [tensor_map_arguments.map_argument(kind) for kind in compiled.asm.facts["arguments"]]


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
def test_dots_read_blocks_where_they_arrive(monkeypatch, everything_checked, dtype: torch.dtype, turned: bool) -> None:
    m, n, k = 100, 72, 88
    a, b = numbers((m, k), dtype), numbers((n, k) if turned else (k, n), dtype, 1)
    c = torch.zeros((m, n), dtype=torch.float32)
    blocks = {"a": [64, 32], "b": [64, 32] if turned else [32, 64], "c": [64, 64]}

    def call() -> tuple[Any, ...]:
        made = [TensorDescriptor.from_tensor(t, blocks[name]) for name, t in (("a", a), ("b", b), ("c", c))]
        return (*made, k, 64, 64, 32, turned)

    results = {}
    for backend in ("interp", "sim"):
        c.zero_()
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        compiled = multiply[(2, 2)](*call())
        results[backend] = c.clone()
    assert not checks.findings()
    torch.testing.assert_close(results["sim"], results["interp"], rtol=2e-3, atol=2e-2)
    ptx, ttgir = compiled.asm["ptx"], compiled.asm["ttgir"]
    straight = dtype != torch.float32 or turned
    assert "wgmma" in ptx and ("twg.local_load" not in ttgir) == straight
    # c goes through shared memory, and nothing else but an operand that is turned on the way.
    assert ttgir.count("twg.local_alloc %") == (1 if straight else 2)


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


# ---- what stays plain ----


def _compiled(fn: Any, signature: dict[str, str], constants: dict[str, Any], capability: int = 90) -> Any:
    source = triton.ASTSource(fn, signature, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32))


@triton.jit
def unaligned(x, out, at, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), x.load([at]))


@triton.jit
def chosen(x, y, out, which, B: tl.constexpr):
    d = x
    if which > 0:
        tl.store(out, 1.0)
        d = y
    tl.store(out + tl.arange(0, B), d.load([0]))


@triton.jit
def rows_by_number(x, out, B: tl.constexpr):
    rows = tl.arange(0, 8)
    block = x.gather(rows, 0)
    tl.store(out + rows[:, None] * B + tl.arange(0, B)[None, :], block)


def test_blocks_that_may_begin_anywhere_are_plain() -> None:
    signature = {"x": "tensordesc<fp32[64]>", "out": "*fp32", "at": "i32", "B": "constexpr"}
    assert maps_of(_compiled(unaligned, signature, {"B": 64}))[0] is None
    source = triton.ASTSource(unaligned, signature, constexprs={"B": 64}, attrs={(2,): [["tt.divisibility", 16]]})
    known = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert maps_of(known)[0] == tensor_map_arguments.MapArgument("float32", (64,), 0)


def test_descriptors_in_control_flow_and_rows_are_plain() -> None:
    signature = {
        "x": "tensordesc<fp32[64]>",
        "y": "tensordesc<fp32[64]>",
        "out": "*fp32",
        "which": "i32",
        "B": "constexpr",
    }
    assert not any(maps_of(_compiled(chosen, signature, {"B": 64})))
    gathered = _compiled(rows_by_number, {"x": "tensordesc<fp32[1, 64]>", "out": "*fp32", "B": "constexpr"}, {"B": 64})
    assert not any(maps_of(gathered))


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
def test_maps_from_sm_90_on(capability: int) -> None:
    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    compiled = _compiled(copy_inside, signature, {"BM": 16, "BN": 64}, capability)
    expected = tensor_map_arguments.MapArgument("float16", (16, 64), 128) if capability >= 90 else None
    assert maps_of(compiled)[0] == maps_of(compiled)[5] == expected
    assert ("cp.async.bulk.tensor" in compiled.asm["ptx"]) == (capability >= 90)
    if capability >= 90:
        assert re.search(r"\.param \.align 64 \.b8 copy_inside_param_0\[128\]", compiled.asm["ptx"])
    sk.assemble(compiled.asm["ptx"], {80: "sm_80", 90: "sm_90a", 100: "sm_100a", 120: "sm_120"}[capability])


def test_large_blocks_are_plain() -> None:
    signature = {
        "x": "tensordesc<fp32[256, 128]>",
        "y": "tensordesc<fp32[16, 64]>",
        "BM": "constexpr",
        "BN": "constexpr",
    }
    described = maps_of(_compiled(copy_blocks, signature | {"y": signature["x"]}, {"BM": 256, "BN": 128}))
    assert not any(described)


def test_ttgir_keeps_what_maps_are_made_of() -> None:
    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    compiled = _compiled(copy_blocks, signature, {"BM": 16, "BN": 64})
    again = sk.compiled(compiled.asm["ttgir"], "sm_90a", "ttgir")
    assert again["metadata"]["arguments"] == compiled.asm.facts["arguments"]
    assert again["ptx"].count("cp.async.bulk.tensor") == compiled.asm["ptx"].count("cp.async.bulk.tensor")


BAD_TTGIR = {
    "box": ("box = [16, 64]", "box = [16, 48]", "has a box whose extents do not divide those of the block"),
    "rank": ("box = [16, 64]", "box = [64]", "has a box whose extents do not divide"),
    "rows": (
        "box = [16, 64], swizzle = 128>",
        "box = [16, 4], swizzle = 0>",
        "has a box with rows of 8 bytes, which are no",
    ),
    "swizzle": ("swizzle = 128>}", "swizzle = 64>}", "has a swizzle of 64 bytes, with rows of 128"),
    "no map": (
        r"\{twg\.tensor_map = [^}]*\}",
        "",
        "needs a descriptor that is an argument of the kernel with a tensor map",
    ),
}


@pytest.mark.parametrize("mistake", BAD_TTGIR)
def test_ttgir_that_says_what_cannot_be(mistake: str) -> None:
    from tiletwin import _codegen

    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    ttgir = _compiled(copy_blocks, signature, {"BM": 16, "BN": 64}).asm["ttgir"]
    what, instead, message = BAD_TTGIR[mistake]
    pattern = what if mistake == "no map" else re.escape(what)
    broken = re.sub(pattern, instead, ttgir)
    assert broken != ttgir
    with pytest.raises(_codegen.Error, match=message):
        sk.compiled(broken, "sm_90a", "ttgir")


def test_ttgir_with_maps_wants_sm_90() -> None:
    from tiletwin import _codegen

    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    ttgir = _compiled(copy_blocks, signature, {"BM": 16, "BN": 64}).asm["ttgir"]
    with pytest.raises(_codegen.Error, match=r"twg\.tensor_load.* is not compiled for sm_80 yet"):
        sk.compiled(ttgir, "sm_80", "ttgir")


def test_strides_that_no_map_has_are_refused() -> None:
    described = tensor_map_arguments.MapArgument("float32", (4, 16), 64)
    with pytest.raises(ValueError, match=r"k\(\): x: strides of a tensor map lie from 0 to 2\^40 bytes, not -64"):
        tensor_map_arguments.numbers(described, [1 << 20, 8, 16, -16, 1], "k(): x")


# ---- exported, and launched by hand ----


def _launched_by_hand(ptx: str, compiled: Any, x: np.ndarray, y: np.ndarray) -> None:
    """As a CUDA program launches it: maps that it makes itself of what `arguments` says."""
    import tiletwin.sim

    def arguments(tensor: np.ndarray, described: Any) -> list[Any]:
        box = tuple(reversed(described.box))
        made = tiletwin.sim.tensor_map(tensor, box, dtype=described.element, swizzle=described.swizzle or None)
        return [made, *tensor.shape, tensor.shape[1], 1]

    maps = [described for described in maps_of(compiled) if described]
    kernel = tiletwin.sim.load(ptx)[compiled.asm.facts["name"]]
    checks.clear()
    kernel(
        *arguments(x, maps[0]), *arguments(y, maps[1]), grid=(4, 3), block=compiled.metadata.threads,
        shared=compiled.metadata.shared, checks="all",
    )  # fmt: skip
    assert not checks.findings()


def test_exported_as_cuda(tmp_path: Path) -> None:
    """A tensor map is a parameter of the exported function as it is one of the kernel."""
    from tiletwin.tools import cuda_source

    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    compiled = _compiled(copy_inside, signature, {"BM": 16, "BN": 64})
    x = np.arange(30 * 72, dtype=np.float16).reshape(30, 72)
    y = np.zeros_like(x)
    _launched_by_hand(compiled.asm["ptx"], compiled, x, y)
    np.testing.assert_array_equal(x, y)
    source = cuda_source(compiled)
    assert source.count("const __grid_constant__") == 2
    if shutil.which("nvcc") is None:
        return
    (tmp_path / "kernel.cu").write_text(source)
    words = ["nvcc", "-ptx", "-arch=sm_90a", str(tmp_path / "kernel.cu"), "-o", str(tmp_path / "kernel.ptx")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    ptx = (tmp_path / "kernel.ptx").read_text()
    sk.assemble(ptx, "sm_90a")
    z = np.zeros_like(x)
    _launched_by_hand(ptx, compiled, x, z)
    np.testing.assert_array_equal(x, z)
