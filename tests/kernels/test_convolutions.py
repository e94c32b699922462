"""Kernels of convolutions.py against torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from checking import assert_close, normal
from convolutions import causal_conv1d, causal_conv1d_backward, conv2d, max_pool2d

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "filters", "size", "options"),
    [
        ((2, 8, 14, 14), 16, 3, dict(pad=1)),
        ((1, 3, 23, 17), 10, 5, dict(stride=2, pad=2)),
        ((1, 16, 7, 7), 40, 1, dict()),
        ((1, 4, 12, 12), 8, 3, dict(dilation=2, pad=2)),
    ],
)
def test_conv2d(shape, filters, size, options, dtype) -> None:
    x, w, b = (
        normal(*shape, dtype=dtype),
        normal(filters, shape[1], size, size, dtype=dtype),
        normal(filters, dtype=dtype),
    )
    names = {"pad": "padding"}
    expected = F.conv2d(x.double(), w.double(), b.double(), **{names.get(k, k): v for k, v in options.items()})
    assert_close(conv2d(x, w, b, **options), expected, units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("silu", [False, True])
@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize(("shape", "k"), [((2, 50, 70), 4), ((1, 33, 32), 3), ((1, 1, 5), 2)])
def test_causal_conv1d(shape, k, state, silu, dtype) -> None:
    batch, _, c = shape
    x, w, b = normal(*shape, dtype=dtype), normal(c, k, dtype=dtype), normal(c, dtype=dtype)
    old = normal(batch, k - 1, c, dtype=dtype, seed=1) if state else torch.zeros_like(x[:, :1]).expand(-1, k - 1, -1)
    whole = torch.cat([old, x], 1).double().transpose(1, 2)
    expected = F.conv1d(whole, w.double()[:, None], b.double(), groups=c).transpose(1, 2)
    got = causal_conv1d(x, w, b, old if state else None, silu)
    assert_close(got, F.silu(expected) if silu else expected, units=16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "k"), [((2, 50, 70), 4), ((1, 33, 32), 3), ((1, 1, 5), 2)])
def test_causal_conv1d_backward(shape, k, dtype) -> None:
    x, w, dy = normal(*shape, dtype=dtype), normal(shape[2], k, dtype=dtype), normal(*shape, dtype=dtype, seed=1)
    leaves = [x.double().requires_grad_(), w.double().requires_grad_()]
    padded = F.pad(leaves[0].transpose(1, 2), (k - 1, 0))
    F.conv1d(padded, leaves[1][:, None], groups=shape[2]).transpose(1, 2).backward(dy.double())
    for got, leaf in zip(causal_conv1d_backward(dy, x, w), leaves):
        assert_close(got, leaf.grad, units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "size", "stride"), [((2, 3, 20, 33), 3, 2), ((1, 2, 8, 8), 2, 2), ((1, 1, 5, 4), 4, 1)]
)
def test_max_pool(shape, size, stride, dtype) -> None:
    x = normal(*shape, dtype=dtype)
    expected, index = F.max_pool2d(x.float(), size, stride, return_indices=True)
    y, at = max_pool2d(x, size, stride)
    assert torch.equal(y.float(), expected)
    assert torch.equal(x.flatten(2).gather(2, at.flatten(2)), y.flatten(2))
    if dtype == torch.float32:
        assert torch.equal(at, index)


def test_eager(same_in_eager) -> None:
    x, w, image = normal(1, 10, 5), normal(5, 3), normal(1, 2, 5, 5)

    def run():
        y = causal_conv1d(x, w, silu=True, block_t=8, block_c=8)
        convolved = conv2d(image, normal(3, 2, 3, 3), pad=1, bm=16, bn=16, bk=16)
        return y, *causal_conv1d_backward(x, x, w, 8, 8), convolved, *max_pool2d(image, 2, 1, block=16)

    same_in_eager(run)
