"""`acc += tl.dot(a, b)` is `acc = tl.dot(a, b, acc)` in compiled code, and in the interpreter it is not.

The judges: the code of the kernel that passes the accumulator; the interpreter, under the bounds that are derived for
the two; for integers its very bits. Terms that get lost beside a large accumulator show that the bounds know of it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff
from tiletwin.compiler import ASTSource
from tiletwin.diff import bounds, taking
from tiletwin.diff.backends import SimBackend


@triton.jit
def total(a, b, c, K, SUM: tl.constexpr, PRECISION: tl.constexpr, BK: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """c += a @ b, block by block along K."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    at_a = a + m[:, None] * K + k[None, :]
    at_b = b + k[:, None] * N + n[None, :]
    at_c = c + m[:, None] * N + n[None, :]
    acc = tl.load(at_c)
    for _ in range(0, K, BK):
        x, y = tl.load(at_a), tl.load(at_b)
        if SUM == "accumulator":
            acc = tl.dot(x, y, acc, PRECISION, out_dtype=c.dtype.element_ty)
        elif SUM == "first":
            acc = tl.dot(x, y, None, PRECISION, out_dtype=c.dtype.element_ty) + acc
        else:
            acc += tl.dot(x, y, None, PRECISION, out_dtype=c.dtype.element_ty)
        at_a += BK
        at_b += BK * N
    tl.store(at_c, acc)


def code_of(how: str, kind: str, sums: str, precision: str, arch: str, **options: Any) -> dict[str, Any]:
    """Without line numbers, which differ."""
    signature = f"*{kind}:16, *{kind}:16, *{sums}:16, i32:16"
    constants = {"SUM": how, "PRECISION": precision, "BK": 32, "M": 64, "N": 64}
    target = f"cuda:{re.search('[0-9]+', arch)[0]}"
    ttir = triton.compile(ASTSource(total, signature, constants), target=target, options=options).asm["ttir"]
    return small_kernels.compiled(ttir, arch, line_info=False, **options)


KINDS = [("fp16", "fp32", "tf32"), ("fp16", "fp16", "tf32"), ("bf16", "fp32", "tf32"), ("fp32", "fp32", "tf32"),
         ("fp32", "fp32", "ieee"), ("fp64", "fp64", "ieee"), ("i8", "i32", "ieee")]  # fmt: skip
"""Types of operands and of what they are summed in, the precision."""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90a"])
@pytest.mark.parametrize("case", KINDS, ids="-".join)
def test_the_code_of_a_dot_with_an_accumulator(case: tuple[str, str, str], arch: str) -> None:
    want = code_of("accumulator", *case, arch)["ptx"]
    for how in ("first", "second"):
        assert code_of(how, *case, arch)["ptx"] == want


def test_fusion_of_products_and_sums_is_another_matter() -> None:
    case = KINDS[0]
    code = [code_of(how, *case, "sm_80", enable_fp_fusion=False)["ptx"] for how in ("accumulator", "second")]
    assert code[0] == code[1] and "mma.sync" in code[0]


def test_products_stay_in_flight() -> None:
    code = code_of("second", *KINDS[0], "sm_90a", num_stages=3)
    assert code["ttgir"].count(" in_flight {") == 1
    assert sorted(re.findall(r"wgmma\.wait_group\.sync\.aligned (\d+)", code["ptx"])) == ["0", "0", "1"]
    assert "wgmma.mma_async" in code["ptx"] and not re.search(r"\badd(\.rn)?\.f32", code["ptx"])


@triton.jit
def two_products(a, b, c, TURNED: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(a + at), tl.load(b + at)
    first = tl.dot(x, y)
    second = tl.dot(y, x)
    tl.store(c + at, second + first if TURNED else first + second)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_of_two_products_the_right_one_goes_on_with_the_other(turned: bool, arch: str) -> None:
    """As real Triton has it in its ttir."""
    signature, target = f"*fp16:16, *fp16:16, *fp32:16, {int(turned)}, 64", f"cuda:{re.search('[0-9]+', arch)[0]}"
    ttir = triton.compile(ASTSource(two_products, signature), target=target).asm["ttir"]
    code = small_kernels.compiled(ttir, arch)
    order = re.findall(r"%(first|second)\w* = (?:tt\.dot|twg\.warpgroup_dot) ", code["ttgir"])
    assert order == (["second", "first"] if turned else ["first", "second"])
    a, b = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float16) for seed in (3, 4))
    c = np.zeros((64, 64), np.float32)
    small_kernels.launch(code, a.reshape(-1), b.reshape(-1), c.reshape(-1))
    x, y = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_allclose(c, x @ y + y @ x, rtol=0, atol=1e-4)


