"""Tensor descriptors as compiled to plain accesses: blocks inside, over the edge and outside of the tensor, padding,
descriptors carried through control flow and given as arguments, rows by number, reductions into memory."""

from __future__ import annotations

import numpy as np
import pytest
import small_kernels as sk

HELD = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32, "i64": np.int64}


def blocks(shape: tuple[int, ...], element: str, padding: str = "") -> str:
    """Copies the block at given indices from one tensor to another one of the same extents, at other indices."""
    rank, block = len(shape), "x".join(map(str, shape)) + "x" + element
    scalars = [f"%{n}{d}: i32" for n in "eij" for d in range(rank)] + [f"%s{d}: i64" for d in range(rank - 1)]
    extents = ", ".join(f"%e{d}" for d in range(rank))
    strides = ", ".join([f"%s{d}" for d in range(rank - 1)] + ["%one"])
    at = {n: ", ".join(f"%{n}{d}" for d in range(rank)) for n in "ij"}
    return f"""
tt.func public @kernel(%x: !tt.ptr<{element}>, %y: !tt.ptr<{element}>, {", ".join(scalars)}) {{
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_descriptor %x, [{extents}], [{strides}] {padding} : !tt.ptr<{element}>, !tt.tensordesc<{block}>
  %b = tt.make_tensor_descriptor %y, [{extents}], [{strides}] : !tt.ptr<{element}>, !tt.tensordesc<{block}>
  %v = tt.descriptor_load %a[{at["i"]}] : !tt.tensordesc<{block}> -> tensor<{block}>
  tt.descriptor_store %b[{at["j"]}], %v : !tt.tensordesc<{block}>, tensor<{block}>
  tt.return
}}
"""


