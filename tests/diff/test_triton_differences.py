"""The differences of docs/triton_differences.md that Triton's compiler makes: what each side gives. A test has the name
of its heading.

Not here:  those of Triton's interpreter (test_triton_interpreter.py).
"""

from __future__ import annotations

from typing import Any

import difference_kernels as kernels
import difference_loop_kernels as loops
import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl
import torch
from sides import refusal, sides
from tiletwin import diff
from tiletwin.diff import backend_names, triton_process
from tiletwin.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)


def both(kernel: Any, args: list, backend: str = "triton:sim") -> list[np.ndarray]:
    """What the interpreter and Triton's code leave in the argument o."""
    return sides(kernel, args, "interp", backend)


def test_nan_between_two_bounds_of_one_size() -> None:
    x = np.array([np.nan, -np.nan, 5, -5, 0.5, np.inf, -np.inf, 0], np.float32)
    ours, theirs = both(kernels.clamped, [x, np.zeros(8, np.float32), -1.0, 1.0, 8])
    assert np.array_equal(ours, [-1, -1, 1, -1, 0.5, 1, -1, 0])
    assert np.array_equal(theirs[2:], ours[2:]) and sorted(theirs[:2]) == [-1, 1]
    for low, high, backend in ((-1.0, 2.0, "triton:sim"), (-1.0, 1.0, "triton:sim:sm_80")):
        ours, theirs = both(kernels.clamped, [x, np.zeros(8, np.float32), low, high, 8], backend)
        assert np.array_equal(ours, theirs) and ours[0] == low


def test_allow_tf32_that_is_a_constexpr_of_none() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 16, 16)).astype(np.float32)
    exact = a.astype(np.float64) @ b
    apart = {}
    for allow in (None, True, False):
        found = both(kernels.product, [a, b, np.zeros((16, 16), np.float32), allow, 16])
        apart[allow] = [bool(np.abs(side - exact).max() > 1e-4) for side in found]  # operands of tf32
    assert apart == {None: [True, False], True: [True, True], False: [False, False]}


@pytest.mark.parametrize("backend", ["triton:sim", "triton:sim:sm_80"])
def test_sums_of_int8_products(backend: str) -> None:
    a = np.full((32, 32), 127, np.int8)
    c = np.full((32, 32), 2**31 - 1, np.int32)
    ours, theirs = both(kernels.sums_of_products, [a, a, c, np.zeros((32, 32), np.int32), 32], backend)
    assert (ours == np.int64(2**31 - 1 + 32 * 127 * 127 - 2**32)).all()
    assert (theirs == 2**31 - 1).all()


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize("backend", ["triton:sim", "triton:sim:sm_80"])
def test_float8e5_without_infinities_in_bfloat16(backend: str) -> None:
    x = np.arange(256).astype(np.uint8).view(np.int8)
    truth = torch.from_numpy(x).view(torch.float8_e5m2).float().numpy()
    ours, theirs = both(kernels.widened, [x, np.zeros(256, np.float32), tl.float8e5, tl.bfloat16, 256], backend)
    assert np.array_equal(ours, truth, equal_nan=True)
    special = ~np.isfinite(truth)
    assert np.array_equal(theirs[~special], truth[~special])
    assert np.array_equal(theirs[special], [65536, 81920, 98304, 114688, -65536, -81920, -98304, -114688])
    for kind in (tl.float16, tl.float32):
        _, theirs = both(kernels.widened, [x, np.zeros(256, np.float32), tl.float8e5, kind, 256], backend)
        assert np.array_equal(theirs, truth, equal_nan=True)


