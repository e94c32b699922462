"""The differences of docs/triton_differences.md that Triton's interpreter makes: it against this interpreter, Triton's
own compiler, and NumPy or torch. A test has the name of its heading.

Not here:  those of Triton's compiler (test_triton_differences.py), what the tester says of them (test_real_triton.py).
"""

from __future__ import annotations

from typing import Any

import difference_kernels as kernels
import difference_loop_kernels as loops
import numpy as np
import pytest
import tiletwin.language as tl
import torch
from sides import refusal, sides
from tiletwin.diff import triton_process

pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)
NAN, INF = np.nan, np.inf


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def right_and_wrong(kernel: Any, args: list) -> tuple[np.ndarray, np.ndarray]:
    """What this interpreter and Triton's compiler leave in the argument o, and what Triton's interpreter does."""
    ours, compiled, theirs = sides(kernel, args, "interp", "triton:sim", "triton")
    assert np.array_equal(ours, compiled, equal_nan=ours.dtype.kind == "f")
    return ours, theirs


def test_conversions_to_bfloat16_are_cut_off() -> None:
    x = np.linspace(-3, 3, 64).astype(np.float32)
    ours, theirs = right_and_wrong(kernels.in_bf16, [x, np.zeros(64, np.float32), np.zeros(64, np.float32), 64])
    assert np.array_equal(ours, torch.from_numpy(x).bfloat16().float().numpy())
    assert not np.array_equal(theirs, ours)
    ours, theirs = right_and_wrong(kernels.widened_number, [x, np.zeros(64, np.float32), tl.bfloat16, 64])
    assert np.array_equal(ours, torch.from_numpy(x).bfloat16().float().numpy())
    assert np.array_equal(theirs, (x.view(np.uint32) & 0xFFFF0000).view(np.float32)) and (theirs != ours).any()


def test_arithmetic_of_bfloat16_on_its_bits() -> None:
    x, y = floats(1, 2, 0.5, -1), floats(1, 1, 1, 1)
    ours, theirs = right_and_wrong(kernels.in_bf16, [x, y, np.zeros(4, np.float32), 4])
    assert np.array_equal(ours, x + y)
    bits = (x.view(np.uint32) >> 16).astype(np.uint16) + (y.view(np.uint32) >> 16).astype(np.uint16)
    assert np.array_equal(theirs, (bits.astype(np.uint32) << 16).view(np.float32), equal_nan=True)


def test_integers_become_bits_of_bfloat16() -> None:
    x = np.array([300, 20000, 128, 16256], np.int32)
    ours, theirs = right_and_wrong(kernels.widened_number, [x, np.zeros(4, np.float32), tl.bfloat16, 4])
    assert np.array_equal(ours, torch.from_numpy(x).bfloat16().float().numpy())
    assert theirs[3] == 1.0 and np.array_equal(theirs, (x.astype(np.uint32) << 16).view(np.float32))


@pytest.mark.parametrize(
    "kind, numbers, wrong",
    [("float8e4nv", (1.96875, 1.0625, 0.001, 1.25), (1, 1.125, 0, 1.25)),
     ("float8e5", (1.96875, 1.125, 1e-5, 1.25), (1, 1.25, 0, 1.25))],
)  # fmt: skip
def test_rounding_to_8_bits(kind: str, numbers: tuple, wrong: tuple) -> None:
    """A number that is rounded up to the next power of two, one half way between two, one below the normal ones."""
    x = floats(*numbers)
    ours, theirs = right_and_wrong(kernels.as_bits, [x, np.zeros(4, np.int8), getattr(tl, kind), 4])
    other = {"float8e4nv": torch.float8_e4m3fn, "float8e5": torch.float8_e5m2}[kind]
    assert np.array_equal(ours, torch.from_numpy(x).to(other).view(torch.int8).numpy())
    assert torch.from_numpy(theirs.copy()).view(other).float().tolist() == list(wrong)


def test_tiny_numbers_widened() -> None:
    """To a type with as many bits of exponent."""
    bits = np.arange(8, dtype=np.int8)
    truth = torch.from_numpy(bits).view(torch.float8_e5m2).float().numpy()
    ours, theirs = right_and_wrong(kernels.widened, [bits, np.zeros(8, np.float32), tl.float8e5, tl.float16, 8])
    assert np.array_equal(ours, truth)
    assert theirs[1:4].tolist() == [0, 0, truth[2]]  # without their first bit
    assert np.array_equal(theirs[4:], truth[4:])


