"""Kernels of optimisers.py against torch's optimisers and their formulas in float64."""

from __future__ import annotations

import pytest
import torch
from checking import DEVICE, assert_close, normal
from optimisers import adam8_, adamw_, clip_norm_, lion_


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("n", [1, 5000])
def test_adamw(n, dtype) -> None:
    betas = tuple(torch.tensor([0.9, 0.999]).tolist())  # fp32 numbers: 1 - beta is exact
    p = normal(n, dtype=dtype)
    leaf = p.double().requires_grad_()
    reference = torch.optim.AdamW([leaf], lr=1e-2, betas=betas, weight_decay=0.1)
    m, v = torch.zeros(n, device=DEVICE), torch.zeros(n, device=DEVICE)
    for step in range(1, 4):
        g = normal(n, dtype=dtype, seed=step)
        adamw_(p, g, m, v, step, lr=1e-2, betas=betas, decay=0.1)
        leaf.grad = g.double()
        reference.step()
        assert_close(p, leaf.detach(), units=4 * step)
    state = reference.state[leaf]
    assert_close(m, state["exp_avg"])
    assert_close(v, state["exp_avg_sq"])


@pytest.mark.parametrize("n", [1, 1000, 5000])
def test_adam8(n) -> None:
    p, blocks = normal(n), -(-n // 256)
    m, v = torch.zeros(n, dtype=torch.int8, device=DEVICE), torch.zeros(n, dtype=torch.uint8, device=DEVICE)
    m_scale, v_scale = torch.ones(blocks, device=DEVICE), torch.ones(blocks, device=DEVICE)
    for step in (1, 2):
        g = normal(n, seed=step)
        wide = [s.repeat_interleave(256)[:n].double() for s in (m_scale, v_scale)]
        em = 0.9 * m.double() * wide[0] + 0.1 * g
        ev = 0.999 * (v.double() * wide[1]) ** 2 + 0.001 * g.double() ** 2
        expected = p - 1e-3 * (em / (1 - 0.9**step)) / ((ev / (1 - 0.999**step)).sqrt() + 1e-8)
        adam8_(p, g, m, v, m_scale, v_scale, step)
        assert_close(p, expected, units=16)
        wide = [s.repeat_interleave(256)[:n].double() for s in (m_scale, v_scale)]
        assert ((m.double() - em / wide[0]).abs() <= 0.501).all()
        assert ((v.double() - ev.sqrt() / wide[1]).abs() <= 0.501).all()


@pytest.mark.parametrize("n", [1, 5000])
def test_lion(n) -> None:
    p, g, m = normal(n), normal(n, seed=1), normal(n, seed=2)
    g[0], m[0] = 0, 0
    update = 0.9 * m.double() + 0.1 * g
    expected = p * (1 - 1e-3 * 0.1) - 1e-3 * update.sign()
    expected_m = 0.99 * m.double() + 0.01 * g
    lion_(p, g, m)
    assert_close(p, expected)
    assert_close(m, expected_m)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("max_norm", [1.0, 1e6])
@pytest.mark.parametrize("n", [1, 50_000])
def test_clip_norm(n, max_norm, dtype) -> None:
    x = normal(n, dtype=dtype, scale=5)
    norm = x.double().norm()
    expected = x.double() * min(1.0, float(max_norm / (norm + 1e-6)))
    total = clip_norm_(x, max_norm)
    assert_close(total, norm.square()[None], units=16)
    assert_close(x, expected)


def test_eager(same_in_eager) -> None:
    g = normal(20, seed=1)

    def run():
        p, m, v = normal(20), torch.zeros(20, device=DEVICE), torch.zeros(20, device=DEVICE)
        adamw_(p, g, m, v, 2, block=16)
        lion_(p, g, m, block=16)
        small = [torch.zeros(20, dtype=d, device=DEVICE) for d in (torch.int8, torch.uint8)]
        scales = torch.ones(2, 2, device=DEVICE)
        adam8_(p, g, *small, scales[0], scales[1], 1, block=16)
        return p, m, v, *small, scales

    same_in_eager(run)


def test_eager_atomics(same_in_eager) -> None:
    def run():
        x = normal(40)
        return clip_norm_(x, 1.0, programs=1, block=16), x

    same_in_eager(run)
