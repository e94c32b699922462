"""What tests run by `tiletwin gpu`: PyTorch's CPU build, whose tensors the virtual GPU's kernels take; Triton.

usage: torch_clients.py NAME; the functions without an underscore are the names.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import _tiletwin_activate  # noqa: F401  what the start-up file of an installed tiletwin imports
import torch

INVALID_VALUE, DEVICE_POINTER = 1, 3


def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _is_known(cuda: Any, address: int) -> bool:
    code = cuda.cuPointerGetAttribute(ctypes.byref(ctypes.c_uint64()), DEVICE_POINTER, ctypes.c_uint64(address))
    assert code in (0, INVALID_VALUE), code
    return code == 0


def _range(cuda: Any, address: int) -> tuple[int, int]:
    begin, size = ctypes.c_uint64(), ctypes.c_size_t()
    assert not cuda.cuMemGetAddressRange_v2(ctypes.byref(begin), ctypes.byref(size), ctypes.c_uint64(address))
    return begin.value, size.value


def _enter(cuda: Any) -> None:
    context = ctypes.c_void_p()
    assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    assert not cuda.cuCtxSetCurrent(context)


def tensors() -> None:
    cuda = _driver()
    _enter(cuda)
    x = torch.arange(100, dtype=torch.float32, device="cuda")
    address = x.data_ptr()
    assert address % 512 == 0 and _range(cuda, address) == (address, 400)
    assert x[10:].data_ptr() == address + 40 and _range(cuda, address + 40) == (address, 400)
    assert not _is_known(cuda, x.cpu().data_ptr())
    assert not _is_known(cuda, torch.ones(3).data_ptr())
    assert torch.empty(0, device="cuda").data_ptr() == 0
    # Two storages of the same memory: the driver knows all of it.
    part = torch.from_dlpack(x[50:])
    assert part.data_ptr() == address + 200 and _range(cuda, address) == (address, 400)
    del part
    assert x.data_ptr() == address and _range(cuda, address) == (address, 400)
    # What is gone is forgotten when the next one comes.
    del x
    y = torch.ones(1 << 20, device="cuda")
    assert _range(cuda, y.data_ptr())[1] == 4 << 20
    assert not _is_known(cuda, address) or _range(cuda, address)[0] == y.data_ptr()
    y.untyped_storage().resize_(8 << 20)
    assert _range(cuda, y.data_ptr()) == (y.data_ptr(), 8 << 20)


def streams() -> None:
    cuda = _driver()
    _enter(cuda)
    stream = torch.cuda.Stream()
    assert cuda.cuStreamQuery(ctypes.c_uint64(stream.cuda_stream)) == 0
    with torch.cuda.stream(stream):
        assert torch._C._cuda_getCurrentRawStream(0) == stream.cuda_stream


def numbers() -> None:
    properties = torch.cuda.get_device_properties(0)
    print(torch.cuda.device_count(), torch.cuda.get_device_capability(), properties.multi_processor_count)


def add() -> None:
    import triton
    import triton_kernels

    device = triton.runtime.driver.active.get_active_torch_device()
    x, y = torch.rand(1000, device=device), torch.rand(1000, device=device)
    z = torch.empty_like(x)
    triton_kernels.add[(8,)](x, y, z, 1000, B=128)
    assert torch.equal(z, x + y)
    triton_kernels.tuned[(8,)](x, y, z, 1000)
    try:
        triton_kernels.add[(8,)](x.cpu(), y, z, 1000, B=128)
    except ValueError as error:
        print(error)
    print("triton", triton.__version__, "added")


def behind_the_end() -> None:
    import triton_kernels

    x = torch.rand(1000, device="cuda")
    triton_kernels.add[(9,)](x, x, torch.empty_like(x), 1152, B=128)
    torch.cuda.synchronize()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
