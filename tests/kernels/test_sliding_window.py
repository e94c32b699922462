"""Kernels of sliding_window.py against attention's definition."""

from __future__ import annotations

import pytest
import torch
from attention_reference import UNITS, attention
from checking import DEVICE, assert_close, normal
from sliding_window import varlen_attention, window_attention

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("window", "sink"), [(1, 0), (50, 0), (33, 4), (1000, 0), (40, 40)])
@pytest.mark.parametrize("shape", [(1, 2, 200, 64), (2, 1, 77, 32)])
def test_window(shape, window, sink, dtype) -> None:
    q, k, v = (normal(*shape, dtype=dtype, seed=s) for s in range(3))
    assert_close(
        window_attention(q, k, v, window, sink), attention(q, k, v, window=window, sink=sink)[0], units=UNITS[dtype]
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("softcap", [0.0, 20.0])
@pytest.mark.parametrize("lens", [[100, 1, 37, 64], [200]])
def test_varlen(lens, softcap, dtype) -> None:
    ends = torch.tensor([0, *lens]).cumsum(0).to(torch.int32).to(DEVICE)
    q, k, v = (normal(sum(lens), 3, 32, dtype=dtype, seed=s) for s in range(3))
    out = varlen_attention(q, k, v, ends, max(lens), softcap)
    units = UNITS[dtype] * (4 if softcap else 1)  # tanh(x) by 2 sigmoid(2 x) - 1 cancels
    for i, n in enumerate(lens):
        parts = [t[int(ends[i]) : int(ends[i]) + n].transpose(0, 1).double() for t in (q, k, v)]
        if softcap:
            s = softcap * torch.tanh(parts[0] @ parts[1].transpose(1, 2) * 32**-0.5 / softcap)
            s = s.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1).to(DEVICE), float("-inf"))
            expected = s.softmax(-1) @ parts[2]
        else:
            expected, _ = attention(*parts, causal=True)
        assert_close(out[int(ends[i]) : int(ends[i]) + n].transpose(0, 1), expected, units=units)


def test_eager(same_in_eager) -> None:
    q, k, v = (normal(1, 1, 20, 16, seed=s) for s in range(3))
    ends = torch.tensor([0, 17, 20], dtype=torch.int32, device=DEVICE)

    def run():
        packed = [t.reshape(20, 1, 16) for t in (q, k, v)]
        window = window_attention(q, k, v, 5, 2, block_m=16, block_n=16)
        return window, varlen_attention(*packed, ends, 17, 20.0, block_m=16, block_n=16)

    same_in_eager(run)
