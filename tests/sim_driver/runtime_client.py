"""A program on the CUDA runtime, for `tiletwin gpu`: it registers its kernel as nvcc's code would, and launches it."""

import ctypes

from images import fat_binary

PTX = b""".version 8.0
.target sm_80
.address_size 64
.global .u32 step = 2;
.visible .entry fill(.param .u64 to, .param .u32 value)
{ .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [to]; ld.param.u32 %r1, [value]; mov.u32 %r2, %tid.x; ld.global.u32 %r3, [step];
  mad.lo.u32 %r1, %r2, %r3, %r1; mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r1; ret; }
"""


class Wrapper(ctypes.Structure):
    _fields_ = [
        ("magic", ctypes.c_int),
        ("version", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("file", ctypes.c_void_p),
    ]


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


cudart = ctypes.CDLL("libcudart.so.13")
image = ctypes.create_string_buffer(fat_binary(PTX + b"\0", len(PTX) + 1, 0))
wrapper = Wrapper(0x466243B1, 1, ctypes.addressof(image), None)
kernel, variable = (
    ctypes.create_string_buffer(8),
    ctypes.create_string_buffer(8),
)  # their addresses are the host's names

cudart.__cudaRegisterFatBinary.restype = ctypes.c_void_p
binary = ctypes.c_void_p(cudart.__cudaRegisterFatBinary(ctypes.byref(wrapper)))
cudart.__cudaRegisterFunction(binary, kernel, b"fill", b"fill", -1, None, None, None, None, None)
cudart.__cudaRegisterVar(binary, variable, b"step", b"step", 0, ctypes.c_size_t(4), 0, 0)
cudart.__cudaRegisterFatBinaryEnd(binary)

count, room = 8, ctypes.c_void_p()
assert cudart.cudaMalloc(ctypes.byref(room), ctypes.c_size_t(4 * count)) == 0
step = ctypes.c_uint(5)
to_device, to_host = 1, 2
assert cudart.cudaMemcpyToSymbol(variable, ctypes.byref(step), ctypes.c_size_t(4), ctypes.c_size_t(0), to_device) == 0
value = ctypes.c_uint(100)
parameters = (ctypes.c_void_p * 2)(ctypes.addressof(room), ctypes.addressof(value))
launch = cudart.cudaLaunchKernel
launch.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
assert launch(ctypes.addressof(kernel), Dim3(1, 1, 1), Dim3(count, 1, 1), parameters, 0, None) == 0
found = (ctypes.c_uint * count)()
assert cudart.cudaMemcpy(found, room, ctypes.c_size_t(4 * count), to_host) == 0
assert list(found) == [100 + 5 * i for i in range(count)]
assert launch(ctypes.addressof(variable), Dim3(1, 1, 1), Dim3(1, 1, 1), None, 0, None) == 98
assert cudart.cudaGetLastError() == 98 and cudart.cudaGetLastError() == 0
assert cudart.cudaImportExternalMemory(None, None) == 801
print("launched")
