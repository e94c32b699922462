"""Block pointers against NumPy: borders, strides, orders, ranks, loops, branches, functions; both modes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import block_pointer_kernels as kernels
import numpy as np
import pytest
import tiletwin
import torch
import triton
import triton.language as tl
from block_references import block_of, put


def filled(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.arange(1, 1 + int(np.prod(shape))) % 101).reshape(shape).to(dtype)


@pytest.mark.parametrize("at", [(0, 0), (3, 9), (-2, -5), (6, 12), (-8, 0), (7, 13), (2**31 - 9, 0), (-(2**31), 3)])
@pytest.mark.parametrize("padding", ["", "zero", "nan"])
@pytest.mark.parametrize("transposed", [False, True])
def test_load(at: tuple[int, int], padding: str, transposed: bool) -> None:
    x = filled(13, 7).T if transposed else filled(7, 13)
    out = torch.full((8, 16), -1.0)
    order = (0, 1) if transposed else (1, 0)
    kernels.load_2d[(1,)](x, out, 7, 13, *x.stride(), *at, 8, 16, (0, 1), padding, order)
    want = block_of(x, at, (8, 16), float("nan") if padding == "nan" else 0.0)
    assert np.array_equal(out.numpy(), want.numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16,
                                   torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2])  # fmt: skip
@pytest.mark.parametrize("at", [(0, 0), (-3, 5)])
def test_types(dtype: torch.dtype, at: tuple[int, int]) -> None:
    x = (filled(7, 13) % 8).to(dtype)
    out = torch.zeros((8, 16)).to(dtype)
    kernels.load_2d[(1,)](x, out, 7, 13, 13, 1, *at, 8, 16, (0, 1), "zero", (1, 0))
    assert torch.equal(out.float(), block_of(x.float(), at, (8, 16)))


def test_one_dimension_checked(mode: None) -> None:
    x = filled(7, 16)
    out = torch.zeros((8, 16))
    kernels.load_2d[(1,)](x, out, 7, 16, 16, 1, 2, 0, 8, 16, (0,), "zero", (1, 0))
    assert torch.equal(out, block_of(x, (2, 0), (8, 16)))
    with pytest.raises(tiletwin.OutOfBoundsError, match="past the end"):
        kernels.load_2d[(1,)](x, out, 7, 16, 16, 1, 0, 0, 8, 16, (1,), "zero", (1, 0))
    with pytest.raises(tiletwin.OutOfBoundsError, match="before the start"):
        kernels.store_2d[(1,)](filled(8, 16), x, 7, 16, 16, 1, -1, 0, 8, 16, (1,))
    assert torch.equal(x, filled(7, 16))


@pytest.mark.parametrize("at", [(0, 0), (3, 9), (-2, -5), (6, 12), (8, 0)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bfloat16])
def test_store(at: tuple[int, int], transposed: bool, dtype: torch.dtype) -> None:
    whole = torch.full((13, 7) if transposed else (7, 13), -1, dtype=dtype)
    out = whole.T if transposed else whole
    x = filled(8, 16)
    want = put(out, at, x.to(dtype))
    kernels.store_2d[(1,)](x, out, 7, 13, *out.stride(), *at, 8, 16, (0, 1))
    assert torch.equal(out, want)


@pytest.mark.parametrize(
    ("shape", "block", "at"),
    [
        ((19,), (8,), (-3,)),
        ((19,), (8,), (15,)),
        ((3, 5, 6), (2, 4, 8), (1, -1, -2)),
        ((3, 5, 6), (2, 4, 8), (2, 3, 4)),
        ((2, 3, 4, 5), (1, 2, 4, 4), (1, -1, 1, 3)),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_ranks_and_orders(shape: tuple, block: tuple, at: tuple, reverse: bool, mode: None) -> None:
    rank = len(shape)
    x, out = filled(*shape), torch.full(shape, -1.0)
    if reverse:
        x, out = filled(*shape[::-1]).permute(*reversed(range(rank))), torch.full(shape[::-1], -1.0)
        out = out.permute(*reversed(range(rank)))
    order = tuple(range(rank)) if reverse else tuple(reversed(range(rank)))
    want = put(out, at, block_of(x, at, block))
    kernels.copy_any_rank[(1,)](x, out, shape, x.stride(), at, block, order, tuple(range(rank)))
    assert torch.equal(out, want)


def test_scalar_value(mode: None) -> None:
    out = torch.zeros(10)
    kernels.fill[(1,)](out, 10, 6, 8)
    assert out.tolist() == [0.0] * 6 + [3.0] * 4


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (70, 45, 33), (1, 1, 1), (5, 100, 16)])
@pytest.mark.parametrize("transposed", [False, True])
def test_matmul(m: int, n: int, k: int, transposed: bool) -> None:
    rng = np.random.default_rng(5)
    a, b = (torch.from_numpy(rng.integers(-4, 5, s).astype(np.float32)) for s in ((m, k), (k, n)))
    if transposed:
        a, b = a.T.contiguous().T, b.T.contiguous().T
    c = torch.full((m, n), -1.0, dtype=torch.float16)
    kernels.matmul[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), 32, 32, 16
    )
    assert torch.equal(c, (a @ b).half())


def test_matmul_in_eager_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    test_matmul(33, 20, 19, True)


@pytest.mark.parametrize("length", [64, 50, 17, 1])
def test_attention(length: int) -> None:
    q, k, v = (torch.randn(length, 16, generator=torch.Generator().manual_seed(i)) for i in range(3))
    out = torch.full((length, 16), -1.0)
    kernels.attention[(triton.cdiv(length, 32),)](q, k, v, out, 0.25, 16, length, 32, 16, 16)
    want = torch.nn.functional.scaled_dot_product_attention(*(t[None].double() for t in (q, k, v)), is_causal=True)
    assert torch.allclose(out.double(), want[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_functions(rounds: int, mode: None) -> None:
    x, out = filled(27), torch.zeros(1)
    kernels.through_functions[(1,)](x, out, 27, rounds, 8)
    assert out.item() == x[: 8 * rounds].sum().item()


@pytest.mark.parametrize("take_y", [0, 1])
@pytest.mark.parametrize("forward", [0, 1])
def test_branches(take_y: int, forward: int, mode: None) -> None:
    x, y, out = filled(11), -filled(22), torch.full((8,), -1.0)
    kernels.in_branches[(1,)](x, y, out, 11, take_y, forward, 8)
    assert torch.equal(out, block_of(y[::2] if take_y else x, (8 * forward,), (8,)))


@pytest.mark.parametrize("n", [0, 1, 16, 21])
def test_while_and_tuples(n: int, mode: None) -> None:
    x, total = filled(n), torch.zeros(8)
    kernels.in_while[(1,)](x, total, n, 8)
    padded = torch.cat([x, torch.zeros(-n % 8)]).reshape(-1, 8)
    assert torch.equal(total, padded.sum(0))
    out = torch.full((n,), -1.0)
    kernels.in_tuple[(1,)](x, out, n, 8)
    assert torch.equal(out, x * 2)


def test_facts(mode: None) -> None:
    out = torch.zeros(1, dtype=torch.int64)
    kernels.facts[(1,)](torch.zeros(8), out, 7, 4)
    assert out.item() == 2007


def test_bool_is_a_byte(mode: None) -> None:
    x, out = torch.tensor([True, False, True]), torch.full((4,), 9, dtype=torch.int32)
    kernels.bool_block[(1,)](x, out, 3, 4)
    assert out.tolist() == [1, 0, 1, 0]


def plan_of(kernel, signature: dict[str, str], constants: dict) -> str:
    source = triton.compiler.ASTSource(kernel, signature | dict.fromkeys(constants, "constexpr"), constants)
    return triton.compile(source).module.text("plan")


def test_loads_are_block_copies() -> None:
    names = "M N K sam sak sbk sbn scm scn".split()
    signature = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp32") | dict.fromkeys(names, "i32")
    plan = plan_of(kernels.matmul, signature, {"BM": 32, "BN": 32, "BK": 16})
    assert plan.count("Load") >= 2 and "Gather" not in plan and "Scatter" not in plan


BAD = [
    ("tl.make_block_ptr(p, (n,), (1,), (0, 0), (8,), (0,))", "must have one length, got 1, 1, 2, 1 and 1"),
    ("tl.make_block_ptr(p, (n,), (1,), (0,), (8,), (1,))", "order must name each dimension from 0 to 0 once"),
    ("tl.make_block_ptr(p, (n,), (1,), (0,), (7,), (0,))", "power"),
    ("tl.make_block_ptr(p, (n,), (1,), (0,), (n,), (0,))", "compile-time int"),
    ("tl.make_block_ptr(p + tl.arange(0, 8), (n,), (1,), (0,), (8,), (0,))", "base must be one pointer"),
    ("tl.make_block_ptr(p, (1.5,), (1,), (0,), (8,), (0,))", "shape"),
    ("tl.advance(p, (1,))", "base must be a block pointer"),
    ("tl.advance(b, (1, 2))", "has 1 dimensions, got 2 offsets"),
    ("tl.load(b, mask=tl.arange(0, 8) < 3)", "boundary_check and padding_option, not mask"),
    ("tl.load(b, boundary_check=(1,))", "names dimension 1 of a block of 1"),
    ("tl.load(b, boundary_check=(0, 0))", "names dimension 0 twice"),
    ("tl.load(b, boundary_check=(0,), padding_option='one')", "must be '', 'zero' or 'nan'"),
    ("tl.load(i, boundary_check=(0,), padding_option='nan')", "needs a float type, got int32"),
    ("tl.load(p + tl.arange(0, 8), boundary_check=(0,))", "are for block pointers"),
    ("tl.store(p, 1.0, boundary_check=(0,))", "is for block pointers"),
    ("tl.store(b, tl.arange(0, 8))", "elements are fp32 and the value's int32"),
    ("tl.store(b, tl.zeros((4,), tl.float32))", "has the shape (8,) and the value the shape (4,)"),
    ("tl.store(b, 1.0, mask=True)", "boundary_check, not a mask"),
]


@pytest.mark.parametrize(("line", "text"), BAD, ids=[line for line, _ in BAD])
def test_bad_input(line: str, text: str, tmp_path: Path, mode: None) -> None:
    source = f"""
        import triton, triton.language as tl

        @triton.jit
        def kernel(p, q, n):
            b = tl.make_block_ptr(p, (n,), (1,), (0,), (8,), (0,))
            i = tl.make_block_ptr(q, (n,), (1,), (0,), (8,), (0,))
            {line}
    """
    file = tmp_path / "bad_kernel.py"
    file.write_text(textwrap.dedent(source))
    namespace: dict = {"__name__": "bad_kernel", "__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    with pytest.raises((triton.compiler.errors.CompilationError, ValueError, TypeError)) as caught:
        namespace["kernel"][(1,)](torch.zeros(8), torch.zeros(8, dtype=torch.int32), 8)
    assert text in str(caught.value)


def test_outside_kernels() -> None:
    with pytest.raises(TypeError, match="one pointer"):
        tl.make_block_ptr(1, (1,), (1,), (0,), (8,), (0,))
