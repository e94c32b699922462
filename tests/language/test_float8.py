"""Elements of 8-bit floats: arithmetic, reductions, printing, the type that only moves, and what a GPU lacks."""

from __future__ import annotations

import cast_kernels
import formats
import numpy as np
import pytest
import torch
import triton
from cast_checks import BITS, DTYPES, SMALL, array, codes_of, expected, numbers, same, width
from triton.compiler.errors import CompilationError


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
