"""Conversions between element types: every 8- and 16-bit number, edges and random numbers of wide ones, to every type.

The references are the tables of formats.py and Python's integers, and what an H200 gave (casts_h200.npz).
"""

from __future__ import annotations

import itertools

import cast_kernels
import formats
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_cases import DATA
from triton.compiler.errors import CompilationError

SMALL = tuple(formats.FORMATS)
FLOATS = (*SMALL, "fp32", "fp64")
INTS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
DTYPES = {
    "fp8e5": tl.float8e5,
    "fp8e4nv": tl.float8e4nv,
    "fp8e4b15": tl.float8e4b15,
    "fp8e4b8": tl.float8e4b8,
    "fp8e5b16": tl.float8e5b16,
    "fp16": tl.float16,
    "bf16": tl.bfloat16,
    "fp32": tl.float32,
    "fp64": tl.float64,
    "int1": tl.int1,
    **{name: getattr(tl, name) for name in INTS},
}
TORCH = {
    "fp8e5": torch.float8_e5m2,
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e4b8": torch.float8_e4m3fnuz,
    "fp8e5b16": torch.float8_e5m2fnuz,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "fp64": torch.float64,
    "int1": torch.bool,
    **{name: getattr(torch, name) for name in INTS},
}
BITS = {
    8: (torch.uint8, np.uint8),
    16: (torch.uint16, np.uint16),
    32: (torch.uint32, np.uint32),
    64: (torch.uint64, np.uint64),
}
MODES = (None, "rtne", "rtz")


def width(name: str) -> int:
    return 8 if name == "int1" else DTYPES[name].primitive_bitwidth


def is_signed(name: str) -> bool:
    return name.startswith("int") and name != "int1"


def array(codes: np.ndarray, name: str):
    """A kernel argument of that element type with those bits."""
    tensor = torch.from_numpy(np.ascontiguousarray(codes))
    return tensor.view(torch.bool) if name == "int1" else triton.reinterpret(tensor, DTYPES[name])


def numbers(codes: np.ndarray, name: str) -> np.ndarray:
    """The float64 values of float codes."""
    if name in SMALL:
        return formats.values(name)[codes]
    with np.errstate(invalid="ignore"):
        return codes.view(np.float64 if name == "fp64" else np.float32).astype(np.float64)


def integers(codes: np.ndarray, name: str) -> list[int]:
    return codes.view(getattr(np, name) if name != "int1" else np.uint8).tolist()


def expected(codes: np.ndarray, source: str, target: str, mode: str | None) -> np.ndarray:
    """The codes that a cast gives."""
    out = BITS[width(target)][1]
    with np.errstate(invalid="ignore"):
        if source in FLOATS:
            x = numbers(codes, source)
            if target == "int1":
                return (x != 0).astype(np.uint8)
            if target == "fp64":
                return x.view(np.uint64)
            if target == "fp32":
                return formats.to_float32(x, mode).view(np.uint32)
            if target in SMALL:
                return formats.encode(target, x, mode)
            return formats.to_integer(x, width(target), is_signed(target), source == "fp64").astype(out)
    n = integers(codes, source)
    if target == "int1":
        return np.array([v != 0 for v in n], np.uint8)
    if target in FLOATS:
        return formats.from_integers(target, n)
    return np.array([v & ((1 << width(target)) - 1) for v in n], np.uint64).astype(out)


def same(got: np.ndarray, want: np.ndarray, target: str) -> np.ndarray:
    """Equal bits; any NaN equals any."""
    equal = got == want
    if target in FLOATS:
        equal |= np.isnan(numbers(got, target)) & np.isnan(numbers(want, target))
    return equal


