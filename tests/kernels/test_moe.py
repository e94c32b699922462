"""Kernels of moe.py against torch."""

from __future__ import annotations

import pytest
import torch
from checking import assert_close, integers, normal
from moe import align_by_expert, moe_layer, topk_gate

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("renormalise", [False, True])
@pytest.mark.parametrize(("shape", "k"), [((100, 8), 2), ((33, 60), 4), ((1, 128), 8), ((5, 1), 1)])
def test_topk_gate(shape, k, renormalise, dtype) -> None:
    logits = normal(*shape, dtype=dtype)
    p = torch.softmax(logits.double(), -1)
    # ties in low precision: the lower expert comes first, as in a stable sort
    expected = p.sort(dim=-1, descending=True, stable=True)
    weights, index = topk_gate(logits, k, renormalise)
    assert torch.equal(index.long(), expected.indices[:, :k])
    top = expected.values[:, :k]
    assert_close(weights, top / top.sum(-1, keepdim=True) if renormalise else top, units=16)


@pytest.mark.parametrize("block", [4, 16])
@pytest.mark.parametrize(("tokens", "k", "experts"), [(100, 2, 8), (7, 4, 64), (1, 1, 2), (300, 1, 4)])
def test_align(tokens, k, experts, block) -> None:
    index = integers(0, experts, tokens, k)
    order, block_expert, starts = (t.cpu() for t in align_by_expert(index, experts, block))
    flat, n = index.flatten().cpu(), tokens * k
    at = 0
    for expert in range(experts):
        run = (flat == expert).nonzero().flatten().to(torch.int32)
        assert starts[expert] == at
        assert torch.equal(order[at : at + len(run)], run)
        end = at + -(-len(run) // block) * block
        assert (order[at + len(run) : end] == n).all()
        assert (block_expert[at // block : end // block] == expert).all()
        at = end
    assert starts[experts] == at and (order[at:] == n).all() and (block_expert[at // block :] == -1).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("tokens", "width", "n", "experts", "k"), [(50, 64, 96, 8, 2), (3, 100, 40, 4, 1)])
def test_layer(tokens, width, n, experts, k, dtype) -> None:
    x, w, logits = normal(tokens, width, dtype=dtype), normal(experts, n, width, dtype=dtype), normal(tokens, experts)
    top = torch.softmax(logits.double(), -1).topk(k)
    weights = top.values / top.values.sum(-1, keepdim=True)
    expected = torch.stack(
        [sum(weights[t, i] * (w[top.indices[t, i]].double() @ x[t].double()) for i in range(k)) for t in range(tokens)]
    )
    assert_close(moe_layer(x, w, logits, k), expected, units=32)


def test_eager(same_in_eager) -> None:
    x, w, logits = normal(6, 16), normal(4, 8, 16), normal(6, 4)
    same_in_eager(lambda: moe_layer(x, w, logits, 2, bn=16, bk=16))
