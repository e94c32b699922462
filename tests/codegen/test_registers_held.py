"""What keeps the registers of a thread few: masks that neighbours share, and values where they are needed.

Here:      instructions and their order in PTX, what the assembler says of it; what the kernels compute, against NumPy.
Not here:  pointers of loops (test_loop_pointers.py).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.cuda import ptxas, sass


@triton.jit
def choose(x, out, n, BLOCK: tl.constexpr):
    """out = x inside of n, else -1, from a load without a mask."""
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.where(at < n, tl.load(x + at), -1.0))


@triton.jit
def choose_square(x, out, m, n, BLOCK: tl.constexpr):
    """The same of a tile, with a mask of two conditions."""
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    at = i * BLOCK + j
    tl.store(out + at, tl.where((i < m) & (j < n), tl.load(x + at), -1.0))


@pytest.mark.parametrize(("hint", "comparisons"), [(":16", 4), ("", 16)], ids=["multiple of 16", "any"])
def test_neighbours_share_a_comparison(hint: str, comparisons: int) -> None:
    code = dots.code_of(choose, f"*fp32:16, *fp32:16, i32{hint}, 2048", num_warps=4)
    assert len(re.findall(r"setp\.", code["ptx"])) == comparisons
    x = np.random.default_rng(1).standard_normal(2048).astype(np.float32)
    for n in (0, 16, 1040, 2048) if hint else (1, 1029):
        out = np.zeros_like(x)
        small_kernels.launch(code, x, out, n)
        np.testing.assert_array_equal(out, np.where(np.arange(2048) < n, x, np.float32(-1)))


@pytest.mark.parametrize(("m", "n"), [(64, 64), (64, 16), (0, 64), (33, 48), (1, 32)])
def test_masks_of_tiles(m: int, n: int) -> None:
    code = dots.code_of(choose_square, "*fp32:16, *fp32:16, i32, i32:16, 64", num_warps=4)
    x = np.random.default_rng(2).standard_normal((64, 64)).astype(np.float32)
    out = np.zeros_like(x)
    small_kernels.launch(code, x.reshape(-1), out.reshape(-1), m, n)
    i, j = np.indices(x.shape)
    np.testing.assert_array_equal(out, np.where((i < m) & (j < n), x, np.float32(-1)))


@triton.jit
def divergence(x, y, out, gradient, BLOCK: tl.constexpr):
    """Of two rows, less their maximum: a chain of operations over more elements than a thread has registers."""
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    most = tl.maximum(tl.max(a, 0), tl.max(b, 0))
    p, q = tl.exp(a - most), tl.exp(b - most)
    middle = 0.5 * p + 0.5 * q
    log = tl.log(middle)
    tl.store(out + at, p * a + q * b - middle * log)
    tl.store(gradient + at, q * (b - log))


def stores_and_logarithms(code: dict[str, Any]) -> str:
    """The order of these two in PTX, a letter for each instruction; a logarithm is a polynomial."""
    found = re.findall(r"(st\.global)|(fma\.rn\.ftz)", code["ptx"])
    return "".join("s" if store else "l" for store, _ in found)


@pytest.mark.parametrize(
    ("block", "warps", "is_ordered", "is_large"),
    [(8192, 1, True, True), (1024, 1, True, False), (1024, 4, False, False)],
)
def test_values_stand_where_they_are_needed(block: int, warps: int, is_ordered: bool, is_large: bool) -> None:
    code = dots.code_of(divergence, f"*fp32:16, *fp32:16, *fp32:16, *fp32:16, {block}", num_warps=warps)
    order = stores_and_logarithms(code)
    # The first store comes before the last logarithm only where a thread would hold many values.
    assert (order.index("s") < order.rindex("l")) == is_ordered
    assert (".minnctapersm 1" in code["ptx"]) == is_large
    random = np.random.default_rng(3)
    x, y = (random.standard_normal(block).astype(np.float32) for _ in range(2))
    out, gradient = np.zeros_like(x), np.zeros_like(x)
    small_kernels.launch(code, x, y, out, gradient)
    a, b = x.astype(np.float64), y.astype(np.float64)
    most = max(a.max(), b.max())
    p, q = np.exp(a - most), np.exp(b - most)
    log = np.log((p + q) / 2)
    np.testing.assert_allclose(out, p * a + q * b - (p + q) / 2 * log, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient, q * (b - log), rtol=1e-4, atol=1e-5)


@triton.jit
def gate(x, out, N, BLOCK: tl.constexpr):
    """out = x * sigmoid(y) of the two halves of a row."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + at).to(tl.float32), tl.load(x + N + at).to(tl.float32)
    tl.store(out + at, a * tl.sigmoid(b))


