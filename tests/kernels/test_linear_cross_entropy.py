"""Kernels of linear_cross_entropy.py against torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from checking import assert_close, integers, normal
from linear_cross_entropy import linear_cross_entropy, linear_cross_entropy_backward


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(50, 128, 1000), (17, 64, 333), (96, 256, 2048)])
def test_forward_and_backward(shape, dtype) -> None:
    rows, hidden, vocab = shape
    x, w = normal(rows, hidden, dtype=dtype), normal(vocab, hidden, dtype=dtype, scale=0.2)
    target = integers(0, vocab, rows, dtype=torch.int64)
    target[::5] = -100
    leaves = [x.double().requires_grad_(), w.double().requires_grad_()]
    logits = leaves[0] @ leaves[1].T
    expected = F.cross_entropy(logits, target)
    expected.backward()
    loss, lse = linear_cross_entropy(x, w, target)
    assert_close(loss, expected.detach(), units=32)
    assert_close(lse, torch.logsumexp(logits, -1).detach(), units=32)
    for got, leaf in zip(linear_cross_entropy_backward(x, w, target, lse), leaves):
        assert_close(got, leaf.grad, units=256 if dtype == torch.float32 else 16)


def test_hidden_size_that_is_no_multiple_of_the_block() -> None:
    x, w, target = normal(20, 100), normal(50, 100), integers(0, 50, 20, dtype=torch.int64)
    loss, _ = linear_cross_entropy(x, w, target)
    assert_close(loss, F.cross_entropy(x.double() @ w.double().T, target), units=32)


def test_eager(same_in_eager) -> None:
    x, w, target = normal(10, 16), normal(20, 16), integers(0, 20, 10, dtype=torch.int64)

    def run():
        blocks = dict(block_m=16, block_v=16, block_h=16)
        loss, lse = linear_cross_entropy(x, w, target, **blocks)
        return loss, lse, *linear_cross_entropy_backward(x, w, target, lse, **blocks)

    same_in_eager(run)
