"""Products of tiles that were widened to f32: what tensor cores multiply, and that no number changes by it.

Here:      the type of the products, bits against the same kernel that widens nothing, values against NumPy.
Not here:  widenings that wait for a reduction or a loop (tests/codegen/lit/widenings.mlir).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def product(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
    TRANSPOSED: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """c = a @ b; LEFT, RIGHT: whether that one is widened. b may be stored transposed."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    if LEFT:
        left = left.to(tl.float32)
    if TRANSPOSED:
        right = tl.load(b + n[:, None] * K + k[None, :])
        right = tl.trans(right.to(tl.float32)) if RIGHT else tl.trans(right)
    else:
        right = tl.load(b + k[:, None] * N + n[None, :])
        if RIGHT:
            right = right.to(tl.float32)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(left, right, input_precision=PRECISION))


def code_of(kinds: tuple[str, str], shape: tuple[int, int, int], *rest: Any, warps: int = 4) -> dict[str, Any]:
    constants = ", ".join(map(str, (*shape, *rest)))
    return dots.code_of(product, f"*{kinds[0]}:16, *{kinds[1]}:16, *fp32:16, {constants}", num_warps=warps)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(64, 64, 64), (16, 16, 32), (128, 32, 16)])
@pytest.mark.parametrize("kind", ["fp16", "bf16"])
def test_both_widened_from_one_type(kind: str, shape: tuple[int, int, int], transposed: bool) -> None:
    rows, columns, depth = shape
    random = np.random.default_rng(4)
    a = dots.bits(kind, random.standard_normal((rows, depth)))
    b = dots.bits(kind, random.standard_normal((columns, depth) if transposed else (depth, columns)))
    a[0, 0], a[1, 0], a[2, 0] = dots.bits(kind, np.float32([np.inf, np.nan, 6e-8]))  # 6e-8: subnormal as f16
    results = []
    for is_widened in (True, False):
        code = code_of((kind, kind), shape, is_widened, is_widened, transposed, '"tf32"')
        assert "tf32" not in code["ptx"] and "mma" in code["ptx"] and "extf" not in code["ttgir"]
        out = np.zeros((rows, columns), np.float32)
        small_kernels.launch(code, a.reshape(-1), b.reshape(-1), out.reshape(-1))
        results.append(out)
    assert (results[0].view(np.uint32) == results[1].view(np.uint32)).all()
    left, right = (dots.value(kind, x).astype(np.float64) for x in (a, b))
    with np.errstate(invalid="ignore"):
        want = left @ (right.T if transposed else right)
    np.testing.assert_allclose(results[0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("kinds", "widened", "precision", "instruction"),
    [
        (("fp16", "fp32"), (True, False), "tf32", "tf32"),
        (("fp16", "bf16"), (True, True), "tf32", "tf32"),
        (("fp32", "fp32"), (False, False), "tf32", "tf32"),
        (("fp16", "fp16"), (True, True), "ieee", "fma.rn.f32"),
        (("fp8e5", "fp8e5"), (True, True), "tf32", "tf32"),
    ],
)
def test_all_others_stay(kinds: tuple[str, str], widened: tuple[bool, bool], precision: str, instruction: str) -> None:
    """Two types have no product of their own; f32 with all its digits sums otherwise; sums of f8 are narrower."""
    code = code_of(kinds, (64, 64, 32), *widened, False, f'"{precision}"')
    assert instruction in code["ptx"] and ("mma" in code["ptx"]) == (precision == "tf32")


def test_architectures_without_tf32_sum_with_all_digits() -> None:
    code = triton.compile(
        triton.compiler.ASTSource(
            product, "*fp16:16, *fp16:16, *fp32:16, 16, 16, 16, True, True, False, \"tf32\""
        ),
        target="cuda:75",
    )  # fmt: skip
    assert "mma" not in code.asm["ptx"]
