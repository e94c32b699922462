"""Kernels of layer_norms.py against torch."""

from __future__ import annotations

import layer_norms
import pytest
import torch
import torch.nn.functional as F
from checking import assert_close, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
BACKWARDS = [layer_norms.layer_norm_backward, layer_norms.layer_norm_backward_locked]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(7, 1000), (33, 64), (8, 8192), (5, 1)])
def test_forward(shape, bias, dtype) -> None:
    x, w = normal(*shape, dtype=dtype, scale=3), normal(shape[1], dtype=dtype)
    b = normal(shape[1], dtype=dtype, seed=1) if bias else None
    y, mean, rstd = layer_norms.layer_norm(x, w, b)
    assert_close(y, F.layer_norm(x.double(), shape[1:], w.double(), b.double() if bias else None), units=16)
    assert_close(mean, x.double().mean(1), units=32)
    assert_close(rstd, 1 / (x.double().var(1, unbiased=False) + 1e-5).sqrt())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backward", BACKWARDS)
@pytest.mark.parametrize("shape", [(37, 1000), (200, 64), (1, 17), (32, 2048)])
def test_backward(shape, backward, dtype) -> None:
    x, w, b = normal(*shape, dtype=dtype), normal(shape[1], dtype=dtype), normal(shape[1], dtype=dtype, seed=1)
    dy = normal(*shape, dtype=dtype, seed=2)
    leaves = [t.double().requires_grad_() for t in (x, w, b)]
    F.layer_norm(leaves[0], shape[1:], *leaves[1:]).backward(dy.double())
    _, mean, rstd = layer_norms.layer_norm(x, w, b)
    for got, leaf in zip(backward(dy, x, w, mean, rstd), leaves):
        assert_close(got, leaf.grad, units=16)


@pytest.mark.parametrize("backward", BACKWARDS)
def test_eager(same_in_eager, backward) -> None:
    x, w, b, dy = normal(3, 40), normal(40), normal(40, seed=1), normal(3, 40, seed=2)

    def run():
        y, mean, rstd = layer_norms.layer_norm(x, w, b, block=16)
        return y, *backward(dy, x, w, mean, rstd)

    same_in_eager(run)
