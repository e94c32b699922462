"""Matrices of products whose elements are loaded one by one: a thread has neighbours of few lines, computes few
addresses and masks, and writes f16 and narrower to shared memory by 16 bytes.

Here:      a convolution in forms of blocks, types and warps; how it writes; NumPy's numbers.
Not here:  loads of neighbours (test_copied_loads.py), gathers beside no product (test_gathered_loads.py).
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

BATCH, HEIGHT, WIDTH, SIDE = 2, 5, 7, 3


@triton.jit
def convolution(
    x, weights, out, pixels, height, width, planes, kinds, plane, BP: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr,
    SIDE: tl.constexpr, TURNED: tl.constexpr, INTEGERS: tl.constexpr,
):  # fmt: skip
    """out[pixel, kind]: x is [batch, plane, row, column], weights are [kind, plane, SIDE, SIDE]. Outside x are zeros.
    TURNED: x's tile is loaded with pixels last."""
    pixel = tl.program_id(0) * BP + tl.arange(0, BP)
    kind = tl.program_id(1) * BK + tl.arange(0, BK)
    row, column, image = pixel // width % height, pixel % width, pixel // width // height
    KIND: tl.constexpr = tl.int32 if INTEGERS else tl.float32
    sums = tl.zeros((BP, BK), KIND)
    for r in range(SIDE):
        for c in range(SIDE):
            for first in range(0, planes, BC):
                p = first + tl.arange(0, BC)
                at_row, at_column = row + r - SIDE // 2, column + c - SIDE // 2
                inside = (pixel < pixels) & (at_row >= 0) & (at_row < height) & (at_column >= 0) & (at_column < width)
                place = image * planes * plane + at_row * width + at_column
                if TURNED:
                    tile = tl.load(x + place[None, :] + p[:, None] * plane, inside[None, :] & (p < planes)[:, None], 0)
                    tile = tl.trans(tile)
                else:
                    tile = tl.load(x + place[:, None] + p[None, :] * plane, inside[:, None] & (p < planes)[None, :], 0)
                at = weights + (kind[None, :] * planes + p[:, None]) * SIDE * SIDE + r * SIDE + c
                w = tl.load(at, (p < planes)[:, None] & (kind < kinds)[None, :], 0)
                sums = tl.dot(tile, w, sums, out_dtype=KIND)
    tl.store(out + pixel[:, None] * kinds + kind[None, :], sums, (pixel < pixels)[:, None] & (kind < kinds)[None, :])


def wanted_of(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[pixel, kind]"""
    around = SIDE // 2
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (around, around), (around, around)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), (2, 3))
    return np.einsum("bprcij,kpij->brck", windows, weights.astype(np.float64)).reshape(-1, len(weights))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp32", "i8"])
@pytest.mark.parametrize(
    ("block", "warps"),
    [((128, 32, 64), 4), ((128, 32, 32), 8), ((64, 64, 16), 4), ((32, 32, 32), 2), ((256, 32, 16), 4)],
)
def test_convolutions(block: tuple[int, int, int], warps: int, kind: str, turned: bool) -> None:
    pixels, depth, kinds = block
    planes, outputs = 40, 20
    total = BATCH * HEIGHT * WIDTH
    sums = "i32" if kind == "i8" else "fp32"
    signature = (
        f"*{kind}:16, *{kind}:16, *{sums}:16, i32, i32, i32, i32, i32, i32, {pixels}, {depth}, {kinds}, {SIDE}, "
        f"{int(turned)}, {int(kind == 'i8')}"
    )
    code = dots.code_of(convolution, signature, num_warps=warps)
    random = np.random.default_rng(pixels + depth)
    x = random.integers(-3, 4, (BATCH, planes, HEIGHT, WIDTH))
    weights = random.integers(-3, 4, (outputs, planes, SIDE, SIDE))
    stored = [v.astype(np.int8) if kind == "i8" else dots.bits(kind, v.astype(np.float32)) for v in (x, weights)]
    out = np.full((total, outputs), -1, np.int32 if kind == "i8" else np.float32)
    grid = (-(-total // pixels), -(-outputs // kinds))
    sizes = (total, HEIGHT, WIDTH, planes, outputs, HEIGHT * WIDTH)
    small_kernels.launch(code, *(v.reshape(-1) for v in (*stored, out)), *sizes, grid=grid)
    np.testing.assert_array_equal(out, wanted_of(x, weights))


@pytest.mark.parametrize(("block", "warps"), [((128, 32, 64), 4), ((128, 32, 128), 8), ((256, 64, 32), 4)])
def test_elements_are_written_by_sixteen_bytes(block: tuple[int, int, int], warps: int) -> None:
    pixels, depth, kinds = block
    signature = f"*fp16:16, *fp16:16, *fp32:16, i32, i32, i32, i32, i32, i32, {pixels}, {depth}, {kinds}, {SIDE}, 0, 0"
    text = dots.code_of(convolution, signature, num_warps=warps)["ptx"]
    stores = re.findall(r"st\.shared\S*", text.partition("wgmma.mma_async")[0])
    assert len(stores) * 16 * 32 * warps == 2 * depth * (pixels + kinds)
