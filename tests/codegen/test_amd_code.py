"""Code for AMD GPUs, run on the CPU (amd_on_host.py), with 64 and with 32 lanes, against the interpreter and NumPy."""

from __future__ import annotations

import re

import amd_on_host
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.compiler import ASTSource

pytestmark = pytest.mark.skipif(amd_on_host.CLANG is None, reason=amd_on_host.NO_CLANG)
LANES = {"gfx942": 64, "gfx1100": 32}
NAMES = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "int8": "i8", "uint8": "u8", "int16": "i16",
         "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64"}  # fmt: skip


def on_amd(fn, values, folder, arch="gfx942", grid=(1,), warps=4, **constants):
    """Runs a kernel's code for an AMD GPU; arrays are changed in place."""
    signature = ", ".join(
        f"*{NAMES[v.dtype.name]}:16" if isinstance(v, np.ndarray) else "i32" if isinstance(v, int) else "fp32"
        for v in values
    )
    kernel = triton.compile(
        ASTSource(fn, signature, constants),
        target=f"hip:{arch}",
        options={"num_warps": warps, "enable_fp_fusion": False},
    )
    amd_on_host.run(kernel.asm["llir"], kernel.asm.facts, LANES[arch], values, folder, grid)
    return kernel


def agree(fn, inputs, outputs, folder, arch="gfx942", grid=(1,), warps=4, scalars=(), **constants):
    """The code's results are the interpreter's, bit for bit. Returns them and the kernel."""
    expected = [out.copy() for out in outputs]
    fn[grid](*inputs, *expected, *scalars, **constants, enable_fp_fusion=False)
    given = [out.copy() for out in outputs]
    kernel = on_amd(fn, [*inputs, *given, *scalars], folder, arch, grid, warps, **constants)
    for mine, theirs in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine.view(f"u{mine.itemsize}"), theirs.view(f"u{mine.itemsize}"))
    return given, kernel


SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38, 65504, 65520,
                    0.1, 2**-14, 1e-8, -2.5], np.float32)  # fmt: skip


