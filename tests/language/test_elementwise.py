"""Elementwise operations against NumPy and torch on edge values: every pair of edges, and random sizes and masks.

Results are compared bit for bit, NaN with NaN. Left out of the comparison, but run: what the language leaves undefined
(integer division by zero and of the least number by -1, floats beyond the range of an integer type).
"""

from __future__ import annotations

from collections.abc import Callable

import elementwise_kernels as kernels
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import TORCH

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
WIDE_FLOATS = ("fp32", "fp64")
FLOATS = ("fp16", "bf16", *WIDE_FLOATS)
ORDERED = ("i1", *INTS, *FLOATS)

FLOAT_EDGES = {
    "fp16": [6e-8, 6.1e-5, 6.0e-5, 65504.0],
    "bf16": [1e-40, 1.2e-38, 3.38e38],
    "fp32": [1e-45, 1.17549435e-38, 1.1e-38, 3.4028235e38, 16777217.0],
    "fp64": [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0],
}
COMMON_FLOATS = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 7.0, 1000.0, float("inf")]


def edges(element: str) -> torch.Tensor:
    """Values at which an operation of this type may go wrong."""
    if element == "i1":
        return torch.tensor([False, True])
    if element in FLOATS:
        positive = COMMON_FLOATS + FLOAT_EDGES[element]
        return torch.tensor([*positive, *(-v for v in positive), float("nan")], dtype=torch.float64).to(TORCH[element])
    info = np.iinfo(numpy_type(element))
    near = [info.min, info.min + 1, info.max // 2, info.max - 1, info.max, -7, -3, -2, -1, 0, 1, 2, 3, 7]
    inside = sorted({v for v in near if info.min <= v <= info.max})
    return torch.from_numpy(np.array(inside, dtype=info.dtype))


def numpy_type(element: str) -> np.dtype:
    return np.dtype(("u" if element[0] == "u" else "") + "int" + element[1:])


def pairs(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Every value with every value."""
    n = len(values)
    # Unsigned torch types have no indexing kernels; their bits do.
    index = torch.arange(n)
    return take(values, index.repeat_interleave(n)), take(values, index.repeat(n))


def take(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()]
    return values.view(bits)[index].contiguous().view(values.dtype)


def launch(kernel, op, inputs: list[torch.Tensor], out: torch.Tensor, block: int) -> None:
    n = len(out)
    arguments = [*inputs, out, n] + ([] if op is None else [op])
    kernel[(-(-n // block),)](*arguments, block)


def same_bits(got: torch.Tensor, want: torch.Tensor, compared: np.ndarray | None = None) -> str:
    """Empty, or what differs; NaN equals NaN."""
    assert got.dtype == want.dtype
    if got.dtype.is_floating_point:
        nan = np.asarray(torch.isnan(got.to(torch.float64)) & torch.isnan(want.to(torch.float64)))
    else:
        nan = np.zeros(len(got), bool)
    raw = [
        np.frombuffer(t.contiguous().view(torch.uint8).numpy().tobytes(), f"V{t.element_size()}") for t in (got, want)
    ]
    wrong = (raw[0] != raw[1]) & ~nan
    if compared is not None:
        wrong &= compared
    at = np.flatnonzero(wrong)
    return "" if not at.size else f"{at.size} of {len(got)}, first at {at[0]}: got {got[at[0]]}, want {want[at[0]]}"


def in_float(operation: Callable) -> Callable:
    """The operation in fp32 (fp64 for fp64), rounded once to the result's type."""

    def reference(x: torch.Tensor, y: torch.Tensor, result: torch.dtype) -> torch.Tensor:
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        with np.errstate(all="ignore"):
            value = operation(x.to(wide).numpy(), y.to(wide).numpy())
        return torch.from_numpy(np.asarray(value)).to(result)

    return reference


def in_int(operation: Callable) -> Callable:
    """The operation on NumPy integers of the type itself, which wrap."""

    def reference(x: torch.Tensor, y: torch.Tensor, result: torch.dtype) -> torch.Tensor:
        with np.errstate(all="ignore"):
            return torch.from_numpy(np.asarray(operation(x.numpy(), y.numpy())))

    return reference


def truncated_quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide = x.astype(object)
    safe = np.where(y == 0, 1, y).astype(object)
    quotient = np.array(
        [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(wide, safe)], dtype=object
    )
    bits = x.dtype.itemsize * 8
    return np.array([(q + (1 << bits)) % (1 << bits) for q in quotient], dtype=f"u{x.dtype.itemsize}").view(x.dtype)


def truncated_remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x - truncated_quotient(x, y) * y


def divisible(x: torch.Tensor, y: torch.Tensor) -> np.ndarray:
    a, b = x.numpy(), y.numpy()
    overflows = (a == np.iinfo(a.dtype).min) & (b.astype(object) == -1)
    return (b != 0) & ~overflows


def number_wins(operation: Callable) -> Callable:
    return lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, operation(x, y)))


