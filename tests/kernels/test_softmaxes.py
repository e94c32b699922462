"""Kernels of softmaxes.py against torch."""

from __future__ import annotations

import pytest
import softmaxes
import torch
from checking import DEVICE, assert_close, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
SHAPES = [(33, 1000), (4, 1), (128, 257), (3, 32000)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(shape, dtype) -> None:
    x = normal(*shape, dtype=dtype, scale=4)
    expected = torch.softmax(x.double(), -1)
    assert_close(softmaxes.softmax(x), expected, units=16)
    assert_close(softmaxes.softmax_online(x), expected, units=16)
    assert_close(softmaxes.softmax_online(x, log=True), torch.log_softmax(x.double(), -1))


@pytest.mark.parametrize("shape", SHAPES)
def test_backward(shape) -> None:
    x, dy = normal(*shape).double().requires_grad_(), normal(*shape, seed=1)
    y = torch.softmax(x, -1)
    y.backward(dy.double())
    assert_close(softmaxes.softmax_backward(dy, y.detach().float()), x.grad, units=32)


def test_rows_with_infinities_and_nan() -> None:
    x = normal(5, 70)
    x[0, 3] = float("inf")
    x[1] = float("-inf")
    x[2, ::2] = float("-inf")
    x[3, 0] = float("nan")
    y = softmaxes.softmax(x)
    assert torch.equal(y.isnan(), torch.softmax(x, -1).isnan())
    assert_close(y[2:3], torch.softmax(x[2:3].double(), -1))


@pytest.mark.parametrize("shape", [(2, 3, 50), (1, 2, 128)])
def test_causal(shape) -> None:
    b, h, t = shape
    x = normal(b, h, t, t)
    lengths = torch.tensor([t, t // 3][:b], dtype=torch.int32, device=DEVICE)
    at = torch.arange(t, device=DEVICE)
    live = (
        (at[None] <= at[:, None]) & (at[None, None] < lengths[:, None, None]) & (at[:, None] < lengths[:, None, None])
    )
    expected = (x.double() * 0.125).masked_fill(~live[:, None], float("-inf")).softmax(-1).nan_to_num(0.0)
    softmaxes.causal_softmax_(x, lengths, 0.125)
    assert_close(x, expected, units=16)


def test_eager(same_in_eager) -> None:
    x, dy = normal(3, 50), normal(3, 50, seed=1)
    lengths = torch.tensor([3], dtype=torch.int32, device=DEVICE)

    def run():
        y = softmaxes.softmax(x, programs=2)
        scores = normal(1, 1, 5, 5)
        softmaxes.causal_softmax_(scores, lengths, 0.5)
        return y, softmaxes.softmax_online(x, block=16), softmaxes.softmax_backward(dy, y), scores

    same_in_eager(run)
