"""tl.dot_scaled for every combination of types, against float64 and against what an H100 gave."""

from __future__ import annotations

import dot_kernels
import formats
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from kernel_cases import DATA
from test_casts import array
from triton.compiler.errors import CompilationError

SCALED = {"e2m1": None, "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}


def pack(codes: np.ndarray, axis: int) -> np.ndarray:
    low, high = (
        np.take(codes, range(0, codes.shape[axis], 2), axis),
        np.take(codes, range(1, codes.shape[axis], 2), axis),
    )
    return (high << 4 | low).astype(np.uint8)


def scaled_operand(kind: str, shape: tuple[int, ...], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(codes, values); e2m1 codes are not packed yet."""
    random = np.random.default_rng(seed)
    if kind == "e2m1":
        codes = random.integers(0, 16, shape).astype(np.uint8)
        table = np.array(formats.E2M1)
        return codes, np.where(codes & 8, -1, 1) * table[codes & 7]
    x = random.standard_normal(shape) * 2
    codes = formats.encode(SCALED[kind], x)
    return codes, formats.values(SCALED[kind])[codes]


def scale_values(codes: np.ndarray, half: bool, fast: bool) -> np.ndarray:
    """2^(code - 127) as a GPU holds it: in bf16, or in fp16 when an operand is fp16; 255 is NaN."""
    value = np.ldexp(1.0, codes.astype(np.int64) - 127)
    if half:
        value = formats.values("fp16")[formats.encode("fp16", np.where(codes == 0, 0, value))]
    return np.where(codes == 255, np.inf if fast else np.nan, value)


def rounded(x: np.ndarray, half: bool) -> np.ndarray:
    name = "fp16" if half else "bf16"
    return formats.values(name)[formats.encode(name, x)]


def run_scaled(
    a, sa, b, sb, shape, kinds, *, k_pack=(True, True), fast=False, acc=None, transposed=False, group=32
) -> np.ndarray:
    m, n, k = shape
    stored_a = pack(a, 1 if k_pack[0] else 0) if kinds[0] == "e2m1" else a
    stored_b = pack(b, 0 if k_pack[1] else 1) if kinds[1] == "e2m1" else b
    if transposed:
        stored_b = np.ascontiguousarray(stored_b.T)
    arguments = [array(x, SCALED[kind] or "uint8") for x, kind in ((stored_a, kinds[0]), (stored_b, kinds[1]))]
    scales = [None if s is None else torch.from_numpy(s) if isinstance(s, np.ndarray) else s for s in (sa, sb)]
    d = torch.full((m, n), 77.0)
    dot_kernels.scaled[(1,)](
        arguments[0],
        scales[0],
        arguments[1],
        scales[1],
        acc,
        d,
        AF=kinds[0],
        BF=kinds[1],
        AK=k_pack[0],
        BK=k_pack[1],
        FAST=fast,
        BT=transposed,
        G=group,
        M=m,
        N=n,
        K=k,
    )
    return d.numpy()


def reference(x, sa, y, sb, kinds, group=32, fast=False) -> tuple[np.ndarray, np.ndarray]:
    """The operands that are multiplied, in float64, from values and scale codes."""
    half = "fp16" in kinds
    with np.errstate(invalid="ignore", over="ignore"):
        x, y = rounded(x, half), rounded(y, half)
        if sa is not None:
            x = rounded(x * np.repeat(scale_values(sa, half, fast), group, 1), half)
        if sb is not None:
            y = rounded(y * np.repeat(scale_values(sb, half, fast), group, 1).T, half)
    return x, y


def close(got: np.ndarray, x: np.ndarray, y: np.ndarray, c=0) -> bool:
    want = x @ y + c
    return bool((np.abs(got - want) <= (x.shape[1] + 1) * 2.0**-24 * (np.abs(x) @ np.abs(y) + np.abs(c))).all())


@pytest.mark.parametrize("a_kind", SCALED)
@pytest.mark.parametrize("b_kind", SCALED)
def test_scaled_formats(a_kind: str, b_kind: str) -> None:
    shape = m, n, k = 32, 16, 64
    kinds = a_kind, b_kind
    a, x = scaled_operand(a_kind, (m, k), 20)
    b, y = scaled_operand(b_kind, (k, n), 21)
    random = np.random.default_rng(22)
    scales = (
        random.integers(120, 135, (m, k // 32)).astype(np.uint8),
        random.integers(120, 135, (n, k // 32)).astype(np.uint8),
    )
    for sa, sb in ((scales[0], scales[1]), (None, scales[1]), (scales[0], None), (None, None)):
        for transposed in (False, True):
            got = run_scaled(a, sa, b, sb, shape, kinds, transposed=transposed)
            assert close(got, *reference(x, sa, y, sb, kinds)), (sa is None, sb is None, transposed)


@pytest.mark.parametrize("k_pack", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(16, 16, 64), (128, 32, 128), (2, 4, 32), (32, 512, 64)])
def test_e2m1_packed_along_any_axis(shape: tuple[int, int, int], transposed: bool, k_pack: tuple[bool, bool]) -> None:
    m, n, k = shape
    kinds = "e2m1", "e2m1"
    a, x = scaled_operand("e2m1", (m, k), 23)
    b, y = scaled_operand("e2m1", (k, n), 24)
    random = np.random.default_rng(25)
    sa, sb = (random.integers(124, 130, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    got = run_scaled(a, sa, b, sb, shape, kinds, k_pack=k_pack, transposed=transposed)
    want = reference(x, sa, y, sb, kinds)
    assert (got == want[0] @ want[1]).all()  # few bits: exact


@pytest.mark.parametrize("eager", ["", "1"], ids=["compiled", "eager"])
def test_scaled_accumulator_and_both_modes(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    shape = m, n, k = 16, 32, 64
    a, x = scaled_operand("e4m3", (m, k), 26)
    b, y = scaled_operand("e5m2", (k, n), 27)
    sa = np.full((m, 2), 128, np.uint8)
    c = np.random.default_rng(28).standard_normal((m, n)).astype(np.float32)
    got = run_scaled(a, sa, b, None, shape, ("e4m3", "e5m2"), acc=torch.from_numpy(c), fast=True)
    assert close(got, *reference(x, sa, y, None, ("e4m3", "e5m2")), c)


@pytest.mark.parametrize("b_kind", ["e2m1", "e4m3", "bf16", "fp16"])
@pytest.mark.parametrize("fast", [False, True])
def test_extreme_scales(b_kind: str, fast: bool) -> None:
    """Every code of a scale, one a row: 255 is NaN (fast: infinite), large ones overflow, small ones underflow."""
    shape = m, n, k = 256, 16, 32
    a, x = scaled_operand("e4m3", (m, k), 29)
    a[:, 3], x[:, 3] = 0, 0
    b, y = scaled_operand(b_kind, (k, n), 30)
    sa = np.arange(256, dtype=np.uint8)[:, None]
    got = run_scaled(a, sa, b, None, shape, ("e4m3", b_kind), fast=fast)
    with np.errstate(invalid="ignore", over="ignore"):
        p, q = reference(x, sa, y, None, ("e4m3", b_kind), fast=fast)
        want = p @ q
        size = np.abs(p) @ np.abs(q)
        fine = np.abs(got - want) <= (k + 1) * 2.0**-24 * size + k * 2.0**-149
        fine |= (size > float(np.finfo(np.float32).max)) & ~np.isfinite(got)  # order decides
        fine |= np.isnan(want) & np.isnan(got)
    assert fine.all(), np.argwhere(~fine)[:4]
    assert np.isfinite(got[:128]).all()
    assert np.isnan(got[255]).all()  # with fast_math: infinity times the zero in column 3


with np.load(DATA / "narrow_h100.npz") as _stored:
    NARROW = {key: _stored[key] for key in _stored.files if "/" in key}


@pytest.mark.parametrize("case", sorted({key.split("/")[0] for key in NARROW}))
def test_scaled_on_an_h100(case: str) -> None:
    """Every scale code, one a row; products of few bits are equal, others within the sums' rounding."""
    part = {key.split("/")[1]: value for key, value in NARROW.items() if key.startswith(case + "/")}
    words, want = case.split("_"), part["out"]
    m, n = want.shape
    if words[0] == "scaled":
        kinds, packing, group, fast = (words[1], words[2]), (True, True), 32, words[3] == "1"
        a, sa, b, sb = part["a0"], part["a1"], part["a2"], None
    else:
        kinds, fast = ("e2m1", "e2m1"), False
        packing = tuple(c == "1" for c in words[1]) if words[0] == "pack" else (True, True)
        group = 32 if words[0] == "pack" else 16
        a, sa, b, sb = (part[f"a{i}"] for i in range(4))
    numbers_as_scales = words[0] == "e4m3scale"
    scales = [
        None if s is None else array(s, "fp8e4nv") if numbers_as_scales else torch.from_numpy(s) for s in (sa, sb)
    ]
    got = torch.full((m, n), 77.0)
    dot_kernels.scaled[(1,)](
        array(a, SCALED[kinds[0]] or "uint8"),
        scales[0],
        array(b, SCALED[kinds[1]] or "uint8"),
        scales[1],
        None,
        got,
        AF=kinds[0],
        BF=kinds[1],
        AK=packing[0],
        BK=packing[1],
        FAST=fast,
        BT=False,
        G=group,
        M=m,
        N=n,
        K=sa.shape[1] * group,
    )
    got, want = got.numpy().astype(np.float64), want.astype(np.float64)
    rows = slice(0, 248 if "bf16" in kinds and "fp16" not in kinds else m)  # above, sums overflow as their order has it
    finite = np.isfinite(want[rows])
    assert (np.isnan(got) == np.isnan(want))[rows].all() and (got[rows] == want[rows])[np.isinf(want[rows])].all()
    if kinds != ("e2m1", "e2m1"):
        assert np.isnan(want[255]).all() and np.isnan(got[255]).all()
    size = np.where(finite, np.abs(want[rows]), 0).max(1, keepdims=True)
    with np.errstate(invalid="ignore"):
        assert (np.abs(got[rows] - want[rows]) <= 2.0**-16 * size + 2.0**-140)[finite].all()
    if kinds == ("e2m1", "e2m1"):
        assert (got == want).all()


def test_groups_of_16_and_scales_that_are_numbers() -> None:
    shape = m, n, k = 16, 16, 64
    a, x = scaled_operand("e2m1", (m, k), 31)
    b, y = scaled_operand("e2m1", (k, n), 32)
    random = np.random.default_rng(33)
    codes = [formats.encode("fp8e4nv", random.uniform(0.1, 4, (rows, k // 16))) for rows in (m, n)]
    sa, sb = (array(c, "fp8e4nv") for c in codes)
    got = run_scaled(a, sa, b, sb, shape, ("e2m1", "e2m1"), group=16)
    p = rounded(x * np.repeat(formats.values("fp8e4nv")[codes[0]], 16, 1), False)
    q = rounded(y * np.repeat(formats.values("fp8e4nv")[codes[1]], 16, 1).T, False)
    assert close(got, p, q)


def test_scaled_batches_and_loops() -> None:
    z, m, n, k = 2, 16, 8, 64
    a, x = scaled_operand("e2m1", (z, m, k), 34)
    b, y = scaled_operand("e2m1", (z, k, n), 35)
    random = np.random.default_rng(36)
    sa, sb = (random.integers(124, 130, (z, rows, k // 32)).astype(np.uint8) for rows in (m, n))
    d = torch.zeros(z, m, n)
    dot_kernels.scaled_batched[(1,)](
        torch.from_numpy(pack(a, 2)),
        torch.from_numpy(sa),
        torch.from_numpy(pack(b, 1)),
        torch.from_numpy(sb),
        d,
        Z=z,
        M=m,
        N=n,
        K=k,
    )
    for i in range(z):
        p, q = reference(x[i], sa[i], y[i], sb[i], ("e2m1", "e2m1"))
        assert (d[i].numpy() == p @ q).all()
    a, x = scaled_operand("e4m3", (m, 256), 37)
    b, y = scaled_operand("e5m2", (256, n), 38)
    sa, sb = (random.integers(124, 130, (rows, 8)).astype(np.uint8) for rows in (m, n))
    out = torch.zeros(m, n)
    dot_kernels.scaled_loop[(1,)](
        array(a, "fp8e4nv"),
        torch.from_numpy(sa),
        array(b, "fp8e5"),
        torch.from_numpy(sb),
        out,
        AF="e4m3",
        BF="e5m2",
        M=m,
        N=n,
        K=256,
        BK=64,
    )
    assert close(out.numpy(), *reference(x, sa, y, sb, ("e4m3", "e5m2")))


def test_scaled_ieee_numerics_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    shape = m, n, k = 16, 16, 64
    a, x = scaled_operand("e4m3", (m, k), 39)
    b, y = scaled_operand("fp16", (k, n), 40)
    sa, sb = np.full((m, 2), 250, np.uint8), np.full((n, 2), 4, np.uint8)  # 2^123 and 2^-123: no f16 holds them
    got = run_scaled(a, sa, b, sb, shape, ("e4m3", "fp16"))
    assert (got == (x @ y).astype(np.float32)).mean() > 0.98  # float64 sums in another order
    assert (np.abs(got - x @ y) <= np.spacing(np.abs(x @ y).astype(np.float32))).all()


def test_bits_stand_for_numbers() -> None:
    m, n, k = 16, 16, 32
    a, x = scaled_operand("bf16", (m, k), 41)
    b, y = scaled_operand("e4m3", (k, n), 42)
    d = torch.zeros(m, n)
    dot_kernels.scaled[(1,)](
        torch.from_numpy(a),
        None,
        torch.from_numpy(b),
        None,
        None,
        d,
        AF="bf16",
        BF="e4m3",
        AK=True,
        BK=True,
        FAST=False,
        BT=False,
        G=32,
        M=m,
        N=n,
        K=k,
    )
    assert close(d.numpy(), x, y)


@pytest.mark.parametrize(
    ("kinds", "stored", "options", "text"),
    [
        (
            ("e3m2", "e4m3"),
            ("uint8", "uint8"),
            {},
            "lhs_format must be 'e2m1', 'e4m3', 'e5m2', 'bf16' or 'fp16', got 'e3m2'",
        ),
        (
            ("e4m3", "e4m3"),
            ("fp16", "uint8"),
            {},
            r"lhs of format 'e4m3' must hold fp8e4nv \(or its bits as uint8\), got fp16",
        ),
        (("e4m3", "e2m1"), ("uint8", "uint8"), {"AK": False}, "lhs_k_pack=False is for format 'e2m1'"),
        (("e4m3", "e4m3"), ("uint8", "uint8"), {"scale": "fp16"}, "lhs_scale must hold uint8 exponents"),
        (("e4m3", "e4m3"), ("uint8", "uint8"), {"G": 8}, r"lhs_scale must have shape \(16, 2\), got"),
    ],
)
def test_scaled_errors(kinds: tuple[str, str], stored: tuple[str, str], options: dict, text: str) -> None:
    data = [torch.zeros(4096, dtype=torch.uint8), torch.zeros(4096, dtype=torch.uint8)]
    arguments = [triton.reinterpret(x, getattr(tl, "float16" if s == "fp16" else s)) for x, s in zip(data, stored)]
    scale = torch.zeros(4096, dtype=torch.float16 if options.get("scale") else torch.uint8)
    with pytest.raises(CompilationError, match=text):
        dot_kernels.scaled[(1,)](
            arguments[0],
            scale,
            arguments[1],
            None,
            None,
            torch.zeros(256),
            AF=kinds[0],
            BF=kinds[1],
            AK=options.get("AK", True),
            BK=True,
            FAST=False,
            BT=False,
            G=options.get("G", 32),
            M=16,
            N=16,
            K=64,
        )
