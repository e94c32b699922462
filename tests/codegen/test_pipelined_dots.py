"""Loops whose dots take their operands from shared memory: buffers, copies ahead, barriers.

The judge is the exact product of small whole numbers, with the simulator's checks of races, bounds, unwritten memory
and copies that nobody waited for.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import small_kernels
import tiletwin._codegen

LOOP = """
tt.func public @kernel(%a_ptr: !tt.ptr<T> {tt.divisibility = 16 : i32}, %b_ptr: !tt.ptr<T> {tt.divisibility = 16 : i32},
                       %c_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant BK : i32
  %other_a = arith.constant dense<0.0> : tensor<BMxBKxT>
  %other_b = arith.constant dense<0.0> : tensor<BKxBNxT>
  %zero = arith.constant dense<0.0> : tensor<BMxBNxf32>
  %m = tt.make_range {end = BM : i32, start = 0 : i32} : tensor<BMxi32>
  %n = tt.make_range {end = BN : i32, start = 0 : i32} : tensor<BNxi32>
  %k = tt.make_range {end = BK : i32, start = 0 : i32} : tensor<BKxi32>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<BMxi32> -> tensor<BMx1xi32>
  %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<BKxi32> -> tensor<1xBKxi32>
  %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<BKxi32> -> tensor<BKx1xi32>
  %n0 = tt.expand_dims %n {axis = 0 : i32} : tensor<BNxi32> -> tensor<1xBNxi32>
  %a_row = A_ROW
  %a_column = A_COLUMN
  %a_row2 = tt.broadcast %a_row : tensor<BMx1xi32> -> tensor<BMxBKxi32>
  %a_column2 = tt.broadcast %a_column : tensor<1xBKxi32> -> tensor<BMxBKxi32>
  %a_index = arith.addi %a_row2, %a_column2 : tensor<BMxBKxi32>
  %a_base = tt.splat %a_ptr : !tt.ptr<T> -> tensor<BMxBKx!tt.ptr<T>>
  %a_first = tt.addptr %a_base, %a_index : tensor<BMxBKx!tt.ptr<T>>, tensor<BMxBKxi32>
  %bn = arith.constant dense<BN> : tensor<BKx1xi32>
  %b_row = arith.muli %k1, %bn : tensor<BKx1xi32>
  %b_row2 = tt.broadcast %b_row : tensor<BKx1xi32> -> tensor<BKxBNxi32>
  %b_column2 = tt.broadcast %n0 : tensor<1xBNxi32> -> tensor<BKxBNxi32>
  %b_index = arith.addi %b_row2, %b_column2 : tensor<BKxBNxi32>
  %b_base = tt.splat %b_ptr : !tt.ptr<T> -> tensor<BKxBNx!tt.ptr<T>>
  %b_first = tt.addptr %b_base, %b_index : tensor<BKxBNx!tt.ptr<T>>, tensor<BKxBNxi32>
  %a_step = A_STEP
  %b_step = arith.constant dense<BNBK> : tensor<BKxBNxi32>
  %r:3 = scf.for %i = %c0 to %K step %step iter_args(%acc = %zero, %pa = %a_first, %pb = %b_first) ->
      (tensor<BMxBNxf32>, tensor<BMxBKx!tt.ptr<T>>, tensor<BKxBNx!tt.ptr<T>>) : i32 {
    %left = arith.subi %K, %i : i32
    %left0 = tt.splat %left : i32 -> tensor<1xBKxi32>
    %in0 = arith.cmpi slt, %k0, %left0 : tensor<1xBKxi32>
    %mask_a = tt.broadcast %in0 : tensor<1xBKxi1> -> tensor<BMxBKxi1>
    %left1 = tt.splat %left : i32 -> tensor<BKx1xi32>
    %in1 = arith.cmpi slt, %k1, %left1 : tensor<BKx1xi32>
    %mask_b = tt.broadcast %in1 : tensor<BKx1xi1> -> tensor<BKxBNxi1>
    %a = tt.load %pa, %mask_a, %other_a : tensor<BMxBKx!tt.ptr<T>>
    %b = tt.load %pb, %mask_b, %other_b : tensor<BKxBNx!tt.ptr<T>>
    %d = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<BMxBKxT> * tensor<BKxBNxT> -> tensor<BMxBNxf32>
    %pa2 = tt.addptr %pa, %a_step : tensor<BMxBKx!tt.ptr<T>>, tensor<BMxBKxi32>
    %pb2 = tt.addptr %pb, %b_step : tensor<BKxBNx!tt.ptr<T>>, tensor<BKxBNxi32>
    scf.yield %d, %pa2, %pb2 : tensor<BMxBNxf32>, tensor<BMxBKx!tt.ptr<T>>, tensor<BKxBNx!tt.ptr<T>>
  } STAGES
  %cn = arith.constant dense<BN> : tensor<BMx1xi32>
  %c_row = arith.muli %m1, %cn : tensor<BMx1xi32>
  %c_row2 = tt.broadcast %c_row : tensor<BMx1xi32> -> tensor<BMxBNxi32>
  %c_column2 = tt.broadcast %n0 : tensor<1xBNxi32> -> tensor<BMxBNxi32>
  %c_index = arith.addi %c_row2, %c_column2 : tensor<BMxBNxi32>
  %c_base = tt.splat %c_ptr : !tt.ptr<f32> -> tensor<BMxBNx!tt.ptr<f32>>
  %pc = tt.addptr %c_base, %c_index : tensor<BMxBNx!tt.ptr<f32>>, tensor<BMxBNxi32>
  tt.store %pc, %r#0 : tensor<BMxBNx!tt.ptr<f32>>
  tt.return
}
"""
LARGEST_K = 128
"""a is stored with rows of so many elements (or, if it is stored by columns, columns of BM)."""


def loop_text(
    kind: str, m: int, n: int, k: int, columns: bool = False, stages: int | None = None, precision: str = "tf32"
) -> str:
    """c = a @ b over K in steps of k. columns: a lies in memory with its columns contiguous."""
    if columns:
        pieces = {
            "A_ROW": "arith.muli %m1, %one_m : tensor<BMx1xi32>",
            "A_COLUMN": "arith.muli %k0, %stride : tensor<1xBKxi32>",
            "A_STEP": "arith.constant dense<BMBK> : tensor<BMxBKxi32>",
        }
    else:
        pieces = {
            "A_ROW": "arith.muli %m1, %stride_m : tensor<BMx1xi32>",
            "A_COLUMN": "arith.muli %k0, %one : tensor<1xBKxi32>",
            "A_STEP": "arith.constant dense<BK> : tensor<BMxBKxi32>",
        }
    constants = f"""
  %one_m = arith.constant dense<1> : tensor<BMx1xi32>
  %one = arith.constant dense<1> : tensor<1xBKxi32>
  %stride = arith.constant dense<BM> : tensor<1xBKxi32>
  %stride_m = arith.constant dense<{LARGEST_K}> : tensor<BMx1xi32>
  %c0 = """
    text = LOOP.replace("\n  %c0 = ", constants, 1)
    for name, piece in pieces.items():
        text = text.replace(name, piece)
    text = text.replace("inputPrecision = tf32", f"inputPrecision = {precision}")
    text = text.replace("STAGES", "" if stages is None else f"{{tt.num_stages = {stages} : i32}}")
    text = text.replace("BMBK", str(m * k)).replace("BNBK", str(n * k))
    for name, extent in (("BM", m), ("BN", n), ("BK", k)):
        text = text.replace(name, str(extent))
    return re.sub(r"(?<=[<x])T(?=>)", kind, text)


def stored(kind: str, numbers: np.ndarray) -> np.ndarray:
    if kind == "f8E5M2":
        return (numbers.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    if kind == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(kind.replace("f", "float"))


def check(kind: str, m: int, n: int, k: int, total: int, arch: str, columns: bool = False, **options) -> dict:
    """Runs the loop over `total` elements of K; gives the stages of its code."""
    in_text, precision = options.pop("in_text", None), options.pop("precision", "tf32")
    code = small_kernels.compiled(loop_text(kind, m, n, k, columns, in_text, precision), arch, **options)
    random = np.random.default_rng(total + m)
    a, b = random.integers(-3, 4, (m, LARGEST_K)), random.integers(-3, 4, (LARGEST_K, n))
    c = np.full((m, n), 77, np.float32)
    in_memory = np.ascontiguousarray(stored(kind, a.T if columns else a))
    small_kernels.launch(code, in_memory.reshape(-1), stored(kind, b).reshape(-1), c.reshape(-1), total)
    assert (c == a[:, :total] @ b[:total]).all()
    return code


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("total", [0, 16, 32, 48, 128])
def test_stages_and_lengths(stages: int, total: int) -> None:
    code = check("f16", 32, 32, 32, total, "sm_80", num_stages=stages)
    assert ("cp.async" in code["ptx"]) == (stages > 1)
    assert "ldmatrix" in code["ptx"]


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    ("kind", "m", "n", "k"),
    [
        ("f16", 64, 64, 64),
        ("f16", 16, 128, 16),
        ("f16", 128, 16, 32),
        ("bf16", 32, 64, 128),
        ("f32", 32, 32, 32),
        ("f8E5M2", 32, 64, 64),
    ],
)
def test_types_and_shapes(kind: str, m: int, n: int, k: int, columns: bool) -> None:
    for warps in (1, 4, 8):
        check(kind, m, n, k, 128, "sm_80", columns, num_warps=warps)
        check(kind, m, n, k, 112, "sm_90a", columns, num_warps=warps)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize(
    ("kind", "m", "n", "k", "warps"),
    [
        ("f16", 64, 64, 64, 4),
        ("f16", 128, 128, 32, 8),
        ("bf16", 64, 256, 16, 4),
        ("bf16", 256, 16, 128, 8),
        ("f32", 64, 32, 32, 4),
        ("f32", 128, 64, 16, 4),
    ],
)
def test_warpgroups(kind: str, m: int, n: int, k: int, warps: int, stages: int, columns: bool) -> None:
    ptx = check(kind, m, n, k, 112, "sm_90a", columns, num_warps=warps, num_stages=stages)["ptx"]
    assert "wgmma" in ptx
    # tf32 matrices have K contiguous: other operands are written to shared memory element by element.
    copied = kind != "f32" or not columns  # with one stage, too (test_copies_at_once.py)
    assert ("cp.async.c" in ptx) == copied


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    ("m", "n", "k", "warps"), [(64, 64, 16, 4), (32, 64, 32, 8), (16, 16, 64, 1), (128, 32, 16, 4)]
)
def test_products_without_tensor_cores(m: int, n: int, k: int, warps: int, columns: bool, stages: int) -> None:
    """Their loads are copied ahead like others, with one barrier an iteration and one behind the loop."""
    facts = {"num_warps": warps, "num_stages": stages, "precision": "ieee"}
    for total, arch in ((112, "sm_80"), (128, "sm_90a"), (0, "sm_80")):
        code = check("f32", m, n, k, total, arch, columns, **facts)
        assert "fma.rn.f32" in code["ptx"]
        assert ("cp.async.c" in code["ptx"]) == (stages > 1)
        if stages > 1:
            assert "ld.global" not in code["ptx"] and "st.shared" not in code["ptx"]
            assert code["metadata"]["shared"] == stages * 4 * k * (m + n)
            assert len(re.findall(r"bar\.sync|barrier\.sync", code["ptx"])) == 2


def test_products_without_tensor_cores_leave_half_of_the_memory() -> None:
    """Three stages of 32 KiB fit into half of an sm_90's 227 KiB, four do not: then nothing is copied ahead."""
    for stages, copied in ((3, True), (4, False)):
        ptx = check("f32", 64, 64, 64, 128, "sm_90a", num_stages=stages, precision="ieee", num_warps=8)["ptx"]
        assert ("cp.async" in ptx) == copied