FLOAT_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": number_wins(np.maximum),
    "minimum": number_wins(np.minimum),
    "maximum_nan": np.maximum,
    "minimum_nan": np.minimum,
    "where": lambda x, y: np.where(x > y, x, y),
}
FLOAT_WIDENED = {"div": np.divide, "mod": np.fmod}
INT_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": lambda x, y: np.where(x > y, x, y),
}
INT_DIVISION = {"floordiv": truncated_quotient, "mod": truncated_remainder}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
# Which of two zeros max and min give is left open.
SIGN_OF_ZERO_OPEN = {"maximum", "minimum", "maximum_nan", "minimum_nan"}


def run_binary(op: str, x: torch.Tensor, y: torch.Tensor, result: torch.dtype, block: int) -> torch.Tensor:
    out = torch.zeros(len(x), dtype=result)
    launch(kernels.binary, getattr(kernels, op), [x, y], out, block)
    return out


def check_float(op: str, element: str, x: torch.Tensor, y: torch.Tensor, block: int) -> None:
    table, result = (FLOAT_BINARY, TORCH[element])
    if op in FLOAT_WIDENED:
        table, result = FLOAT_WIDENED, torch.float64 if element == "fp64" else torch.float32
    want = in_float(table[op])(x, y, result)
    got = run_binary(op, x, y, result, block)
    compared = np.asarray((got != 0) | (want != 0)) if op in SIGN_OF_ZERO_OPEN else None
    assert not same_bits(got, want, compared)


def check_int(op: str, element: str, x: torch.Tensor, y: torch.Tensor, block: int) -> None:
    if op in INT_DIVISION:
        want, compared = in_int(INT_DIVISION[op])(x, y, x.dtype), divisible(x, y)
    else:
        want, compared = in_int(INT_BINARY[op])(x, y, x.dtype), None
    assert not same_bits(run_binary(op, x, y, x.dtype, block), want, compared)


def check_comparison(op: str, element: str, x: torch.Tensor, y: torch.Tensor, block: int) -> None:
    operation = COMPARISONS[op]
    if element in FLOATS:
        want = operation(x.to(torch.float64).numpy(), y.to(torch.float64).numpy())
    else:
        want = operation(x.numpy(), y.numpy())
    assert not same_bits(run_binary(op, x, y, torch.bool, block), torch.from_numpy(want))


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", [*FLOAT_BINARY, *FLOAT_WIDENED])
def test_float_edges(op: str, element: str) -> None:
    check_float(op, element, *pairs(edges(element)), block=1024)


@pytest.mark.parametrize("element", INTS)
@pytest.mark.parametrize("op", [*INT_BINARY, *INT_DIVISION])
def test_int_edges(op: str, element: str) -> None:
    check_int(op, element, *pairs(edges(element)), block=256)


@pytest.mark.parametrize("element", ORDERED)
@pytest.mark.parametrize("op", list(COMPARISONS))
def test_comparison_edges(op: str, element: str) -> None:
    check_comparison(op, element, *pairs(edges(element)), block=1024)


@pytest.mark.parametrize("element", INTS)
@pytest.mark.parametrize("op", ["shl", "shr"])
def test_shifts(op: str, element: str) -> None:
    bits = int(element[1:])
    values = edges(element)
    n = len(values)
    amounts = torch.from_numpy(np.repeat(np.arange(bits), n).astype(numpy_type(element)))
    x = take(values, torch.arange(n).repeat(bits))
    operation = np.left_shift if op == "shl" else np.right_shift
    want = torch.from_numpy(operation(x.numpy(), amounts.numpy()))
    assert not same_bits(run_binary(op, x, amounts, x.dtype, 64), want)


