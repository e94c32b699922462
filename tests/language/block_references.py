"""References for accesses to blocks of a tensor, element by element."""

from __future__ import annotations

import itertools

import numpy as np
import torch


def block_of(x: torch.Tensor, at: tuple[int, ...], block: tuple[int, ...], padding: float = 0.0) -> torch.Tensor:
    """The block of x that begins at `at`; elements outside of x are `padding`."""
    out = torch.full(block, padding, dtype=torch.float64).to(x.dtype)
    for index in itertools.product(*(range(n) for n in block)):
        where = tuple(a + i for a, i in zip(at, index))
        if all(0 <= w < s for w, s in zip(where, x.shape)):
            out[index] = x[where]
    return out


def put(x: torch.Tensor, at: tuple[int, ...], block: torch.Tensor) -> torch.Tensor:
    """x with `block` written at `at`; elements outside of x are dropped."""
    out = x.clone()
    for index in itertools.product(*(range(n) for n in block.shape)):
        where = tuple(a + i for a, i in zip(at, index))
        if all(0 <= w < s for w, s in zip(where, x.shape)):
            out[where] = block[index]
    return out


def filled(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Distinct small numbers that every type holds."""
    numbers = torch.arange(1, 1 + int(np.prod(shape)), dtype=torch.float64) % 13 + 1
    return numbers.reshape(shape).to(dtype)
