"""Blocks of one slice of a tensor of slices of different lengths, one after the other: `triton.tools.ragged_tma`.

Here:      a descriptor whose two leading dimensions of extent 1 shift the view, so that the bounds check of the slice's
           dimension cuts at the slice's end; and the loads, stores and additions through it.
Not here:  descriptors themselves (tensor_descriptor.py, and the language).

How it works: with A = 2^30, the descriptor's strides are 2^34 - s, s, and the tensor's own, and the slice's dimension
claims A rows of stride s. Element (A, begin + length, A - length + row) then lies at A * 2^34 + s * (begin + row), and
A * 2^34 = 2^64 vanishes. Its row index is below A exactly if row < length.
"""

# Kernel code: operators and defaults mean what the language says, not what Python would do.
# pyright: reportReturnType=false, reportArgumentType=false, reportOperatorIssue=false
from __future__ import annotations

from typing import Any

from tiletwin import language as tl
from tiletwin.kernels.jit import jit
from tiletwin.tools.tensor_descriptor import TensorDescriptor

_ROWS = 1 << 30
_LARGEST = 0x7FFF0000


def create_ragged_descriptor(T: Any, block_shape: list[int], ragged_dim: int = 0) -> TensorDescriptor:
    """The descriptor of a tensor of two or three dimensions whose slices run along `ragged_dim`, which is not the last.

    block_shape: of the blocks to load and store, one extent per dimension of T.
    Errors: ValueError for other shapes, or more than 2^30 rows.
    """
    rank = len(T.shape)
    ragged_dim = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    if rank not in (2, 3) or len(block_shape) != rank:
        raise ValueError(f"a ragged tensor has two or three dimensions, and a block as many: {T.shape}, {block_shape}")
    if not 0 <= ragged_dim < rank - 1:
        raise ValueError(f"ragged_dim must be a dimension of {tuple(T.shape)} but the last, not {ragged_dim}")
    if T.shape[ragged_dim] > _ROWS:
        raise ValueError(f"at most 2^30 rows can be ragged, not {T.shape[ragged_dim]}")
    shape = list(T.shape)
    shape[ragged_dim] = _ROWS
    stride = T.stride(ragged_dim)
    strides = [(1 << 34) - stride, stride, *(T.stride(i) for i in range(rank))]
    return TensorDescriptor(T, [_LARGEST, _LARGEST, *shape], strides, [1, 1, *block_shape])


@jit
def to_ragged_indices(slice_off, slice_size, row):
    """The three coordinates of `row` of the slice: the two leading ones, and that of the ragged dimension."""
    rows = 1 << 30
    return rows, slice_off + slice_size, rows - slice_size + row


@jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """The block at `coords` of the slice that begins at slice_off and has slice_size rows; zeros outside it."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "TMA must come from create_ragged_descriptor")
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    block = TMA.load([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :])
    return tl.reshape(block, block.shape[2:])


@jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Stores `data` at `coords` of the slice; what falls outside the slice is not written."""
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    block = tl.reshape(data, [1, 1] + data.shape)
    TMA.store([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :], block)


@jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds `data` atomically at `coords` of the slice; what falls outside the slice is not touched."""
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    block = tl.reshape(data, [1, 1] + data.shape)
    TMA.atomic_add([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :], block)
