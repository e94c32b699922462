"""Kernels of norms.py against torch."""

from __future__ import annotations

import norms
import pytest
import torch
import torch.nn.functional as F
from checking import assert_close, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 1000), (2, 33, 64), (16, 4096), (5, 1), (0, 8)])
def test_rms_norm(shape, dtype) -> None:
    x, w = normal(*shape, dtype=dtype), normal(shape[-1], dtype=dtype)
    y, rstd = norms.rms_norm(x, w)
    assert_close(y, F.rms_norm(x.double(), shape[-1:], w.double(), 1e-6))
    assert_close(rstd, 1 / (x.double().square().mean(-1) + 1e-6).sqrt().flatten())


def test_rms_norm_of_strided_rows() -> None:
    whole = normal(64, 700)
    x, w = whole[:, 100:613], normal(513)
    y, _ = norms.rms_norm(x, w)
    assert_close(y, F.rms_norm(x.double(), (513,), w.double(), 1e-6))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 1000), (130, 64), (32, 2048)])
def test_rms_norm_backward(shape, dtype) -> None:
    x, w, dy = normal(*shape, dtype=dtype), normal(shape[-1], dtype=dtype), normal(*shape, dtype=dtype, seed=1)
    xr, wr = x.double().requires_grad_(), w.double().requires_grad_()
    F.rms_norm(xr, shape[-1:], wr, 1e-6).backward(dy.double())
    _, rstd = norms.rms_norm(x, w)
    dx, dw = norms.rms_norm_backward(dy, x, w, rstd)
    assert_close(dx, xr.grad)
    assert_close(dw, wr.grad, units=16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 512), (9, 1111), (4, 4096)])
def test_add_rms_norm(shape, dtype) -> None:
    x, r, w = normal(*shape, dtype=dtype), normal(*shape, dtype=dtype, seed=1), normal(shape[1], dtype=dtype)
    total = x.double() + r.double()
    out, residual = x.clone(), r.clone()
    norms.add_rms_norm_(out, residual, w)
    assert_close(residual, total, units=1)
    assert_close(out, F.rms_norm(residual.double(), shape[1:], w.double(), 1e-5))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "groups"), [((2, 32, 14, 14), 8), ((1, 12, 7, 9), 4), ((3, 8, 1, 1), 2)])
def test_group_norm(shape, groups, dtype) -> None:
    x, w, b = normal(*shape, dtype=dtype), normal(shape[1], dtype=dtype), normal(shape[1], dtype=dtype, seed=1)
    y = norms.group_norm(x, groups, w, b)
    assert_close(y, F.group_norm(x.double(), groups, w.double(), b.double()), units=16)


@pytest.mark.parametrize("shape", [(2, 17, 5, 64), (100, 80), (1, 3)])
def test_l2_norm(shape) -> None:
    x = normal(*shape)
    assert_close(norms.l2_norm(x), F.normalize(x.double(), dim=-1))


def test_eager(same_in_eager) -> None:
    x, w, dy = normal(3, 40), normal(40), normal(3, 40, seed=1)

    def run():
        y, rstd = norms.rms_norm(x, w)
        out, residual = x.clone(), dy.clone()
        norms.add_rms_norm_(out, residual, w, block=32)
        image = normal(1, 4, 3, 3)
        grouped = norms.group_norm(image, 2, w[:4], w[4:8], block=16)
        return y, *norms.rms_norm_backward(dy, x, w, rstd, programs=2), out, residual, grouped, norms.l2_norm(x)

    same_in_eager(run)
