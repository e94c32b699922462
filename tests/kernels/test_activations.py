"""Kernels of activations.py against torch."""

from __future__ import annotations

import activations
import pytest
import torch
import torch.nn.functional as F
from checking import ROUNDING, assert_close, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
GATES = {"swiglu": F.silu, "geglu": lambda x: F.gelu(x, approximate="tanh"), "reglu": F.relu}
VARIANTS = {
    "erf": (activations.gelu_erf, F.gelu),
    "tanh": (activations.gelu_tanh, lambda x: F.gelu(x, approximate="tanh")),
    "quick": (activations.gelu_quick, lambda x: x * torch.sigmoid(1.702 * x)),
    "silu": (activations.silu, F.silu),
    "libdevice": (activations.gelu_libdevice, lambda x: F.gelu(x, approximate="tanh")),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [1, 1000, 50_000])
def test_gelu(n, variant, dtype) -> None:
    function, reference = VARIANTS[variant]
    x = normal(n, dtype=dtype, scale=3)
    assert_close(activations.gelu(x, function), reference(x.double()))


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_backward(dtype) -> None:
    x, dy = normal(5000, dtype=dtype, scale=2), normal(5000, dtype=dtype, seed=1)
    leaf = x.double().requires_grad_()
    F.gelu(leaf).backward(dy.double())
    assert_close(activations.gelu_backward(dy, x), leaf.grad)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("shape", [(7, 1000), (64, 2816), (3, 1)])
def test_gated(shape, kind, dtype) -> None:
    rows, n = shape
    packed, dc = normal(rows, 2 * n, dtype=dtype), normal(rows, n, dtype=dtype, seed=1)
    leaf = packed.double().requires_grad_()
    expected = GATES[kind](leaf[:, :n]) * leaf[:, n:]
    expected.backward(dc.double())
    assert_close(activations.gated(packed, kind), expected.detach())
    gradient = packed.clone()
    activations.gated_backward_(dc, gradient, kind)
    assert_close(gradient, leaf.grad, unit=2 * ROUNDING[dtype])


@pytest.mark.parametrize("variant", VARIANTS)
def test_eager_gelu(same_in_eager, variant) -> None:
    x = normal(70)
    same_in_eager(lambda: activations.gelu(x, VARIANTS[variant][0], block=32))


@pytest.mark.parametrize("kind", GATES)
def test_eager_gated(same_in_eager, kind) -> None:
    dc = normal(2, 20, seed=1)

    def run():
        packed = normal(2, 40)
        out = activations.gated(packed, kind, block=16)
        activations.gated_backward_(dc, packed, kind, block=16)
        return out, packed, activations.gelu_backward(dc, packed[:, :20].contiguous(), block=16)

    same_in_eager(run)
