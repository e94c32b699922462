"""tl.dot for every combination of types, against float64 and against what an H200 gave."""

from __future__ import annotations

import dot_kernels
import formats
import numpy as np
import pytest
import torch
from dot_operands import EPSILON, MIXED, SAME, empty, make, run_dot, tf32
from kernel_cases import DATA
from test_casts import array, numbers, width
from triton.compiler.errors import CompilationError

SHAPES = [(16, 16, 32), (1, 1, 32), (2, 64, 32), (64, 4, 64), (32, 32, 128)]


@pytest.mark.parametrize(("a_type", "b_type"), SAME + MIXED)
def test_whole_numbers_are_exact(a_type: str, b_type: str) -> None:
    for shape in SHAPES:
        m, n, k = shape
        a, x = make(a_type, (m, k), 1, whole=True)
        b, y = make(b_type, (k, n), 2, whole=True)
        for transposed in (False, True):
            got = run_dot(a, b, shape, (a_type, b_type), transposed=transposed)
            assert (got == x @ y).all(), (shape, transposed)


@pytest.mark.parametrize("out", ["fp16", "fp32"])
@pytest.mark.parametrize(
    ("a_type", "b_type"), [("fp16", "fp16"), ("fp8e5", "fp8e4nv"), ("fp8e4b8", "fp8e5b16"), ("fp8e4b15", "fp8e4b15")]
)
def test_narrow_operands_into_either_accumulator(a_type: str, b_type: str, out: str) -> None:
    shape = m, n, k = 32, 16, 64
    a, x = make(a_type, (m, k), 3)
    b, y = make(b_type, (k, n), 4)
    c = torch.from_numpy(np.random.default_rng(5).standard_normal((m, n))).to(
        torch.float16 if out == "fp16" else torch.float32
    )
    got = run_dot(a, b, shape, (a_type, b_type), out=out, acc=c)
    want = x @ y + c.numpy().astype(np.float64)
    bound = (
        k * 2.0**-24 * (np.abs(x) @ np.abs(y) + 1) + EPSILON[out] * np.abs(want) + (2.0**-24 if out == "fp16" else 0)
    )
    assert (np.abs(got - want) <= bound).all()


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "bf16x3", "bf16x6", "ieee"])
def test_input_precision(precision: str) -> None:
    shape = m, n, k = 16, 16, 32
    a, x = make("fp32", (m, k), 6)
    b, y = make("fp32", (k, n), 7)
    got = run_dot(a, b, shape, ("fp32", "fp32"), precision)
    truncated = tf32(x) @ tf32(y)
    size = np.abs(x) @ np.abs(y)
    if precision == "tf32":
        assert (np.abs(got - truncated) <= k * 2.0**-24 * size).all()
        assert (np.abs(got - x @ y) > k * 2.0**-24 * size).any()  # truncation shows
    else:
        assert (np.abs(got - x @ y) <= k * 2.0**-24 * size).all()


