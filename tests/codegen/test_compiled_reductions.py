"""Reductions as compiled: every way through registers, lanes and warps, regions that commute and that do not,
the instruction for whole warps. References are exact, and for float sums the order that the compiled operation
states."""

from __future__ import annotations

import re

import numpy as np
import pytest
import small_kernels as sk

SHAPES = [((1,), 0), ((16,), 0), ((32,), 0), ((2048,), 0), ((4, 64), 0), ((4, 64), 1), ((64, 8), 0), ((8, 4, 16), 1)]
OPERATIONS = {
    "addi": lambda x, axis: np.add.reduce(x, axis, dtype=x.dtype),
    "muli": lambda x, axis: np.multiply.reduce(x, axis, dtype=x.dtype),
    "andi": np.bitwise_and.reduce,
    "ori": np.bitwise_or.reduce,
    "xori": np.bitwise_xor.reduce,
    "maxsi": lambda x, axis: np.max(x.view(f"int{8 * x.itemsize}"), axis).view(x.dtype),
    "minsi": lambda x, axis: np.min(x.view(f"int{8 * x.itemsize}"), axis).view(x.dtype),
    "maxui": np.max,
    "minui": np.min,
}


def kernel(shape: tuple[int, ...], axis: int, element: str, region: str) -> str:
    count, tile = int(np.prod(shape)), "x".join(map(str, shape)) + "x"
    left = count // shape[axis]
    rest = "x".join(str(e) for d, e in enumerate(shape) if d != axis)
    reduced = f"tensor<{rest}x{element}>" if rest else element
    lines = [
        f"%range = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>",
        f"%index = tt.reshape %range : tensor<{count}xi32> -> tensor<{tile}i32>",
        f"%base = tt.splat %x : !tt.ptr<{element}> -> tensor<{tile}!tt.ptr<{element}>>",
        f"%at = tt.addptr %base, %index : tensor<{tile}!tt.ptr<{element}>>, tensor<{tile}i32>",
        f"%v = tt.load %at : tensor<{tile}!tt.ptr<{element}>>",
        f'%r = "tt.reduce"(%v) <{{axis = {axis} : i32}}> ({{{region}}}) : (tensor<{tile}{element}>) -> {reduced}',
    ]
    if rest:
        lines += [
            f"%to_range = tt.make_range {{end = {left} : i32, start = 0 : i32}} : tensor<{left}xi32>",
            f"%to_index = tt.reshape %to_range : tensor<{left}xi32> -> tensor<{rest}xi32>",
            f"%to_base = tt.splat %y : !tt.ptr<{element}> -> tensor<{rest}x!tt.ptr<{element}>>",
            f"%to = tt.addptr %to_base, %to_index : tensor<{rest}x!tt.ptr<{element}>>, tensor<{rest}xi32>",
            f"tt.store %to, %r : tensor<{rest}x!tt.ptr<{element}>>",
        ]
    else:
        lines.append(f"tt.store %y, %r : !tt.ptr<{element}>")
    arguments = f"%x: !tt.ptr<{element}>, %y: !tt.ptr<{element}>"
    return f"tt.func public @kernel({arguments}) {{\n  " + "\n  ".join(lines) + "\n  tt.return\n}\n"


def one(operation: str, element: str) -> str:
    body = f"%s = arith.{operation} %a, %b : {element}\n  tt.reduce.return %s : {element}"
    return f"^bb0(%a: {element}, %b: {element}):\n  {body}\n"


def reduced(x: np.ndarray, axis: int, element: str, region: str, arch: str, warps: int = 4) -> tuple[np.ndarray, dict]:
    code = sk.compiled(kernel(x.shape, axis, element, region), arch, num_warps=warps)
    y = np.zeros([e for d, e in enumerate(x.shape) if d != axis] or [1], x.dtype)
    sk.launch(code, x, y)
    return y, code


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("arch", "element"), [("sm_80", "i32"), ("sm_75", "i32"), ("sm_90a", "i64"), ("sm_80", "i8")])
def test_integers(operation: str, arch: str, element: str) -> None:
    for i, (shape, axis) in enumerate(SHAPES):
        held = sk.numpy_type(element)
        x = np.random.default_rng(i).integers(0, 1 << (8 * held.itemsize), shape, np.uint64).astype(held)
        if operation == "muli":
            x |= 1  # products of even numbers are soon 0
        y, _ = reduced(x, axis, element, one(operation, element), arch, (1, 4)[i % 2])
        expected = OPERATIONS[operation](x, axis)
        np.testing.assert_array_equal(y.reshape(np.shape(expected)), expected, err_msg=f"{shape} {axis}")


def test_whole_warps_by_one_instruction() -> None:
    x = np.arange(128, dtype=np.uint32)
    assert "redux.sync.add" in reduced(x, 0, "i32", one("addi", "i32"), "sm_80")[1]["ptx"]
    assert "redux" not in reduced(x, 0, "i32", one("addi", "i32"), "sm_75")[1]["ptx"]
    assert "redux" not in reduced(x, 0, "i32", one("subi", "i32"), "sm_80")[1]["ptx"]