def numbers(count: int, dtype=np.float32, seed: int = 0) -> np.ndarray:
    """Random bits of all magnitudes, with the special ones among them."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        out = random.integers(info.min, info.max, count, dtype, endpoint=True)
        out[:5] = [0, 1, info.max, info.min, 7][:count]
        return out
    with np.errstate(over="ignore"):
        out = (random.standard_normal(count) * 2.0 ** random.integers(-20, 20, count)).astype(dtype)
        out[: len(SPECIAL)] = SPECIAL.astype(dtype)[:count]
    return out


# --- elementwise, loads and stores ------------------------------------------------------------------------------------


@triton.jit
def add_masked(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-7)
    y = tl.load(y_ptr + i, mask=(i < n) & (i % 3 != 1), other=5)
    tl.store(o_ptr + i, x + y, mask=i < n)


@pytest.mark.parametrize("arch", LANES)
@pytest.mark.parametrize(
    ("dtype", "n"), [("float32", 1000), ("float16", 777), ("int8", 1), ("float64", 1024), ("int64", 0)]
)
def test_masked_loads_and_stores(arch, dtype, n, tmp_path) -> None:
    """Buffers end where the mask ends: an access behind would end the process."""
    x, y, out = numbers(n, dtype), numbers(n, dtype, 1), np.full(n, 3, dtype)
    with np.errstate(all="ignore"):
        agree(add_masked, [x, y], [out], tmp_path, arch, grid=(4,), scalars=(n,), BLOCK=256)


@triton.jit
def float_arithmetic(x_ptr, y_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(o_ptr + i, x * y + x)
    tl.store(o_ptr + N + i, x - y)
    tl.store(o_ptr + 2 * N + i, tl.math.div_rn(x, y))
    tl.store(o_ptr + 3 * N + i, tl.math.sqrt_rn(x))
    tl.store(o_ptr + 4 * N + i, tl.maximum(x, y))
    tl.store(o_ptr + 5 * N + i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o_ptr + 6 * N + i, tl.floor(x))
    tl.store(o_ptr + 7 * N + i, tl.ceil(y))
    tl.store(o_ptr + 8 * N + i, tl.abs(x))
    tl.store(o_ptr + 9 * N + i, tl.where(x < y, x, -y))
    tl.store(o_ptr + 10 * N + i, tl.clamp(x, -2.0, 5.0))
    tl.store(o_ptr + 11 * N + i, tl.math.fma(x, y, y))


def test_float_arithmetic(tmp_path) -> None:
    x, y = numbers(256), np.roll(numbers(256, seed=1), 5)
    expected, given = np.zeros(12 * 256, np.float32), np.zeros(12 * 256, np.float32)
    float_arithmetic[(1,)](x, y, expected, N=256, enable_fp_fusion=False)
    on_amd(float_arithmetic, [x, y, given], tmp_path, N=256)
    # NaN is one number here: its bits are the hardware's business.
    np.testing.assert_array_equal(np.isnan(given), np.isnan(expected))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(given.view("u4")[number], expected.view("u4")[number])


@triton.jit
def integer_arithmetic(x_ptr, y_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(o_ptr + i, x // y)
    tl.store(o_ptr + N + i, x % y)
    tl.store(o_ptr + 2 * N + i, x << y)
    tl.store(o_ptr + 3 * N + i, x >> y)
    tl.store(o_ptr + 4 * N + i, x * y)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_that_nothing_defines(dtype, tmp_path) -> None:
    """Division by zero, the lowest number by -1 and shifts by too much give what NVIDIA GPUs give."""
    info, width = np.iinfo(dtype), 8 * np.dtype(dtype).itemsize
    x = np.array([0, 1, 7, info.max, info.min, info.min, 100, info.max] * 16, dtype)
    y = np.array([0, 0, 3, 0, 0, -1 if info.min else 5, width - 1, width if width < 100 else 64] * 16, dtype)
    x[64:], y[64:] = numbers(64, dtype), np.abs(numbers(64, dtype, 1) % 70)
    out = np.zeros(5 * 128, dtype)
    on_amd(integer_arithmetic, [x, y, out], tmp_path, N=128)
    ones = np.array(-1).astype(dtype) if info.min else info.max
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        quotient = int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else int(ones)
        rest = a - quotient * b if b else a
        low = (1 << width) - 1
        amount = b & low
        left = (a << amount) & low if amount < width else 0
        right = a >> min(amount, width - 1) if info.min else (a >> amount if amount < width else 0)
        wanted = [quotient, rest, left, right, a * b]
        given = [int(out[k * 128 + i]) for k in range(5)]
        assert [w & low for w in wanted] == [g & low for g in given], (a, b)


@triton.jit
def casts(x_ptr, h_ptr, b_ptr, d_ptr, i_ptr, l_ptr, c_ptr, f_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(h_ptr + i, x.to(tl.float16))
    tl.store(h_ptr + N + i, x.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(b_ptr + i, x.to(tl.bfloat16).to(tl.int16, bitcast=True))
    tl.store(b_ptr + N + i, x.to(tl.bfloat16, fp_downcast_rounding="rtz").to(tl.int16, bitcast=True))
    tl.store(d_ptr + i, x.to(tl.float64))
    tl.store(i_ptr + i, x.to(tl.int32))
    tl.store(l_ptr + i, x.to(tl.int64))
    tl.store(c_ptr + i, x.to(tl.int8))
    tl.store(f_ptr + i, x.to(tl.float8e5).to(tl.int8, bitcast=True))
    tl.store(f_ptr + N + i, x.to(tl.float8e4nv).to(tl.int8, bitcast=True))
    tl.store(f_ptr + 2 * N + i, x.to(tl.float8e4nv).to(tl.float32).to(tl.float8e4b8).to(tl.int8, bitcast=True))


@triton.jit
def casts_from_wide(x_ptr, k_ptr, o_ptr, h_ptr, b_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, k = tl.load(x_ptr + i), tl.load(k_ptr + i)
    tl.store(o_ptr + i, x.to(tl.float32))
    tl.store(o_ptr + N + i, k.to(tl.float32))
    tl.store(h_ptr + i, x.to(tl.float16))
    tl.store(h_ptr + N + i, k.to(tl.float16))
    tl.store(b_ptr + i, x.to(tl.bfloat16).to(tl.int16, bitcast=True))
    tl.store(b_ptr + N + i, k.to(tl.bfloat16).to(tl.int16, bitcast=True))


def same_numbers(given: list[np.ndarray], expected: list[np.ndarray], floats: tuple[str, ...]) -> None:
    """Equal bits, but NaN is one number. floats: the format of each array's elements, "" for integers."""
    masks = {
        "bf16": (0x7F80, 0x7F),
        "f16": (0x7C00, 0x3FF),
        "f32": (0x7F800000, 0x7FFFFF),
        "f64": (0x7FF << 52, (1 << 52) - 1),
    }
    for mine, theirs, kind in zip(given, expected, floats, strict=True):
        mine, theirs = mine.view(f"u{mine.itemsize}"), theirs.view(f"u{mine.itemsize}")
        if kind:
            exponent, fraction = masks[kind]
            nan = [(x & exponent == exponent) & (x & fraction != 0) for x in (mine, theirs)]
            np.testing.assert_array_equal(*nan)
            mine, theirs = mine[~nan[0]], theirs[~nan[0]]
        np.testing.assert_array_equal(mine, theirs)