@pytest.mark.parametrize("kind", ["float8e4nv", "float8e5"])
def test_8_bits_without_infinities_and_nan(kind: str) -> None:
    x = floats(465, 1e6, INF, -INF, NAN, 65536, 448, -448)
    ours, theirs = right_and_wrong(kernels.as_bits, [x, np.zeros(8, np.int8), getattr(tl, kind), 8])
    other, most = {"float8e4nv": (torch.float8_e4m3fn, 448), "float8e5": (torch.float8_e5m2, 57344)}[kind]
    within = np.clip(x, -most, most)  # conversions of a GPU saturate
    assert np.array_equal(ours, torch.from_numpy(within).to(other).view(torch.int8).numpy())
    back = torch.from_numpy(theirs.copy()).view(other).float().numpy()
    assert {"float8e4nv": (256, 384), "float8e5": (INF, NAN)}[kind][0] == back[2]
    if kind == "float8e4nv":
        assert np.isnan(back[0]) and back[2] == 256 and back[4] == 384

    bits = np.arange(256).astype(np.uint8).view(np.int8)
    ours, theirs = right_and_wrong(
        kernels.widened, [bits, np.zeros(256, np.float32), getattr(tl, kind), tl.float32, 256]
    )
    truth = torch.from_numpy(bits).view(other).float().numpy()
    assert np.array_equal(ours, truth, equal_nan=True)
    finite = np.isfinite(truth)
    assert np.isfinite(theirs).all() and np.array_equal(theirs[finite], truth[finite])


@pytest.mark.parametrize("kind", [tl.float8e4nv, tl.float8e5])
def test_8_bit_floats_compared_by_their_bits(kind: tl.dtype) -> None:
    x, y = floats(1, -1, -2, 1), floats(2, 1, 1, -2)
    other = torch.float8_e4m3fn if kind is tl.float8e4nv else torch.float8_e5m2
    a, b = (torch.from_numpy(v).to(other).view(torch.int8).numpy() for v in (x, y))
    args = [a, b, np.zeros(4, np.float32), kind, 4]
    ours, theirs = sides(loops.compared_8_bits, args, "interp", "triton")
    assert np.array_equal(ours, x < y) and np.array_equal(theirs, a.view(np.uint8) < b.view(np.uint8))
    assert "PassManager::run failed" in refusal(loops.compared_8_bits, args, "triton:sim")


def test_a_dot_of_8_bits_without_nan() -> None:
    one, nan = (np.full((32, 32), value, np.int8) for value in (0x38, 0x7F))
    ours, theirs = right_and_wrong(kernels.product_of_bytes, [one, nan, np.zeros((32, 32), np.float32),
                                                              tl.float8e4nv, 32])  # fmt: skip
    assert np.isnan(ours).all() and (theirs == 32 * 480).all()


def test_one_8_bit_type_to_another() -> None:
    x = floats(1, 2, 3, 4)
    assert "OverflowError" in refusal(kernels.through_two, [x, np.zeros(4, np.float32), 4], "triton")


def test_numbers_cut_to_float16_beyond_its_range() -> None:
    x = floats(1e5, 70000, 65519, -1e30, INF, 1, 0.1, -70000)
    ours, theirs = right_and_wrong(kernels.cut_to_half, [x, np.zeros(8, np.float32), 8])
    assert ours.tolist() == [65504, 65504, 65504, -65504, INF, 1, float(np.float16(0.09998)), -65504]
    assert np.isnan(theirs[[0, 1, 3, 7]]).all()


def test_scales_that_float16_cannot_hold() -> None:
    exponents = np.arange(96, 160, 2, dtype=np.uint8)
    one = np.full((32, 32), 0x38, np.int8)  # 1.0
    a = np.zeros((32, 32), np.float16)
    a[:, 0] = 1
    b = np.where(np.arange(32)[:, None] == 0, one, 0).astype(np.int8)
    o = np.zeros((32, 32), np.float32)
    ours, compiled, theirs = sides(kernels.scaled_product, [a, b, exponents, o, "fp16", 32],
                                   "interp", "triton:sim", "triton")  # fmt: skip
    exact = 2.0 ** (exponents.astype(np.float64) - 127)
    assert np.array_equal(theirs, np.broadcast_to(exact.astype(np.float32), (32, 32)))
    held = (exact >= 2.0**-24) & (exact < 65536)
    for side in (ours, compiled):
        assert np.array_equal(side[:, held], theirs[:, held])
        assert (side[:, exact < 2.0**-24] == 0).all() and not np.isfinite(side[:, exact >= 65536]).any()
    other = torch.from_numpy(a).bfloat16()
    ours, theirs = right_and_wrong(kernels.scaled_product, [other, b, exponents, o, "bf16", 32])
    assert np.array_equal(ours, theirs) and np.array_equal(ours[0], exact)