def test_the_loop_decides_over_the_options() -> None:
    assert "cp.async" not in check("f16", 32, 32, 32, 128, "sm_80", in_text=1, num_stages=3)["ptx"]
    shared = [check("f16", 32, 32, 32, 128, "sm_80", in_text=n)["metadata"]["shared"] for n in (2, 4)]
    assert shared == [2 * 4096, 4 * 4096]


def test_no_copies_before_sm_80() -> None:
    code = check("f16", 32, 32, 16, 128, "sm_75", num_stages=3)
    assert "cp.async" not in code["ptx"]
    assert "ldmatrix" in code["ptx"]


def test_one_barrier_an_iteration() -> None:
    ptx = check("f16", 64, 64, 32, 128, "sm_80", num_stages=3)["ptx"]
    assert len(re.findall(r"bar\.sync|barrier\.sync", ptx)) == 2  # in the loop, and behind it


def test_operands_are_where_ldmatrix_reads_them() -> None:
    """16-bit operands with either dimension contiguous; 8-bit ones with K contiguous."""
    ptx = check("f16", 64, 64, 64, 128, "sm_80", True)["ptx"]
    assert "ldmatrix.sync.aligned.m8n8.x4.trans" in ptx
    assert "ld.shared" not in ptx
    ttgir = small_kernels.compiled(loop_text("f16", 64, 64, 64), "sm_80", num_stages=1)["ttgir"]
    assert "#shared = #twg.shared<contiguous = 1, swizzle = 128>" in ttgir
    assert re.search(r"twg\.local_load %\S+ : <64x64xf16, #shared> -> tensor<64x64xf16, #layout\d*>", ttgir)


def test_text_of_the_stage_compiles_again() -> None:
    text = loop_text("f16", 32, 32, 32)
    code = small_kernels.compiled(text, "sm_80", line_info=False)
    target = {"backend": "cuda", "capability": 80, "arch": "sm_80", "ptx_version": 70, "warp_size": 32}
    options = {"verify": True, "line_info": False}
    again = tiletwin._codegen.compile(code["ttgir"], "ttgir", "kernel.ttgir", target, options)
    assert again["ptx"] == code["ptx"]
