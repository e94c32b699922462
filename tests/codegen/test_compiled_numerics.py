"""What the numerics pass decides, seen in results: kernels of one operation, compiled and run on the simulator.

The reference is exact arithmetic on fractions, rounded once to nearest even (or as the rule says), for edge values and
random ones.
"""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest
import tiletwin._codegen
import tiletwin.sim

FORMATS = {"f32": (24, -149), "bf16": (8, -133), "f16": (11, -24), "f64": (53, -1074)}
"""Digits, and the exponent of the smallest number."""
NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i32": np.int32, "i64": np.int64}


def rounded(value: Fraction, name: str) -> Fraction | float:
    """`value` to nearest even in a format; an infinity if it is too large."""
    digits, smallest = FORMATS[name]
    if not value:
        return Fraction(0)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - digits + 1, smallest)
    result = round(value / unit) * unit  # Python rounds halves to even
    largest = {"f32": 128, "bf16": 128, "f16": 16, "f64": 1024}[name]
    if abs(result) >= Fraction(2) ** largest:
        return math.copysign(math.inf, value)
    return result


def stored(value: Fraction | float, name: str) -> bytes:
    """The bits of a number that the format holds; zeros are +0."""
    if name == "bf16":
        return struct.pack("<f", float(value))[2:]
    return NUMPY[name](float(value)).tobytes()


def numbers(name: str, bits: np.ndarray) -> list[Fraction]:
    if name == "bf16":
        bits = (bits.astype(np.uint32) << 16).view(np.float32)
    return [Fraction(float(x)) if bits.dtype.kind == "f" else Fraction(int(x)) for x in bits]


def compiled(body: str, ins: list[str], out: str, count: int, architecture: str, **options):
    """A kernel that loads tiles x0, x1, ... computes %r by `body` and stores it."""
    parameters = "".join(f"%p{i}: !tt.ptr<{t}>, " for i, t in enumerate(ins))
    loads = "".join(
        f"%s{i} = tt.splat %p{i} : !tt.ptr<{t}> -> tensor<{count}x!tt.ptr<{t}>>\n"
        f"%a{i} = tt.addptr %s{i}, %i : tensor<{count}x!tt.ptr<{t}>>, tensor<{count}xi32>\n"
        f"%x{i} = tt.load %a{i} : tensor<{count}x!tt.ptr<{t}>>\n"
        for i, t in enumerate(ins)
    )
    text = f"""module {{ tt.func public @k({parameters}%o: !tt.ptr<{out}>) attributes {{noinline = false}} {{
      %i = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
      {loads}
      {body}
      %so = tt.splat %o : !tt.ptr<{out}> -> tensor<{count}x!tt.ptr<{out}>>
      %ao = tt.addptr %so, %i : tensor<{count}x!tt.ptr<{out}>>, tensor<{count}xi32>
      tt.store %ao, %r : tensor<{count}x!tt.ptr<{out}>>
      tt.return }} }}"""
    target = {
        "backend": "cuda",
        "capability": int(architecture.removeprefix("sm_").rstrip("a")),
        "arch": architecture,
        "ptx_version": 83,
        "warp_size": 32,
    }
    return tiletwin._codegen.compile(text, "ttir", "k.ttir", target, {"num_warps": 4, "verify": True} | options)


def run(body: str, ins: dict[str, np.ndarray] | list, out: str, architecture: str, **options) -> np.ndarray:
    """The results of `body` (with T for the tile type's shape) on arrays of a power-of-two length."""
    types = [t for t, _ in ins]
    count = len(ins[0][1])
    code = compiled(body.replace("#", f"{count}x"), types, out, count, architecture, **options)
    result = np.zeros(count, NUMPY[out])
    kernel = tiletwin.sim.load(code["ptx"])["k"]
    kernel(*[np.ascontiguousarray(a) for _, a in ins], result, grid=(1,), block=(128,))
    return result


def bf16_values(count: int, seed: int) -> np.ndarray:
    edges = [0x0000, 0x3F80, 0xBF80, 0x0001, 0x8001, 0x007F, 0x0080, 0x7F7F, 0xFF7F, 0x4049, 0x3F81, 0x4380]
    draw = random.Random(seed)
    finite = [b for b in (draw.randrange(1 << 16) for _ in range(4 * count)) if b & 0x7F80 != 0x7F80]
    return np.array((edges + finite)[:count], np.uint16)