def test_operands_of_dot_scaled_that_float16_cannot_hold() -> None:
    numbers = {"bf16": (1.5, 98304, 1.5 * 2**30, 1.5 * 2**-30), "fp16": (1.5, 0.25, 1.5 * 2**-15, 1.5 * 2**-20)}
    wrong = {"bf16": (1.5, NAN, NAN, 0), "fp16": (1.5, 0.25, 2**-15, 2**-15)}
    b = np.zeros((32, 32), np.int8)
    b[0] = 0x38  # 1.0
    for format, values in numbers.items():
        a = torch.zeros(32, 32)
        a[:4, 0] = torch.tensor(values)
        a = a.to({"bf16": torch.bfloat16, "fp16": torch.float16}[format])
        args = [a, b, np.full(32, 127, np.uint8), np.zeros((32, 32), np.float32), format, 32]
        ours, theirs = right_and_wrong(kernels.scaled_product, args)
        assert np.array_equal(ours[:4, 0], floats(*values))
        assert np.array_equal(theirs[:4, 0], floats(*wrong[format]), equal_nan=True)


def test_arguments_that_are_floats() -> None:
    x = np.array([1 / 3, 2 / 3, 1000, 3], np.float16)
    ours, theirs = right_and_wrong(kernels.times_a_number, [x, np.zeros(4, np.float32), 0.1, 4])
    assert np.array_equal(ours, x.astype(np.float32) * np.float32(0.1))
    assert np.array_equal(theirs, (x * np.float16(0.1)).astype(np.float32)) and theirs[3] != ours[3]


def test_rounds_of_a_loop_are_numbers_of_python() -> None:
    ours, theirs = right_and_wrong(kernels.rounds_divided, [np.zeros(32, np.int32), -8, 8])
    k = np.arange(-8, 8)
    cut = np.trunc(k / 3).astype(np.int32)
    assert np.array_equal(ours, [*cut, *(k - 3 * cut)]) and np.array_equal(theirs, [*(k // 3), *(k % 3)])
    ours, theirs = right_and_wrong(kernels.rounds_multiplied, [np.zeros(8, np.int64), 8])
    product = np.arange(8) * 1500000000
    assert np.array_equal(ours, np.trunc(product.astype(np.int32) / 7)) and np.array_equal(theirs, product // 7)
    assert "'int' object has no attribute 'to'" in refusal(
        kernels.rounds_converted, [np.zeros(8, np.int64), 8], "triton"
    )


def test_arguments_from_2_31_to_2_32() -> None:
    ours, theirs = right_and_wrong(kernels.halved, [np.zeros(1, np.int64), 2**32 - 1])
    assert ours[0] == 2**31 - 1 and theirs[0] == -1


def test_a_signed_number_shifted_by_an_unsigned_one() -> None:
    x, y = np.array([-1, -128, 127, -2], np.int8), np.array([0, 1, 2, 3], np.uint8)
    ours, theirs = right_and_wrong(kernels.shifted, [x, y, np.zeros(4, np.int32), 4])
    shifted = x >> y.astype(np.int8)
    assert np.array_equal(ours, shifted.view(np.uint8)) and np.array_equal(theirs, shifted)


def test_annotations_of_parameters() -> None:
    ours, theirs = right_and_wrong(kernels.four_times, [np.zeros(1, np.int64), 2**30])
    assert ours[0] == 2**32 and theirs[0] == 0


@pytest.mark.parametrize("axis", [0, -2])
def test_scans_along_a_negative_axis(axis: int) -> None:
    x = np.arange(1, 9, dtype=np.int32).reshape(4, 2)
    ours, theirs = right_and_wrong(kernels.running, [x, np.zeros((4, 2), np.int32), axis, 4, 2])
    assert np.array_equal(ours, x.cumsum(0))
    assert np.array_equal(theirs, x.cumsum(0) if axis == 0 else x)


def test_numbers_of_8_bits() -> None:
    ours, theirs = right_and_wrong(kernels.full_of_ones, [np.zeros(4, np.int32), 4])
    assert (ours == 0x3C).all() and (theirs == 1).all()


def test_and_and_not_of_tiles() -> None:
    x, y = np.array([1, 1, 0, 0], np.int32), np.array([0, 1, 0, 1], np.int32)
    ours, theirs = right_and_wrong(loops.and_not, [x, y, np.zeros(4, np.int32), 4])
    assert np.array_equal(ours, x & ~y & 1) and not np.array_equal(theirs, ours)


def test_what_it_does_not_run() -> None:
    cases = [
        (kernels.largest_at, [np.full((4, 4), NAN, np.float32), np.zeros(4, np.int32), 4, 4], "All-NaN slice"),
        (kernels.exchanged, [floats(1, 2), 5.0], "Unsupported data type"),
        (kernels.value_of_a_constexpr, [np.zeros(1, np.int64), 8], "'int' object has no attribute 'value'"),
    ]
    for kernel, args, words in cases:
        assert words in refusal(kernel, args, "triton")
