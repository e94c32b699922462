"""Kernels of flash_attention.py against attention's definition."""

from __future__ import annotations

import math

import pytest
import torch
from attention_reference import UNITS, attention
from checking import assert_close, normal
from flash_attention import flash_attention, flash_attention_backward

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def inputs(b, h, kv, t_q, t_k, d, dtype):
    return (
        normal(b, h, t_q, d, dtype=dtype),
        normal(b, kv, t_k, d, dtype=dtype, seed=1),
        normal(b, kv, t_k, d, dtype=dtype, seed=2),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "sizes",
    [
        (2, 4, 2, 128, 128, 64),
        (1, 6, 2, 77, 77, 32),
        (1, 2, 1, 1, 200, 64),
        (1, 2, 2, 40, 333, 128),
        (1, 1, 1, 5, 3, 16),
    ],
)
def test_forward(sizes, causal, dtype) -> None:
    q, k, v = inputs(*sizes, dtype)
    o, lse = flash_attention(q, k, v, causal)
    expected, expected_lse = attention(q, k, v, causal=causal)
    assert_close(o, expected, units=UNITS[dtype])
    assert_close(lse * math.log(2), expected_lse, units=32)


@pytest.mark.parametrize("causal", [False, True])
def test_forward_of_a_packed_projection(causal) -> None:
    packed = normal(2, 90, 3, 4, 32)  # [B, T, 3, H, D] seen as [B, H, T, D]
    q, k, v = (packed[:, :, i].transpose(1, 2) for i in range(3))
    o, _ = flash_attention(q, k, v, causal)
    assert_close(o, attention(q, k, v, causal=causal)[0], units=UNITS[q.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(1, 4, 2, 128, 128, 64), (2, 3, 1, 77, 77, 32), (1, 2, 2, 40, 100, 16)])
def test_backward(sizes, causal, dtype) -> None:
    q, k, v = inputs(*sizes, dtype)
    do = normal(*q.shape, dtype=dtype, seed=3)
    leaves = [t.double().requires_grad_() for t in (q, k, v)]
    attention(*leaves, causal=causal)[0].backward(do.double())
    o, lse = flash_attention(q, k, v, causal)
    for got, leaf in zip(flash_attention_backward(do, q, k, v, o, lse, causal), leaves):
        assert_close(got, leaf.grad, units=2 * UNITS[dtype])


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
def test_long_sequence(causal) -> None:
    q, k, v = inputs(1, 8, 2, 1024, 1024, 64, torch.float16)
    do = normal(*q.shape, dtype=torch.float16, seed=3)
    leaves = [t.double().requires_grad_() for t in (q, k, v)]
    expected, _ = attention(*leaves, causal=causal)
    expected.backward(do.double())
    o, lse = flash_attention(q, k, v, causal, block_m=128, block_n=64)
    assert_close(o, expected.detach(), units=16)
    for got, leaf in zip(flash_attention_backward(do, q, k, v, o, lse, causal, block_m=64, block_n=64), leaves):
        assert_close(got, leaf.grad, units=32)


def test_eager(same_in_eager) -> None:
    q, k, v = inputs(1, 2, 1, 20, 20, 16, torch.float16)

    def run():
        o, lse = flash_attention(q, k, v, True, block_m=16, block_n=16)
        return o, lse, *flash_attention_backward(q, q, k, v, o, lse, True, block_m=16, block_n=16)

    same_in_eager(run)
