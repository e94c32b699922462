"""Kernels of losses.py against torch."""

from __future__ import annotations

import losses
import pytest
import torch
import torch.nn.functional as F
from checking import DEVICE, ROUNDING, assert_close, integers, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def log_probabilities(*shape: int, seed: int) -> torch.Tensor:
    return normal(*shape, seed=seed).log_softmax(-1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("smoothing", "z_weight"), [(0.0, 0.0), (0.1, 0.0), (0.0, 1e-4), (0.2, 1e-3)])
@pytest.mark.parametrize("shape", [(37, 1000), (8, 32000), (5, 3)])
def test_cross_entropy(shape, smoothing, z_weight, dtype) -> None:
    logits = normal(*shape, dtype=dtype, scale=3)
    target = integers(0, shape[1], shape[0], dtype=torch.int64)
    target[::4] = -100
    x = logits.double().requires_grad_()
    expected = F.cross_entropy(x, target, ignore_index=-100, label_smoothing=smoothing)
    lse = torch.logsumexp(x, -1)[target != -100]
    expected = expected + z_weight * lse.square().mean()
    expected.backward()
    got, got_lse = losses.cross_entropy(logits, target, smoothing, z_weight=z_weight, grad=True)
    assert_close(got, expected.detach(), units=16)
    assert_close(got_lse[target != -100], lse)
    assert_close(logits, x.grad, units=32)
    assert not logits[::4].any()


def test_every_row_ignored() -> None:
    logits, target = normal(3, 20), torch.full((3,), -100, device=DEVICE)
    loss, _ = losses.cross_entropy(logits, target, grad=True)
    assert loss == 0 and not logits.any()


@pytest.mark.parametrize("factor", [1.0, 0.25])
def test_scale_rows(factor) -> None:
    x = normal(6, 5000)
    expected = x * factor
    losses.scale_rows_(x, torch.tensor([factor], device=DEVICE))
    assert torch.equal(x, expected)


@pytest.mark.parametrize("reduction", ["none", "sum"])
@pytest.mark.parametrize("log_target", [False, True])
@pytest.mark.parametrize("shape", [(9, 1000), (4, 4096), (2, 1)])
def test_kl_div(shape, log_target, reduction) -> None:
    logq, target = log_probabilities(*shape, seed=0), log_probabilities(*shape, seed=1)
    target = target if log_target else target.exp()
    x = logq.double().requires_grad_()
    expected = F.kl_div(x, target.double(), reduction="none", log_target=log_target)
    expected.sum().backward()
    expected = expected.detach()
    loss, grad = losses.kl_div(logq, target, reduction, log_target)
    assert_close(loss, expected if reduction == "none" else expected.sum(1), units=64)
    assert_close(grad, x.grad)


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(9, 1000), (4, 4096)])
def test_jsd(shape, beta) -> None:
    x, y = log_probabilities(*shape, seed=0), log_probabilities(*shape, seed=1)
    leaf, other = x.double().requires_grad_(), y.double()
    if beta == 0.0:
        expected = other.exp() * (other - leaf)
    elif beta == 1.0:
        expected = leaf.exp() * (leaf - other)
    else:
        mix = (beta * other.exp() + (1 - beta) * leaf.exp()).log()
        expected = beta * other.exp() * (other - mix) + (1 - beta) * leaf.exp() * (leaf - mix)
    expected.sum().backward()
    loss, dx = losses.jsd(x, y, beta)
    # differences of logarithms of the size of log(columns) cancel
    unit = ROUNDING[torch.float32] * 8
    assert_close(loss, expected.detach(), units=16, unit=unit)
    assert_close(dx, leaf.grad, units=16, unit=unit)


def test_eager(same_in_eager) -> None:
    target = torch.tensor([3, -100, 0], device=DEVICE)
    x, y = log_probabilities(3, 21, seed=0), log_probabilities(3, 21, seed=1)

    def run():
        logits = normal(3, 21)
        loss, lse = losses.cross_entropy(logits, target, 0.1, grad=True, block=8)
        losses.scale_rows_(logits, torch.tensor([0.5], device=DEVICE), block=16)
        return loss, lse, logits, *losses.kl_div(x, y, "sum", True, block=16), *losses.jsd(x, y, 0.3, block=16)

    same_in_eager(run)
