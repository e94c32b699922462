"""A torch that was built with CUDA and sees no GPU, made one without CUDA before torch.cuda reads what it has.

Here:      which names of torch._C go.
Not here:  the finder that notices the import of torch.cuda (_activate.py), what is put in their place (__init__.py).
Reason:    streams and events of such a build are static types, which nothing can change. Where torch._C has none,
           torch.cuda makes classes of its own, and those the emulation can fill.
"""

from __future__ import annotations

from typing import Any

_CLASSES = ("_CUDAGraph", "_MemPool", "_graph_pool_handle", "_cuda_CUDAAllocator")
_COUNT = "_cuda_getDeviceCount"
"""torch asks for it to know whether it was built with CUDA."""


def sees_no_gpu(binding: Any) -> bool:
    """Whether torch._C was built with CUDA, and there is no GPU or no driver."""
    count = getattr(binding, _COUNT, None)
    return count is not None and count() == 0


def hide(binding: Any) -> None:
    """Removes from torch._C the classes that torch.cuda derives from, if no GPU is there; cuDNN needs one."""
    if sees_no_gpu(binding):
        binding._has_cudnn = False
        for name in list(vars(binding)):
            if name.startswith("_Cuda") or name in _CLASSES or name == _COUNT:
                delattr(binding, name)