def same(results: np.ndarray, expected: list[Fraction | float], name: str) -> None:
    for at, (got, want) in enumerate(zip(results, expected, strict=True)):
        if want == 0:
            assert float(got) == 0 or int(got) & 0x7FFF == 0, (at, got)
        else:
            assert got.tobytes() == stored(want, name), (at, got, float(want))


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("op", ["addf", "subf", "mulf"])
def test_bf16_arithmetic_rounds_once(architecture: str, op: str) -> None:
    x, y = bf16_values(1024, 1), np.roll(bf16_values(1024, 2), 5)
    got = run(f"%r = arith.{op} %x0, %x1 : tensor<#bf16>", [("bf16", x), ("bf16", y)], "bf16", architecture)
    exact = {"addf": lambda a, b: a + b, "subf": lambda a, b: a - b, "mulf": lambda a, b: a * b}[op]
    same(
        got, [rounded(exact(a, b), "bf16") for a, b in zip(numbers("bf16", x), numbers("bf16", y), strict=True)], "bf16"
    )


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90a"])
def test_bf16_fma_rounds_once_where_there_is_one_and_through_f32_elsewhere(architecture: str) -> None:
    x, y, z = (np.roll(bf16_values(1024, seed), 3 * seed) for seed in (3, 4, 5))
    x[:2], y[:2], z[:2] = 0x3F81, [0x3FC0, 0x3FC0], [0x2F80, 0xAF80]  # a tie in bf16, decided beyond the end of f32
    body = "%m = arith.mulf %x0, %x1 : tensor<#bf16>\n%r = arith.addf %m, %x2 : tensor<#bf16>"
    got = run(body, [("bf16", x), ("bf16", y), ("bf16", z)], "bf16", architecture)
    exact = [a * b + c for a, b, c in zip(*(numbers("bf16", v) for v in (x, y, z)), strict=True)]
    if architecture == "sm_75":
        exact = [rounded(e, "f32") for e in exact]
    same(got, [e if isinstance(e, float) else rounded(e, "bf16") for e in exact], "bf16")


def integers(bits: int, is_signed: bool) -> list[int]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    values = [0, 1, low, high, low + 1, high - 1, 255, 256, 257, 258, 259, 511, 513, 514]
    for exponent in range(
        9, bits
    ):  # ties of bf16 and their neighbours, and what rounding to f32 or f64 first turns into ties
        for mantissa in (0x80, 0x81, 0xFF):
            top = mantissa << exponent - 7 if exponent >= 7 else mantissa >> 7 - exponent
            tie = top + (1 << exponent - 8)
            for delta in (-1, 0, 1, -(1 << max(0, exponent - 30)), 1 << max(0, exponent - 54)):
                values += [tie + delta, -(tie + delta)]
    draw = random.Random(bits)
    values += [draw.randrange(low, high + 1) >> draw.randrange(bits) for _ in range(2048)]
    return [v for v in values if low <= v <= high]


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("bits, is_signed", [(32, True), (32, False), (64, True), (64, False)])
def test_integers_become_bf16_in_one_rounding(architecture: str, bits: int, is_signed: bool) -> None:
    values = integers(bits, is_signed)
    values = (values + [0] * 4096)[:4096] if len(values) < 4096 else values[:4096]
    x = np.array([v & ((1 << bits) - 1) for v in values], np.uint64).astype(f"uint{bits}").view(f"int{bits}")
    op = "sitofp" if is_signed else "uitofp"
    body = f"%r = arith.{op} %x0 : tensor<#i{bits}> to tensor<#bf16>"
    got = run(body, [(f"i{bits}", x)], "bf16", architecture)
    same(got, [rounded(Fraction(v), "bf16") for v in values], "bf16")


