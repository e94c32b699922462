"""Kernels of rotary.py against complex products and rotated halves in torch."""

from __future__ import annotations

import pytest
import rotary
import torch
from checking import DEVICE, ROUNDING, assert_close, integers, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def tables(t: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    inv = 1.0 / 10000 ** (torch.arange(0, d, 2, device=DEVICE) / d)
    angle = torch.arange(t, device=DEVICE)[:, None] * inv
    return angle.cos(), angle.sin()


def turn_halves(x, cos, sin):
    first, second = x.double().chunk(2, -1)
    c, s = cos.double()[:, None], sin.double()[:, None]
    return torch.cat([first * c - second * s, second * c + first * s], -1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 17, 8, 2, 64), (1, 100, 3, 1, 32), (1, 16, 12, 12, 128)])
def test_halves(shape, dtype) -> None:
    b, t, hq, hk, d = shape
    q, k = normal(b, t, hq, d, dtype=dtype), normal(b, t, hk, d, dtype=dtype)
    cos, sin = tables(t, d)
    q_out, k_out = q.clone(), k.clone()
    rotary.rope_half_(q_out, k_out, cos, sin)
    assert_close(q_out, turn_halves(q, cos, sin))
    assert_close(k_out, turn_halves(k, cos, sin))
    rotary.rope_half_(q_out, k_out, cos, sin, backward=True)
    assert_close(q_out, q.double())
    assert_close(k_out, k.double())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "rotary_dim"), [((33, 4, 64), 64), ((50, 2, 96), 32), ((7, 5, 80), 16)])
def test_interleaved(shape, rotary_dim, dtype) -> None:
    x, positions = normal(*shape, dtype=dtype), integers(0, 2000, shape[0], dtype=torch.int64)
    inv = 1.0 / 10000.0 ** (torch.arange(0, rotary_dim, 2, device=DEVICE, dtype=torch.float32) / rotary_dim)
    angle = positions.double()[:, None] * inv.double()
    pairs = torch.view_as_complex(x[..., :rotary_dim].double().unflatten(-1, (-1, 2)).contiguous())
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)[:, None]).flatten(-2)
    expected = torch.cat([turned, x[..., rotary_dim:].double()], -1)
    got = rotary.rope_interleaved(x, positions, rotary_dim)
    # angles up to 2,000 are rounded to fp32: 1e-4 absolute
    unit = max(ROUNDING[dtype], 2000 * ROUNDING[torch.float32] / 4)
    assert_close(got, expected, unit=unit)
    assert torch.equal(got[..., rotary_dim:], x[..., rotary_dim:])
    assert_close(rotary.rope_interleaved(got, positions, rotary_dim, conjugate=True), x.double())


def test_eager(same_in_eager) -> None:
    positions = integers(0, 50, 5, dtype=torch.int64)

    def run():
        q, k = normal(1, 2, 3, 16), normal(1, 2, 1, 16)
        rotary.rope_half_(q, k, *tables(2, 16))
        return q, k, rotary.rope_interleaved(normal(5, 2, 24), positions, 16, block=4)

    same_in_eager(run)
