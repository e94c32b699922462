"""Kernels of embeddings.py against torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from checking import DEVICE, assert_close, integers, normal
from embeddings import embedding, embedding_backward, embedding_bag, segment_sum

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "d", "shape"), [(1000, 300, (3, 50)), (32000, 64, (77,)), (5, 1, (1,))])
def test_embedding(rows, d, shape, dtype) -> None:
    table, index = normal(rows, d, dtype=dtype), integers(0, rows, *shape, dtype=torch.int64)
    assert torch.equal(embedding(table, index), table[index])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "d", "n"), [(10, 300, 200), (1000, 64, 77), (2, 5, 1)])
def test_embedding_backward(rows, d, n, dtype) -> None:
    dout, index = normal(n, d, dtype=dtype), integers(0, rows, n, dtype=torch.int64)
    expected = torch.zeros(rows, d, dtype=torch.float64, device=DEVICE).index_add_(0, index, dout.double())
    assert_close(embedding_backward(dout, index, rows), expected, units=64)
    expected[1] = 0
    got = embedding_backward(dout, index, rows, padding=1)
    assert_close(got, expected, units=64)
    assert not got[1].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["sum", "mean", "max", "weighted"])
def test_bag(mode, dtype) -> None:
    table, index = normal(100, 70, dtype=dtype), integers(0, 100, 60, dtype=torch.int64)
    offsets = torch.tensor([0, 5, 5, 6, 40, 60], device=DEVICE)
    weights = normal(60) if mode == "weighted" else None
    expected = F.embedding_bag(
        index, table.double(), offsets[:-1], mode="sum" if mode == "weighted" else mode,
        per_sample_weights=None if weights is None else weights.double(),
    )  # fmt: skip
    assert_close(embedding_bag(table, index, offsets, "sum" if weights is not None else mode, weights), expected)


@pytest.mark.parametrize(("n", "d", "segments"), [(1000, 3, 40), (64, 1, 1), (333, 5, 300), (1, 2, 4)])
def test_segment_sum(n, d, segments) -> None:
    x, keys = normal(n, d), integers(0, segments, n).sort().values
    expected = torch.zeros(segments, d, dtype=torch.float64, device=DEVICE).index_add_(0, keys.long(), x.double())
    assert_close(segment_sum(x, keys, segments), expected, units=64)


def test_eager(same_in_eager) -> None:
    table, index = normal(9, 20), integers(0, 9, 7, dtype=torch.int64)
    offsets = torch.tensor([0, 3, 7], device=DEVICE)
    same_in_eager(lambda: (embedding(table, index, 4, 16), embedding_bag(table, index, offsets, "mean")))


def test_eager_atomics(same_in_eager) -> None:
    dout, index = normal(7, 20), integers(0, 9, 7, dtype=torch.int64)
    x, keys = normal(10, 2), integers(0, 3, 10).sort().values
    same_in_eager(lambda: (embedding_backward(dout, index, 9, 2, 8, 16), segment_sum(x, keys, 3, 16)))
