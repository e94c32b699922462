"""Kernels of prefix_sums.py against torch."""

from __future__ import annotations

import pytest
import torch
from checking import assert_close, integers, normal
from prefix_sums import compact, cumsum_rows, histogram, prefix_sum, topk_rows


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(7, 1000), (4, 128), (1, 1)])
def test_cumsum_rows(shape, reverse, exclusive, dtype) -> None:
    x = normal(*shape, dtype=dtype)
    expected = x.double().flip(1).cumsum(1).flip(1) if reverse else x.double().cumsum(1)
    assert_close(
        cumsum_rows(x, exclusive, reverse),
        expected - x.double() * exclusive,
        units=64,
        unit=None if dtype == torch.float32 else 2.0**-13,
    )


@pytest.mark.parametrize("n", [1, 256, 5000, 100_001])
def test_look_back_of_integers(n) -> None:
    x = integers(-1000, 1000, n)
    assert torch.equal(prefix_sum(x), x.cumsum(0).to(torch.int32))


@pytest.mark.parametrize("n", [1, 5000])
def test_look_back_of_floats(n) -> None:
    x = normal(n)
    assert_close(prefix_sum(x), x.double().cumsum(0), units=64)


@pytest.mark.parametrize("bins", [8, 64, 1024])
@pytest.mark.parametrize("n", [1, 1000, 30_000])
def test_histogram(n, bins) -> None:
    x = normal(n)
    at = torch.floor((x + 2) / torch.tensor(4 / bins, dtype=torch.float32, device=x.device)).long()
    expected = torch.bincount(at[(at >= 0) & (at < bins)], minlength=bins)
    assert torch.equal(histogram(x, bins, -2.0, 2.0).long(), expected)


@pytest.mark.parametrize("n", [1, 1000, 30_000])
def test_compact(n) -> None:
    x = normal(n)
    assert torch.equal(compact(x, 0.5).sort().values, x[x > 0.5].sort().values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
@pytest.mark.parametrize(("shape", "k"), [((7, 1000), 8), ((3, 64), 64), ((2, 5), 1)])
def test_topk(shape, k, dtype) -> None:
    x = integers(-100, 100, *shape) if dtype == torch.int32 else normal(*shape, dtype=dtype)
    if dtype == torch.int32:
        x = x[:, : 1 << (shape[1].bit_length() - 1)].contiguous()  # no -inf to pad rows with
    assert torch.equal(topk_rows(x, k), x.sort(1, descending=True).values[:, :k])


def test_eager(same_in_eager) -> None:
    x = normal(3, 20)
    same_in_eager(lambda: (cumsum_rows(x, True, True, 2, 8), topk_rows(x, 4)))


def test_eager_atomics(same_in_eager) -> None:
    x, numbers = normal(40), integers(0, 9, 40)
    same_in_eager(lambda: (histogram(x, 8, -1.0, 1.0, 16), compact(x, 0.0, 64), prefix_sum(numbers, 16)))