def test_narrow_integers_too() -> None:
    x = np.arange(128, dtype=np.uint8)
    assert "redux.sync.or" in reduced(x, 0, "i8", one("ori", "i8"), "sm_80")[1]["ptx"]
    assert "redux" not in reduced(x.astype(np.uint64), 0, "i64", one("ori", "i64"), "sm_80")[1]["ptx"]


def test_regions_that_do_not_commute_take_one_shuffle_more_and_no_selects() -> None:
    """Only the first lane's result counts, and the others get it. Between two lanes each selects."""
    words = ("shfl.sync.bfly", "shfl.sync.idx", "selp")
    cases = [(32, "addf", 5, 0, 0), (32, "subf", 5, 1, 0), (2, "subf", 1, 0, 2)]
    for lanes, operation, *wanted in cases:
        x = np.ones((128 // lanes, lanes), np.float32)
        ptx = reduced(x, 1, "f32", one(operation, "f32"), "sm_80")[1]["ptx"]
        assert [ptx.count(word) for word in words] == wanted


@pytest.mark.parametrize(
    ("operation", "element", "loads", "exchanges"),
    [
        ("addf", "f32", ".v4.b32", 2),
        ("addf", "f64", ".v2.b64", 4),
        ("addf", "f16", ".v2.b32", 2),
        ("subf", "f32", ".v2.b32", 3),
    ],
)
def test_lanes_share_what_warps_left(operation: str, element: str, loads: str, exchanges: int) -> None:
    """Sixteen warps: a lane reads four parts, or two where a combination costs more, and lanes combine the rest."""
    x = np.ones(1024, {"f16": np.float16, "f32": np.float32, "f64": np.float64}[element])
    ptx = reduced(x, 0, element, one(operation, element), "sm_90a", 16)[1]["ptx"]
    behind = ptx[ptx.index("st.shared") :]
    assert re.findall(r"ld\.shared(\S+)", behind) == [loads] * (2 if element == "f64" else 1)
    assert behind.count("shfl.sync.bfly") == exchanges


def in_order(x: np.ndarray, bits: list[int], combine) -> np.ndarray:
    """Rows combined half by half: step i joins elements whose index differs in bits[i], the lower one on the left."""
    values = {k: x[..., k] for k in range(x.shape[-1])}
    for bit in bits:
        values = {k: combine(values[k], values[k | 1 << bit]) for k in values if not k >> bit & 1}
    return values[0]


@pytest.mark.parametrize(("operation", "combine"), [("addf", np.add), ("subf", np.subtract)])
@pytest.mark.parametrize(("shape", "axis"), SHAPES[1:], ids=str)
def test_floats_in_the_stated_order(shape: tuple[int, ...], axis: int, operation: str, combine) -> None:
    """A difference tells left from right."""
    x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    y, code = reduced(x, axis, "f32", one(operation, "f32"), "sm_90a")
    order = [int(n) for n in re.search(r"order = array<i32: ([0-9, ]+)>", code["ttgir"])[1].split(",")]
    assert sorted(order) == list(range(int(np.log2(shape[axis]))))
    expected = in_order(np.moveaxis(x, axis, -1), order, combine)
    np.testing.assert_array_equal(y.reshape(np.shape(expected)).view(np.uint32), np.asarray(expected).view(np.uint32))


@pytest.mark.parametrize("warps", [2, 8, 16, 32])
@pytest.mark.parametrize("element", ["f16", "f32", "f64", "i8"])
def test_many_warps_in_the_stated_order(element: str, warps: int) -> None:
    """Results that all lanes of a warp hold, some of them, or none; with parts for each lane, and for several."""
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.uint8}[element]
    operation = "subi" if element == "i8" else "subf"
    for shape, axis in [((4096,), 0), ((4, 512), 1), ((128, 16), 0), ((256, 64), 0), ((64, 2, 32), 0)]:
        x = np.random.default_rng(7).integers(0, 200, shape).astype(kind)
        if element != "i8":
            x /= kind(7)
        y, code = reduced(x, axis, element, one(operation, element), "sm_90a", warps)
        order = [int(n) for n in re.search(r"order = array<i32: ([0-9, ]+)>", code["ttgir"])[1].split(",")]
        expected = np.asarray(in_order(np.moveaxis(x, axis, -1), order, np.subtract))
        np.testing.assert_array_equal(y.reshape(expected.shape), expected, err_msg=f"{shape} {axis}")


@pytest.mark.parametrize("operation", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_minima_and_maxima_of_zeros_and_nan(operation: str) -> None:
    """Operands are exchanged between lanes: whichever is on the left, the bits are the same in every order."""
    edges = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 2], np.float32)
    x = np.random.default_rng(5).choice(edges, (16, 32))
    x[:8][np.isnan(x[:8])] = 0.0
    y, _ = reduced(x, 1, "f32", one(operation, "f32"), "sm_80")
    ignoring, taking = (np.fmax, np.maximum) if "max" in operation else (np.fmin, np.minimum)
    expected = (ignoring if "num" in operation else taking).reduce(x, 1)
    np.testing.assert_array_equal(y, expected)
