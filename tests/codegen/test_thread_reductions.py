"""Reductions that a loop adds up, as compiled: in each thread first, between threads behind the loop
(ThreadReductions.h).

References are NumPy's, over all that the loop reads; integers, minima and maxima exactly, sums of floats of numbers
that any order adds up exactly.
"""

from __future__ import annotations

import numpy as np
import pytest
import small_kernels as sk

INTEGERS = {
    "addi": (np.add, 7),
    "muli": (np.multiply, 3),
    "andi": (np.bitwise_and, -1),
    "ori": (np.bitwise_or, 64),
    "xori": (np.bitwise_xor, 5),
    "maxsi": (np.maximum, -100),
    "minsi": (np.minimum, 100),
}
FLOATS = {
    "addf": (np.add, -0.0),
    "maximumf": (np.maximum, -np.inf),
    "minimumf": (np.minimum, np.inf),
    "maxnumf": (np.fmax, np.nan),
    "minnumf": (np.fmin, np.nan),
}


def kernel(operation: str, element: str, shape: tuple[int, ...], axis: int, first: str, swapped: bool = False) -> str:
    """y = the combination of `first` and of n tiles of x, which follow each other, along one axis."""
    count, tile = int(np.prod(shape)), "x".join(map(str, shape)) + "x"
    rest = "x".join(str(e) for d, e in enumerate(shape) if d != axis)
    left = count // shape[axis]
    kind, pointers = (f"tensor<{rest}x{element}>", f"tensor<{rest}x!tt.ptr<{element}>>") if rest else (element, "")
    constant = f"arith.constant dense<{first}> : {kind}" if rest else f"arith.constant {first} : {kind}"
    operands = "%r, %total" if swapped else "%total, %r"
    store = f"""
  %to_range = tt.make_range {{end = {left} : i32, start = 0 : i32}} : tensor<{left}xi32>
  %to_index = tt.reshape %to_range : tensor<{left}xi32> -> tensor<{rest}xi32>
  %to_base = tt.splat %y : !tt.ptr<{element}> -> {pointers}
  %to = tt.addptr %to_base, %to_index : {pointers}, tensor<{rest}xi32>
  tt.store %to, %sum : {pointers}""" if rest else f"  tt.store %y, %sum : !tt.ptr<{element}>"  # fmt: skip
    return f"""
tt.func public @kernel(%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<{element}>, %n: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %count = arith.constant {count} : i32
  %first = {constant}
  %range = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %index = tt.reshape %range : tensor<{count}xi32> -> tensor<{tile}i32>
  %base = tt.splat %x : !tt.ptr<{element}> -> tensor<{tile}!tt.ptr<{element}>>
  %sum = scf.for %i = %zero to %n step %one iter_args(%total = %first) -> ({kind}) : i32 {{
    %begin = arith.muli %i, %count : i32
    %begins = tt.splat %begin : i32 -> tensor<{tile}i32>
    %offset = arith.addi %begins, %index : tensor<{tile}i32>
    %at = tt.addptr %base, %offset : tensor<{tile}!tt.ptr<{element}>>, tensor<{tile}i32>
    %v = tt.load %at : tensor<{tile}!tt.ptr<{element}>>
    %r = "tt.reduce"(%v) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: {element}, %b: {element}):
      %s = arith.{operation} %a, %b : {element}
      tt.reduce.return %s : {element}
    }}) : (tensor<{tile}{element}>) -> {kind}
    %next = arith.{operation} {operands} : {kind}
    scf.yield %next : {kind}
  }}
{store}
  tt.return
}}
"""


def run(text: str, x: np.ndarray, shape: tuple[int, ...], axis: int, count: int, arch: str, warps: int):
    code = sk.compiled(text, arch, num_warps=warps)
    rest = tuple(e for d, e in enumerate(shape) if d != axis)
    y = np.zeros(rest or (1,), x.dtype)
    sk.launch(code, x, y, count)
    return code, y if rest else y[0]


SHAPES = [((64,), 0), ((4, 64), 1), ((64, 8), 0), ((4, 16, 8), 1), ((2, 256), 1), ((8, 8, 4), 2)]


