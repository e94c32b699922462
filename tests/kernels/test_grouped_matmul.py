"""Kernels of grouped_matmul.py against torch."""

from __future__ import annotations

import pytest
import torch
from checking import assert_close, normal
from grouped_matmul import batched_matmul, grouped_matmul, lora_matmul, stream_k_matmul

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("programs", [1, 4, 30])
@pytest.mark.parametrize("sizes", [[(64, 64, 64), (17, 100, 33), (1, 8, 200)], [(128, 96, 64)]])
def test_grouped(sizes, programs) -> None:
    pairs = [(normal(m, k, dtype=torch.float16), normal(k, n, dtype=torch.float16)) for m, n, k in sizes]
    for (a, b), c in zip(pairs, grouped_matmul(pairs, programs)):
        assert_close(c, a.double() @ b.double())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("programs", [1, 3, 7, 50])
@pytest.mark.parametrize("size", [(64, 64, 512), (77, 130, 100), (1, 1, 1000)])
def test_stream_k(size, programs, dtype) -> None:
    m, n, k = size
    a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
    assert_close(stream_k_matmul(a, b, programs), a.double() @ b.double(), units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "rank"), [((64, 96, 128), 16), ((17, 100, 200), 32)])
def test_lora(size, rank, dtype) -> None:
    m, n, k = size
    x, w, a, b = (normal(*s, dtype=dtype) for s in ((m, k), (n, k), (rank, k), (n, rank)))
    exact = [t.double() for t in (x, w, a, b)]
    expected = exact[0] @ exact[1].T + 0.5 * (exact[0] @ exact[2].T) @ exact[3].T
    assert_close(lora_matmul(x, w, a, b, 0.5), expected, units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 40, 50, 33), (8, 16, 16, 16), (1, 5, 70, 20)])
def test_batched(shape, dtype) -> None:
    batch, m, n, k = shape
    a, b = normal(batch, m, k, dtype=dtype), normal(batch, k, n, dtype=dtype)
    assert_close(batched_matmul(a, b), a.double() @ b.double(), units=32)


def test_eager(same_in_eager) -> None:
    a, b = normal(20, 40), normal(40, 20)
    same_in_eager(lambda: lora_matmul(a, a, a[:16], b[:20, :16].contiguous(), 2.0, 16, 16, 16))


def test_eager_batched(same_in_eager) -> None:
    a, b = normal(2, 20, 17), normal(2, 17, 9)
    same_in_eager(lambda: batched_matmul(a, b))


def test_eager_grouped(same_in_eager) -> None:
    pairs = [(normal(m, 20, dtype=torch.float16), normal(20, 18, dtype=torch.float16)) for m in (20, 3)]
    same_in_eager(lambda: grouped_matmul(pairs, 2, 16, 16, 16))


def test_eager_stream_k(same_in_eager) -> None:
    a, b = normal(20, 64), normal(64, 20)
    same_in_eager(lambda: stream_k_matmul(a, b, 3, 16, 16, 16))