def test_what_is_only_loaded_and_stored_is_left_to_the_assembler() -> None:
    """It delays loads, but not across a store: so no store comes before the last exponential."""
    code = dots.code_of(gate, "*fp16:16, *fp32:16, i32:16, 8192", num_warps=2)
    assert code["ptx"].rindex("ex2.approx") < code["ptx"].index("st.global")
    x = np.random.default_rng(5).standard_normal((2, 8192)).astype(np.float16)
    out = np.zeros(8192, np.float32)
    small_kernels.launch(code, x.reshape(-1).view(np.uint16), out, 8192)
    a, b = x.astype(np.float64)
    np.testing.assert_allclose(out, a / (1 + np.exp(-b)), rtol=1e-5, atol=1e-6)


@triton.jit
def scaled(x, y, out, other, rows, WIDTH: tl.constexpr):
    """Rows of x * y less their mean, and a function of y that no sum needs."""
    at = tl.arange(0, WIDTH)
    for row in range(0, rows):
        a, b = tl.load(x + row * WIDTH + at), tl.load(y + row * WIDTH + at)
        gate = b * tl.sigmoid(b)
        tl.store(out + row * WIDTH + at, a * b - tl.sum(a * b, 0) / WIDTH)
        tl.store(other + row * WIDTH + at, gate * a)


@pytest.mark.parametrize("width", [512, 1024])
def test_what_no_reduction_needs_stands_behind_it(width: int) -> None:
    """Numbers go from warp to warp meanwhile, and wait for less in front of that."""
    code = dots.code_of(scaled, f"*fp32:16, *fp32:16, *fp32:16, *fp32:16, i32, {width}", num_warps=4)
    order = re.findall(r"ex2\.approx|bar\.sync|st\.global", code["ptx"])
    each = width // 128
    assert order == ["bar.sync"] * 2 + ["st.global"] * (each // 4) + ["ex2.approx"] * each + ["st.global"] * (each // 4)
    x, y = np.random.default_rng(9).standard_normal((2, 3, width)).astype(np.float32)
    out, other = np.zeros_like(x), np.zeros_like(x)
    small_kernels.launch(code, x.reshape(-1), y.reshape(-1), out.reshape(-1), other.reshape(-1), 3)
    a, b = x.astype(np.float64), y.astype(np.float64)
    np.testing.assert_allclose(out, a * b - (a * b).mean(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(other, b / (1 + np.exp(-b)) * a, rtol=1e-5, atol=1e-6)


@triton.jit
def soft(x, y, out, BLOCK: tl.constexpr):
    """out = log(1 + exp(x)) * y + x"""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    tl.store(out + at, tl.log(1 + tl.exp(a)) * tl.load(y + at) + a)


def opcodes(text: str) -> list[str]:
    listing = sass.disassemble(ptxas.assemble(text, "sm_90a").cubin)
    found = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9]+)", listing, re.MULTILINE)
    return [name for name in found if name != "NOP"]


@pytest.mark.skipif(ptxas.find() is None or sass.find() is None, reason="needs ptxas and nvdisasm or cuobjdump")
def test_the_assembler_reckons_with_what_sums_can_be() -> None:
    """1 + e^x is no subnormal number. Sums whose rounding is written out are not looked into; neither is ever fused."""
    ptx = dots.code_of(soft, "*fp32:16, *fp32:16, *fp32:16, 128", num_warps=4, enable_fp_fusion=False)["ptx"]
    assert re.search(r"\tadd\.f32", ptx) and not re.search(r"\tadd\.rn\.f32|\tmul\.f32", ptx)
    written_out = re.sub(r"\t(add|sub)\.f32", r"\t\1.rn.f32", ptx)
    found, other = opcodes(ptx), opcodes(written_out)
    assert len(found) < len(other) and found.count("FFMA") == other.count("FFMA")


def test_sums_beside_products_that_may_be_fused_say_how_they_round() -> None:
    """The product is the user's own assembly."""

    @triton.jit
    def fused(x, out, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        a = tl.load(x + at)
        product = tl.inline_asm_elementwise("mul.f32 $0, $1, $1;", "=f,f", [a], tl.float32, True, 1)
        tl.store(out + at, product + 1)

    ptx = dots.code_of(fused, "*fp32:16, *fp32:16, 128", num_warps=4)["ptx"]
    assert "add.rn.f32" in ptx and not re.search(r"\tadd\.f32", ptx)
