"""Every code of every element type, and what a cast of it must give (test_casts.py, test_float8.py)."""

from __future__ import annotations

import itertools

import cast_kernels
import formats
import numpy as np
import torch
import triton
import triton.language as tl

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
