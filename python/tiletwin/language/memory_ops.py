"""Declarations: loads, stores, atomics, descriptors. Implemented in frontend/."""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Sequence

from tiletwin._C import block_pointer, constexpr, tensor, tensor_descriptor
from tiletwin.language.declare import Mask, Operand, Whole, Word, builtin

__all__ = [
    "advance", "atomic_add", "atomic_and", "atomic_cas", "atomic_load", "atomic_max", "atomic_min", "atomic_or",
    "atomic_poll", "atomic_store", "atomic_xchg", "atomic_xor", "load", "load_tensor_descriptor", "make_block_ptr",
    "make_tensor_descriptor", "prefetch", "store", "store_tensor_descriptor",
]  # fmt: skip
"""What `triton.language` has of this module."""

_ATOMIC = """
    pointer: a block of pointers, or one; val is cast to the pointee and broadcast to the pointer's shape.
    mask: int1, broadcast; elements with 0 are not touched and their result is undefined.
    sem: "acq_rel" (default), "acquire", "release", "relaxed". scope: "gpu" (default), "cta", "sys".
    Returns what was in memory before. Errors: ValueError, an element type without that operation.
    """


@builtin
def load(
    pointer: tensor,
    mask: Mask = None,
    other: Operand | None = None,
    *,
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
    boundary_check: Sequence[int] = (),
    padding_option: str = "",
) -> tensor:
    """Reads memory at `pointer`: a block of pointers gives a block, one pointer a 0-d value.

    mask: int1, broadcast to the pointer's shape; where it is 0 nothing is read and the element is `other`, or
    undefined without it. other: cast to the pointee, broadcast. One pointer takes only scalars for both.
    cache_modifier: "", ".ca", ".cg", ".cs", ".cv". eviction_policy: "", "evict_first", "evict_last".
    boundary_check, padding_option: for block pointers, which take neither mask nor other: the dimensions in which
    elements outside the tensor are left out, and what those are: "" (undefined), "zero" or "nan".
    Errors: ValueError, `other` without mask, no pointer, a pointer to a pointer type of unknown size;
    OutOfBoundsError at run time, an unmasked element outside every buffer.
    """


@builtin
def store(
    pointer: tensor,
    value: Operand,
    mask: Mask = None,
    *,
    cache_modifier: str = "",
    eviction_policy: str = "",
    boundary_check: Sequence[int] = (),
) -> None:
    """Writes `value` to memory at `pointer`; value is cast to the pointee. Also a method of pointers.

    value, mask: broadcast to the pointer's shape, which itself is final. Where mask is 0 nothing is written.
    If two elements have the same address, one of them is kept.
    cache_modifier: "", ".wb", ".cg", ".cs", ".wt". eviction_policy: "", "evict_first", "evict_last".
    boundary_check: for block pointers, which take no mask and a value of their own type: the dimensions in which
    elements outside the tensor are not written.
    Errors: ValueError, a block to one pointer, a pointer to const; OutOfBoundsError at run time.
    """


@builtin
def prefetch(pointer: tensor, mask: Mask = None) -> None:
    """Has a GPU bring what `pointer` names into its L2 cache, ahead of a load. Triton has no such function.

    mask: int1, broadcast to the pointer's shape; where it is 0 nothing is brought. Nothing is read, so any address will
    do, and results are the same without it. The interpreter brings nothing.
    Errors: ValueError, no pointer, a block of masks for one pointer.
    """