def check(codes: np.ndarray, source: str, target: str, mode: str | None = None, block: int = 4096) -> None:
    out = np.full(codes.size, 0x5A, BITS[width(target)][1])
    if target == "int1":
        out[:] = 0
    n = codes.size
    cast_kernels.cast_all[(-(-n // block),)](
        array(codes, source), array(out, target), n, DT=DTYPES[target], MODE=mode, B=block
    )
    want = expected(codes, source, target, mode)
    wrong = np.flatnonzero(~same(out, want, target))
    if wrong.size:
        at = wrong[0]
        first = f"{codes[at]:#x} gives {out[at]:#x}, not {want[at]:#x}"
        raise AssertionError(f"{source} to {target} {mode}: {wrong.size} wrong, first {first}")


def accepted(source: str, target: str) -> bool:
    """Whether the language has the cast: fp8 converts to and from floats only."""
    fp8 = [t for t in (source, target) if t.startswith("fp8")]
    return not fp8 or (source in FLOATS and target in FLOATS)


def modes(source: str, target: str) -> tuple:
    narrows = source in FLOATS and target in FLOATS and width(target) < width(source)
    return MODES if narrows else (None,)


def edge_codes(name: str) -> np.ndarray:
    """Codes of a 32- or 64-bit type near everything that matters, and random ones."""
    bits = width(name)
    unsigned = BITS[bits][1]
    random = np.random.default_rng(sum(map(ord, name)))
    parts = [random.integers(0, 1 << bits, 600, dtype=unsigned)]
    if name in FLOATS:
        kind = np.float32 if name == "fp32" else np.float64
        middles = np.concatenate(
            [np.convolve(formats.finite(f)[:: 1 if len(formats.finite(f)) < 300 else 97], [0.5, 0.5]) for f in SMALL]
        )
        limits = [
            0,
            1,
            0.5,
            255,
            256,
            32767.5,
            65535,
            65536,
            2.0**31,
            2.0**31 - 1,
            2.0**32,
            2.0**63,
            2.0**64,
            1e30,
            3.4e38,
            5e-324,
            np.inf,
            np.nan,
        ]
        near = np.concatenate([middles, np.array(limits)])
        with np.errstate(over="ignore", under="ignore"):
            near = near.astype(kind)
        near = np.concatenate([near, np.nextafter(near, kind(0)), np.nextafter(near, kind(np.inf))])
        parts += [near.view(unsigned), (-near).view(unsigned)]
        span = np.ldexp(random.random(600) - 0.5, random.integers(-30, 70, 600)).astype(kind)
        parts.append(span.view(unsigned))
    else:
        powers = [((1 << s) + d) % (1 << bits) for s in range(bits) for d in (-1, 0, 1)]
        halves = [
            ((1 << s) + (1 << (s - k)) + d) % (1 << bits) for s in range(9, bits) for k in (4, 8, 9) for d in (-1, 0, 1)
        ]
        parts += [np.array(powers + halves, unsigned), (-np.array(powers, np.uint64)).astype(unsigned)]
        parts.append(
            random.integers(0, 1 << bits, 600, dtype=unsigned) >> random.integers(0, bits, 600).astype(unsigned)
        )
    return np.concatenate(parts)


def codes_of(name: str) -> np.ndarray:
    if name == "int1":
        return np.array([0, 1, 1, 0], np.uint8)
    return np.arange(1 << width(name), dtype=BITS[width(name)][1]) if width(name) <= 16 else edge_codes(name)


def pairs() -> list[tuple[str, str]]:
    return [(s, t) for s, t in itertools.product(DTYPES, DTYPES) if s != t and accepted(s, t)]


@pytest.mark.parametrize(("source", "target"), pairs(), ids=lambda v: v)
def test_every_pair(source: str, target: str) -> None:
    for mode in modes(source, target):
        check(codes_of(source), source, target, mode)


@pytest.mark.parametrize("source", FLOATS)
def test_eager_gives_the_same_bits(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = codes_of(source)
    codes = codes[:: max(1, codes.size // 512)]
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    for target in DTYPES:
        if target != source and accepted(source, target):
            for mode in modes(source, target):
                check(codes, source, target, mode, block=1024)


@pytest.mark.parametrize("size", [1, 3, 17])
def test_sizes(size: int) -> None:
    codes = np.arange(3, 3 + 7 * size, 7, dtype=np.uint8)
    for source, target in (("fp8e4nv", "fp32"), ("fp8e5", "fp16"), ("fp8e4b8", "bf16")):
        check(codes, source, target, block=32)
    check(np.arange(size, dtype=np.uint32) * np.uint32(0x01234567), "fp32", "fp8e4nv", block=32)


WIDE = st.sampled_from(("fp32", "fp64", "int32", "uint32", "int64", "uint64"))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=WIDE, data=st.data())
def test_any_wide_number(source: str, data: st.DataObject) -> None:
    bits = width(source)
    if source in FLOATS:
        item = st.floats(width=bits) | st.floats(-70000, 70000, width=bits)
        kind = np.float32 if bits == 32 else np.float64
        codes = np.array(data.draw(st.lists(item, min_size=1, max_size=64)), kind).view(BITS[bits][1])
    else:
        item = st.integers(0, (1 << bits) - 1) | st.integers(0, bits - 1).map(lambda s: (1 << s) + (1 << max(0, s - 9)))
        codes = np.array(data.draw(st.lists(item, min_size=1, max_size=64)), BITS[bits][1])
    target = data.draw(st.sampled_from([t for t in DTYPES if t != source and accepted(source, t)]))
    check(codes, source, target, data.draw(st.sampled_from(modes(source, target))), block=64)


H200 = {
    "f16": ("fp16", None),
    "bf16": ("bf16", None),
    "f16_rtz": ("fp16", "rtz"),
    "bf16_rtz": ("bf16", "rtz"),
    "e4nv": ("fp8e4nv", None),
    "e5": ("fp8e5", None),
    "e4b15": ("fp8e4b15", None),
    "f64": ("fp64", None),
    "i1": ("int1", None),
    **{f"{s}{bits}": (f"{'u' if s == 'u' else ''}int{bits}", None) for s in "iu" for bits in (8, 16, 32, 64)},
}


@pytest.mark.parametrize("key", H200)
def test_what_an_h200_gave(key: str) -> None:
    with np.load(DATA / "casts_h200.npz") as stored:
        x, want = stored["x"], stored[key]
    target, mode = H200[key]
    want = want.view(BITS[8 * want.dtype.itemsize][1])
    out = np.zeros_like(want)
    n = x.size
    cast_kernels.cast_all[(-(-n // 4096),)](
        torch.from_numpy(x).half() if key == "e4b15" else torch.from_numpy(x),  # recorded by way of fp16
        array(out, target),
        n,
        DT=DTYPES[target],
        MODE=mode,
        B=4096,
    )
    if key == "i1":  # that Triton version tested the truncated integer
        want = (x != 0).astype(np.uint8)
    if key == "e4b15":  # there the sign of a NaN is lost
        want = np.where(np.isnan(x), want | out & 0x80, want)
    wrong = np.flatnonzero(~same(out, want, target))
    assert not wrong.size, f"{wrong.size}, first {x[wrong[0]]!r} gives {out[wrong[0]]:#x}, not {want[wrong[0]]:#x}"


with np.load(DATA / "narrow_h100.npz") as _stored:
    H100 = {key: _stored[key] for key in _stored.files if "/" not in key}


@pytest.mark.parametrize("key", H100)
def test_every_narrow_number_on_an_h100(key: str) -> None:
    source, target, *mode = key.split("_")
    if source == "fp32":
        codes, want = H100[key]
    else:
        codes, want = np.arange(1 << width(source), dtype=BITS[width(source)][1]), H100[key]
    codes, want = codes[: want.size], want[: codes.size].astype(BITS[width(target)][1])
    if key == "fp8e5_bf16":  # Triton's code for this pair knows no infinity and no NaN: 0x7C gives 65536
        finite = np.isfinite(numbers(codes, source))
        codes, want = codes[finite], want[finite]
    out = np.zeros_like(want)
    cast_kernels.cast_all[(-(-codes.size // 4096),)](
        array(codes, source), array(out, target), codes.size, DT=DTYPES[target], MODE=mode[0] if mode else None, B=4096
    )
    assert same(out, want, target).all()


with np.load(DATA / "wide_casts_h100.npz") as _stored:
    WIDE_CASTS = {key: _stored[key] for key in _stored.files}
LONG = {"bf16": "bf16", **{f"f{b}": f"fp{b}" for b in (16, 32, 64)}, **{f"i{b}": f"int{b}" for b in (8, 16, 32, 64)}}
LONG |= {f"u{b}": f"uint{b}" for b in (8, 16, 32, 64)}


@pytest.mark.parametrize("key", [key for key in WIDE_CASTS if "_" in key])
def test_wide_numbers_on_an_h100(key: str) -> None:
    """Integers of 32 and 64 bits round once there too; float64 to integers saturates by the rule of formats.py."""
    source, target = (LONG[part] for part in key.split("_"))
    codes = WIDE_CASTS[key.split("_")[0]].view(BITS[width(source)][1])
    want = WIDE_CASTS[key].view(BITS[width(target)][1])
    out = np.full_like(want, 0x5A)
    cast_kernels.cast_all[(-(-codes.size // 4096),)](
        array(codes, source), array(out, target), codes.size, DT=DTYPES[target], MODE=None, B=4096
    )
    wrong = np.flatnonzero(~same(out, want, target))
    assert not wrong.size, f"{codes[wrong[0]]:#x} gives {out[wrong[0]]:#x}, not {want[wrong[0]]:#x}"
    assert same(expected(codes, source, target, None), want, target).all()  # so the reference is right as well


def test_rtz_to_e5m2_keeps_infinity_and_rtne_saturates() -> None:
    x = np.array([np.inf, -np.inf, 1e30, -61440.0, 57344.0], np.float32).view(np.uint32)
    assert expected(x, "fp32", "fp8e5", "rtz").tolist() == [0x7C, 0xFC, 0x7B, 0xFB, 0x7B]
    assert expected(x, "fp32", "fp8e5", None).tolist() == [0x7B, 0xFB, 0x7B, 0xFB, 0x7B]
    for mode in MODES:
        check(x, "fp32", "fp8e5", mode, block=8)


@pytest.mark.parametrize("name", [n for n in TORCH if n != "int1"])
def test_torch_types_and_the_implicit_cast_of_a_store(name: str) -> None:
    if width(name) == 8 and name in FLOATS:
        codes = np.arange(256, dtype=np.uint8)
    else:
        codes = codes_of(name)[:1000]
    target = (
        "fp32"
        if name in FLOATS and name != "fp32"
        else "fp64"
        if name == "fp32"
        else "int64"
        if name != "int64"
        else "uint8"
    )
    x = torch.from_numpy(codes.copy()).view(TORCH[name])
    out = torch.zeros(codes.size, dtype=TORCH[target])
    cast_kernels.cast_by_store[(1,)](x, out, codes.size, B=1024)
    got = out.view(BITS[width(target)][0]).numpy()
    assert same(got, expected(codes, name, target, None), target).all()


@pytest.mark.parametrize("source", ["fp8e4nv", "fp16", "fp32", "int64", "uint8", "int1"])
def test_scalars(source: str) -> None:
    codes = codes_of(source)[:40]
    for target in ("fp8e5", "fp8e4b8", "fp8e4b15", "bf16", "fp64", "int8", "uint64", "int1"):
        if target == source or not accepted(source, target):
            continue
        out = np.zeros(codes.size, BITS[width(target)][1])
        cast_kernels.cast_scalar[(1,)](array(codes, source), array(out, target), codes.size, DT=DTYPES[target])
        assert same(out, expected(codes, source, target, None), target).all(), target


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_bitcasts_keep_every_bit(bits: int) -> None:
    names = [n for n in DTYPES if width(n) == bits and n != "int1"]
    codes = codes_of(names[0])
    for source, target in itertools.permutations(names, 2):
        out = np.zeros_like(codes)
        cast_kernels.bitcast_all[(-(-codes.size // 4096),)](
            array(codes, source), array(out, target), codes.size, DT=DTYPES[target], B=4096
        )
        assert (out == codes).all(), (source, target)


def f8(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return formats.encode(name, x.astype(np.float32).astype(np.float64))


@pytest.mark.parametrize("eager", ["", "1"], ids=["compiled", "eager"])
@pytest.mark.parametrize("name", [n for n in SMALL if n.startswith("fp8") and n != "fp8e4b15"])
def test_arithmetic_comparison_and_choice(name: str, eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    codes = np.arange(256, dtype=np.uint8)
    a, b = np.tile(codes, 8), np.repeat(np.array([0, 1, 0x38, 0x7B, 0x80, 0x83, 0xFE, 0x7F], np.uint8), 256)
    n = a.size
    out, flags = np.zeros(7 * n, np.uint8), np.zeros(4 * n, np.uint8)
    cast_kernels.small_float_operations[(1,)](
        array(a, name), array(b, name), array(out, name), torch.from_numpy(flags).view(torch.bool), n, B=2048
    )
    x, y = numbers(a, name), numbers(b, name)
    form = formats.FORMATS[name]
    with np.errstate(invalid="ignore"):
        larger = np.where(
            np.isnan(x), y, np.where(np.isnan(y), x, np.where((x == 0) & (y == 0), x + y, np.maximum(x, y)))
        )
        want = [
            f8(name, x + y),
            f8(name, x - y),
            f8(name, x * y),
            formats.encode(name, -x) if form.fnuz else a ^ 0x80,
            formats.encode(name, np.abs(x)) if form.fnuz else a & 0x7F,
            np.where(x < y, a, b),
            formats.encode(name, larger, "rtz"),  # one of the operands, infinity too
        ]
        tests = [x < y, x == y, x != y, x >= y]
    for k, part in enumerate(want):
        wrong = np.flatnonzero(~same(out[k * n : (k + 1) * n], part.astype(np.uint8), name))
        assert not wrong.size, (k, hex(a[wrong[0]]), hex(b[wrong[0]]), hex(out[k * n + wrong[0]]), hex(part[wrong[0]]))
    assert (flags.reshape(4, n) == np.array(tests)).all()


@pytest.mark.parametrize("name", [n for n in SMALL if n.startswith("fp8") and n != "fp8e4b15"])
def test_reductions(name: str) -> None:
    random = np.random.default_rng(5)
    x = random.integers(-3, 4, (8, 4)).astype(np.float64)  # sums up to 12 are exact in every format
    codes = formats.encode(name, x)
    sums, tops = np.zeros(8, np.uint8), np.zeros(8, np.float32)
    cast_kernels.small_float_reductions[(1,)](array(codes, name), array(sums, name), torch.from_numpy(tops), R=8, C=4)
    assert (numbers(sums, name) == x.sum(1)).all() and (tops == x.max(1)).all()


def test_extrema_keep_infinity() -> None:
    codes = np.array([[0xFC, 0x01, 0x7C, 0x80], [0xFC, 0xFC, 0xFC, 0xFC], [0x7B, 0xFC, 0x00, 0x3C]], np.uint8)
    codes = np.concatenate([codes, codes[:1]])
    low, high = np.zeros(4, np.uint8), np.zeros(4, np.uint8)
    cast_kernels.small_float_extrema[(1,)](array(codes, "fp8e5"), array(low, "fp8e5"), array(high, "fp8e5"), R=4, C=4)
    assert low.tolist() == [0xFC, 0xFC, 0xFC, 0xFC] and high.tolist() == [0x7C, 0xFC, 0x7B, 0x7C]


@pytest.mark.parametrize("name", [n for n in SMALL if n.startswith("fp8")])
def test_eager_shows_the_numbers(name: str) -> None:
    from tiletwin import _C

    table = np.frombuffer(_C.small_float_table(name), np.float32).astype(np.float64)
    assert np.array_equal(table, formats.values(name), equal_nan=True)


def test_fp8e4b15_moves_but_does_not_compute() -> None:
    codes = np.arange(256, dtype=np.uint8)
    out = np.zeros(512, np.uint8)
    cast_kernels.e4b15_moves[(1,)](
        array(codes, "fp8e4b15"), array(codes[::-1], "fp8e4b15"), array(out, "fp8e4b15"), 256, B=256
    )
    assert (out[:256] == np.where(codes % 2 == 0, codes, codes[::-1])).all() and (out[256:] == codes & 0x7F).all()
    with pytest.raises(CompilationError, match=r"'\+' does not take fp8e4b15, which is for storage only"):
        cast_kernels.e4b15_add[(1,)](array(codes, "fp8e4b15"), array(out, "fp8e4b15"), B=16)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize(
    ("source", "target"), [("fp8e4b15", "fp16"), ("fp8e4b15", "fp32"), ("fp16", "fp8e4b15"), ("fp32", "fp8e4b15")]
)
def test_convert_custom_float8(source: str, target: str, old: bool) -> None:
    codes = codes_of(source)
    codes = np.resize(codes, 1 << max(8, (codes.size - 1).bit_length()))
    out = np.zeros(codes.size, BITS[width(target)][1])
    cast_kernels.custom_float8[(1,)](array(codes, source), array(out, target), DT=DTYPES[target], OLD=old, B=codes.size)
    assert same(out, expected(codes, source, target, None), target).all()


@pytest.mark.parametrize("mode", ["rtne", "rtz"])
@pytest.mark.parametrize("kind", ["fp32", "fp16", "int32"])
def test_rounding_of_a_cast_that_is_none(kind: str, mode: str) -> None:
    check(codes_of(kind)[:4096], kind, kind, mode)


@pytest.mark.parametrize(
    ("source", "target", "mode", "text"),
    [
        ("fp8e4nv", "int32", None, "fp8 converts to and from other floats only"),
        ("uint8", "fp8e5", None, "fp8 converts to and from other floats only"),
        ("fp8e5", "int1", None, "fp8 converts to and from other floats only"),
        ("fp16", "fp32", "rtz", "fp_downcast_rounding is for casts to a narrower float"),
        ("fp32", "fp16", "up", "fp_downcast_rounding must be 'rtne' or 'rtz', got 'up'"),
    ],
)
def test_errors(source: str, target: str, mode: str | None, text: str) -> None:
    with pytest.raises(CompilationError, match=text):
        check(codes_of(source)[:16], source, target, mode, block=16)


def test_a_gpu_has_its_own_fp8_types() -> None:
    def compile_for(arch: int, name: str, **options: object) -> str:
        source = triton.compiler.ASTSource(
            cast_kernels.cast_by_store, {"x_ptr": f"*{name}", "o_ptr": "*fp16", "n": "i32", "B": "constexpr"}, {"B": 16}
        )
        target = triton.backends.compiler.GPUTarget("cuda", arch, 32)
        return triton.compile(source, target=target, options=options).asm["ttir"]

    assert "f8E4M3FN" in compile_for(90, "fp8e4nv") and "f8E5M2" in compile_for(80, "fp8e5")
    with pytest.raises(
        CompilationError, match="fp8e4nv is not supported on sm_80, whose fp8 types are fp8e4b15, fp8e5"
    ):
        compile_for(80, "fp8e4nv")
    with pytest.raises(CompilationError, match="fp8e4b8 is not supported on sm_90"):
        compile_for(90, "fp8e4b8")
    assert "f8E4M3FNUZ" in compile_for(90, "fp8e4b8", supported_fp8_dtypes=("fp8e4b8",))
    with pytest.raises(ValueError, match="supported_fp8_dtypes must be a tuple of names among"):
        compile_for(90, "fp8e5", supported_fp8_dtypes=("fp9",))
