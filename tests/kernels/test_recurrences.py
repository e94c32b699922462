"""Kernels of linear_attention.py and selective_scan.py against loops over time in float64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from checking import assert_close, normal
from linear_attention import gated_linear_attention, retention
from selective_scan import gated_recurrence, selective_scan

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def recurrent(q, k, v, log_gates):
    """o_t = q_t S_t / sqrt(D), S_t = exp(g_t) S_(t-1) + k_t^T v_t; log_gates [B, H, T]."""
    q, k, v, g = q.double(), k.double(), v.double(), log_gates.double()
    state = torch.zeros(*q.shape[:2], q.shape[-1], v.shape[-1], dtype=torch.float64, device=q.device)
    out = []
    for t in range(q.shape[2]):
        state = state * g[:, :, t, None, None].exp() + k[:, :, t, :, None] * v[:, :, t, None, :]
        out.append((q[:, :, t, None] @ state)[:, :, 0])
    return torch.stack(out, 2) * q.shape[-1] ** -0.5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3, 100, 32, 64), (1, 2, 64, 64, 32), (1, 1, 7, 16, 32)])
def test_retention(shape, dtype) -> None:
    b, h, t, d, dv = shape
    q, k, v = normal(b, h, t, d, dtype=dtype), normal(b, h, t, d, dtype=dtype, seed=1), normal(b, h, t, dv, dtype=dtype)
    log_decay = torch.log1p(-(2.0 ** -(5 + torch.arange(h, dtype=torch.float32, device=q.device))))
    expected = recurrent(q, k, v, log_decay[None, :, None].expand(b, h, t))
    assert_close(retention(q, k, v, log_decay), expected, units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3, 100, 32, 64), (1, 2, 64, 64, 32), (1, 1, 7, 16, 16)])
def test_gated(shape, dtype) -> None:
    b, h, t, d, dv = shape
    q, k, v = normal(b, h, t, d, dtype=dtype), normal(b, h, t, d, dtype=dtype, seed=1), normal(b, h, t, dv, dtype=dtype)
    gates = F.logsigmoid(normal(b, h, t) + 2)
    assert_close(gated_linear_attention(q, k, v, gates), recurrent(q, k, v, gates), units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("shape", [(2, 50, 70, 16), (1, 128, 64, 8)])
def test_selective_scan(shape, gated, dtype) -> None:
    batch, t, width, n = shape
    u, delta, z = (normal(batch, t, width, dtype=dtype, seed=s) for s in range(3))
    a = -torch.exp(normal(width, n, scale=0.5))
    b, c, d = normal(batch, t, n, dtype=dtype), normal(batch, t, n, dtype=dtype, seed=1), normal(width)
    y, last = selective_scan(u, delta, a, b, c, d, z if gated else None)
    h = torch.zeros(batch, width, n, dtype=torch.float64, device=u.device)
    step = F.softplus(delta.double())
    expected = []
    for i in range(t):
        h = h * torch.exp(step[:, i, :, None] * a) + (step * u)[:, i, :, None] * b.double()[:, i, None]
        expected.append((h * c.double()[:, i, None]).sum(-1) + u[:, i] * d.double())
    expected = torch.stack(expected, 1)
    assert_close(y, expected * F.silu(z.double()) if gated else expected, units=32)
    assert_close(last, h, units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 100, 50), (1, 32, 16), (3, 1, 5)])
def test_gated_recurrence(shape, dtype) -> None:
    x, gate = normal(*shape, dtype=dtype), torch.sigmoid(normal(*shape, seed=1) + 1).to(dtype)
    state, expected = torch.zeros_like(x[:, 0]).double(), []
    for t in range(shape[1]):
        state = gate[:, t].double() * state + x[:, t].double()
        expected.append(state)
    assert_close(gated_recurrence(x, gate), torch.stack(expected, 1), units=16)


def test_eager(same_in_eager) -> None:
    q, v, x = normal(1, 1, 20, 16), normal(1, 1, 20, 32), normal(1, 9, 5)
    a = -torch.exp(normal(5, 4))
    gates = F.logsigmoid(normal(1, 1, 20))

    def run():
        kept = retention(q, q, v, gates[0, 0, :1], chunk=16)
        scanned = selective_scan(
            x, x, a, x[..., :4].contiguous(), x[..., 1:].contiguous(), a[:, 0].contiguous(), x, block=8
        )
        return kept, gated_linear_attention(q, q, v, gates, 16), *scanned, gated_recurrence(x, x, 4, 8)

    same_in_eager(run)