@builtin
def atomic_add(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Adds val to memory atomically: float16, bfloat16, float32, float64 and 32- and 64-bit integers."""


@builtin
def atomic_max(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Stores the larger of memory and val atomically: float32, float64 and 32- and 64-bit integers."""


@builtin
def atomic_min(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Stores the smaller of memory and val atomically: float32, float64 and 32- and 64-bit integers."""


@builtin
def atomic_and(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Ands val into memory atomically: 32- and 64-bit integers."""


@builtin
def atomic_or(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Ors val into memory atomically: 32- and 64-bit integers."""


@builtin
def atomic_xor(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Xors val into memory atomically: 32- and 64-bit integers."""


@builtin
def atomic_xchg(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Stores val and returns what was there, atomically: 32- and 64-bit types."""


@builtin
def atomic_cas(pointer: tensor, cmp: Operand, val: Operand, sem: Word = None, scope: Word = None) -> tensor:
    """Stores val where memory equals cmp, atomically; returns what was there.

    cmp and val: of the pointer's shape and the pointee's type, 16, 32 or 64 bits; neither is cast or broadcast.
    sem, scope: see `atomic_add`.
    """


@builtin
def atomic_load(pointer: tensor, mask: Mask = None, sem: Word = None, scope: Word = None) -> tensor:
    """Reads memory atomically.

    mask: int1; masked elements are undefined. sem: "acquire" (default) or "relaxed". scope: "gpu", "cta" or "sys".
    """


@builtin
def atomic_store(pointer: tensor, val: Operand, mask: Mask = None, sem: Word = None, scope: Word = None) -> None:
    """Writes memory atomically.

    mask: int1; masked elements are not written. sem: "release" (default) or "relaxed". scope: "gpu", "cta" or "sys".
    """


@builtin
def atomic_poll(
    pointer: tensor,
    expected_value: Operand,
    sem: Word = None,
    scope: Word = None,
    timeout_ns: int | constexpr | None = None,
) -> tensor:
    """Waits until memory at `pointer` (one pointer to an integer) equals expected_value.

    timeout_ns: gives up after that many nanoseconds; None: never. Returns int1: whether the value came.
    sem: "acquire" (default) or "relaxed". scope: "gpu", "cta" or "sys".
    """


for _function in (atomic_add, atomic_max, atomic_min, atomic_and, atomic_or, atomic_xor, atomic_xchg):
    _function.__doc__ = f"{_function.__doc__}\n{_ATOMIC}"


@builtin
def make_tensor_descriptor(
    base: tensor,
    shape: Sequence[Whole],
    strides: Sequence[Whole],
    block_shape: Sequence[int],
    padding_option: str = "zero",
) -> tensor_descriptor:
    """A block-wise view of the array at `base`.

    base: one pointer, 16-byte aligned. shape: 1 to 5 sizes. strides: as many, in elements; the last is 1, the
    others multiples of 16 bytes. block_shape: powers of two; the last dimension has at least 16 bytes.
    padding_option: "zero" or "nan", what a load gives outside the array.
    Errors: ValueError, where one of these does not hold and is known at compile time.
    """


@builtin
def load_tensor_descriptor(desc: tensor_descriptor, offsets: Sequence[Whole]) -> tensor:
    """The block at `offsets` (32-bit element offsets, one for each dimension): `desc.load(offsets)`."""


@builtin
def store_tensor_descriptor(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """Writes a block at `offsets`, leaving out what lies outside the array: `desc.store(offsets, value)`."""


@builtin
def descriptor_gather(desc: tensor_descriptor, x_offsets: tensor, y_offset: Whole) -> tensor:
    """Rows x_offsets (at least 8, int16 or int32) from column y_offset on; the block shape is (1, N)."""


@builtin
def descriptor_scatter(desc: tensor_descriptor, value: tensor, x_offsets: tensor, y_offset: Whole) -> None:
    """Writes rows x_offsets (at least 8, int16 or int32) from column y_offset on; the block shape is (1, N)."""


@builtin
def descriptor_atomic_add(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """Adds a block into memory, element by element atomically; outside the array nothing happens."""


@builtin
def descriptor_atomic_min(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """As `descriptor_atomic_add`, keeping the smaller value."""


@builtin
def descriptor_atomic_max(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """As `descriptor_atomic_add`, keeping the larger value."""


@builtin
def descriptor_atomic_and(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """As `descriptor_atomic_add`, and-ing integers."""


@builtin
def descriptor_atomic_or(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """As `descriptor_atomic_add`, or-ing integers."""


@builtin
def descriptor_atomic_xor(desc: tensor_descriptor, offsets: Sequence[Whole], value: tensor) -> None:
    """As `descriptor_atomic_add`, xor-ing integers."""


@builtin
def make_block_ptr(
    base: tensor,
    shape: Sequence[Whole],
    strides: Sequence[Whole],
    offsets: Sequence[Whole],
    block_shape: Sequence[int],
    order: Sequence[int],
) -> block_pointer:
    """A pointer to the block at `offsets` of the strided tensor at `base`, for `load`, `store` and `advance`.

    base: one pointer. shape, strides, offsets: integers, in elements, one for each dimension. block_shape: powers of
    two. order: the dimensions, the one with the smallest stride first; a hint.
    An int1 tensor is read as int8. Newer kernels use `make_tensor_descriptor`.
    Errors: ValueError, lengths that differ, an order that does not name each dimension once.
    """


@builtin
def advance(base: block_pointer, offsets: Sequence[Whole]) -> block_pointer:
    """A block pointer moved by `offsets` elements in each dimension: `base.advance(offsets)`."""
