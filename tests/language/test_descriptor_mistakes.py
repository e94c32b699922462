"""What is said of tensor descriptors that cannot be, and of accesses outside of memory."""

from __future__ import annotations

import descriptor_kernels as kernels
import pytest
import tiletwin
import torch
from block_references import filled
from triton.tools.tensor_descriptor import TensorDescriptor


def test_out_of_memory_bounds(mode: None) -> None:
    x, out = filled((4, 8), torch.float32), torch.zeros((8, 8))
    with pytest.raises(tiletwin.OutOfBoundsError, match=r"element 32 \(index \(4, 0\)\).* of x"):
        kernels.load_host[(1,)](TensorDescriptor(x, [8, 8], [8, 1], [8, 8]), out, 0, 0)
    with pytest.raises(tiletwin.OutOfBoundsError, match=r"writes 4 bytes at offset 128 of o"):
        kernels.copy_host[(1,)](
            TensorDescriptor.from_tensor(out, [8, 8]), TensorDescriptor(x, [8, 8], [8, 1], [8, 8]), 0, 0
        )
    assert torch.equal(x, filled((4, 8), torch.float32))


@pytest.mark.parametrize(
    ("stride", "offset", "text"),
    [
        (17, 0, "stride 0 of a descriptor must be a multiple of 16 bytes, got 17 elements of 4 bytes"),
        (16, 1, "base of a descriptor must lie at a multiple of 16 bytes, and its address is 4 past one"),
    ],
)
def test_what_the_hardware_needs(stride: int, offset: int, text: str, mode: None) -> None:
    x = torch.zeros(400)
    with pytest.raises(ValueError, match=text) as caught:
        kernels.make_bad[(1,)](x, stride, offset)
    assert "descriptor_kernels.py" in str(caught.value)


def test_checks_stay_in_branches(mode: None) -> None:
    x, out = torch.ones(400), torch.zeros(1)
    kernels.unused_bad[(1,)](x, out, 17, 0)
    kernels.unused_bad[(1,)](x, out, 20, 1)
    assert out.item() == 128
    with pytest.raises(ValueError, match="stride 0"):
        kernels.unused_bad[(1,)](x, out, 17, 1)


def changed(**changes: object) -> TensorDescriptor:
    """A descriptor whose fields were changed after it was made."""
    desc = TensorDescriptor.from_tensor(torch.zeros((8, 16)), [8, 16])
    for name, value in changes.items():
        setattr(desc, name, value)
    return desc


@pytest.mark.parametrize(
    ("desc", "text"),
    [
        (lambda: changed(base=torch.zeros(200)[1:]), "base must lie at a multiple of 16 bytes; its address is 4 past"),
        (lambda: changed(strides=[16, 2]), "last stride must be 1, not 2"),
        (lambda: changed(strides=[18, 1]), "stride 0 must be a multiple of 16 bytes, not 18 elements of 4 bytes"),
        (lambda: changed(block_shape=[8, 2]), "at least 16 bytes in the last dimension, not 2 elements of 4 bytes"),
        (lambda: changed(block_shape=[6, 16]), "powers of two, not 6"),
        (lambda: changed(shape=[8]), "must have one length, from 1 to 5; they have 1, 2 and 2"),
        (lambda: changed(base=torch.zeros((8, 16), dtype=torch.int32), padding="nan"), "float type, not i32"),
    ],
)
def test_host_descriptors_are_checked(desc, text: str) -> None:
    with pytest.raises(ValueError, match=text) as caught:
        kernels.load_host[(1,)](desc(), torch.zeros((8, 16)), 0, 0)
    assert "argument 'x'" in str(caught.value)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ((torch.zeros((2, 3)), [2, 3], [3, 1], [2, 4]), "multiples of 16 bytes"),
        ((torch.zeros((2, 4)), [2, 4], [4, 2], [2, 4]), "contiguous"),
        ((torch.zeros((2, 4)), [2, 4], [4, 1], [3, 4]), "powers of two"),
        ((torch.zeros((2, 4)), [2], [4, 1], [2, 4]), "same length"),
        ((torch.zeros(1), [1] * 6, [1] * 6, [1] * 6), "one to five"),
        ((torch.zeros((2, 4), dtype=torch.int32), [2, 4], [4, 1], [2, 4], "nan"), "floating-point"),
    ],
)
def test_bad_host_descriptors(args: tuple, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        TensorDescriptor(*args)
