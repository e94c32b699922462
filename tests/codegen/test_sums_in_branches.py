"""Sums in flight that some iterations use: one loop over the steps of several tiles stores a tile behind its last step.

The judges: the bits of the same kernel with num_stages = 1, NumPy, and the simulator, where a product lands only when
it is waited for, with all its checks. That they find a missing wait is tested with code from which it was taken out.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import tiletwin as triton
import tiletwin.checks
import tiletwin.language as tl
import tiletwin.sim
from test_dots_in_flight import assert_not_serialised, code_of, in_flight, waits
from tiletwin.compiler import ASTSource

M, N, K = 64, 32, 32


@triton.jit
def one_loop(a, b, c, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BEGIN: tl.constexpr):
    """c[tile] = a[tile] @ b, `steps` steps a tile. BEGIN: what each tile's sum begins with."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.full((BM, BN), BEGIN, tl.float32)
    tile = -1
    step = -1
    for _ in range(tiles * steps):
        step = tl.where(step == steps - 1, 0, step + 1)
        if step == 0:
            tile += 1
        left = tl.load(a + (tile * BM + m[:, None]) * steps * BK + step * BK + k[None, :])
        right = tl.load(b + (step * BK + k[:, None]) * BN + n[None, :])
        acc = tl.dot(left, right, acc)
        if step == steps - 1:
            tl.store(c + (tile * BM + m[:, None]) * BN + n[None, :], acc)
            acc = tl.full((BM, BN), BEGIN, tl.float32)


