"""Scans and histograms as compiled: every shape of layout along the axis, both directions, several operands, regions
that do not commute. References are exact integers, and for float sums the order that the compiled operation states."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import small_kernels as sk

SHAPES = [
    ((1,), 0), ((8,), 0), ((32,), 0), ((256,), 0), ((2048,), 0), ((4, 64), 0), ((4, 64), 1), ((64, 8), 0), ((64, 8), 1),
    ((64, 64), 0), ((8, 32, 16), 1), ((16, 512), 1), ((1, 128), 0), ((8, 4, 16), 1),
]  # fmt: skip

# (a, b) then (c, d): x -> c * (a * x + b) + d. Associative, and no two of them commute as a rule.
COMPOSED = """
^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
  %m = arith.muli %a, %c : i32
  %t = arith.muli %b, %c : i32
  %n = arith.addi %t, %d : i32
  tt.scan.return %m, %n : i32, i32
"""
ADDED = "\n^bb0(%a: {0}, %b: {0}):\n  %s = arith.{1} %a, %b : {0}\n  tt.scan.return %s : {0}\n"


def kernel(operation: Callable[[str, str], str], shape: Sequence[int], operands: Sequence[str], results: int) -> str:
    """Loads a tile of `shape` for each operand, runs the operation, stores the results."""
    count = int(np.prod(shape))
    tile = "x".join(map(str, shape)) + "x"
    lines = [
        f"%range = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>",
        f"%index = tt.reshape %range : tensor<{count}xi32> -> tensor<{tile}i32>",
    ]
    names = [f"x{i}" for i in range(len(operands))] + [f"y{i}" for i in range(results)]
    for name, kind in zip(names, [*operands, *operands], strict=False):
        lines += [
            f"%{name}_base = tt.splat %{name}_ptr : !tt.ptr<{kind}> -> tensor<{tile}!tt.ptr<{kind}>>",
            f"%{name}_at = tt.addptr %{name}_base, %index : tensor<{tile}!tt.ptr<{kind}>>, tensor<{tile}i32>",
        ]
        if name[0] == "x":
            lines.append(f"%{name} = tt.load %{name}_at : tensor<{tile}!tt.ptr<{kind}>>")
    values = ", ".join(f"%x{i}" for i in range(len(operands)))
    types = ", ".join(f"tensor<{tile}{kind}>" for kind in operands)
    lines.append(operation(values, types))
    for i in range(results):
        source = f"%y#{i}" if results > 1 else "%y"
        lines.append(f"tt.store %y{i}_at, {source} : tensor<{tile}!tt.ptr<{operands[i]}>>")
    parameters = ", ".join(
        f"%{name}_ptr: !tt.ptr<{kind}>" for name, kind in zip(names, [*operands, *operands], strict=False)
    )
    return f"tt.func public @kernel({parameters}) {{\n  " + "\n  ".join(lines) + "\n  tt.return\n}\n"


def scan(shape: Sequence[int], axis: int, reverse: bool, operands: Sequence[str], region: str) -> str:
    def operation(values: str, types: str) -> str:
        names = "%y" + (f":{len(operands)}" if len(operands) > 1 else "")
        return (
            f'{names} = "tt.scan"({values}) <{{axis = {axis} : i32, reverse = {str(reverse).lower()}}}> '
            f"({{{region}}}) : ({types}) -> ({types})"
        )

    return kernel(operation, shape, operands, len(operands))


def along(x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    """The axis last, from its end if reverse: a view."""
    moved = np.moveaxis(x, axis, -1)
    return moved[..., ::-1] if reverse else moved


@pytest.mark.parametrize(
    ("num_warps", "reverse"), [pytest.param(1, False, marks=pytest.mark.slow), (4, True), (8, False)]
)
def test_maps_composed(num_warps: int, reverse: bool) -> None:
    generator = np.random.default_rng(num_warps)
    for shape, axis in SHAPES:
        a, b = (generator.integers(0, 1 << 32, shape, np.uint64).astype(np.uint32) for _ in range(2))
        code = sk.compiled(scan(shape, axis, reverse, ["i32", "i32"], COMPOSED), "sm_80", num_warps=num_warps)
        results = [np.zeros_like(a), np.zeros_like(b)]
        sk.launch(code, a, b, *results)
        m, n = along(a, axis, reverse).copy(), along(b, axis, reverse).copy()
        for j in range(1, m.shape[-1]):
            n[..., j] += n[..., j - 1] * m[..., j]
            m[..., j] *= m[..., j - 1]
        np.testing.assert_array_equal(along(results[0], axis, reverse), m, err_msg=f"{shape} {axis}")
        np.testing.assert_array_equal(along(results[1], axis, reverse), n, err_msg=f"{shape} {axis}")


def in_order(x: np.ndarray, low: int, lanes: int, warps: int, high: int) -> np.ndarray:
    """The prefix sums of rows of f32 in the order that a compiled scan states: runs of 2^low elements one by one,
    2^lanes runs by Kogge-Stone, 2^(warps + high) groups of these one after the other."""
    rows = x.reshape(-1, 1 << (warps + high), 1 << lanes, 1 << low).copy()
    for i in range(1, rows.shape[-1]):
        rows[..., i] = rows[..., i - 1] + rows[..., i]
    last = rows[..., -1].copy()
    for step in range(lanes):
        moved = last.copy()
        moved[..., 1 << step :] = last[..., : -(1 << step)] + last[..., 1 << step :]
        last = moved
    total = last[:, 0, -1].copy()
    for group in range(1, rows.shape[1]):
        own = last[:, group, -1].copy()
        last[:, group] = total[:, None] + last[:, group]
        before = np.concatenate([total[:, None], last[:, group, :-1]], axis=1)
        rows[:, group, :, :-1] = before[..., None] + rows[:, group, :, :-1]
        total = total + own
    rows[:, 0, 1:, :-1] = last[:, 0, :-1, None] + rows[:, 0, 1:, :-1]
    rows[..., -1] = last
    return rows.reshape(x.shape)


@pytest.mark.parametrize(("shape", "axis"), [s for s in SHAPES if np.prod(s[0]) >= 32], ids=str)
@pytest.mark.parametrize("reverse", [False, True])
def test_sums_in_the_stated_order(shape: tuple[int, ...], axis: int, reverse: bool) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    code = sk.compiled(scan(shape, axis, reverse, ["f32"], ADDED.format("f32", "addf")), "sm_90a")
    counts = [int(n) for n in re.search(r"order = array<i32: ([0-9, ]+)>", code["ttgir"])[1].split(",")]
    assert 1 << sum(counts) == shape[axis]
    result = np.zeros_like(x)
    sk.launch(code, x, result)
    expected = in_order(np.ascontiguousarray(along(x, axis, reverse)), *counts)
    np.testing.assert_array_equal(along(result, axis, reverse).view(np.uint32), expected.view(np.uint32))


def test_a_thread_loads_neighbours_along_the_axis() -> None:
    """Rows of a tile that is scanned down its columns: lanes exchange one total of a thread's rows in a column, and one
    of what lies before them."""
    threads = 128
    code = sk.compiled(scan((256, 16), 0, False, ["f32"], ADDED.format("f32", "addf")), "sm_90a")
    low, lanes, _, high = (int(n) for n in re.search(r"order = array<i32: ([0-9, ]+)>", code["ttgir"])[1].split(","))
    columns = 256 * 16 // threads >> low
    assert low > 1 and lanes > 0 and high == 0
    assert code["ptx"].count("shfl.sync") == columns * (lanes + 1)


@pytest.mark.parametrize(("element", "operation"), [("i8", "addi"), ("f32", "addf"), ("i64", "addi")])
@pytest.mark.parametrize("num_warps", [2, 4, 8])
def test_totals_of_several_warps_come_by_few_accesses(num_warps: int, element: str, operation: str) -> None:
    """By 16 bytes at most. Nobody reads the last warp's total in the last run of a row."""
    code = sk.compiled(
        scan((4096,), 0, False, [element], ADDED.format(element, operation)), "sm_90a", num_warps=num_warps
    )
    _, _, warps, high = (int(n) for n in re.search(r"order = array<i32: ([0-9, ]+)>", code["ttgir"])[1].split(","))
    assert 1 << warps == num_warps
    together = 16 // (int(element[1:]) // 8)
    runs = [num_warps] * ((1 << high) - 1) + [num_warps - 1]
    assert code["ptx"].count("ld.shared") == sum(-(-totals // together) for totals in runs)


@pytest.mark.parametrize(
    ("element", "operation"), [("i64", "addi"), ("i8", "addi"), ("f16", "maximumf"), ("f64", "addf")]
)
def test_elements_of_other_sizes(element: str, operation: str) -> None:
    held = {"i64": np.int64, "i8": np.int8, "f16": np.float16, "f64": np.float64}[element]
    x = np.random.default_rng(5).integers(-100, 100, (4, 256)).astype(held)  # sums are exact, in i8 modulo 256
    code = sk.compiled(scan(x.shape, 1, False, [element], ADDED.format(element, operation)), "sm_80")
    result = np.zeros_like(x)
    sk.launch(code, x, result)
    expected = np.maximum.accumulate(x, 1) if "max" in operation else np.cumsum(x, 1, dtype=held)
    np.testing.assert_array_equal(result, expected)


def histogram(count: int, bins: int, element: str, masked: bool, result: str) -> str:
    mask = (
        "%lots = arith.constant dense<{0}> : tensor<{1}xi32>\n  %mask = arith.cmpi slt, %index, %lots : tensor<{1}xi32>"
    )

    def operation(values: str, types: str) -> str:
        lines = [mask.format(count - 5, count)] if masked else []
        operands = "%x0, %mask" if masked else "%x0"
        lines += [
            f"%counts = tt.histogram {operands} : tensor<{count}x{element}> -> tensor<{bins}x{result}>",
            f"%bins = tt.make_range {{end = {bins} : i32, start = 0 : i32}} : tensor<{bins}xi32>",
            f"%to_base = tt.splat %y0_ptr : !tt.ptr<{element}> -> tensor<{bins}x!tt.ptr<{element}>>",
            f"%to_int = tt.bitcast %to_base : tensor<{bins}x!tt.ptr<{element}>> -> tensor<{bins}x!tt.ptr<{result}>>",
            f"%to = tt.addptr %to_int, %bins : tensor<{bins}x!tt.ptr<{result}>>, tensor<{bins}xi32>",
            f"tt.store %to, %counts : tensor<{bins}x!tt.ptr<{result}>>",
        ]
        return "\n  ".join(lines)

    text = kernel(operation, (count,), [element], 1)
    return re.sub(r"  tt\.store %y0_at.*\n", "", text)


@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
@pytest.mark.parametrize(("count", "bins"), [(16, 2), (64, 16), (1024, 64), (512, 256), (8, 1)])
@pytest.mark.parametrize("masked", [False, True])
def test_histogram(element: str, count: int, bins: int, masked: bool) -> None:
    """Numbers below 0 and from `bins` on are not counted; nor are elements whose mask is 0."""
    held = np.dtype(f"int{element[1:]}")
    x = np.random.default_rng(count).integers(-2, min(bins + 3, 127), count).astype(held)
    if element == "i64":
        x[0] = (1 << 32) + 1
    result = "i64" if bins == 16 else "i32"
    counts = np.full(bins, -1, f"int{result[1:]}")
    code = sk.compiled(histogram(count, bins, element, masked, result), "sm_80")
    sk.launch(code, x, counts)
    counted = x[: count - 5] if masked else x
    np.testing.assert_array_equal(counts, [np.count_nonzero(counted == b) for b in range(bins)])
