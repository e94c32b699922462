"""Descriptors of tensors made on the host and passed to kernels: `triton.tools.tensor_descriptor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class TensorDescriptor:
    """A strided tensor in memory that kernels read and write in blocks.

    Attributes:
        base: the tensor (its address must be a multiple of 16).
        shape: in elements.
        strides: in elements; the last one is 1, the others are multiples of 16 bytes.
        block_shape: powers of two; its last extent at least 16 bytes.
        padding: what elements outside read as, "zero" or "nan".
        round_f32_to_tf32: loads of float32 round to 10 bits of mantissa, to nearest even.

    Raises:
        ValueError: a shape, a stride or a block that is none of this.
        TypeError: a value of another type.
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= 5:
            raise ValueError(f"a descriptor has one to five dimensions, not {rank}")
        if len(self.strides) != rank or len(self.block_shape) != rank:
            raise ValueError(
                f"shape, strides and block_shape must have the same length: "
                f"{self.shape}, {self.strides}, {self.block_shape}"
            )
        if not hasattr(self.base, "data_ptr"):
            raise TypeError(f"the base of a descriptor must be a tensor, not a {type(self.base).__name__}")
        if self.base.data_ptr() % 16:
            raise ValueError("the base of a descriptor must lie at a multiple of 16 bytes")
        for extent in self.block_shape:
            if extent < 1 or extent & (extent - 1):
                raise ValueError(f"block_shape must hold powers of two, not {extent}")
        item = self.base.element_size() if hasattr(self.base, "element_size") else None
        if item is not None:
            for stride in self.strides[:-1]:
                if stride * item % 16:
                    raise ValueError(
                        f"strides must be multiples of 16 bytes; {stride} elements are {stride * item} bytes"
                    )
        if self.strides[-1] != 1:
            raise ValueError(f"the last dimension must be contiguous; its stride is {self.strides[-1]}")
        if self.padding not in ("zero", "nan"):
            raise ValueError(f"padding must be 'zero' or 'nan', not {self.padding!r}")
        if self.padding == "nan" and not getattr(self.base.dtype, "is_floating_point", True):
            raise ValueError("padding 'nan' needs a floating-point tensor")
        if self.round_f32_to_tf32 and str(self.base.dtype).rpartition(".")[2] != "float32":
            raise ValueError(f"round_f32_to_tf32 needs a float32 tensor, not {self.base.dtype}")

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: list[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole tensor."""
        return TensorDescriptor(
            tensor, list(tensor.shape), list(tensor.stride()), list(block_shape), padding, round_f32_to_tf32
        )