@triton.jit
def of_one_tile(
    a, b, c, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BEGIN: tl.constexpr, USE: tl.constexpr
):  # fmt: skip
    """USE: what a step does with the sum, of the three kernels below."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.full((BM, BN), BEGIN, tl.float32)
    at = c + m[:, None] * BN + n[None, :]
    for i in range(tiles * steps):
        left = tl.load(a + m[:, None] * tiles * steps * BK + i * BK + k[None, :])
        right = tl.load(b + (i % steps * BK + k[:, None]) * BN + n[None, :])
        acc = tl.dot(left, right, acc)
        if USE == "halve":
            if i % 2 == 1:
                tl.store(at + i // 2 * BM * BN, acc)
                acc = acc * 0.5
        elif USE == "choose":
            acc = tl.where(i == steps - 1, tl.full((BM, BN), BEGIN, tl.float32), acc)
        else:
            tl.store(at + i * BM * BN, acc)
    if USE == "choose":
        tl.store(at, acc)


@triton.jit
def read_on_the_way(a, b, c, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BEGIN: tl.constexpr):
    """Every second step stores the sum so far, and goes on with the half of it."""
    of_one_tile(a, b, c, tiles, steps, BM, BN, BK, BEGIN, "halve")


@triton.jit
def begun_anew(a, b, c, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BEGIN: tl.constexpr):
    """What was summed up to the last step of the first tile is dropped: no branch but the choice."""
    of_one_tile(a, b, c, tiles, steps, BM, BN, BK, BEGIN, "choose")


@triton.jit
def read_outside(a, b, c, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BEGIN: tl.constexpr):
    """Every step stores its sum."""
    of_one_tile(a, b, c, tiles, steps, BM, BN, BK, BEGIN, "store")


def wanted(
    kernel: Any, a: np.ndarray, b: np.ndarray, c: np.ndarray, tiles: int, steps: int, begin: float
) -> np.ndarray:
    a, b, want = a.astype(np.float64), b.astype(np.float64), c.astype(np.float64)
    if kernel is one_loop:
        return (a.reshape(tiles * M, steps * K) @ b + begin).reshape(-1)
    left, sum_ = a.reshape(M, tiles * steps, K), np.full((M, N), begin)
    tile = want.reshape(-1, M, N)
    for i in range(tiles * steps):
        sum_ = sum_ + left[:, i] @ b[i % steps * K : (i % steps + 1) * K]
        if kernel is read_on_the_way and i % 2 == 1:
            tile[i // 2] = sum_
            sum_ = sum_ * 0.5
        elif kernel is begun_anew and i == steps - 1:
            sum_ = np.full((M, N), begin)
        elif kernel is read_outside:
            tile[i] = sum_
    if kernel is begun_anew:
        tile[0] = sum_
    return want


def arrays(tiles: int, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(tiles + steps)
    a = random.standard_normal(tiles * M * steps * K).astype(np.float16)
    b = random.standard_normal((steps * K, N)).astype(np.float16)
    return a, b, np.full(max(tiles * steps, 1) * M * N if tiles * steps else M * N, 77, np.float32)


def compiled(kernel: Any, begin: float, **options: Any) -> dict[str, Any]:
    return code_of(kernel, f"*fp16:16, *fp16:16, *fp32:16, i32, i32, {M}, {N}, {K}, {begin}", **options)


@pytest.mark.parametrize(
    ("kernel", "products", "numbers"),
    [
        (one_loop, 1, [0, 0, 0, 1]),
        (read_on_the_way, 1, [0, 0, 0, 1]),
        (begun_anew, 1, [0, 0, 0, 1]),
        (read_outside, 0, [0]),
    ],
)
@pytest.mark.parametrize("begin", [0.0, 1.5])
def test_branches(kernel: Any, products: int, numbers: list[int], begin: float) -> None:
    want, got = {}, {}
    for stages in (1, 2, 3):
        code = compiled(kernel, begin, num_stages=stages)
        assert in_flight(code) == (products if stages > 1 else 0)
        assert stages == 1 or waits(code) == numbers
        assert_not_serialised(code)
        for tiles, steps in [(3, 2), (2, 4), (3, 1), (0, 2)]:
            a, b, c = arrays(tiles, steps)
            sizes = want.setdefault((tiles, steps), wanted(kernel, a, b, c[: len(c)], tiles, steps, begin))
            small_kernels.launch(code, a, b.reshape(-1), c, tiles, steps)
            if kernel is one_loop:
                assert (c[tiles * M * N :] == 77).all()
                np.testing.assert_allclose(c[: tiles * M * N], sizes, atol=2e-2)
            else:
                np.testing.assert_allclose(c, sizes, atol=2e-2)
            first = got.setdefault((tiles, steps), c)
            assert (first.view(np.uint32) == c.view(np.uint32)).all()


def test_the_wait_of_a_branch_is_needed() -> None:
    code = compiled(one_loop, 0.0, num_stages=3)
    places = [found.start() for found in re.finditer(r"wgmma\.wait_group\.sync\.aligned 0;", code["ptx"])]
    behind_products = [at for at in places if at > code["ptx"].index("wgmma.wait_group.sync.aligned 1;")]
    at = behind_products[0]
    ptx = code["ptx"][:at] + re.sub(r"wgmma\.wait_group\.sync\.aligned 0;", "", code["ptx"][at:], count=1)
    kernel = tiletwin.sim.load(ptx)[code["metadata"]["name"]]
    a, b, c = arrays(2, 2)
    tiletwin.checks.clear()
    options = {"block": 128, "shared": code["metadata"]["shared"], "checks": "all", "limit": 50_000_000}
    try:
        kernel(a, b.reshape(-1), c, 2, 2, grid=1, **options)
        assert tiletwin.checks.findings()
    except triton.CheckError as error:
        assert "wgmma" in str(error)
    finally:
        tiletwin.checks.clear()


def test_conversions_for_a_branch_stand_in_it() -> None:
    """The layout in which a sum is stored is made where it is stored, not in every step."""
    ttgir = compiled(one_loop, 0.0, num_stages=3)["ttgir"]
    at, store = ttgir.index("twg.convert_layout"), ttgir.index("tt.store")
    assert ttgir.count("twg.convert_layout") == 1
    assert ttgir.index("warpgroup_commit") < ttgir.rindex("scf.if", 0, at) < at < store
    assert "}" not in re.sub(
        r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", ttgir[ttgir.rindex("scf.if", 0, at) + 20 : at])
    )


@triton.jit
def scores(a, b, c, scale, T, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    """A block of rows times itself, transposed, below the diagonal; few steps, whose number is known."""
    rows, own = tl.program_id(0) * BT + tl.arange(0, BT), tl.arange(0, BT)
    acc = tl.zeros((BT, BT), tl.float32)
    for step in range(D // BD):
        at = step * BD + tl.arange(0, BD)
        left = tl.load(a + rows[:, None] * D + at[None, :], mask=(rows < T)[:, None], other=0.0)
        right = tl.load(b + at[:, None] + rows[None, :] * D, mask=(rows < T)[None, :], other=0.0)
        acc += tl.dot(left, right)
    acc = tl.where(own[:, None] >= own[None, :], acc * scale, 0.0)
    tl.store(c + rows[:, None] * BT + own[None, :], acc, mask=(rows < T)[:, None])


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize(("rows", "warps"), [(64, 4), (128, 8)])
@pytest.mark.parametrize("depth", [128, 256])
def test_the_assembler_keeps_products_of_both_ways_in_flight(depth: int, rows: int, warps: int, stages: int) -> None:
    """Loads, and the same as copies of blocks: sums of both ways become one."""
    signature = f"*bf16:16, *bf16:16, *fp32:16, fp32, i32, {depth}, {rows}, 64"
    ttir = triton.compile(ASTSource(scores, signature), target="cuda:90").asm["ttir"]
    code = small_kernels.compiled(ttir, "sm_90a", num_warps=warps, num_stages=stages, copied_loads=True)
    assert "cp.async.bulk.tensor" in code["ptx"] and "cp.async.cg" in code["ptx"]
    assert_not_serialised(code)
