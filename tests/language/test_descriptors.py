"""Tensor descriptors against NumPy: every rank, element type and border; both ways to make them; both modes."""

from __future__ import annotations

import importlib
import itertools

import descriptor_kernels as kernels
import numpy as np
import pytest
import torch
import triton
from block_references import block_of, filled, put
from triton.tools.tensor_descriptor import TensorDescriptor

TYPES = [
    *(getattr(torch, f"{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)),
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.float8_e5m2,
    torch.float8_e4m3fn,
]
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(x: torch.Tensor) -> np.ndarray:
    return x.contiguous().view(BITS[x.element_size()]).numpy()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("at", [(0, 0), (3, 16), (-2, -5), (6, 30), (-8, 0), (7, 0), (2**31 - 8, 5), (-(2**31), 0)])
def test_load_2d(dtype: torch.dtype, at: tuple[int, int]) -> None:
    x = filled((7, 32), dtype)
    out = torch.zeros((8, 16), dtype=dtype)
    kernels.load_2d[(1,)](x, out, 7, 32, 32, *at, 8, 16, "zero")
    assert np.array_equal(bits(out), bits(block_of(x, at, (8, 16))))


@pytest.mark.parametrize("dtype", [t for t in TYPES if t.is_floating_point], ids=str)
@pytest.mark.parametrize("at", [(0, 0), (-1, -3), (5, 29), (100, 0)])
def test_nan_padding(dtype: torch.dtype, at: tuple[int, int], mode: None) -> None:
    x = filled((7, 32), dtype)
    out = torch.zeros((8, 16), dtype=dtype)
    kernels.load_2d[(1,)](x, out, 7, 32, 32, *at, 8, 16, "nan")
    want = block_of(x, at, (8, 16), float("nan")).double().numpy()
    assert np.array_equal(out.double().numpy(), want, equal_nan=True)
    host = torch.zeros((8, 16), dtype=dtype)
    kernels.load_host[(1,)](TensorDescriptor.from_tensor(x, [8, 16], "nan"), host, *at)
    assert np.array_equal(host.double().numpy(), want, equal_nan=True)


@pytest.mark.parametrize("at", [0, 3, -3, 30, 37, 38, -16, -15, 2**31 - 1, -(2**31)])
def test_load_1d(at: int, mode: None) -> None:
    x = filled((37,), torch.float32)
    out = torch.full((16,), -1.0)
    kernels.load_1d[(1,)](x, out, 37, at, 16, "zero")
    assert np.array_equal(bits(out), bits(block_of(x, (at,), (16,))))


@pytest.mark.parametrize("shape", [(0, 16), (1, 16), (5, 0), (3, 12)])
def test_small_tensors(shape: tuple[int, int], mode: None) -> None:
    x = filled(shape, torch.float32)
    out = torch.full((4, 8), -1.0)
    kernels.load_2d[(1,)](x, out, *shape, max(shape[1], 4), 0, 4, 4, 8, "zero")
    assert np.array_equal(bits(out), bits(block_of(x, (0, 4), (4, 8))))


@pytest.mark.parametrize("at", [(0, 0, 0), (1, -1, 3), (-1, 2, -3), (2, 2, 9), (5, 0, 0)])
def test_copy_3d(at: tuple[int, int, int], mode: None) -> None:
    x = filled((3, 5, 12), torch.float16)
    padded = torch.zeros((3, 5, 16), dtype=torch.float16)
    padded[:, :, :12] = x
    out = torch.full((3, 5, 16), -1.0, dtype=torch.float16)
    kernels.copy_3d[(1,)](padded, out, 3, 5, 12, 80, 16, *at, 2, 4, 8)
    want = put(torch.full((3, 5, 12), -1.0, dtype=torch.float16), at, block_of(x, at, (2, 4, 8)))
    assert torch.equal(out[:, :, :12], want) and torch.all(out[:, :, 12:] == -1.0)


@pytest.mark.parametrize("at", [(0, 0, 0, 0), (1, -1, 2, 3), (-1, 1, -1, -2)])
def test_copy_4d(at: tuple[int, ...], mode: None) -> None:
    shape = (2, 3, 3, 8)
    x, out = filled(shape, torch.int32), torch.full(shape, -1, dtype=torch.int32)
    kernels.copy_4d[(1,)](x, out, shape, x.stride(), at, (1, 2, 2, 4))
    assert torch.equal(out, put(torch.full_like(out, -1), at, block_of(x, at, (1, 2, 2, 4))))


@pytest.mark.parametrize("at", [(0, 0, 0, 0, 0), (1, 0, -1, 2, 5), (0, 2, 1, -1, -3)])
def test_copy_5d(at: tuple[int, ...], mode: None) -> None:
    shape = (2, 2, 3, 3, 8)
    x, out = filled(shape, torch.float32), torch.full(shape, -1.0)
    kernels.copy_5d[(1,)](x, out, shape, x.stride(), at, (2, 1, 2, 2, 4))
    assert torch.equal(out, put(torch.full_like(out, -1), at, block_of(x, at, (2, 1, 2, 2, 4))))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("at", [(0, 0), (5, 20), (-3, -7)])
def test_copy_host(dtype: torch.dtype, at: tuple[int, int]) -> None:
    x, out = (
        filled((7, 32), dtype),
        filled((7, 32), dtype) * 0 if dtype.itemsize > 1 else torch.zeros((7, 32)).to(dtype),
    )
    kernels.copy_host[(1,)](TensorDescriptor.from_tensor(x, [4, 16]), TensorDescriptor.from_tensor(out, [4, 16]), *at)
    assert np.array_equal(bits(out), bits(put(torch.zeros((7, 32)).to(dtype), at, block_of(x, at, (4, 16)))))


def test_host_facts_and_views(mode: None) -> None:
    whole = filled((10, 64), torch.float32)
    view = whole[2:9, 4:30]
    desc = TensorDescriptor(view, list(view.shape), list(view.stride()), [8, 16])
    facts = torch.zeros(4, dtype=torch.int64)
    kernels.facts_of_host[(1,)](desc, facts)
    assert facts.tolist() == [7, 26, 64, 1]
    out = torch.zeros((8, 16))
    kernels.load_host[(1,)](desc, out, 0, 16)
    assert torch.equal(out, block_of(view, (0, 16), (8, 16)))


def test_host_in_function_and_tuple(mode: None) -> None:
    x, y = filled((5, 8), torch.float32), filled((6, 8), torch.float32) * 10
    out = torch.zeros((4, 8))
    descs = (TensorDescriptor.from_tensor(x, [4, 8]), TensorDescriptor.from_tensor(y, [4, 8]))
    kernels.host_in_function_and_tuple[(1,)](descs, out, 4, 8)
    assert torch.equal(out, block_of(x, (0, 0), (4, 8)) + block_of(y, (4, 0), (4, 8)) + 3)


@pytest.mark.parametrize("take_b", [0, 1])
def test_choice(take_b: int, mode: None) -> None:
    a, b = filled((4, 12), torch.float32), -filled((12, 4), torch.float32)
    out = torch.zeros((4, 8))
    kernels.choose_by_if[(1,)](a, b, out, 12, 4, take_b, 4, 8)
    assert torch.equal(out, block_of(b if take_b else a, (0, 0), (4, 8)))
    host = [TensorDescriptor.from_tensor(t, [4, 8]) for t in (a, b)]
    for kernel in (kernels.choose_between_two, kernels.early_return):
        out = torch.zeros((4, 8))
        kernel[(1,)](*host, out, take_b, 4, 8)
        assert torch.equal(out, block_of(b if take_b else a, (0, 0), (4, 8)))


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_loops(rounds: int, mode: None) -> None:
    a, b = filled((4, 8), torch.float32), -filled((3, 12), torch.float32)
    host = [TensorDescriptor.from_tensor(t, [4, 8]) for t in (a, b)]
    out = torch.full((4, 8), -1.0)
    kernels.replace_in_loop[(1,)](*host, out, rounds, 4, 8)
    turns = [block_of(t, (0, 0), (4, 8)) for t in (a, b)]
    assert torch.equal(out, sum((turns[r % 2] * (r + 1) for r in range(rounds)), torch.zeros((4, 8))))
    kernels.in_while[(1,)](host[0], out, rounds, 4, 8)
    assert torch.equal(out, sum((block_of(a, (r, r - 1), (4, 8)) for r in range(rounds)), torch.zeros((4, 8))))


@pytest.mark.parametrize("index", [torch.int16, torch.int32], ids=str)
@pytest.mark.parametrize("column", [0, 8, -3, 20, 27, 28, -16])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_gather(index: torch.dtype, column: int, padding: str, mode: None) -> None:
    x = filled((20, 28), torch.float32)
    rows = torch.tensor([3, 19, -1, 0, 20, 7, 7, -300], dtype=index)
    out = torch.full((8, 16), -1.0)
    kernels.gather_rows[(1,)](x, rows, out, 20, 28, column, 8, 16, padding)
    fill = 0.0 if padding == "zero" else float("nan")
    want = torch.cat([block_of(x, (int(r), column), (1, 16), fill) for r in rows])
    assert np.array_equal(out.numpy(), want.numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("column", [0, -3, 21])
def test_scatter(dtype: torch.dtype, column: int) -> None:
    x = filled((8, 16), dtype)
    rows = torch.tensor([3, 19, -1, 0, 20, 7, 5, 300], dtype=torch.int32)
    out = torch.zeros((20, 32)).to(dtype)
    want = out.clone()
    for i, r in enumerate(rows.tolist()):
        want = put(want, (r, column), x[i : i + 1])
    kernels.scatter_rows[(1,)](x, rows, out, 20, 32, column, 8, 16)
    assert np.array_equal(bits(out), bits(want))


NUMPY = {
    "add": np.add,
    "min": np.fmin,
    "max": np.fmax,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
REDUCED = {
    torch.int32: list(NUMPY),
    torch.uint32: list(NUMPY),
    torch.int64: list(NUMPY),
    torch.uint64: list(NUMPY),
    torch.float16: ["add", "min", "max"],
    torch.bfloat16: ["add", "min", "max"],
    torch.float32: ["add"],
}


@pytest.mark.parametrize(("dtype", "op"), [(t, op) for t, ops in REDUCED.items() for op in ops], ids=str)
@pytest.mark.parametrize("at", [(0, 0), (-3, 5), (6, -2)])
def test_reduce(dtype: torch.dtype, op: str, at: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)

    def numbers(shape: tuple[int, int]) -> torch.Tensor:
        if dtype.is_floating_point:
            return torch.from_numpy(rng.integers(-9, 9, shape).astype(np.float32)).to(dtype)
        info = torch.iinfo(dtype)
        made = rng.integers(info.min, info.max, shape, dtype=str(dtype).removeprefix("torch."), endpoint=True)
        return torch.from_numpy(made)

    x, out = numbers((8, 16)), numbers((10, 24))
    before = (out.float() if dtype.is_floating_point else out).numpy().copy()
    value = (x.float() if dtype.is_floating_point else x).numpy()
    for i, j in itertools.product(range(8), range(16)):
        r, c = at[0] + i, at[1] + j
        if 0 <= r < 10 and 0 <= c < 24:
            before[r, c] = NUMPY[op](before[r, c], value[i, j])
    kernels.reduce_into[(1,)](x, out, 10, 24, *at, op, 8, 16)
    assert np.array_equal((out.float() if dtype.is_floating_point else out).numpy(), before)


@pytest.mark.parametrize("op", ["min", "max"])
def test_reduce_ignores_nan(op: str, mode: None) -> None:
    x, out = torch.full((8, 16), float("nan"), dtype=torch.float16), torch.full((8, 16), 2.0, dtype=torch.float16)
    out[0] = float("nan")
    x[0], x[1] = 3.0, -0.5
    kernels.reduce_into[(1,)](x, out, 8, 16, 0, 0, op, 8, 16)
    want = torch.full((8, 16), 2.0)
    want[0], want[1] = 3.0, max(2.0, -0.5) if op == "max" else -0.5
    assert torch.equal(out.float(), want)


def test_reduce_is_atomic() -> None:
    out = torch.zeros((6, 64), dtype=torch.int32)
    kernels.count_up[(3000,)](TensorDescriptor.from_tensor(out, [4, 64]), 4, 64)
    assert torch.equal(
        out, torch.tensor([1000, 2000, 3000, 3000, 2000, 1000], dtype=torch.int32)[:, None].expand(6, 64)
    )


def test_loads_see_memory_as_it_was(mode: None) -> None:
    x = torch.arange(80 * 16, dtype=torch.float32).reshape(80, 16)
    want = x.clone()
    for r in range(8):
        block = want[r + 1 : r + 5].clone()
        want[r : r + 4] = block
        want[r + 40 : r + 44] = block + block
    kernels.in_place[(1,)](TensorDescriptor.from_tensor(x, [4, 16]), 4, 16, 8)
    assert torch.equal(x, want)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_matmul(dtype: torch.dtype) -> None:
    rng = np.random.default_rng(3)
    a, b = (torch.from_numpy(rng.integers(-4, 5, s).astype(np.float32)).to(dtype) for s in ((72, 88), (88, 56)))
    c = torch.full((72, 56), -1.0, dtype=dtype)
    args = [TensorDescriptor.from_tensor(t, s) for t, s in ((a, [32, 32]), (b, [32, 32]), (c, [32, 32]))]
    kernels.matmul_desc[(3, 2)](*args, 88, 32, 32, 32)
    assert torch.equal(c.float(), a.float() @ b.float())


def test_reused_kernel_takes_other_padding() -> None:
    """Zero and NaN padding share one compiled kernel."""
    x, out = filled((4, 8), torch.float32), torch.zeros((4, 8))
    kernels.load_host[(1,)](TensorDescriptor.from_tensor(x, [4, 8]), out, 2, 0)
    assert torch.equal(out[2:], torch.zeros((2, 8)))
    kernels.load_host[(1,)](TensorDescriptor.from_tensor(x, [4, 8], "nan"), out, 2, 0)
    assert torch.isnan(out[2:]).all() and torch.equal(out[:2], x[2:])


def test_compiled_ahead() -> None:
    source = triton.compiler.ASTSource(
        kernels.load_host, {"x": "tensordesc<fp32[4, 8]>", "o_ptr": "*fp32", "at0": "i32", "at1": "i32"}, {}
    )
    compiled = triton.compile(source)
    x, out = filled((5, 12), torch.float32), torch.zeros((4, 8))
    compiled[(1,)](TensorDescriptor.from_tensor(x, [4, 8], "nan"), out, 3, 8)
    want = block_of(x, (3, 8), (4, 8), float("nan"))
    assert np.array_equal(out.numpy(), want.numpy(), equal_nan=True)


@pytest.mark.parametrize(
    ("which", "text"),
    [
        ("make", r"is called tl\.make_tensor_descriptor now"),
        ("load", r"is called tl\.load_tensor_descriptor\(desc, offsets\) now"),
        ("store", r"is called tl\.store_tensor_descriptor\(desc, offsets, value\) now"),
        ("reinterpret", r"pass a triton\.tools\.tensor_descriptor\.TensorDescriptor"),
        ("create", r"use tl\.make_tensor_descriptor"),
        ("acquire", "need no fence"),
    ],
)
def test_names_of_earlier_versions(which: str, text: str, mode: None) -> None:
    with pytest.raises((triton.CompilationError, AttributeError), match=text):
        kernels.old_names[(1,)](torch.zeros(64), which)


def test_modules_of_earlier_versions() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"use triton\.tools\.tensor_descriptor\.TensorDescriptor"):
        importlib.import_module("triton.tools.experimental_descriptor")


def to_tf32(x: torch.Tensor) -> torch.Tensor:
    bits = x.numpy().view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)
    return torch.from_numpy(np.where(np.isfinite(x.numpy()), rounded, x.numpy()))


def test_loads_that_round_to_tf32(mode: None) -> None:
    """One kernel with and without; loads inside, across the border and outside; memory stays as it is."""
    x = torch.from_numpy(np.random.default_rng(5).integers(0, 2**32, 16 * 32, dtype=np.uint32).view(np.float32))
    x = torch.where(torch.isnan(x), torch.tensor(float("nan")), x).reshape(16, 32)
    x[0, :6] = torch.tensor([1 + 2**-11, 1 + 3 * 2**-11, float("inf"), 3.4e38, 1e-42, -0.0])
    before = x.clone()
    for at in [(0, 0), (4, 16), (12, 20), (-3, -2), (40, 0)]:
        for rounds in (True, False):
            out = torch.zeros((8, 16))
            desc = TensorDescriptor.from_tensor(x, [8, 16], round_f32_to_tf32=rounds)
            kernels.load_host[(1,)](desc, out, *at)
            want = block_of(x, at, (8, 16))
            np.testing.assert_array_equal(out.numpy(), (to_tf32(want) if rounds else want).numpy())
    assert torch.equal(x.view(torch.int32), before.view(torch.int32))
    with pytest.raises(ValueError, match="needs a float32 tensor"):
        TensorDescriptor.from_tensor(torch.zeros(8, 8).half(), [8, 8], round_f32_to_tf32=True)
