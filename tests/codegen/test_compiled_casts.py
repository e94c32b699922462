"""Conversions between number formats as compiled: every 8- and 16-bit number, edges and random bits of wide ones.

The references: the tables of tests/language/formats.py, Python's integers, and what an H200 gave (casts_h200.npz).
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest
import small_kernels as sk

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "language"))
import formats  # noqa: E402

F8 = {
    "f8E5M2": "fp8e5",
    "f8E4M3FN": "fp8e4nv",
    "f8E4M3FNUZ": "fp8e4b8",
    "f8E5M2FNUZ": "fp8e5b16",
}
NARROW = F8 | {"f16": "fp16", "bf16": "bf16"}
WIDE = {"f32": "fp32", "f64": "fp64"}
WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64} | dict.fromkeys(F8, 8)
INTEGERS = ("i8", "i16", "i32", "i64")
COUNT = 4096
FRACTION = {"f32": 23, "f64": 52}


def codes(kind: str) -> np.ndarray:
    """Every code of a narrow format, repeated to COUNT or more; of wide ones numbers around those of narrow formats,
    edges, and random bits."""
    bits = WIDTHS.get(kind) or int(kind[1:])
    integer = np.dtype(f"uint{bits}")
    if bits <= 16:
        return np.resize(np.arange(1 << bits, dtype=integer), max(COUNT, 1 << bits))
    random = np.random.default_rng(bits).integers(0, 1 << bits, COUNT, np.uint64, endpoint=False).astype(integer)
    if kind not in FRACTION:
        near = (random >> (random % bits).astype(integer)).astype(integer)
        edges = [0, 1, 2, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 1 << 24, (1 << 24) + 1, 65504, 65520]
        near[: len(edges)] = np.array(edges, np.uint64).astype(integer)
        return near
    # Half of them: few digits, as at or between the numbers of narrow formats, with a last bit that makes a difference.
    floats = {"f32": np.float32, "f64": np.float64}[kind]
    random[::2] &= integer.type(~((1 << (FRACTION[kind] - 4)) - 1) & ((1 << bits) - 1))
    with np.errstate(all="ignore"):
        scaled = np.ldexp(np.random.default_rng(1).uniform(-2, 2, COUNT), np.arange(COUNT) % 64 - 40).astype(floats)
    random[1::4] = scaled.view(integer)[1::4] & ~integer.type((1 << (FRACTION[kind] - 4)) - 1)
    random[5::16] |= integer.type(1)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 464.0001, 480, 57344,
                        61440, 65504, 65520, 65536, 2**-9, 2**-10, 3 * 2**-11, 2**-16, 2**-17, 2**-24, 2**-25,
                        1.5 * 2**-25, 3.4e38], floats)  # fmt: skip
    random[: len(special)] = special.view(integer)
    return random


def numbers(kind: str, held: np.ndarray) -> np.ndarray:
    if kind in NARROW:
        return formats.values(NARROW[kind])[held]
    with np.errstate(invalid="ignore"):
        return held.view({"f32": np.float32, "f64": np.float64}[kind]).astype(np.float64)


def encoded(kind: str, x: np.ndarray, mode: str) -> np.ndarray:
    if kind in NARROW:
        return formats.encode(NARROW[kind], x, mode)
    return formats.to_float32(x, mode).view(np.uint32) if kind == "f32" else x.view(np.uint64)


def assert_same(got: np.ndarray, want: np.ndarray, kind: str, source: np.ndarray) -> None:
    want = want.view(got.dtype)
    nan = np.isnan(numbers(kind, got)) & np.isnan(numbers(kind, want)) if kind in WIDTHS else np.zeros(len(got), bool)
    wrong = np.flatnonzero((got != want) & ~nan)
    assert not len(wrong), [(hex(source[i]), hex(got[i]), hex(want[i])) for i in wrong[:5]]


def cast_float(source: str, target: str, mode: str) -> str:
    narrower = WIDTHS[target] < WIDTHS[source]
    if mode == "rtne" and "f8" not in source + target and {source, target} != {"f16", "bf16"}:
        return f"%r0 = arith.{'truncf' if narrower else 'extf'} %a : T{source}> to T{target}>"
    rounding = f", rounding = {mode}" if WIDTHS[target] <= WIDTHS[source] else ""
    return f"%r0 = tt.fp_to_fp %a{rounding} : T{source}> -> T{target}>"


@pytest.mark.parametrize("mode", ["rtne", "rtz"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_float_to_float(arch: str, mode: str) -> None:
    kinds = [*NARROW, *WIDE]
    for source in kinds:
        held = codes(source)
        x = numbers(source, held)
        targets = [t for t in kinds if t != source and (mode == "rtne" or WIDTHS[t] <= WIDTHS[source])]
        body = "\n".join(cast_float(source, t, mode).replace("%r0", f"%r{i}") for i, t in enumerate(targets))
        for start in range(0, len(held), COUNT):
            part = slice(start, start + COUNT)
            results = sk.run_elementwise(body, [(source, held[part])], targets, arch, num_warps=8)
            for target, got in zip(targets, results, strict=True):
                assert_same(got, encoded(target, x[part], mode), target, held[part])


@pytest.mark.parametrize("arch", ["sm_75", "sm_90a"])
def test_float_to_integer(arch: str) -> None:
    for source in [*NARROW, *WIDE]:
        held = (
            codes(source)[:COUNT] if source in WIDE else np.resize(codes(source)[:: len(codes(source)) // COUNT], COUNT)
        )
        targets = [(t, s) for t in INTEGERS for s in (True, False)]
        body = "\n".join(
            f"%r{i} = arith.{'fptosi' if signed else 'fptoui'} %a : T{source}> to T{t}>"
            for i, (t, signed) in enumerate(targets)
        )
        results = sk.run_elementwise(body, [(source, held)], [t for t, _ in targets], arch, num_warps=8)
        for (target, signed), got in zip(targets, results, strict=True):
            bits = int(target[1:])
            want = formats.to_integer(numbers(source, held), bits, signed, source == "f64").astype(got.dtype)
            assert_same(got, want, target, held)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_integer_to_float(arch: str) -> None:
    for source in INTEGERS:
        held = codes(source)[:COUNT] if source != "i16" else codes(source)[::16]
        targets = [(t, s) for t in [*NARROW, *WIDE] for s in (True, False)]
        body = "\n".join(
            f"%r{i} = arith.{'sitofp' if signed else 'uitofp'} %a : T{source}> to T{t}>"
            for i, (t, signed) in enumerate(targets)
        )
        results = sk.run_elementwise(body, [(source, held)], [t for t, _ in targets], arch, num_warps=8)
        for (target, signed), got in zip(targets, results, strict=True):
            exact = [int(n) for n in (held.view(f"int{8 * held.itemsize}") if signed else held)]
            want = formats.from_integers((NARROW | WIDE)[target], exact)
            assert_same(got, want, target, held)


@pytest.mark.parametrize("kind", [*F8, "bf16", "f16"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_narrow_elementwise(arch: str, kind: str) -> None:
    """What is no arithmetic on narrow floats: signs, order, choices. All pairs of 64 codes, or pairs of random ones."""
    if kind in F8:
        a, b = (
            part.ravel().astype(np.uint8) for part in np.meshgrid(np.arange(256), np.arange(0, 256, 16) + np.arange(16))
        )
    else:
        a, b = np.random.default_rng(5).integers(0, 1 << 16, (2, COUNT)).astype(np.uint16)
        edges = np.array([0, 0x8000, 0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7FC0, 1, 0x8001, 0x3C00, 0x3F80], np.uint16)
        a[:121], b[:121] = np.repeat(edges, 11), np.tile(edges, 11)
    x, y = numbers(kind, a), numbers(kind, b)
    limits = (formats.encode(NARROW[kind], np.array([v]))[0] for v in (-0.75, 1.5))
    low, high = (float(formats.values(NARROW[kind])[v]) for v in limits)
    body = f"""
  %low_one = arith.constant {low:.6e} : {kind}
  %low = tt.splat %low_one : {kind} -> T{kind}>
  %high_one = arith.constant {high:.6e} : {kind}
  %high = tt.splat %high_one : {kind} -> T{kind}>
  %r0 = math.absf %a : T{kind}>
  %r1 = arith.negf %a : T{kind}>
  %r2 = arith.maxnumf %a, %b : T{kind}>
  %r3 = arith.minimumf %a, %b : T{kind}>
  %r4 = math.floor %a : T{kind}>
  %r5 = tt.clampf %a, %low, %high, propagateNan = none : T{kind}>
  %r6 = tt.clampf %a, %low, %high, propagateNan = all : T{kind}>
  %r7 = arith.cmpf olt, %a, %b : T{kind}>
  %r8 = arith.cmpf une, %a, %b : T{kind}>
  %r9 = arith.select %r7, %a, %b : Ti1>, T{kind}>"""
    types = [kind] * 7 + ["i1", "i1", kind]
    results = sk.run_elementwise(body, [(kind, a), (kind, b)], types, arch, num_warps=8)
    with np.errstate(invalid="ignore"):
        want = [np.abs(x), -x, np.fmax(x, y), np.minimum(x, y), np.floor(x), np.fmin(np.fmax(x, low), high),
                np.clip(x, low, high), x < y, x != y, np.where(x < y, x, y)]  # fmt: skip
    for i, (got, right) in enumerate(zip(results, want, strict=True)):
        if types[i] == "i1":
            assert (got == right).all(), i
        else:
            values = numbers(kind, got)
            wrong = np.flatnonzero(~((values == right) | (np.isnan(values) & np.isnan(right))))
            assert not len(wrong), (i, [(x[j], y[j], values[j], right[j]) for j in wrong[:5]])
            if i < 2 and not formats.FORMATS[NARROW[kind]].fnuz:
                defined = ~np.isnan(right)
                assert (np.signbit(values) == np.signbit(right))[defined].all(), i


@pytest.mark.parametrize("arch", ["sm_80", "sm_89"])
def test_against_recorded(arch: str) -> None:
    """f32 to every type, and back to nothing: what an H200 gave."""
    with np.load(TESTS / "data" / "casts_h200.npz") as stored:
        x = np.resize(stored["x"], 1 << 14)
        targets = {"f16": "f16", "bf16": "bf16", "e4nv": "f8E4M3FN", "e5": "f8E5M2", "f64": "f64", "f16_rtz": "f16",
                   "bf16_rtz": "bf16"}  # fmt: skip
        wanted = {key: np.resize(stored[key], 1 << 14) for key in targets if key in stored}
    assert len(wanted) >= 5
    body = "\n".join(
        cast_float("f32", targets[key], "rtz" if key.endswith("rtz") else "rtne").replace("%r0", f"%r{i}")
        for i, key in enumerate(wanted)
    )
    results = sk.run_elementwise(body, [("f32", x)], [targets[key] for key in wanted], arch, num_warps=8)
    for (key, want), got in zip(wanted.items(), results, strict=True):
        assert_same(got, want, targets[key], x.view(np.uint32))


ROUNDED_AND_READ_AS_ANOTHER = """
tt.func public @kernel(%x: !tt.ptr<i8>, %o: !tt.ptr<i8>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bx = tt.splat %x : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
  %px = tt.addptr %bx, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
  %v = tt.load %px : tensor<64x!tt.ptr<i8>>
  %r = arith.sitofp %v : tensor<64xi8> to tensor<64xFROM>
  %one = arith.constant dense<1.0> : tensor<64xFROM>
  %n = arith.cmpf oeq, %r, %r : tensor<64xFROM>
  %f = arith.select %n, %r, %one : tensor<64xi1>, tensor<64xFROM>
  BITS
  %z = arith.constant dense<0.0> : tensor<64xTO>
  %c = arith.cmpf une, %h, %z : tensor<64xTO>
  %e = arith.extui %c : tensor<64xi1> to tensor<64xi8>
  %bo = tt.splat %o : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
  %po = tt.addptr %bo, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
  tt.store %po, %e : tensor<64x!tt.ptr<i8>>
  tt.return
}"""
DIRECTLY = "%h = tt.bitcast %f : tensor<64xFROM> -> tensor<64xTO>"
BY_INTEGERS = """%b = tt.bitcast %f : tensor<64xFROM> -> tensor<64xi16>
  %h = tt.bitcast %b : tensor<64xi16> -> tensor<64xTO>"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("bits", [DIRECTLY, BY_INTEGERS], ids=["directly", "by_integers"])
@pytest.mark.parametrize(("source", "target"), [("bf16", "f16"), ("f16", "bf16")])
def test_a_number_of_16_bits_read_as_the_other_kind(source: str, target: str, bits: str, arch: str) -> None:
    """LLVM ended the process at these: it looked through the bits, and NVPTX has no such operation."""
    text = ROUNDED_AND_READ_AS_ANOTHER.replace("BITS", bits).replace("FROM", source).replace("TO", target)
    x, out = np.arange(-32, 32, dtype=np.int8), np.zeros(64, np.uint8)
    sk.launch(sk.compiled(text, arch), x.view(np.uint8), out)
    assert out.tolist() == [int(n != 0) for n in x]
