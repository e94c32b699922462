"""Single operations beside what an H200 gave (tests/data/operations_h200.npz): exact ones bit for bit, functions within
the sum of both bounds.

Not here:  casts (test_casts.py), whole kernels (test_gpu_values.py), references computed here (test_elementwise.py).
"""

from __future__ import annotations

import elementwise_kernels as kernels
import numpy as np
import pytest
import torch
import triton.language as tl
from kernel_cases import DATA
from triton.language.extra import libdevice

with np.load(DATA / "operations_h200.npz") as _stored:
    STORED = {key: _stored[key] for key in _stored.files}

EXACT_UNARY = {
    "sqrt_rn": tl.sqrt_rn,
    "abs": kernels.absolute,
    "rint": libdevice.rint,
    "round": libdevice.round,
    "trunc": libdevice.trunc,
    "floor": tl.floor,
    "ceil": tl.ceil,
}
EXACT_BINARY = {
    "add": kernels.add,
    "sub": kernels.sub,
    "mul": kernels.mul,
    "div_rn": tl.div_rn,
    "min": kernels.minimum,
    "max": kernels.maximum,
    "min_nan": kernels.minimum_nan,
    "max_nan": kernels.maximum_nan,
    "fma": kernels.fused,
}
INTEGERS = {
    "add": kernels.add,
    "mul": kernels.mul,
    "div": kernels.floordiv,
    "mod": kernels.mod,
    "shl": kernels.shl_by_6_bits,
    "shr": kernels.shr_by_6_bits,
    "min": kernels.minimum,
    "max": kernels.maximum,
}
# Largest distance in units of the last place. The GPU's error is most of it: tl.exp multiplies by a rounded log2(e).
NEAR_UNARY = {
    "exp": (tl.exp, 62),
    "exp2": (tl.exp2, 3),
    "log": (tl.log, 3),
    "log2": (tl.log2, 3),
    "sin": (tl.sin, 3),
    "cos": (tl.cos, 3),
    "rsqrt": (tl.rsqrt, 2),
    "erf": (tl.erf, 3),
    "sigmoid": (tl.sigmoid, 62),
    "tanh": (libdevice.tanh, 3),
    "tan": (libdevice.tan, 4),
    "log1p": (libdevice.log1p, 2),
    "expm1": (libdevice.expm1, 2),
    "asin": (libdevice.asin, 3),
    "acos": (libdevice.acos, 3),
    "atan": (libdevice.atan, 3),
    "sinh": (libdevice.sinh, 4),
    "cosh": (libdevice.cosh, 3),
    "cbrt": (libdevice.cbrt, 2),
    "lgamma": (libdevice.lgamma, 7),
    "tgamma": (libdevice.tgamma, 6),
}
NEAR_BINARY = {"div": (kernels.div, 2), "pow": (libdevice.pow, 5), "atan2": (libdevice.atan2, 4)}
TINY = np.finfo(np.float32).tiny


def run(function: object, arguments: list[np.ndarray], result: np.dtype) -> np.ndarray:
    n = len(arguments[0])
    tensors = [torch.from_numpy(a) for a in arguments]
    out = torch.from_numpy(np.zeros(n, result))
    kernel = kernels.unary if len(arguments) == 1 else kernels.binary
    kernel[(-(-n // 1024),)](*tensors, out, n, function, 1024)
    return out.numpy()


def differing(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Places with other bits; NaNs are alike."""
    equal = got.view(f"u{got.itemsize}") == want.view(f"u{got.itemsize}")
    if got.dtype.kind == "f":
        equal |= np.isnan(got) & np.isnan(want)
    return np.flatnonzero(~equal)


@pytest.mark.parametrize("name", EXACT_UNARY)
def test_exact_functions(name: str) -> None:
    x, want = STORED["unary/x"], STORED[f"unary/{name}"]
    got = run(EXACT_UNARY[name], [x], want.dtype)
    wrong = differing(got, want)
    if name in ("floor", "ceil"):  # there subnormal arguments are zeros
        wrong = wrong[(np.abs(x[wrong]) >= TINY) | (x[wrong] == 0)]
    assert not wrong.size, [(x[i], got[i], want[i]) for i in wrong[:4]]


@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_arithmetic(name: str) -> None:
    x, y, want = STORED["binary/x"], STORED["binary/y"], STORED[f"binary/{name}"]
    got = run(EXACT_BINARY[name], [x, y], want.dtype)
    wrong = differing(got, want)
    assert not wrong.size, [(x[i], y[i], got[i], want[i]) for i in wrong[:4]]


@pytest.mark.parametrize("width", [8, 32, 64])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str, width: int) -> None:
    x, y, want = (STORED[f"i{width}/{key}"] for key in ("x", "y", name))
    got = run(INTEGERS[name], [x, y], want.dtype)
    wrong = differing(got, want)
    assert not wrong.size, [(x[i], y[i], got[i], want[i]) for i in wrong[:4]]


@pytest.mark.parametrize("name", [*NEAR_UNARY, *NEAR_BINARY])
def test_functions_are_near(name: str) -> None:
    """Where neither arguments nor results are subnormal, which the GPU's functions take for zero and give as zero."""
    group, (function, limit) = ("unary", NEAR_UNARY[name]) if name in NEAR_UNARY else ("binary", NEAR_BINARY[name])
    arguments = [STORED[f"{group}/{key}"] for key in (("x",) if group == "unary" else ("x", "y"))]
    want = STORED[f"{group}/{name}"]
    got = run(function, arguments, want.dtype)
    usual = np.ones(len(want), bool)
    for v in (*arguments, want, got):
        usual &= (np.abs(v) >= 2 * TINY) | (v == 0) | ~np.isfinite(v)
    usual &= ~((want == 0) & (got != 0)) & ~((got == 0) & (want != 0))  # flushed
    if name == "lgamma":  # near its zeros a GPU's error is not bounded in these units
        usual &= (arguments[0] > 3) | (arguments[0] < -11)
    if group == "binary" and name == "div":  # a GPU's reciprocal of so large a number is 0
        usual &= np.abs(arguments[1]) < 2.0**126
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(got.astype(np.float64) - want) / np.spacing(np.abs(want)).astype(np.float64)
    off[(got == want) | (np.isnan(got) & np.isnan(want))] = 0
    off = np.where(usual, off, 0)
    at = int(off.argmax())
    assert usual.mean() > 0.5
    assert off[at] <= limit, (off[at], [v[at] for v in arguments], got[at], want[at])