@pytest.mark.parametrize("eager", ["", "1"], ids=["compiled", "eager"])
def test_allow_tf32(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older way to say it: True is tf32, which is also the default, False is ieee."""
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    a, b = (torch.from_numpy(make("fp32", (16, 16), seed)[1].astype(np.float32)) for seed in (46, 47))
    results = {}
    for allow in (None, True, False):
        results[allow] = empty("fp32", (16, 16))
        dot_kernels.dot_allowing[(1,)](a, b, results[allow], ALLOW=allow, M=16, N=16, K=16)
    ieee = run_dot(a.numpy().view(np.uint32), b.numpy().view(np.uint32), (16, 16, 16), ("fp32", "fp32"), "ieee")
    assert torch.equal(results[None], results[True])
    assert not torch.equal(results[True], results[False])
    assert (results[False].numpy() == ieee).all()


@pytest.mark.parametrize(
    ("name", "least"),
    [("fp64", 4), ("fp32", 8), ("fp16", 16), ("bf16", 16), ("int8", 32), ("fp8e5", 32), ("fp8e4b8", 32)],
)
def test_smallest_summed_dimension(name: str, least: int) -> None:
    for m, n in ((1, 1), (1, 16), (16, 2)):
        a, x = make(name, (m, least), 48, whole=True)
        b, y = make(name, (least, n), 49, whole=True)
        assert (run_dot(a, b, (m, n, least), (name, name)) == x @ y).all()
    bits = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[width(name)]
    with pytest.raises(CompilationError, match=f"the summed dimension must be at least {least} for {name}, got"):
        run_dot(np.zeros((16, least // 2), bits), np.zeros((least // 2, 16), bits), (16, 16, least // 2), (name, name))


def test_tf32_truncates_where_rounding_would_not() -> None:
    x = np.full((16, 16), 1 + 2.0**-10 - 2.0**-20, np.float32)
    got = run_dot(
        x.view(np.uint32), np.eye(16, dtype=np.float32).view(np.uint32), (16, 16, 16), ("fp32", "fp32"), "tf32"
    )
    assert (got == 1.0).all()


@pytest.mark.parametrize("eager", ["", "1"], ids=["compiled", "eager"])
@pytest.mark.parametrize(
    ("a_type", "out"), [("fp16", "fp16"), ("fp8e4nv", "fp32"), ("fp32", "fp32"), ("fp64", "fp64"), ("int8", "int32")]
)
def test_batches(a_type: str, out: str, eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    z, m, n, k = 4, 16, 8, 32
    a, x = make(a_type, (z, m, k), 8, whole=True)
    b, y = make(a_type, (z, k, n), 9, whole=True)
    d = empty(out, (z, m, n))
    dot_kernels.dot_batched[(1,)](array(a, a_type), array(b, a_type), d, Z=z, M=m, N=n, K=k)
    assert (d.numpy() == x @ y + 1).all()


def test_int8_sums_wrap_at_32_bits() -> None:
    a = np.full((16, 32), 0x80, np.uint8)
    c = torch.full((16, 16), 2**31 - 1, dtype=torch.int32)
    got = run_dot(a, np.ascontiguousarray(a.T), (16, 16, 32), ("int8", "int8"), acc=c)
    assert (got == 2**31 - 1 + 32 * 128 * 128 - 2**32).all()


def test_not_a_number_and_infinity() -> None:
    a = np.ones((16, 16))
    a[3, 5], a[4, 1], a[5, 2], a[5, 3] = np.nan, np.inf, np.inf, -np.inf
    for name in ("fp16", "bf16"):
        codes = formats.encode(name, a)
        one = formats.encode(name, np.ones((16, 16)))
        got = run_dot(codes, one, (16, 16, 16), (name, name))
        assert np.isnan(got[3]).all() and (got[4] == np.inf).all() and np.isnan(got[5]).all()
        assert (np.delete(got, (3, 4, 5), 0) == 16).all()


def test_an_accumulator_in_a_loop() -> None:
    a, x = make("fp8e4nv", (32, 256), 10, whole=True)
    b, y = make("fp8e4nv", (256, 32), 11, whole=True)
    d = empty("fp32", (32, 32))
    dot_kernels.dot_loop[(1,)](array(a, "fp8e4nv"), array(b, "fp8e4nv"), d, M=32, N=32, K=256, BK=64)
    assert (d.numpy() == x @ y).all()


@pytest.mark.parametrize("imprecise", [0, 16, 32])
def test_max_num_imprecise_acc(imprecise: int) -> None:
    a, x = make("fp8e4nv", (16, 32), 12, whole=True)
    b, y = make("fp8e5", (32, 16), 13, whole=True)
    d = empty("fp32", (16, 16))
    dot_kernels.dot_imprecise[(1,)](array(a, "fp8e4nv"), array(b, "fp8e5"), d, Q=imprecise, M=16, N=16, K=32)
    assert (d.numpy() == x @ y).all()


def test_ieee_numerics_round_the_exact_sum_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    for name in ("fp32", "fp16", "bf16", "fp8e5"):
        a, x = make(name, (16, 64), 14)
        b, y = make(name, (64, 16), 15)
        got = run_dot(a, b, (16, 16, 64), (name, name))
        exact = (x.astype(np.longdouble) @ y.astype(np.longdouble)).astype(np.float64)
        assert (np.abs(got - exact) <= 0.5001 * np.spacing(np.abs(exact).astype(np.float32))).all()


with np.load(DATA / "dots_h200.npz") as _stored:
    RECORDED = {key: _stored[key] for key in _stored.files if key != "meta"}
H200_TYPES = {
    "f16": "fp16",
    "bf16": "bf16",
    "e4nv": "fp8e4nv",
    "e5": "fp8e5",
    "i8": "int8",
    "tf32": "fp32",
    "tf32x3": "fp32",
    "ieee": "fp32",
}


@pytest.mark.parametrize("case", sorted({key.rsplit("_", 1)[0] for key in RECORDED}))
def test_what_an_h200_gave(case: str) -> None:
    """Integers are equal. Floats: a GPU sums products in blocks, whose terms it truncates relative to the largest."""
    kind = case.split("_")[0]
    name = H200_TYPES[kind]
    a, b, c, want = (RECORDED[f"{case}_{part}"] for part in ("a", "b", "c", "out"))
    m, k = a.shape
    n = b.shape[1]
    bits = {8: np.uint8, 16: np.uint16, 32: np.uint32}[width(name)]
    precision = kind if kind in ("tf32", "tf32x3", "ieee") else None
    acc = torch.from_numpy(c.astype(np.int32 if name == "int8" else np.float32))
    a, b = a.view(bits), b.view(bits)
    got = run_dot(a, b, (m, n, k), (name, name), precision, acc=acc)
    if name == "int8":
        assert (got == want).all()
        return
    x, y = (tf32(numbers(v, name)) if kind == "tf32" else numbers(v, name) for v in (a, b))
    terms = np.abs(x) @ np.abs(y) + np.abs(c)
    steps = k / (8 if name == "fp32" else 16) + 1
    bound = steps * (18 * 2.0**-25 + 2.0**-23) * terms + k * 2.0**-24 * terms
    if kind == "tf32x3":
        bound += 2.0**-20 * terms
    assert ((np.abs(got - want) <= bound) | (np.isnan(got) & np.isnan(want))).all()


@pytest.mark.parametrize(
    ("types", "shape", "options", "text"),
    [
        (
            ("uint8", "uint8"),
            (16, 16, 32),
            {},
            "tl.dot multiplies int8, fp8, fp16, bf16, fp32 or fp64, got uint8 and uint8",
        ),
        (("fp16", "bf16"), (16, 16, 32), {}, "both operands must have one element type"),
        (("fp16", "fp16"), (16, 16, 8), {}, "the summed dimension must be at least 16 for fp16, got 8"),
        (("fp8e5", "fp8e5"), (16, 16, 16), {}, "the summed dimension must be at least 32 for fp8e5, got 16"),
        (("fp32", "fp32"), (16, 16, 16), {"precision": "fp8"}, "input_precision must be one of"),
    ],
)
def test_errors(types: tuple[str, str], shape: tuple[int, int, int], options: dict, text: str) -> None:
    m, n, k = shape
    codes = [
        np.zeros(s, {8: np.uint8, 16: np.uint16, 32: np.uint32}[width(t)]) for t, s in zip(types, ((m, k), (k, n)))
    ]
    with pytest.raises(CompilationError, match=text):
        run_dot(*codes, shape, types, **options)
