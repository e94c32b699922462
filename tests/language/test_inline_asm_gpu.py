"""Inline PTX beside what an H100 gave for the same texts and registers; narrow formats beside CUDA's own conversions.

Here:      bit for bit, on edges of every operand type and random words (tests/data/ptx_h100.npz).
Not here:  references computed here, packing, errors (test_inline_asm.py).
"""

from __future__ import annotations

import re

import inline_asm_kernels as kernels
import numpy as np
import pytest
import torch
from kernel_cases import DATA

with np.load(DATA / "ptx_h100.npz") as _stored:
    STORED = {key: _stored[key] for key in _stored.files}
TEXTS = {str(name)[1:]: (str(name)[0], row) for name, row in zip(STORED["texts"], STORED["results"])}


def nan_of_f32(x: np.ndarray) -> np.ndarray:
    return (x & 0x7FFFFFFF) > 0x7F800000


def nans_of_halves(x: np.ndarray, infinity: int) -> list[np.ndarray]:
    return [(x >> shift & 0x7FFF) > infinity for shift in (0, 16)]


def same(got: np.ndarray, want: np.ndarray, text: str) -> np.ndarray:
    """Equal bits. Where a float comes out any NaN equals any: a GPU has one (0x7FFFFFFF), a CPU keeps an operand's."""
    equal = got == want
    words = re.split(r"[ .;,{}$]+", text)
    if "f32" in words and not any(f"{kind}.f32" in text for kind in ("u32", "s32", "u8", "s8", "s16")):
        equal |= nan_of_f32(got) & nan_of_f32(want)
    for kind, infinity in (("f16", 0x7C00), ("bf16", 0x7F80)):
        if kind in words or kind + "x2" in words:
            halves = [(got >> shift & 0xFFFF) == (want >> shift & 0xFFFF) for shift in (0, 16)]
            for i, nan in enumerate(zip(nans_of_halves(got, infinity), nans_of_halves(want, infinity))):
                halves[i] |= nan[0] & nan[1]
            equal |= halves[0] & halves[1]
    return equal


def run(text: str, arguments: list[np.ndarray], registers: str = "=r,r,r,r") -> np.ndarray:
    n = len(arguments[0])
    size = 1 << (n - 1).bit_length()
    padded = [torch.from_numpy(np.pad(a, (0, size - n))) for a in arguments]
    out = torch.zeros(size, dtype=torch.uint32)
    kernels.KERNELS[len(arguments)][(1,)](*padded, out, text, registers, 1, size)
    return out.numpy()[:n]


@pytest.mark.parametrize("text", TEXTS)
def test_an_h100_gave_the_same(text: str) -> None:
    kind, want = TEXTS[text]
    arguments = list(STORED[kind])
    got = run(text, arguments)
    wrong = np.flatnonzero(~same(got, want, text))
    rows = [(*(hex(a[i]) for a in arguments), hex(got[i]), hex(want[i])) for i in wrong[:4]]
    assert not wrong.size, f"{wrong.size} of {len(want)}: {rows}"


def test_the_texts_cover_the_instructions() -> None:
    words = {re.split(r"[ .]", part)[0] for text in TEXTS for part in re.split(r"[{;]\s*", text) if part}
    known = "add sub mul fma min max abs neg set setp cvt rcp sqrt div copysign dp2a bmsk szext vabsdiff vadd4 vavrg2"
    assert words >= set(known.split())
    assert len(TEXTS) > 420


PACKED = [
    ("rn.satfinite.e2m1x2", "b8"),
    ("rn.satfinite.e2m3x2", "b16"),
    ("rn.satfinite.e3m2x2", "b16"),
    ("rz.satfinite.ue8m0x2", "b16"),
    ("rp.satfinite.ue8m0x2", "b16"),
    ("rz.ue8m0x2", "b16"),
    ("rp.ue8m0x2", "b16"),
]


@pytest.mark.parametrize("column", range(len(PACKED)), ids=[form for form, _ in PACKED])
def test_narrow_formats_as_cuda_converts_them(column: int) -> None:
    """Edges, middles and numbers beside them; the second operand is the lower half of a pair."""
    form, kind = PACKED[column]
    x, codes = STORED["narrow_x"], STORED["narrow_codes"][:, column].astype(np.uint32)
    text = f"{{ .reg .{kind} t; cvt.{form}.f32 t, $1, $2; cvt.u32.{kind.replace('b', 'u')} $0, t; }}"
    got = run(text, [x, x[::-1].copy()], "=r,f,f")
    shift = 4 if kind == "b8" else 8
    assert (got == codes << shift | codes[::-1]).all()


@pytest.mark.parametrize("form", ["rn.satfinite.e2m1x2", "rn.satfinite.relu.e2m1x2", "rn.satfinite.e3m2x2"])
@pytest.mark.parametrize("pair", ["f16x2", "bf16x2"])
def test_narrow_formats_from_halves(form: str, pair: str) -> None:
    """From a pair of halves as from the same two f32."""
    halves = np.arange(65536, dtype=np.uint32)
    words = halves | np.random.default_rng(1).permutation(halves) << np.uint32(16)
    kind = "b8" if "e2m1" in form else "b16"
    widen = pair.replace("x2", "")
    tail = f"cvt.u32.{kind.replace('b', 'u')} $0, t; }}"
    direct = run(f"{{ .reg .{kind} t; cvt.{form}.{pair} t, $1; {tail}", [words], "=r,r")
    through = run(
        f"{{ .reg .{kind} t; .reg .b16 l, h; .reg .f32 a, b; mov.b32 {{l, h}}, $1;"
        f" cvt.f32.{widen} a, h; cvt.f32.{widen} b, l; cvt.{form}.f32 t, a, b; {tail}",
        [words],
        "=r,r",
    )
    assert (direct == through).all()
    assert len(np.unique(direct)) > 30


@pytest.mark.parametrize(
    ("column", "form", "result"),
    [(0, "e2m1x2", "f16x2"), (1, "e2m3x2", "f16x2"), (2, "e3m2x2", "f16x2"), (3, "ue8m0x2", "bf16x2")],
)
def test_values_of_narrow_formats(column: int, form: str, result: str) -> None:
    values = STORED["narrow_values"][:, column].astype(np.uint32)
    if form == "e2m1x2":
        words = np.arange(256, dtype=np.uint32)
        want = values[words & 15] | values[words >> 4] << np.uint32(16)
        kind = "b8"
    else:
        low = np.arange(256, dtype=np.uint32)
        words = low | low[::-1] << np.uint32(8)
        want = values[low] | values[low[::-1]] << np.uint32(16)
        kind = "b16"
    got = run(
        f"{{ .reg .{kind} t; cvt.{kind.replace('b', 'u')}.u32 t, $1; cvt.rn.{result}.{form} $0, t; }}", [words], "=r,r"
    )
    assert same(got, want, result).all()