@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=str)
@pytest.mark.parametrize("operation", INTEGERS)
def test_integers(operation: str, shape: tuple[int, ...], axis: int) -> None:
    """Through every way in which an axis lies in registers, lanes, warps; loops that run three times, once, never."""
    combine, first = INTEGERS[operation]
    x = np.random.default_rng(5).integers(-50, 50, (3, *shape), np.int32)
    text = kernel(operation, "i32", shape, axis, str(first), swapped=operation == "addi")
    for count, arch, warps in ((3, "sm_80", 4), (1, "sm_90a", 1), (0, "sm_80", 4)):
        code, got = run(text, x, shape, axis, count, arch, warps)
        want = np.int32(first)
        if count:
            want = combine(combine.reduce(combine.reduce(x[:count], 0), axis), want)
        assert np.array_equal(got, np.broadcast_to(want.astype(np.int32), np.shape(got)))
        assert code["ttgir"].count('"tt.reduce"') in (1, 2)


@pytest.mark.parametrize("element", ["f32", "f64", "f16"])
@pytest.mark.parametrize("operation", FLOATS)
def test_floats(operation: str, element: str) -> None:
    """NaN and infinities where the operation has a rule for them; what the loop begins with counts, also if it does not
    run."""
    combine, neutral = FLOATS[operation]
    kind = {"f32": np.float32, "f64": np.float64, "f16": np.float16}[element]
    x = np.random.default_rng(6).integers(-8, 8, (3, 4, 64)).astype(kind)
    if operation != "addf":
        x[0, 1, 5], x[1, 2, :], x[:, 3, :] = np.nan, np.inf, np.nan
    for first in (2.0, neutral):
        bits = int(np.array([first], kind).view(f"u{x.itemsize}")[0])
        text = kernel(operation, element, (4, 64), 1, f"0x{bits:0{2 * x.itemsize}X}")
        for count in (3, 0):
            _, got = run(text, x, (4, 64), 1, count, "sm_80", 4)
            with np.errstate(invalid="ignore"):
                want = np.full(4, first, kind)
                for tile in x[:count]:
                    want = combine(want, combine.reduce(tile, 1))
            assert np.array_equal(got, want, equal_nan=True)
            assert operation != "addf" or np.array_equal(np.signbit(got), np.signbit(want))


def test_inside_the_loop_no_thread_talks() -> None:
    """Shuffles and barriers stand behind the loop, and the loop has none."""
    text = kernel("addf", "f32", (16, 128), 1, "0.0")
    ptx = sk.compiled(text, "sm_90a")["ptx"]
    loop = ptx[ptx.index("$L__BB0_") : ptx.rindex("bra")]
    assert "ld.global" in loop and "shfl" not in loop and "bar" not in loop
    assert ptx.count("shfl") > 0


@pytest.mark.parametrize(
    "change",
    [
        ("scf.yield %next", "tt.store %y, %n : !tt.ptr<i32>\n    scf.yield %r"),  # the sum is not what is carried
        ("%next = arith.addi", "%next = arith.xori"),  # combined by another operation
    ],
    ids=["carried", "operation"],
)
def test_other_loops_stay(change: tuple[str, str]) -> None:
    text = kernel("addi", "i32", (64,), 0, "0").replace(*change)
    assert sk.compiled(text, "sm_80")["ttgir"].count('"tt.reduce"') == 1


@pytest.mark.parametrize(
    ("operation", "shape", "axis", "source", "first", "stays"),
    [
        ("addf", (16, 128), 1, "%v", "0.0", False),
        ("addf", (128,), 0, "%v", "0.0", True),
        ("mulf", (128, 16), 0, "%v", "1.0", True),
        ("addf", (16, 128), 1, "%twice", "0.0", True),
        ("maximumf", (128,), 0, "%twice", "0.0", False),
        ("minnumf", (128, 16), 0, "%twice", "0.0", False),
    ],
)
def test_sums_of_floats_keep_their_order_where_triton_keeps_it(
    operation: str, shape: tuple[int, ...], axis: int, source: str, first: str, stays: bool
) -> None:
    """Rows of 1e38 and -1e38 cancel in each round, and are infinite if threads add up rounds first."""
    text = kernel(operation, "f32", shape, axis, first)
    tile = f"tensor<{'x'.join(map(str, shape))}xf32>"
    text = text.replace('%r = "tt.reduce"(%v)', f'%twice = arith.addf %v, %v : {tile}\n    %r = "tt.reduce"({source})')
    ptx = sk.compiled(text, "sm_90a")["ptx"]
    loop = ptx[ptx.index("$L__BB0_") : ptx.rindex("bra")]
    assert ("shfl" in loop) == stays
    if operation == "addf" and len(shape) == 1:
        x = np.zeros((3, *shape), np.float32)
        x[:, 0], x[:, 64] = 1e38, -1e38
        assert run(text, x * 2, shape, axis, 3, "sm_80", 1)[1] == 0
