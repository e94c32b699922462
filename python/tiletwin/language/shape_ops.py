"""Declarations: operations that rearrange elements. Implemented in frontend/."""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Sequence

from tiletwin._C import constexpr, tensor
from tiletwin.language.declare import builtin

__all__ = [
    "broadcast", "broadcast_to", "cat", "expand_dims", "gather", "join", "permute", "reshape", "split", "trans", "view",
]  # fmt: skip
"""What `triton.language` has of this module."""


@builtin
def broadcast(input: tensor, other: tensor) -> tuple[tensor, tensor]:
    """Both operands, stretched to their common shape: the lower rank gains leading ones, ones stretch.

    Errors: ValueError naming both shapes, if a dimension differs and is not 1 in one of them.
    """
    ...


@builtin
def broadcast_to(input: tensor, *shape: int | constexpr) -> tensor:
    """`input` stretched to `shape`, given as ints or as one tuple; dimensions of size 1 may grow.

    Errors: ValueError, ranks differ or a dimension other than 1 would change.
    """


@builtin
def trans(input: tensor, *dims: int | constexpr) -> tensor:
    """`input` with its dimensions in the order `dims`; without dims the last two are swapped.

    Errors: ValueError, fewer than two dimensions, or dims that are no permutation.
    """


@builtin
def permute(input: tensor, *dims: int | constexpr) -> tensor:
    """`input` with its dimensions in the order `dims`, given as ints or as one tuple.

    result[i[dims[0]], i[dims[1]], ...] = input[i[0], i[1], ...]. Errors: ValueError, dims is no permutation.
    """


@builtin
def cat(input: tensor, other: tensor, can_reorder: bool | constexpr = False, dim: int | constexpr = 0) -> tensor:
    """`input` followed by `other` along `dim`; both have one shape and type. The size along dim doubles.

    can_reorder: elements may come out in any order (1-D only). Errors: ValueError, shapes differ.
    """


@builtin
def join(a: tensor, b: tensor) -> tensor:
    """`a` and `b` in a new last dimension of size 2. Shapes are broadcast to each other; two 0-d values give (2,).

    result[..., 0] = a, result[..., 1] = b. Element types must be equal.
    """


@builtin
def split(a: tensor) -> tuple[tensor, tensor]:
    """The two halves of a block whose last dimension has size 2: (a[..., 0], a[..., 1]). The inverse of `join`.

    A block of shape (2,) gives two 0-d values. Errors: ValueError, the last dimension is not 2.
    """
    ...


@builtin
def view(input: tensor, *shape: int | constexpr) -> tensor:
    """As `reshape(..., can_reorder=True)`: elements may come out in any order. Prefer `reshape`."""


@builtin
def reshape(input: tensor, *shape: int | constexpr, can_reorder: bool | constexpr = False) -> tensor:
    """The same elements in row-major order with another shape, given as ints or as one tuple.

    can_reorder: the order need not be kept. () of a one-element block gives a 0-d tensor.
    Errors: ValueError, the number of elements differs.
    """


@builtin
def expand_dims(input: tensor, axis: int | constexpr | Sequence[int]) -> tensor:
    """`input` with new dimensions of size 1 so that they stand at `axis` (one or several, negative ones from the end).

    Errors: ValueError, an axis outside the result's rank, or named twice.
    """


@builtin
def item(input: tensor) -> tensor:
    """The only element of a one-element block, as a 0-d tensor. Also a method: `x.item()`.

    Errors: ValueError, more than one element.
    """


@builtin
def gather(src: tensor, index: tensor, axis: int | constexpr) -> tensor:
    """Elements of `src` picked along `axis`: result[.., i, ..] = src[.., index[.., i, ..], ..].

    index: integers of the same rank as src, equal to it in all other dimensions; the result has its shape.
    An index outside the dimension traps. Errors: ValueError, ranks or other dimensions differ.
    """


@builtin
def _unsplat(input: tensor) -> tensor:
    """The only element of a one-element block, as a 0-d tensor: what `item` does, under the name of the operation."""