@pytest.mark.parametrize("eager", ["", "1"], ids=["compiled", "eager"])
@pytest.mark.parametrize("element", INTS)
def test_shifts_by_the_width_and_more_leave_the_sign(element: str, eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on an H200, in blocks and in scalars: amounts count as unsigned."""
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    bits, values = int(element[1:]), edges(element)
    beyond = [v for v in (bits, bits + 1, 63, 64, 100, -1, -bits) if v >= bits or v < 0]
    amounts = torch.tensor([v % (1 << bits) for v in beyond], dtype=torch.uint64)
    amounts = amounts.view(torch.int64).to(values.dtype) if bits < 64 else amounts.view(values.dtype)
    x, by = values.repeat(len(amounts)), amounts.repeat_interleave(len(values))
    left = torch.zeros_like(x)
    right = torch.from_numpy(np.where(x.numpy() < 0, -1, 0).astype(numpy_type(element)))
    for op, want in (("shl", left), ("shr", right)):
        assert not same_bits(run_binary(op, x, by, x.dtype, 64), want)
        for i in range(0, len(x), 7):
            out = torch.zeros(1, dtype=x.dtype)
            kernels.binary_scalar[(1,)](x[i : i + 1], by[i : i + 1], out, getattr(kernels, op))
            assert out.item() == want[i].item(), (op, x[i], by[i])


@pytest.mark.parametrize("element", ["i1", *INTS])
def test_int_unary(element: str) -> None:
    x = edges(element)
    for op, operation in {"neg": np.negative, "invert": np.invert, "absolute": np.abs}.items():
        if element == "i1" and op != "invert":
            continue
        out = torch.zeros_like(x)
        launch(kernels.unary, getattr(kernels, op), [x], out, 16)
        assert not same_bits(out, torch.from_numpy(np.asarray(operation(x.numpy())))), op


@pytest.mark.parametrize("element", FLOATS)
def test_float_unary(element: str) -> None:
    x = edges(element)
    operations = {"neg": np.negative, "absolute": np.abs}
    if element in WIDE_FLOATS:
        operations |= {"floor": np.floor, "ceil": np.ceil}
    if element == "fp32":
        operations["sqrt_rn"] = np.sqrt
    for op, operation in operations.items():
        out = torch.zeros_like(x)
        launch(kernels.unary, getattr(kernels, op), [x], out, 32)
        want = in_float(lambda a, _, operation=operation: operation(a))(x, x, x.dtype)
        compared = ~np.asarray(torch.isnan(x.to(torch.float64)))
        # Negation of zero: 0 - x in the language, so the sign of a zero result is that of the subtraction.
        assert not same_bits(out, want, compared), op


@pytest.mark.parametrize("source", ORDERED)
@pytest.mark.parametrize("target", ORDERED)
def test_casts(source: str, target: str) -> None:
    x = edges(source)
    out = torch.zeros(len(x), dtype=TORCH[target])
    launch(kernels.copy, None, [x], out, 64)
    want, compared = cast_reference(x, source, target)
    assert not same_bits(out, want, compared)


def cast_reference(x: torch.Tensor, source: str, target: str) -> tuple[torch.Tensor, np.ndarray | None]:
    """(value, which elements are defined)."""
    if target == "i1":
        return torch.from_numpy(np.asarray(x.to(torch.float64).numpy() != 0)), None
    if source in FLOATS and target in INTS:
        wide = x.to(torch.float64).numpy()
        info = np.iinfo(numpy_type(target))
        whole = np.trunc(np.where(np.isfinite(wide), wide, 0))
        defined = np.isfinite(wide) & (whole >= float(info.min)) & (whole < float(info.max) + (info.bits < 64))
        return torch.from_numpy(np.where(defined, whole, 0).astype(info.dtype)), defined
    if target in INTS:
        return torch.from_numpy(x.numpy().astype(numpy_type(target))), None
    if source in FLOATS:
        return x.to(TORCH[target]), None
    # Integers to bf16 and fp16 go through fp32 where they are rounded first; NumPy rounds to nearest even.
    values = x.numpy()
    if target == "fp16":
        with np.errstate(over="ignore"):
            return torch.from_numpy(
                np.array(
                    [
                        np.float16(int(v)) if abs(int(v)) < 65520 else np.float16(np.copysign(np.inf, int(v)))
                        for v in values
                    ]
                )
            ), None
    return torch.from_numpy(values.astype(np.float64 if target == "fp64" else np.float32)).to(TORCH[target]), None


# Random values, sizes and masks: blocks of one and two elements, odd lengths, several programs.
CHECKS = (
    [(check_float, op, element) for op in (*FLOAT_BINARY, *FLOAT_WIDENED) for element in FLOATS]
    + [(check_int, op, element) for op in (*INT_BINARY, *INT_DIVISION) for element in INTS]
    + [(check_comparison, op, element) for op in COMPARISONS for element in ORDERED]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    check=st.sampled_from(CHECKS),
    n=st.sampled_from([1, 2, 3, 7, 31, 33, 65]),
    block=st.sampled_from([1, 2, 16, 64]),
    seed=st.integers(0, 2**32 - 1),
)
def test_sizes_and_masks(check: tuple, n: int, block: int, seed: int) -> None:
    test, op, element = check
    generator = np.random.default_rng(seed)
    values = edges(element)
    x, y = (take(values, torch.from_numpy(generator.integers(0, len(values), n))) for _ in range(2))
    test(op, element, x, y, block)


@pytest.mark.parametrize("element", ["i32", "u8", "fp32", "bf16"])
def test_scalars(element: str) -> None:
    x, y = pairs(edges(element))
    for i in range(0, len(x), 7):
        out = torch.zeros(1, dtype=x.dtype)
        kernels.binary_scalar[(1,)](x[i : i + 1].clone(), y[i : i + 1].clone(), out, kernels.add)
        add = in_float(np.add) if element in FLOATS else in_int(np.add)
        assert not same_bits(out, add(x[i : i + 1], y[i : i + 1], x.dtype))


def test_what_lies_beyond_the_mask_stays() -> None:
    out = torch.full((8,), 7, dtype=torch.int32)
    x = torch.arange(8, dtype=torch.int32)
    kernels.copy[(1,)](x, out, 5, 8)
    assert out.tolist() == [0, 1, 2, 3, 4, 7, 7, 7]