def test_casts(tmp_path) -> None:
    x = numbers(512)
    x[64:80] = np.array([1 << 31, -(1 << 31), 2.0**63, -(2.0**63), 127, 128, -129, 32767, 32768, -32769, 300, 448, 464,
                         57344, 61440, 2**-9], np.float32)  # fmt: skip
    kinds = ("float16", "int16", "float64", "int32", "int64", "int8", "int8")
    sizes = (2, 2, 1, 1, 1, 1, 3)
    expected = [np.zeros(512 * size, kind) for kind, size in zip(kinds, sizes, strict=True)]
    casts[(1,)](x, *expected, N=512)
    given = [np.zeros_like(array) for array in expected]
    on_amd(casts, [x, *given], tmp_path, N=512)
    same_numbers(given, expected, ("f16", "bf16", "f64", "", "", "", ""))


def test_casts_from_64_bits_round_once(tmp_path) -> None:
    random = np.random.default_rng(3)
    x = numbers(512, np.float64)
    x[100:300] = (1 + 2.0**-8) * (1 + random.integers(-2, 3, 200) * 2.0**-52) * 2.0 ** random.integers(-10, 10, 200)
    x[300:400] = (1 + 2.0**-11) * (1 + random.integers(-2, 3, 100) * 2.0**-52)
    k = numbers(512, np.int64)
    k[10:200] = (0x8080 << random.integers(0, 40, 190)) + random.integers(-1, 2, 190)
    expected = [np.zeros(1024, "float32"), np.zeros(1024, "float16"), np.zeros(1024, "int16")]
    casts_from_wide[(1,)](x, k, *expected, N=512)
    given = [np.zeros_like(array) for array in expected]
    on_amd(casts_from_wide, [x, k, *given], tmp_path, N=512)
    same_numbers(given, expected, ("f32", "f16", "bf16"))


@triton.jit
def functions(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, tl.exp(x))
    tl.store(o_ptr + N + i, tl.exp2(x))
    tl.store(o_ptr + 2 * N + i, tl.log(x))
    tl.store(o_ptr + 3 * N + i, tl.log2(x))
    tl.store(o_ptr + 4 * N + i, tl.sqrt(x))
    tl.store(o_ptr + 5 * N + i, tl.rsqrt(x))
    tl.store(o_ptr + 6 * N + i, x / 3.0)


