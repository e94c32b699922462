"""The virtual GPU's driver through ctypes, and PTX for its tests.

Here:      calls that raise what the driver returns, contexts and memory that a test gives back.
Not here:  what the functions do: each test says it.
"""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
import tempfile
from collections.abc import Iterator, Sequence

import numpy as np
from tiletwin import gpu


def _load() -> ctypes.CDLL:
    """A copy under another name: otherwise whoever in this process looks for a driver finds this one."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "libtwgp.so.1"
        copy.write_bytes(gpu.LIBRARY.read_bytes().replace(b"\0libcuda.so.1\0", b"\0libtwgp.so.1\0"))
        return ctypes.CDLL(str(copy))


LIBRARY = _load()

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
ADD = (
    HEAD
    + """
.visible .global .align 4 .u32 launches = 7;
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d<8>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [z];
  mul.wide.u32 %d4, %r4, 4;
  add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4;
  ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2];
  add.f32 %f3, %f1, %f2; st.global.f32 [%d3], %f3;
  setp.ne.u32 %p1, %r4, 0; @%p1 ret;
  ld.global.u32 %r6, [launches]; add.u32 %r6, %r6, 1; st.global.u32 [launches], %r6;
  ret;
}
.visible .entry wild()
{ .reg .b64 %d<2>; .reg .b32 %r<2>; mov.u64 %d1, 64; mov.u32 %r1, 1; st.global.u32 [%d1], %r1; ret; }
.visible .entry odd(.param .u64 x)
{ .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [x]; ld.global.u32 %r1, [%d1+2]; ret; }
.visible .entry fails() { trap; }
.visible .entry narrow() .maxntid 64, 1, 1 { ret; }
"""
)

INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, INVALID_DEVICE = 1, 2, 3, 101
INVALID_IMAGE, INVALID_CONTEXT, NO_BINARY, INVALID_PTX = 200, 201, 209, 218
INVALID_HANDLE, ILLEGAL_STATE, NOT_FOUND, ILLEGAL_ADDRESS, OUT_OF_RESOURCES = 400, 401, 500, 700, 701
IS_DESTROYED, LAUNCH_FAILED, MISALIGNED, NOT_SUPPORTED, UNJOINED = 709, 719, 716, 801, 904


class DriverError(Exception):
    """code: what the driver returned."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} returned {code}")
        self.code = code


def call(name: str, *arguments: object) -> None:
    """Numbers are taken as 64 bits wide, which holds what the driver's functions take."""
    given = [ctypes.c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in arguments]
    code = getattr(LIBRARY, name)(*given)
    if code:
        raise DriverError(name, code)


def number(name: str, *arguments: object, kind: type = ctypes.c_uint64) -> int:
    """What the function writes to its first parameter."""
    value = kind()
    call(name, ctypes.byref(value), *arguments)
    return value.value or 0


@contextlib.contextmanager
def context(device: int = 0) -> Iterator[int]:
    """A context of its own, current in this thread."""
    call("cuInit", 0)
    handle = number("cuCtxCreate_v2", 0, device)
    try:
        yield handle
    finally:
        LIBRARY.cuCtxDestroy_v2(ctypes.c_uint64(handle))


def module(text: str | bytes = ADD) -> int:
    return number("cuModuleLoadData", ctypes.c_char_p(text.encode() if isinstance(text, str) else text))


def function(name: str, of: int | None = None) -> int:
    return number("cuModuleGetFunction", module() if of is None else of, name.encode())


def to_device(array: np.ndarray) -> int:
    address = number("cuMemAlloc_v2", array.nbytes)
    call("cuMemcpyHtoD_v2", address, array.ctypes.data_as(ctypes.c_void_p), array.nbytes)
    return address


def from_device(address: int, like: np.ndarray) -> np.ndarray:
    array = np.empty_like(like)
    call("cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), address, array.nbytes)
    return array


def pointers(values: Sequence[object]) -> ctypes.Array:
    """What kernelParams is: an address for each value, which ctypes keeps alive with the array."""
    made = (ctypes.c_void_p * max(len(values), 1))()
    for i, value in enumerate(values):
        made[i] = ctypes.addressof(value)  # type: ignore[arg-type]
    made.kept = list(values)  # type: ignore[attr-defined]
    return made


def launch(of: int, *values: object, grid: int = 1, block: int = 1, shared: int = 0, stream: int = 0) -> None:
    call("cuLaunchKernel", of, grid, 1, 1, block, 1, 1, shared, stream, pointers(values), None)


def code_of(name: str, *arguments: object) -> int:
    """What a call returns."""
    try:
        call(name, *arguments)
    except DriverError as error:
        return error.code
    return 0


def launch_add(of: int, x: np.ndarray, *, stream: int = 0) -> np.ndarray:
    """x + 2x by the kernel `add`."""
    addresses = [to_device(x), to_device(2 * x), to_device(np.zeros_like(x))]
    launch(
        of, *map(ctypes.c_uint64, addresses), ctypes.c_uint32(x.size), grid=-(-x.size // 64), block=64, stream=stream
    )
    result = from_device(addresses[2], x)
    for address in addresses:
        call("cuMemFree_v2", address)
    return result
