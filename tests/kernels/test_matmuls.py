"""Kernels of matmuls.py against torch's product in float64."""

from __future__ import annotations

import matmuls
import pytest
import torch
import torch.nn.functional as F
from checking import assert_close, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
SIZES = [(128, 128, 128), (77, 130, 100), (1, 257, 64), (200, 64, 513)]
PLAIN = {
    "split 1": lambda a, b: matmuls.matmul_split_k(a, b, 1),
    "split 4": matmuls.matmul_split_k,
    "persistent": matmuls.matmul_persistent,
    "block pointers": matmuls.matmul_block_pointers,
}
DESCRIPTORS = {"host": matmuls.matmul_host_descriptors, "device": matmuls.matmul_device_descriptors}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("epilogue", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_swizzled(size, epilogue, dtype) -> None:
    m, n, k = size
    a, b, bias = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype), normal(n, dtype=dtype)
    expected = a.double() @ b.double()
    if epilogue:
        expected = F.leaky_relu(expected + bias.double())
        assert_close(matmuls.matmul(a, b, bias, matmuls.leaky_relu), expected, units=32)
    else:
        assert_close(matmuls.matmul(a, b), expected, units=32)


@pytest.mark.parametrize("product", [matmuls.matmul, matmuls.matmul_block_pointers])
def test_strides(product) -> None:
    a, b = normal(90, 70).T, normal(2, 50, 90)[1].T
    assert_close(product(a, b), a.double() @ b.double(), units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("size", SIZES)
def test_row_major(size, name, dtype) -> None:
    m, n, k = size
    a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
    assert_close(PLAIN[name](a, b), a.double() @ b.double(), units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DESCRIPTORS)
@pytest.mark.parametrize("size", [(128, 128, 128), (77, 136, 104), (1, 256, 64), (200, 64, 520)])
def test_descriptors(size, name, dtype) -> None:
    m, n, k = size
    a, b = normal(m, k, dtype=dtype), normal(n, k, dtype=dtype)
    assert_close(DESCRIPTORS[name](a, b), a.double() @ b.double().T, units=32)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1024, 1024, 1024), (4096, 11, 512)])
def test_large(size) -> None:
    m, n, k = size
    a, b = normal(m, k, dtype=torch.float16), normal(k, n, dtype=torch.float16)
    for product in (matmuls.matmul, matmuls.matmul_persistent, matmuls.matmul_split_k):
        assert_close(product(a, b), a.double() @ b.double(), units=32, unit=2.0**-11)


def test_eager(same_in_eager) -> None:
    a, b = normal(20, 24, dtype=torch.float16), normal(24, 20, dtype=torch.float16)
    small = dict(bm=16, bn=16, bk=16)
    same_in_eager(lambda: (matmuls.matmul(a, b), matmuls.matmul_persistent(a, b, 2, **small)))


def test_eager_atomics(same_in_eager) -> None:
    a, b = normal(16, 40, dtype=torch.float16), normal(40, 16, dtype=torch.float16)
    same_in_eager(lambda: matmuls.matmul_split_k(a, b, 2, 16, 16, 16))


@pytest.mark.parametrize("product", [matmuls.matmul_block_pointers, *DESCRIPTORS.values()])
def test_eager_blocks(same_in_eager, product) -> None:
    a, b = normal(24, 24, dtype=torch.float16), normal(24, 24, dtype=torch.float16)
    same_in_eager(lambda: product(a, b, bm=16, bn=16, bk=16))