def test_remainders_of_floats() -> None:
    x, y = floats(1e10, 16777217, 1e30, 5, 1, 7), floats(3, 0.1, 7, 1e-40, 1e-39, -2)
    args = [
        np.append(x, [0, 0]).astype(np.float32),
        np.append(y, [1, 1]).astype(np.float32),
        np.zeros(8, np.float32),
        8,
    ]
    truth = np.fmod(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    ours, theirs, ours_for_gpus = sides(kernels.remainder, args, "interp", "triton:sim", "sim")
    assert np.array_equal(ours[:6], truth)
    assert np.array_equal(theirs, ours_for_gpus)
    assert theirs[0] == 256 and theirs[1] == -0.25 and theirs[2] < -1e22 and theirs[3] == theirs[4] == -np.inf
    assert theirs[5] == 1


@pytest.mark.parametrize("kind", [np.int16, np.uint16, np.int32])
def test_quotients_and_remainders_by_zero(kind: type) -> None:
    x, y = np.array([7, 8, 9, 100], kind), np.array([0, 0, 3, 0], kind)
    given = [x, y, np.zeros(4, np.int32), 4]
    ones = int(np.array(-1).astype(kind))
    ours, theirs, interpreter = sides(kernels.remainder, given, "interp", "triton:sim", "triton")
    assert ours.tolist() == [7, 8, 0, 100] and theirs.tolist() == [ones, ones, 0, ones]
    assert interpreter.tolist() == [0, 0, 0, 0]
    ours, theirs, interpreter = sides(kernels.quotient, given, "interp", "triton:sim", "triton")
    assert ours.tolist() == theirs.tolist() == [ones, ones, 3, ones] and interpreter.tolist() == [0, 0, 3, 0]


def test_floor_and_ceil_of_tiny_numbers() -> None:
    x = floats(-1e-40, 1e-40, -1e-30, 1e-30, -1.5, 1.5, -0.0, np.inf)
    ours, theirs = both(kernels.rounded_down_and_up, [x, np.zeros(16, np.float32), 8])
    assert np.array_equal(ours, np.concatenate([np.floor(x), np.ceil(x)]))
    assert np.flatnonzero(ours != theirs).tolist() == [0, 9] and theirs[0] == theirs[9] == 0


def test_floats_beyond_an_8_bit_integer() -> None:
    x = floats(300, -300, 40000, 127, -128, 255.5, 3.7, 0)
    for kind in (tl.int8, tl.uint8):
        ours, theirs = both(kernels.by_way_of, [x, np.zeros(8, np.int32), kind, 8])
        least, most = (-128, 127) if kind is tl.int8 else (0, 255)
        assert ((ours >= least) & (ours <= most)).all()
        inside = (x > least - 1) & (x < most + 1)
        assert np.array_equal(ours[inside], np.trunc(x[inside]))
        assert np.array_equal(theirs[inside], ours[inside]) and theirs[0] == 300


def test_a_product_minus_itself() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)
    ours, theirs = both(kernels.cancelled, [x, y, np.zeros(64, np.float32), 64])
    exact = x.astype(np.float64) * y
    assert not ours.any()
    assert np.array_equal(theirs, (exact - exact.astype(np.float32)).astype(np.float32)) and theirs.any()
    ours, theirs = both(kernels.product_in_assembly, [x, y, np.zeros(64, np.float32), 64])
    assert np.array_equal(ours, x * y - np.float32(1))
    assert np.array_equal(theirs, (exact - 1).astype(np.float32)) and (theirs != ours).any()


@pytest.mark.parametrize("backend, stages, wrong", [("triton:sim", 3, True), ("triton:sim", 2, True),
                                                    ("triton:sim", 1, False), ("triton:sim:sm_80", 3, False),
                                                    ("sim", 3, False)])  # fmt: skip
