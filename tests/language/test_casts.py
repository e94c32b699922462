"""Conversions between element types: every 8- and 16-bit number, edges and random numbers of wide ones, to every type.

The references are the tables of formats.py and Python's integers, and what an H200 gave (casts_h200.npz).
"""

from __future__ import annotations

import itertools

import cast_kernels
import numpy as np
import pytest
import torch
from cast_checks import (
    BITS,
    DTYPES,
    FLOATS,
    MODES,
    TORCH,
    accepted,
    array,
    check,
    codes_of,
    expected,
    modes,
    numbers,
    pairs,
    same,
    width,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_cases import DATA
from triton.compiler.errors import CompilationError


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
