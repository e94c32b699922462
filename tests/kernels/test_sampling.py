"""Kernels of sampling.py against torch."""

from __future__ import annotations

import pytest
import torch
from checking import DEVICE, assert_close, integers, normal
from sampling import apply_penalties_, argmax, sample_gumbel, sample_topk_topp


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(5, 32000), (33, 1000), (3, 1)])
def test_argmax(shape, dtype) -> None:
    x = normal(*shape, dtype=dtype)  # low precision has ties: the first wins
    index, value = argmax(x)
    assert torch.equal(value, x.float().amax(1))
    first = (x.float() == value[:, None]).int().argmax(1)
    assert torch.equal(index, first)


@pytest.mark.parametrize(
    ("top_k", "top_p", "temperature"), [(50, 0.9, 1.0), (1, 1.0, 0.7), (5, 0.5, 2.0), (1 << 20, 0.3, 1.0)]
)
@pytest.mark.parametrize("shape", [(20, 1000), (7, 4096), (3, 5)])
def test_topk_topp(shape, top_k, top_p, temperature) -> None:
    logits, uniform = (
        normal(*shape, scale=3),
        torch.rand(shape[0], generator=torch.Generator().manual_seed(0)).to(DEVICE),
    )
    token, kept = sample_topk_topp(logits, uniform, temperature, top_k, top_p)
    scaled = logits.double() / temperature
    ordered, order = scaled.sort(-1, descending=True)
    p = torch.where(
        torch.arange(shape[1], device=DEVICE) < top_k, ordered.exp() / ordered.exp().sum(-1, keepdim=True), 0
    )
    p = p / p.sum(-1, keepdim=True)
    before = p.cumsum(-1) - p
    keep = (before < top_p) & (p > 0)
    assert (keep.sum(-1) - kept).abs().max() <= 1  # the fp32 sum may reach top_p one token earlier or later
    exact = keep.sum(-1) == kept
    assert exact.float().mean() > 0.8
    candidates = torch.zeros_like(keep).scatter(-1, order, keep)
    assert candidates.gather(-1, token[:, None])[exact].all()
    weight = torch.where(candidates, (scaled - scaled.amax(-1, keepdim=True)).exp(), 0)
    edge = weight.cumsum(-1) / weight.sum(-1, keepdim=True)
    upper = edge.gather(-1, token[:, None])[:, 0]
    lower = upper - weight.gather(-1, token[:, None])[:, 0] / weight.sum(-1)
    inside = (lower - 1e-5 <= uniform) & (uniform <= upper + 1e-5)
    assert inside[exact].all()


def test_gumbel_has_the_probabilities() -> None:
    row = normal(1, 8)
    rows = 20000
    tokens = sample_gumbel(row.expand(rows, 8).contiguous(), 1234, block=8)
    p = torch.softmax(row[0].double(), -1).cpu()
    observed = torch.bincount(tokens.cpu(), minlength=8).double()
    chi_square = ((observed - rows * p) ** 2 / (rows * p)).sum()
    assert chi_square < 30  # 7 degrees of freedom: exceeded once in 10,000 seeds
    assert torch.equal(tokens, sample_gumbel(row.expand(rows, 8).contiguous(), 1234, block=8))
    assert not torch.equal(tokens, sample_gumbel(row.expand(rows, 8).contiguous(), 1235, block=8))


@pytest.mark.parametrize("shape", [(4, 1000), (2, 512), (1, 3)])
def test_penalties(shape) -> None:
    logits, counts = normal(*shape), integers(0, 3, *shape)
    x = logits.double()
    expected = torch.where(counts > 0, torch.where(x > 0, x / 1.2, x * 1.2), x) - 0.5 * counts - 0.25 * (counts > 0)
    apply_penalties_(logits, counts, 1.2, 0.5, 0.25)
    assert_close(logits, expected)


def test_eager(same_in_eager) -> None:
    x, counts = normal(3, 20), integers(0, 3, 3, 20)
    uniform = torch.tensor([0.1, 0.5, 0.999], device=DEVICE)

    def run():
        logits = x.clone()
        apply_penalties_(logits, counts, 1.2, 0.5, 0.25, block=16)
        return *argmax(x, block=8), *sample_topk_topp(x, uniform, top_k=5), sample_gumbel(x, 7, block=16), logits

    same_in_eager(run)