def f32_values(count: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 1 << 32, 2 * count, dtype=np.uint32).view(np.float32)
    values = values[np.isfinite(values)][:count]
    values[:8] = [0, 1, -1, 3, 1e-45, -1e-40, 3e38, 1.5]
    values[8 : count // 2] = draw.standard_normal(count // 2 - 8).astype(np.float32) * 100
    return values


SUMS = {
    "x*y + z": ("%m = arith.mulf %x0, %x1 : T\n%r = arith.addf %m, %x2 : T", lambda x, y, z: x * y + z),
    "z - x*y": ("%m = arith.mulf %x0, %x1 : T\n%r = arith.subf %x2, %m : T", lambda x, y, z: z - x * y),
    "x*y - z": ("%m = arith.mulf %x0, %x1 : T\n%r = arith.subf %m, %x2 : T", lambda x, y, z: x * y - z),
}


@pytest.mark.parametrize("sum_", SUMS)
@pytest.mark.parametrize("fusion", [True, False])
def test_a_product_and_a_sum_are_one_rounding_under_fusion_and_two_without(sum_: str, fusion: bool) -> None:
    body, exact = SUMS[sum_]
    x, y, z = (np.roll(f32_values(1024, seed), seed) for seed in (1, 2, 3))
    with np.errstate(over="ignore"):
        z[512:] = -(x * y)[512:]  # nearly all cancels: only an fma keeps what is left
    z[~np.isfinite(z)] = 1
    got = run(
        body.replace("T", "tensor<#f32>"), [("f32", v) for v in (x, y, z)], "f32", "sm_90a", enable_fp_fusion=fusion
    )
    expected = []
    for a, b, c in zip(*(numbers("f32", v) for v in (x, y, z)), strict=True):
        if fusion:
            expected.append(rounded(exact(a, b, c), "f32"))
            continue
        product = rounded(a * b, "f32")
        if isinstance(product, float):
            sign = -1 if sum_ == "z - x*y" else 1
            expected.append(sign * product)
        else:
            expected.append(rounded(exact(product, Fraction(1), c), "f32"))
    bits = got.view(np.uint32)
    for at, want in enumerate(expected):
        if want == 0:
            assert got[at] == 0, at
        else:
            assert bits[at].tobytes() == stored(want, "f32"), (at, got[at], float(want))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_remainder_is_one_fma_of_the_truncated_quotient(name: str) -> None:
    x, y = f32_values(1024, 7).astype(NUMPY[name]), np.roll(f32_values(1024, 8), 9).astype(NUMPY[name])
    y[y == 0] = 3
    y[100], y[101], x[101] = math.inf, -math.inf, 0
    got = run(f"%r = arith.remf %x0, %x1 : tensor<#{name}>", [(name, x), (name, y)], name, "sm_80")
    for at, (a, b) in enumerate(zip(x, y, strict=True)):
        if math.isinf(b):
            assert got[at] == a
            continue
        a, b = Fraction(float(a)), Fraction(float(b))
        quotient = rounded(a / b, name)
        if isinstance(quotient, float):
            assert not math.isfinite(got[at])
            continue
        want = rounded(a - math.trunc(quotient) * b, name)
        assert got[at] == 0 if want == 0 else got[at].tobytes() == stored(want, name), (at, x[at], y[at], got[at])


def bits_of(number: float) -> str:
    return f"0x{np.float32(number).view(np.uint32):08X}"


@pytest.mark.parametrize("divisor", [4.0, -0.125, 2.0**126, 2.0**-126])
def test_division_by_a_power_of_two_is_exact(divisor: float) -> None:
    x = f32_values(1024, 11)
    body = f"%c = arith.constant dense<{bits_of(divisor)}> : tensor<#f32>\n%r = arith.divf %x0, %c : tensor<#f32>"
    got = run(body, [("f32", x)], "f32", "sm_80")
    expected = [rounded(a / Fraction(divisor), "f32") for a in numbers("f32", x)]
    for at, want in enumerate(expected):
        assert got[at] == 0 if want == 0 else got[at].tobytes() == stored(want, "f32"), (at, x[at], got[at])


@pytest.mark.parametrize("divisor", [3.0, -7.0, 1e-30, 1e37])
def test_division_by_a_constant_is_off_by_two_units_at_most(divisor: float) -> None:
    x = f32_values(1024, 12)
    body = f"%c = arith.constant dense<{bits_of(divisor)}> : tensor<#f32>\n%r = arith.divf %x0, %c : tensor<#f32>"
    code = compiled(body.replace("#", "1024x"), ["f32"], "f32", 1024, "sm_90a")
    assert code["ptx"].count("div.") == 1 and "div.approx.f32" in code["ptx"]
    got = run(body, [("f32", x)], "f32", "sm_90a").astype(np.float64)
    with np.errstate(all="ignore"):
        want = x.astype(np.float64) / np.float64(np.float32(divisor))
        limit = np.finfo(np.float32).max
        inside = np.abs(want) < limit / 2
    assert np.all(
        np.abs(got - want)[inside] <= 2 * np.spacing(np.abs(want[inside]).astype(np.float32)).astype(np.float64)
    )


def test_an_operation_of_no_target_is_an_error_at_its_line() -> None:
    with pytest.raises(tiletwin._codegen.Error, match=r"`math\.tan` is no operation of the language"):
        run("%r = math.tan %x0 : tensor<#f32>", [("f32", f32_values(128, 1))], "f32", "sm_80")


@pytest.mark.parametrize(
    "symbol, types, message",
    [
        ("__nv_expo", "(tensor<#f32>) -> tensor<#f32>", "calls `__nv_expo`, which libdevice does not have"),
        (
            "__nv_exp",
            "(tensor<#f32>) -> tensor<#f32>",
            r"calls `__nv_exp` as float \(float\), but in libdevice it is double",
        ),
    ],
)
def test_a_wrong_call_of_libdevice_is_an_error(symbol: str, types: str, message: str) -> None:
    body = f'%r = tt.extern_elementwise %x0 {{libname = "", libpath = "", pure = true, symbol = "{symbol}"}} : {types}'
    with pytest.raises(tiletwin._codegen.Error, match=message):
        run(body, [("f32", f32_values(128, 1))], "f32", "sm_80")


def test_a_rounding_that_ttgir_leaves_open_is_an_error() -> None:
    ttgir = compiled("%r = math.floor %x0 : tensor<128xf32>", ["f32"], "f32", 128, "sm_80")["ttgir"]
    assert "math.floor" in ttgir
    target = {"backend": "cuda", "capability": 80, "arch": "sm_80", "ptx_version": 83, "warp_size": 32}
    tiletwin._codegen.compile(ttgir, "ttgir", "k.ttgir", target, {})
    with pytest.raises(
        tiletwin._codegen.Error, match=r"numerics for sm_80: `math\.exp` leaves its rounding to the target"
    ):
        tiletwin._codegen.compile(ttgir.replace("math.floor", "math.exp"), "ttgir", "k.ttgir", target, {})