@triton.jit
def added_to(a, b, c, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.load(c + at).to(tl.float32)
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), total).to(c.dtype.element_ty))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_what_a_product_begins_with_changes_threads_before_it_is_widened(arch: str) -> None:
    target = f"cuda:{re.search('[0-9]+', arch)[0]}"
    ttir = triton.compile(ASTSource(added_to, "*fp16:16, *fp16:16, *fp16:16, 64"), target=target).asm["ttir"]
    code = small_kernels.compiled(ttir, arch)
    moved = re.findall(r"twg\.convert_layout .* -> tensor<64x64x(\w+),", code["ttgir"])
    assert moved and set(moved) == {"f16"}
    a, b, c = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float16) for seed in (5, 6, 7))
    want = c + a.astype(np.float64) @ b.astype(np.float64)
    small_kernels.launch(code, a.reshape(-1), b.reshape(-1), c.reshape(-1))
    np.testing.assert_allclose(c, want, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_code_for_amd(arch: str) -> None:
    llir = {}
    for how in ("accumulator", "second"):
        signature = "*fp16:16, *fp16:16, *fp32:16, i32:16"
        constants = {"SUM": how, "PRECISION": "ieee", "BK": 32, "M": 32, "N": 32}
        kernel = triton.compile(ASTSource(total, signature, constants), target=f"hip:{arch}")
        llir[how] = re.sub(r"(?m), !dbg !\d+|^!.*\n", "", kernel.asm["llir"])
    assert llir["accumulator"] == llir["second"] and "fma" in llir["second"]


class Sim(SimBackend):
    def __init__(self, capability: int) -> None:
        self.capability = capability


def operands(kind: str, values: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """random; lost: an accumulator of 1 and products that are lost beside it, one by one: what tensor cores keep of it
    ends above them, what f32 rounds to as well."""
    random = np.random.default_rng(5)
    if kind == "i8":
        a, b = (random.integers(-128, 128, shape, np.int8) for shape in ((64, 128), (128, 64)))
        return a, b, random.integers(-(2**31), 2**31, (64, 64), np.int32)
    dtype = {"fp16": np.float16, "fp32": np.float32}[kind]
    if values == "lost":
        least = 0.49 * 2**-24 if kind == "fp16" else 0.98 * 2**-24
        return (
            np.full((64, 128), least * 2**12, dtype),
            np.full((128, 64), 2**-12, dtype),
            np.ones((64, 64), np.float32),
        )
    a, b = random.standard_normal((64, 128)).astype(dtype), random.standard_normal((128, 64)).astype(dtype)
    return a, b, random.standard_normal((64, 64)).astype(np.float32)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize(
    ("kind", "precision", "values"),
    [("fp16", "tf32", "random"), ("fp16", "tf32", "lost"), ("fp32", "ieee", "lost")],
)
def test_within_the_bounds(kind: str, precision: str, values: str, capability: int) -> None:
    a, b, c = operands(kind, values)
    arguments = {"a": a, "b": b, "c": c, "K": 128, "PRECISION": precision, "BK": 64, "M": 64, "N": 64}
    report = diff.compare(total, 1, arguments | {"SUM": "second"}, backends=["interp", Sim(capability)])
    assert report.verdict == diff.SAME, report
    assert any(row.within for row in report.rows)


def test_no_latitude_between_hosts() -> None:
    """Where neither side accumulates in place the sum is rounded once."""
    a, b, c = operands("fp16", "lost")
    arguments = {"a": a, "b": b, "c": c, "K": 128, "SUM": "second", "PRECISION": "tf32", "BK": 64, "M": 64, "N": 64}
    launch, _ = taking.take(total, total._launcher.prepare(**arguments), arguments, (1,))
    limits = {gpu: bounds.derive(launch, bounds.Latitude(contracts=gpu)).limits[2].max() for gpu in (False, True)}
    assert limits[False] < 3 * 2**-23 and 120 * 2**-23 < limits[True] < 140 * 2**-23  # K/2 + 1 units of both, twice


@triton.jit
def scaled(a, b, scale, c, SUM: tl.constexpr):
    m, k = tl.arange(0, 32), tl.arange(0, 64)
    at_c = c + m[:, None] * 32 + m[None, :]
    x, y = tl.load(a + m[:, None] * 64 + k[None, :]), tl.load(b + k[:, None] * 32 + m[None, :])
    s, acc = tl.load(scale + m[:, None] * 2 + tl.arange(0, 2)[None, :]), tl.load(at_c)
    if SUM == "accumulator":
        acc = tl.dot_scaled(x, s, "e4m3", y, None, "bf16", acc)
    else:
        acc += tl.dot_scaled(x, s, "e4m3", y, None, "bf16")
    tl.store(at_c, acc)


def test_scaled_dots() -> None:
    """One and the same code; beside an accumulator of 1 every term is lost."""
    signature = "*u8:16, *u16:16, *u8:16, *fp32:16"
    codes = []
    for how in ("accumulator", "second"):
        source = triton.compile(ASTSource(scaled, signature, {"SUM": how}), target="cuda:90")
        codes.append(small_kernels.compiled(source.asm["ttir"], "sm_90a", line_info=False)["ptx"])
    assert codes[0] == codes[1]
    b = (np.full((64, 32), 0.98 * 2**-12, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    a = np.full((32, 64), 0x3F, np.uint8)  # 1.875
    scales, c = np.full((32, 2), 127 - 14, np.uint8), np.ones((32, 32), np.float32)
    arguments = {"a": a, "b": b, "scale": scales, "c": c, "SUM": "second"}
    report = diff.compare(scaled, 1, arguments, backends=["interp", Sim(90)])
    assert report.verdict == diff.SAME and report.rows[-1].within == c.size, report


@pytest.mark.parametrize("capability", [80, 90])
def test_integers_are_exact(capability: int) -> None:
    a, b, c = operands("i8", "")
    want = (c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    arguments = {"a": a, "b": b, "c": c, "K": 128, "PRECISION": "ieee", "BK": 64, "M": 64, "N": 64, "SUM": "second"}
    report = diff.compare(total, 1, arguments, backends=["interp", Sim(capability)])
    assert report.verdict == diff.SAME and all(row.equal == row.elements for row in report.rows), report
    total[1](**arguments)
    assert (c == want).all()