def test_functions_that_have_code(tmp_path) -> None:
    x = np.abs(np.random.default_rng(0).standard_normal(256) * 20 + 0.01).astype(np.float32)
    out = np.zeros(7 * 256, np.float32)
    on_amd(functions, [x, out], tmp_path, N=256)
    wide = x.astype(np.float64)
    wanted = [np.exp(wide), np.exp2(wide), np.log(wide), np.log2(wide), np.sqrt(wide), 1 / np.sqrt(wide), wide / 3]
    for i, (exact, ulps) in enumerate(zip(wanted, (60, 2, 2, 2, 0.5, 2, 0.5), strict=True)):
        error = np.abs(out[i * 256 : (i + 1) * 256] - exact) / np.spacing(np.abs(exact).astype(np.float32))
        assert error.max() <= ulps, (i, error.max())


# --- programs, loops, branches ----------------------------------------------------------------------------------------


@triton.jit
def where_am_i(o_ptr):
    place = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    tl.store(
        o_ptr + place, tl.program_id(0) + 10 * tl.program_id(1) + 100 * tl.program_id(2) + 1000 * tl.num_programs(2)
    )


@triton.jit
def loops(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    for step in range(n):
        x = tl.load(x_ptr + step * N + i)
        if step % 2 == 0:
            total += x
        else:
            total = total * 3 - x
    left = n
    while left > 0:
        total += left
        left -= 2
    tl.store(o_ptr + i, total)


@pytest.mark.parametrize("arch", LANES)
def test_grids_loops_and_branches(arch, tmp_path) -> None:
    agree(where_am_i, [], [np.zeros(3 * 2 * 4, np.int32)], tmp_path, arch, grid=(3, 2, 4), warps=1)
    for n in (0, 1, 5):
        x = np.random.default_rng(n).integers(-1000, 1000, (max(n, 1), 512), np.int32)
        agree(loops, [x], [np.zeros(512, np.int32)], tmp_path, arch, scalars=(n,), N=512)


# --- reductions, scans, conversions -----------------------------------------------------------------------------------


@triton.jit
def reductions(x_ptr, s_ptr, m_ptr, a_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    to = tl.arange(0, N if AXIS == 0 else M)
    tl.store(s_ptr + to, tl.sum(x, AXIS))
    tl.store(m_ptr + to, tl.max(x, AXIS))
    tl.store(a_ptr + to, tl.argmin(x, AXIS))


SHAPES = [(1, 64), (64, 1), (2, 32), (32, 32), (8, 128), (128, 4), (4, 1024), (256, 16)]


@pytest.mark.parametrize("arch", LANES)
@pytest.mark.parametrize("warps", [4, *(pytest.param(warps, marks=pytest.mark.slow) for warps in (1, 16))])
@pytest.mark.parametrize("shape", [SHAPES[3], SHAPES[6], *(pytest.param(s, marks=pytest.mark.slow) for s in SHAPES)])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions(arch, warps, shape, axis, tmp_path) -> None:
    x = np.random.default_rng(1).integers(-50, 50, shape, np.int32)
    outputs = [np.full(shape[1 - axis], -1, np.int32) for _ in range(3)]
    given, _ = agree(reductions, [x], outputs, tmp_path, arch, warps=warps, M=shape[0], N=shape[1], AXIS=axis)
    np.testing.assert_array_equal(given[0], x.sum(axis))
    np.testing.assert_array_equal(given[1], x.max(axis))
    np.testing.assert_array_equal(given[2], x.argmin(axis))


def test_a_missing_barrier_shows(tmp_path) -> None:
    """Runs without barriers read what nobody has written: the tests above can fail."""
    x = np.random.default_rng(1).integers(-50, 50, (1024, 4), np.int32)
    outputs = [np.zeros(4, np.int32) for _ in range(3)]
    kernel = on_amd(reductions, [x, *outputs], tmp_path, M=1024, N=4, AXIS=0)
    np.testing.assert_array_equal(outputs[0], x.sum(0))
    without, count = re.subn(r".*call void @llvm\.amdgcn\.s\.barrier\(\).*\n", "", kernel.asm["llir"])
    assert count >= 2
    amd_on_host.run(without, kernel.asm.facts, 64, [x, *outputs], tmp_path)
    assert (outputs[0] != x.sum(0)).any()


@triton.jit
def softmax(x_ptr, o_ptr, n, N: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, N)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(o_ptr + row * n + i, e / tl.sum(e, 0), mask=i < n)


@pytest.mark.parametrize(("arch", "warps"), [("gfx942", 4), ("gfx1100", 8)])
def test_softmax(arch, warps, tmp_path) -> None:
    x = np.random.default_rng(2).standard_normal((3, 700)).astype(np.float32)
    out = np.zeros_like(x)
    on_amd(softmax, [x, out, 700], tmp_path, arch, grid=(3,), warps=warps, N=1024)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=2e-6)


@triton.jit
def moved(x_ptr, t_ptr, c_ptr, g_ptr, j_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    tl.store(t_ptr + n[:, None] * M + m[None, :], tl.trans(x))
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.cumsum(x, 1))
    picked = (m[:, None] * 5 + n[None, :] * 3) % N
    tl.store(g_ptr + m[:, None] * N + n[None, :], tl.gather(x, picked, 1))
    flat = tl.reshape(x, (M * N // 2, 2))
    left, right = tl.split(flat)
    half = tl.arange(0, M * N // 2)
    tl.store(j_ptr + half[:, None] * 2 + tl.arange(0, 2)[None, :], tl.join(right, left))


@pytest.mark.parametrize("arch", LANES)
@pytest.mark.parametrize(
    ("shape", "warps"), [((32, 64), 4), pytest.param((128, 16), 8, marks=pytest.mark.slow), ((4, 4), 1), ((64, 8), 2)]
)
@pytest.mark.parametrize(
    "dtype", ["int32", pytest.param("int8", marks=pytest.mark.slow), pytest.param("int64", marks=pytest.mark.slow)]
)
def test_elements_that_change_threads(arch, shape, warps, dtype, tmp_path) -> None:
    """Conversions of layouts by shuffles and through LDS, scans, gathers."""
    x = np.random.default_rng(4).integers(-100, 100, shape).astype(dtype)
    outputs = [np.zeros(shape, dtype) for _ in range(4)]
    given, _ = agree(moved, [x], outputs, tmp_path, arch, warps=warps, M=shape[0], N=shape[1])
    np.testing.assert_array_equal(given[0].reshape(shape[1], shape[0]), x.T)


# --- dots -------------------------------------------------------------------------------------------------------------


@triton.jit
def product(a_ptr, b_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STEPS: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), o_ptr.dtype.element_ty)
    for step in range(STEPS):
        a = tl.load(a_ptr + m[:, None] * (K * STEPS) + step * K + k[None, :])
        b = tl.load(b_ptr + (step * K + k[:, None]) * N + n[None, :])
        total = tl.dot(a, b, total, out_dtype=o_ptr.dtype.element_ty)
    tl.store(o_ptr + m[:, None] * N + n[None, :], total)


@pytest.mark.parametrize("arch", LANES)
@pytest.mark.parametrize(
    ("kinds", "shape"),
    [
        (("float32", "float32"), (32, 32, 32)),
        (("float16", "float32"), (64, 16, 32)),
        (("int8", "int32"), (16, 64, 32)),
        pytest.param(("float64", "float64"), (16, 16, 16), marks=pytest.mark.slow),
        pytest.param(("float16", "float16"), (16, 32, 16), marks=pytest.mark.slow),
    ],
)
def test_dots(arch, kinds, shape, tmp_path) -> None:
    m, n, k = shape
    random = np.random.default_rng(5)
    a, b = random.integers(-4, 4, (m, 2 * k)).astype(kinds[0]), random.integers(-4, 4, (2 * k, n)).astype(kinds[0])
    out = np.zeros((m, n), kinds[1])
    kernel = on_amd(product, [a, b, out], tmp_path, arch, M=m, N=n, K=k, STEPS=2)
    np.testing.assert_array_equal(out, a.astype(kinds[1]) @ b.astype(kinds[1]))
    assert 'instruction = "fma"' in kernel.asm["ttgir"]
