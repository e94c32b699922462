"""Stand-ins for tensors as arguments of kernels, under names that `triton.runtime.jit` re-exports.

Here:      MockTensor (a dtype where nothing is run), TensorWrapper (a tensor whose elements are read as another type).
Not here:  how launches read arguments (`_C.Launcher`).
"""

from __future__ import annotations

from typing import Any


class MockTensor:
    """Stands in for a tensor of a dtype where nothing is run: `kernel.warmup(torch.float32, ...)`."""

    def __init__(self, dtype: Any, shape: list[int] | None = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        if type(arg).__name__ == "dtype" and type(arg).__module__ == "torch":
            return MockTensor(arg)
        return arg

    def stride(self) -> list[int]:
        strides = [1]
        for size in self.shape[:0:-1]:
            strides.append(strides[-1] * size)
        return strides[::-1]

    @staticmethod
    def data_ptr() -> int:
        return 0  # a multiple of 16, so pointers count as aligned

    @staticmethod
    def ptr_range() -> int:
        return 0


class TensorWrapper:
    """A tensor whose elements are read as another type of the same width: `triton.reinterpret(x, tl.float8e5)`."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.dtype = dtype
        self.base = base
        self.data = getattr(base, "data", base)
        self.device = getattr(base, "device", "cpu")
        self.shape = base.shape

    def data_ptr(self) -> int:
        return self.base.data_ptr()

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size()

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        self.base.copy_(other.base)

    def clone(self) -> TensorWrapper:
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` with its elements read as `dtype` (a dtype of the language of the same width) in kernels.

    Errors: TypeError, not a tensor.
    """
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if str(dtype) == str(getattr(base, "dtype", None)):
        return base
    if not hasattr(base, "data_ptr"):
        raise TypeError(f"cannot reinterpret a {type(tensor).__name__}; a tensor is needed")
    return TensorWrapper(base, dtype)