def tensor(element: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(2).integers(-100, 100, shape).astype(HELD[element])


def block_of(x: np.ndarray, at: tuple[int, ...], shape: tuple[int, ...], outside: float) -> np.ndarray:
    """x[at + i...], and what elements outside read as."""
    result = np.full(shape, outside, x.dtype)
    for i in np.ndindex(*shape):
        where = tuple(a + b for a, b in zip(at, i, strict=True))
        if all(0 <= w < e for w, e in zip(where, x.shape, strict=True)):
            result[i] = x[where]
    return result


def put(y: np.ndarray, at: tuple[int, ...], block: np.ndarray) -> None:
    for i in np.ndindex(*block.shape):
        where = tuple(a + b for a, b in zip(at, i, strict=True))
        if all(0 <= w < e for w, e in zip(where, y.shape, strict=True)):
            y[where] = block[i]


CASES = {
    (64,): ((100,), [((0,), (32,)), ((64,), (90,)), ((-5,), (3,)), ((200,), (0,)), ((-64,), (0,))]),
    (8, 32): ((20, 40), [((0, 0), (8, 8)), ((16, 16), (13, 33)), ((-3, -7), (19, 39)), ((2**31 - 4, 0), (-8, 0))]),
    (4, 2, 16): ((5, 3, 24), [((0, 0, 0), (1, 1, 8)), ((4, 2, 16), (-1, 1, 20)), ((1, -1, -4), (0, 0, 0))]),
    (2, 1, 4, 8): ((3, 2, 5, 8), [((1, 1, 2, 0), (2, 0, -1, 4))]),
    (2, 2, 1, 2, 16): ((2, 3, 2, 3, 16), [((0, 2, 1, 1, 0), (1, -1, 0, 2, 8))]),
}


@pytest.mark.parametrize("shape", CASES, ids=str)
@pytest.mark.parametrize("element", ["f32", "f16", "i8", "i64"])
def test_blocks(shape: tuple[int, ...], element: str) -> None:
    """The simulator's checks find any access outside of the arrays."""
    extents, places = CASES[shape]
    padding = "{padding = 2 : i32}" if element == "f32" else ""
    code = sk.compiled(blocks(shape, element, padding), "sm_80")
    x = tensor(element, (*extents[:-1], -(-extents[-1] // 16) * 16))  # rows of multiples of 16 bytes
    inside = x[..., : extents[-1]]
    for i, j in places:
        y = np.full_like(x, 77)
        expected = y.copy()
        put(expected[..., : extents[-1]], j, block_of(inside, i, shape, np.nan if padding else 0))
        strides = [s // x.itemsize for s in x.strides[:-1]]
        sk.launch(code, x, y, *extents, *i, *j, *strides)
        np.testing.assert_array_equal(y, expected, err_msg=f"{i} {j}")


@pytest.mark.parametrize("element", ["f32", "f16", "i8"])
def test_vectors_that_the_tensor_ends_in(element: str) -> None:
    """Elements in front of the end are read and written one by one, those behind it are padding and stay."""
    text = blocks((4, 32), element, "{padding = 2 : i32}" if element == "f32" else "")
    for index in ("%i1: i32", "%j1: i32"):
        text = text.replace(index, index + " {tt.divisibility = 16 : i32}")
    code = sk.compiled(text, "sm_80", num_warps=1)
    bits = 8 * HELD[element]().itemsize
    assert f"ld.global.b{bits}" in code["ptx"]
    assert f"st.global.b{bits}" in code["ptx"]
    x = tensor(element, (6, 48))
    for columns in range(32, 49):
        y = np.full_like(x, 77)
        expected = y.copy()
        put(
            expected[:, :columns],
            (2, 16),
            block_of(x[:5, :columns], (1, 16), (4, 32), np.nan if element == "f32" else 0),
        )
        expected[5] = 77
        sk.launch(code, x, y, 5, columns, 1, 16, 2, 16, 48)
        np.testing.assert_array_equal(y, expected, err_msg=str(columns))


def test_whole_vectors_where_extents_are_multiples() -> None:
    text = blocks((16, 32), "f32").replace("%e1: i32", "%e1: i32 {tt.divisibility = 16 : i32}")
    for index in ("%i1: i32", "%j1: i32"):
        text = text.replace(index, index + " {tt.divisibility = 16 : i32}")
    ptx = sk.compiled(text, "sm_90a")["ptx"]
    assert "ld.global.v4.b32" in ptx
    assert "st.global.v4.b32" in ptx
    assert "ld.global.b32" not in ptx


CHOSEN = """
tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %z: !tt.ptr<i32>, %n: i32, %trips: i32, %first: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tt.make_tensor_descriptor %x, [%n], [%one] : !tt.ptr<i32>, !tt.tensordesc<32xi32>
  %b = tt.make_tensor_descriptor %y, [%n], [%one] : !tt.ptr<i32>, !tt.tensordesc<32xi32>
  %out = tt.make_tensor_descriptor %z, [%n], [%one] : !tt.ptr<i32>, !tt.tensordesc<32xi32>
  %zero = arith.constant dense<0> : tensor<32xi32>
  %is = arith.cmpi ne, %first, %c0 : i32
  %start = scf.if %is -> (!tt.tensordesc<32xi32>) {
    tt.store %z, %c1 : !tt.ptr<i32>
    scf.yield %a : !tt.tensordesc<32xi32>
  } else {
    scf.yield %b : !tt.tensordesc<32xi32>
  }
  %sum, %d, %e = scf.for %k = %c0 to %trips step %c1 iter_args(%s = %zero, %p = %start, %q = %b)
      -> (tensor<32xi32>, !tt.tensordesc<32xi32>, !tt.tensordesc<32xi32>) : i32 {
    %v = tt.descriptor_load %p[%k] : !tt.tensordesc<32xi32> -> tensor<32xi32>
    %t = arith.addi %s, %v : tensor<32xi32>
    scf.yield %t, %q, %p : tensor<32xi32>, !tt.tensordesc<32xi32>, !tt.tensordesc<32xi32>
  }
  tt.descriptor_store %out[%c0], %sum : !tt.tensordesc<32xi32>, tensor<32xi32>
  tt.return
}
"""


@pytest.mark.parametrize("first", [0, 1])
def test_carried_through_branches_and_loops(first: int) -> None:
    x, y = tensor("i32", (36,)), tensor("i32", (36,)) * 3
    z = np.zeros_like(x)
    sk.launch(sk.compiled(CHOSEN, "sm_80", num_warps=1), x, y, z, 34, 5, first)
    tensors = [x[:34] if first else y[:34], y[:34]]
    expected = sum(block_of(tensors[k % 2], (k,), (32,), 0) for k in range(5))
    np.testing.assert_array_equal(z[:32], expected)


ARGUMENT = """
tt.func public @kernel(%d: !tt.tensordesc<8x16xf32>, %e0: i32, %e1: i32, %s0: i64, %s1: i64, %y: !tt.ptr<f32>) {
  %one = arith.constant 1 : i64
  %row = arith.constant 16 : i64
  %h = arith.constant 8 : i32
  %w = arith.constant 16 : i32
  %zero = arith.constant 0 : i32
  %at = arith.constant 4 : i32
  %out = tt.make_tensor_descriptor %y, [%h, %w], [%row, %one] : !tt.ptr<f32>, !tt.tensordesc<8x16xf32>
  %v = tt.descriptor_load %d[%at, %at] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  tt.descriptor_store %out[%zero, %zero], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
  tt.return
}
"""


def test_argument_without_its_extents_is_refused() -> None:
    from tiletwin import _codegen

    text = ARGUMENT.replace("%e0: i32, %e1: i32, ", "%e0: i32, %e1: i64, ").replace("%s0: i64, %s1: i64, ", "")
    with pytest.raises(_codegen.Error, match="must be followed by its 2 extents"):
        sk.compiled(text, "sm_80")


@pytest.mark.parametrize("notes", [0, 1, 2, 3])
def test_argument(notes: int) -> None:
    """The address, + 1 for NaN outside, + 2 for loads that round to tf32."""
    import tiletwin.sim

    x = np.random.default_rng(4).normal(size=(9, 20)).astype(np.float32)
    x[5, 5], x[6, 6], x[7, 7] = np.inf, np.nan, np.float32(1 + 2**-11)
    y = np.zeros((8, 16), np.float32)
    code = sk.compiled(ARGUMENT, "sm_80")
    assert tiletwin.sim.load(code["ptx"])["kernel"].parameters[0].bits == 64
    sk.launch(code, x.ctypes.data + notes, 9, 20, 20, 1, y, memory=[x])
    expected = block_of(x, (4, 4), (8, 16), np.nan if notes & 1 else 0)
    if notes & 2:
        bits = expected.view(np.uint32)
        finite = np.isfinite(expected)
        bits[finite] = (bits + 0xFFF + (bits >> 13 & 1))[finite] & 0xFFFFE000
    np.testing.assert_array_equal(y, expected)


ROWS = """
tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %rows: !tt.ptr<i32>, %h: i32, %w: i32, %s: i64, %c: i32) {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_descriptor %x, [%h, %w], [%s, %one] : !tt.ptr<f32>, !tt.tensordesc<1x32xf32>
  %b = tt.make_tensor_descriptor %y, [%h, %w], [%s, %one] : !tt.ptr<f32>, !tt.tensordesc<1x32xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %p = tt.splat %rows : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %n = tt.load %q : tensor<16x!tt.ptr<i32>>
  %v = tt.descriptor_gather %a[%n, %c] : (!tt.tensordesc<1x32xf32>, tensor<16xi32>, i32) -> tensor<16x32xf32>
  tt.descriptor_scatter %b[%n, %c], %v : !tt.tensordesc<1x32xf32>, tensor<16xi32>, i32, tensor<16x32xf32>
  tt.return
}
"""


@pytest.mark.parametrize("column", [0, 4, -3, 30, 64])
def test_rows(column: int) -> None:
    x = tensor("f32", (20, 48))
    rows = np.array([3, 19, -1, 0, 20, 7, 2**31 - 1, -(2**31), 5, 6, 8, 9, 18, 1, 2, 10], np.int32)
    y = np.zeros_like(x)
    sk.launch(sk.compiled(ROWS, "sm_80"), x, y, rows, 20, 40, 48, column)
    expected = np.zeros_like(x)
    for row in rows:
        put(expected[:, :40], (row, column), block_of(x[:, :40], (row, column), (1, 32), 0))
    np.testing.assert_array_equal(y, expected)


REDUCE = {
    ("add", "i32"): np.add, ("min", "si32"): np.minimum, ("max", "si32"): np.maximum, ("and", "si32"): np.bitwise_and,
    ("or", "ui32"): np.bitwise_or, ("xor", "si64"): np.bitwise_xor, ("add", "f32"): np.add, ("add", "f16"): np.add,
    ("min", "ui32"): lambda a, b: np.minimum(a.view(np.uint32), b.view(np.uint32)).view(a.dtype),
    ("max", "ui32"): lambda a, b: np.maximum(a.view(np.uint32), b.view(np.uint32)).view(a.dtype),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "element"), REDUCE, ids=str)
def test_reductions_into_memory(kind: str, element: str) -> None:
    tile = element.lstrip("su")
    text = blocks((8, 16), tile).replace("tt.descriptor_store %b", f"tt.descriptor_reduce {kind}, %b")
    text = text.replace(f"tensordesc<8x16x{tile}>", f"tensordesc<8x16x{element}>")
    x, y = tensor(tile, (12, 16)), tensor(tile, (12, 16))[::-1].copy()
    expected = y.copy()
    old = block_of(y[:, :14], (6, 2), (8, 16), 0)
    put(expected[:, :14], (6, 2), REDUCE[kind, element](old, block_of(x[:, :14], (1, 1), (8, 16), 0)))
    sk.launch(sk.compiled(text, "sm_80"), x, y, 12, 14, 1, 1, 6, 2, 16)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_sums_of_bf16(arch: str) -> None:
    """Of four programs at once; before sm_90 by comparing and swapping. Small whole numbers, whose order is free."""
    text = blocks((8, 16), "bf16").replace("tt.descriptor_store %b", "tt.descriptor_reduce add, %b")
    numbers = np.random.default_rng(5).integers(-9, 9, (2, 12, 16)).astype(np.float32)
    x, y = ((part.view(np.uint32) >> 16).astype(np.uint16) for part in numbers)
    expected = numbers[1].copy()
    old = block_of(expected[:, :14], (6, 2), (8, 16), 0)
    put(expected[:, :14], (6, 2), old + 4 * block_of(numbers[0][:, :14], (1, 1), (8, 16), 0))
    sk.launch(sk.compiled(text, arch), x, y, 12, 14, 1, 1, 6, 2, 16, grid=4)
    np.testing.assert_array_equal((y.astype(np.uint32) << 16).view(np.float32), expected)


def test_a_reduction_without_instruction_is_refused() -> None:
    from tiletwin import _codegen

    text = blocks((8, 16), "f16").replace("tt.descriptor_store %b", "tt.descriptor_reduce min, %b")
    with pytest.raises(_codegen.Error, match="min on elements of f16 is not compiled for sm_80 yet"):
        sk.compiled(text, "sm_80")