def test_loads_by_descriptor_in_a_loop_that_stores(backend: str, stages: int, wrong: bool) -> None:
    o = TensorDescriptor.from_tensor(torch.zeros(80, 16), [8, 16])
    ours, theirs = sides(kernels.passed_on, [o, 8, 8, 16], "interp", backend, num_stages=stages)
    assert ours[::8, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
    assert theirs[::8, 0].tolist() == ([0, 1, 1, 1, 1, 1, 1, 1, 1, 0] if wrong else ours[::8, 0].tolist())


def test_tiles_that_begin_between_16_bytes() -> None:
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    args = [x, np.zeros((16, 16), np.float32), 3, 16]
    assert all(np.array_equal(side, x[:16, 3:19])
               for side in sides(kernels.tile_at, args, "interp", "sim", "triton:sim:sm_80"))  # fmt: skip
    assert "begins at byte 12 of its rows, no multiple of 16" in refusal(kernels.tile_at, args, "triton:sim")
    assert "block offset start must be 16-byte aligned" in refusal(kernels.tile_at, args, "triton")


def test_atomic_add_of_tiny_numbers() -> None:
    x = floats(1e-40, 1e-40, 1, 0)
    o = floats(1e-40, 1, 1e-40, 1e-40)
    ours, theirs, interpreter, code = sides(kernels.added, [o, x, 4], "interp", "triton:sim", "triton", "sim")
    assert np.array_equal(ours, o + x) and np.array_equal(interpreter, ours)
    assert theirs.tolist() == code.tolist() == [0, 1, 1, 0]


def test_packs_of_inline_assembly_in_small_blocks() -> None:
    for size, right in ((64, False), (1024, True)):
        x = np.arange(size, dtype=np.int32)
        ours, theirs, code = sides(kernels.swapped, [x, np.zeros(size, np.int32), size], "interp", "triton:sim", "sim")
        assert np.array_equal(ours, x ^ 1) and np.array_equal(code, ours)
        assert np.array_equal(theirs, ours if right else np.zeros(size))


def test_what_triton_does_not_compile() -> None:
    x, o = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    failed = "PassManager::run failed"
    cases = [
        (kernels.sums_of_segments, [x.astype(np.int32), o.astype(np.int32), 32], failed),
        (kernels.mapped, [x, o, kernels._twice, 32], "'constexpr' object has no attribute 'signature'"),
    ]
    e4, e5 = tl.float8e4nv, tl.float8e5
    for narrow, other, rounding in ((e4, e5, None), (e5, e4, None), (tl.float64, e4, None), (e5, tl.float64, None),
                                    (tl.float64, tl.float32, "rtz"), (tl.float32, e4, "rtz")):  # fmt: skip
        cases.append((kernels.through, [x, o, narrow, other, rounding, 32], failed))
    tiletwin.register(x, "numbers")
    table = [np.array([x.ctypes.data], np.int64), o]
    assert "the process of real Triton ended" in refusal(kernels.behind_two_pointers, table, "triton:sim")
    for kernel, args, words in cases:
        assert words in refusal(kernel, args, "triton:sim")
        ours, code = sides(kernel, args, "interp", "sim")
        assert np.array_equal(ours, code)
    swapped = sides(kernels.through, cases[2][1], "interp")[0]
    assert np.array_equal(swapped, torch.from_numpy(x).to(torch.float8_e4m3fn).float().to(torch.float8_e5m2).float())
    v = x.astype(int)
    assert np.array_equal(sides(*cases[0][:2], "interp")[0], [v[i - i % 5 : i + 1].sum() for i in v])


def test_bits_of_a_nan() -> None:
    bits = np.array([0x7FC00000, 0xFFFFFFFF, 0xFFC00001, 0x7F812345], np.uint32)
    ours, theirs, ours_for_gpus = sides(kernels.bits_as_half, [bits.view(np.float32), np.zeros(4, np.int16), 4],
                                        "interp", "triton:sim", "sim")  # fmt: skip
    assert np.isnan(ours.view(np.float16)).all()
    assert np.array_equal(ours < 0, [False, True, True, False])
    assert (theirs == 0x7FFF).all() and np.array_equal(theirs, ours_for_gpus)


@pytest.mark.parametrize("kind", [tl.uint8, tl.uint16, tl.uint32, tl.uint64])
def test_negative_numbers_for_unsigned_types(kind: Any) -> None:
    o = np.zeros(1, np.int64)
    assert "incompatible function arguments" in refusal(kernels.filled, [o, kind], "triton:sim")
    assert "out of bounds for uint" in refusal(kernels.filled, [o, kind], "triton")


def test_argmax_of_values_with_nan() -> None:
    nan, inf = np.nan, np.inf
    x = floats(1, 5, 5, nan, nan, nan, 2, 2, -inf, -inf, -inf, -inf, 0, -0.0, 5, 1).reshape(4, 4)
    ours, theirs, interpreter = sides(kernels.largest_at, [x, np.zeros(4, np.int32), 4, 4], "interp", "triton:sim",
                                      "triton")  # fmt: skip
    assert ours.tolist() == [3, 3, 0, 1] and theirs.tolist() == [0, 0, 0, 1]
    assert interpreter.tolist() == np.nanargmax(x, 0).tolist()


@pytest.mark.parametrize("rows, columns, given", [(4, 16, 1), (32, 32, 15)])
def test_reductions_whose_function_does_not_commute(rows: int, columns: int, given: int) -> None:
    x = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    args = [x, np.zeros(columns, np.int32), 0, rows, columns, columns]
    ours, theirs, *others = sides(kernels.first_of_each, args, "interp", "triton:sim", "sim", "triton")
    assert all(np.array_equal(side, x[0]) for side in (ours, *others))
    assert np.array_equal(theirs, x[given])


def test_argmax_that_may_take_any_of_equals() -> None:
    x = np.zeros(64, np.float32)
    x[[5, 9, 40]] = 1
    found = sides(kernels.any_largest_at, [x, np.zeros(1, np.int32), 64], "interp", "triton:sim", "triton")
    assert [x[at].item() for at in found] == [1, 1, 1] and found[0] == 40 and found[2] == 5
    rows = np.zeros((8, 4), np.float32)
    rows[[1, 6], 2] = 1
    ours, theirs = both(kernels.any_largest_of_each, [rows, np.zeros(4, np.int32), 8, 4])
    assert ours[2] == 6 and theirs[2] == 1


def test_cat_that_may_reorder() -> None:
    x = np.arange(4, dtype=np.float32)
    ours, theirs = both(kernels.joined, [x, np.zeros(8, np.float32), 4])
    assert np.array_equal(ours, np.concatenate([x, x + 100]))
    assert not np.array_equal(theirs, ours) and np.array_equal(np.sort(theirs), ours)


@pytest.mark.parametrize(
    "kernel, n, rows, start", [(loops.behind_a_quotient, -1, 2, -64), (loops.behind_a_product, 3, 3, -(2**31))]
)
def test_offsets_whose_sign_compilers_take_for_granted(kernel: Any, n: int, rows: int, start: int) -> None:
    lanes = 128
    args = [np.arange(lanes, dtype=np.int32) - 64, np.zeros(rows * lanes, np.int32), n, lanes]
    found = sides(kernel, args, "interp", "triton:sim", "sim", grid=(rows if n < 0 else 1,), num_warps=1)
    ours, theirs, ours_for_gpus = (side[(rows - 1) * lanes :] for side in found)
    assert np.array_equal(ours, np.fmod(start + np.arange(lanes, dtype=np.int64), 48))
    assert np.array_equal(theirs, ours_for_gpus) and not np.array_equal(theirs, ours)


def test_the_variable_of_a_loop_after_it() -> None:
    ours, theirs, interpreter = sides(kernels.last_round, [np.zeros(2, np.int32), 4], "interp", "triton:sim", "triton")
    assert ours.tolist() == theirs.tolist() == [0, 3] and interpreter.tolist() == [3, 3]


@pytest.mark.parametrize("kernel", [loops.behind_in_a_loop, loops.behind_in_a_while])
def test_two_names_of_one_value_before_a_loop(kernel: Any) -> None:
    args = [np.zeros(32, np.int32), 3, 4, 32]
    ours, theirs, code, interpreter = sides(kernel, args, "interp", "triton:sim", "sim", "triton")
    assert np.array_equal(ours, (3 + np.arange(32)) * 8)
    assert np.array_equal(code, ours) and np.array_equal(interpreter, ours)
    assert np.array_equal(theirs, 3 + np.arange(32))


@pytest.mark.parametrize("kind, through", [(np.int16, tl.uint64), (np.int8, tl.uint32), (np.int8, tl.uint64)])
def test_integers_of_few_bits_by_way_of_unsigned_ones(kind: type, through: Any) -> None:
    x = np.resize(np.arange(-512, 512) if kind is np.int16 else np.arange(-128, 128), 1024).astype(kind)
    args = [x, np.zeros(1024, np.float32), through, 1024]
    ours, code, older = sides(loops.by_way_of_unsigned, args, "interp", "sim", "triton:sim:sm_80")
    assert np.array_equal(ours, np.where(x < 0, np.inf, x))
    assert np.array_equal(code, ours) and np.array_equal(older, ours)
    _, theirs = both(loops.by_way_of_unsigned, args)
    with np.errstate(over="ignore"):
        assert np.array_equal(theirs, (x.astype(np.int64) % 2**16).astype(np.float16))
    assert np.isfinite(theirs[x < -32]).all()
    ours, theirs = both(loops.by_way_of_unsigned, [x[:32], np.zeros(32, np.float32), through, 32])
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("start, by", [(-16, 16), (-32, 32)])
def test_quotients_of_a_run_that_begins_below_zero(start: int, by: int) -> None:
    x = np.arange(1, 129, dtype=np.int32)
    args = [x, np.zeros(128, np.int32), start, by, 128]
    ours, theirs, code = sides(loops.where_the_quotient_is_negative, args, "interp", "triton:sim", "sim", num_warps=1)
    assert np.flatnonzero(ours).tolist() == [0] and np.array_equal(code, ours)
    assert np.flatnonzero(theirs).tolist() == [0, 1, 2, 3]
    ours, theirs, code = sides(loops.behind_a_remainder, args, "interp", "triton:sim", "sim", num_warps=1)
    assert np.array_equal(ours, x[np.fmod(np.arange(128) + start, by) + by]) and np.array_equal(code, ours)
    assert theirs[:5].tolist() == [by + 1, by + 2, by + 3, by + 4, 5]


@pytest.mark.parametrize("how, rows, columns", [("reshape", 16, 16), ("ravel", 64, 64), ("squeeze", 1, 256)])
@pytest.mark.parametrize("backend", ["triton:sim", "triton:sim:sm_80"])
def test_the_place_of_an_extremum_in_a_reshaped_tile(how: str, rows: int, columns: int, backend: str) -> None:
    x = np.random.default_rng(0).permutation(rows * columns).astype(np.float32)
    args = [x, np.zeros(1, np.int32), how, rows, columns]
    ours, theirs, code, interpreter = sides(loops.largest_at_of_reshaped, args, "interp", backend, "sim", "triton")
    assert ours[0] == code[0] == interpreter[0] == (x.argmin() if how == "ravel" else x.argmax())
    assert theirs[0] != ours[0]


def test_running_sums_of_bfloat16() -> None:
    x = np.random.default_rng(0).integers(-128, 129, 512).astype(np.float32) / 128  # their sums are exact in float32
    ours, theirs, code = sides(loops.running_sum, [x, np.zeros(512, np.float32), 512], "interp", "triton:sim", "sim")
    truth = torch.from_numpy(np.cumsum(x)).to(torch.bfloat16).float().numpy()
    assert np.array_equal(ours, truth) and np.array_equal(code, ours)
    apart = np.abs(theirs - truth) > np.abs(truth) * 2.0**-7
    assert apart.sum() > 16, theirs - truth


@pytest.mark.parametrize("first, second", [(3, 2), (2, 2), (1, 8)])
def test_a_loop_that_never_ends(first: int, second: int) -> None:
    args = [np.zeros(1, np.float32), np.zeros(1, np.float32), first, second]
    assert [side[0] for side in sides(loops.two_whiles, args, "interp", "sim")] == [second] * 2
    launch = diff.launch_of(loops.two_whiles, (1,), args)
    outcome = backend_names.make("triton:sim")._outcome(launch, limit=20_000)
    assert "has run 20000 instructions, the limit" in outcome.error
