"""Kernels of transforms.py against torch."""

from __future__ import annotations

import pytest
import torch
from checking import assert_close, normal
from transforms import fft, hadamard, heads_first, pack_lower, transpose

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int8, torch.int64, torch.float64, torch.bool])
@pytest.mark.parametrize("shape", [(3, 100, 77), (1, 64, 128), (2, 1, 5)])
def test_transpose(shape, dtype) -> None:
    x = (normal(*shape) * 10).to(dtype)
    assert torch.equal(transpose(x), x.transpose(1, 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 33, 4, 32), (1, 16, 8, 64), (1, 1, 1, 1)])
def test_heads_first(shape, dtype) -> None:
    x = normal(*shape, dtype=dtype)
    assert torch.equal(heads_first(x), x.transpose(1, 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 64, 1024, 4096])
def test_hadamard(n, dtype) -> None:
    x = normal(3, n, dtype=dtype)
    assert_close(hadamard(x), sylvester(x.double()))


def sylvester(x: torch.Tensor) -> torch.Tensor:
    """Rows times the Hadamard matrix of their length, normalised."""
    matrix = torch.ones(1, 1, dtype=torch.float64, device=x.device)
    while len(matrix) < x.shape[1]:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return x @ matrix / len(matrix) ** 0.5


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("n", [2, 64, 2048])
def test_fft(n, inverse) -> None:
    re, im = normal(3, n), normal(3, n, seed=1)
    z = torch.complex(re.double(), im.double())
    expected = torch.fft.ifft(z) * n if inverse else torch.fft.fft(z)
    got = fft(re, im, inverse)
    assert_close(got[0], expected.real, units=32)
    assert_close(got[1], expected.imag, units=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 16, 77])
def test_pack_lower(n, dtype) -> None:
    x = normal(n, n, dtype=dtype)
    rows, cols = torch.tril_indices(n, n)
    assert torch.equal(pack_lower(x), x[rows, cols])


def test_eager(same_in_eager) -> None:
    x = normal(2, 8)

    def run():
        moved = heads_first(normal(1, 5, 2, 4), 4)
        return transpose(normal(1, 5, 9), 4, 8), moved, hadamard(x), *fft(x, x), pack_lower(normal(5, 5), 4)

    same_in_eager(run)
