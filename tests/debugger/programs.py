"""Programs for the debugger's tests: `programs.py NAME` runs one."""

import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def matmul():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def product(a_ptr, b_ptr, c_ptr, N, K, B: tl.constexpr):
        row = tl.program_id(0) * B + tl.arange(0, B)
        column = tl.program_id(1) * B + tl.arange(0, B)
        acc = tl.zeros((B, B), tl.float32)
        for k in range(0, K, B):
            inner = k + tl.arange(0, B)
            a = tl.load(a_ptr + row[:, None] * K + inner[None, :])
            b = tl.load(b_ptr + inner[:, None] * N + column[None, :])
            acc = tl.dot(a, b, acc)
        scaled = acc * 2
        tl.store(c_ptr + row[:, None] * N + column[None, :], scaled)

    b = (torch.arange(64 * 64) % 97).reshape(64, 64).half()
    a, c = torch.full((64, 64), 0.5).half(), torch.zeros(64, 64)
    product[(4, 4)](  # type: ignore[index]
        a, b, c, 64, 64, B=16, num_warps=2, num_stages=1
    )
    print("sum", c.sum().item())


def reduction():
    """Another warp's numbers are read without a barrier."""
    from tiletwin import sim

    kernel = sim.load(ROOT / "demo" / "ptx" / "block_sum.ptx")["block_sum"]
    x, sums = np.arange(1024, dtype=np.float32), np.zeros(4, np.float32)
    kernel(x, sums, grid=4, block=256)
    print("sums", *sums)


def variables():
    """Code of `nvcc -G`: variables of many types."""
    from tiletwin import sim

    text = (ROOT / "tests/data/debug/variables.ptx").read_text()
    module = sim.load(text, file="variables.ptx")
    numbers, sums = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    points = np.array([(0.25, (3, 4)), (-8.0, (5, -6))], dtype=[("x", "f4"), ("counts", "i2", 2)])
    module[module.entries[0]](numbers, points.view(np.uint8), sums, 2.0, grid=1, block=64)
    print("sum", *sums)


def specialised():
    """A product whose tiles a warp of its own copies."""
    import torch
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def product(a, b, c_ptr, N, K, M: tl.constexpr, B: tl.constexpr):
        rows, columns = tl.arange(0, M), tl.arange(0, M)
        acc = tl.zeros((M, M), tl.float32)
        for k in tl.range(0, K, B, warp_specialize=True):
            acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
        tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)

    a, b, c = torch.ones(64, 256).half(), torch.ones(256, 64).half(), torch.zeros(64, 64)
    maps = TensorDescriptor.from_tensor(a, [64, 64]), TensorDescriptor.from_tensor(b, [64, 64])
    product[(1,)](  # type: ignore[index]
        *maps, c, 64, 256, M=64, B=64, num_warps=4, num_stages=3
    )
    print("sum", c.sum().item())


def wild():
    """Writes behind its array."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def fill(x_ptr, B: tl.constexpr):
        at = tl.arange(0, B)
        tl.store(x_ptr + at, 1.0)

    fill[(1,)](  # type: ignore[index]
        torch.zeros(16), B=32
    )


def endless():
    """A kernel that never ends, until somebody sets its flag."""
    from tiletwin import sim

    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry spin(.param .u64 p)\n{\n.reg .pred %p;\n"
        ".reg .b64 %a;\n.reg .b32 %v;\nld.param.u64 %a, [p];\nagain:\nld.volatile.global.u32 %v, [%a];\n"
        "setp.eq.u32 %p, %v, 0;\n@%p bra again;\nret;\n}\n"
    )
    sim.load(text, file="spin.ptx")["spin"](np.zeros(1, np.uint32), grid=1, block=32)


def foreign():
    """Code that another compiler made of Python: it has lines, and no variables."""
    from tiletwin import sim

    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry other(.param .u64 p)\n{\n.reg .b64 %a;\n"
        '.loc 1 3 1\nld.param.u64 %a, [p];\nret;\n}\n.file 1 "/nowhere/kernel.py"\n'
    )
    sim.load(text, file="other.ptx")["other"](np.zeros(1, np.uint32), grid=1, block=32)


def client():
    """A client of the driver that knows nothing of tiletwin."""
    import ctypes

    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        if error := getattr(cuda, name)(*arguments):
            raise RuntimeError(f"{name}: {error}")

    device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    x, sums, result = ctypes.c_uint64(), ctypes.c_uint64(), np.zeros(4, np.float32)
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), (ROOT / "demo/ptx/block_sum.ptx").read_bytes() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, b"block_sum")
    numbers = np.arange(1024, dtype=np.float32)
    call("cuMemAlloc_v2", ctypes.byref(x), ctypes.c_size_t(4096))
    call("cuMemAlloc_v2", ctypes.byref(sums), ctypes.c_size_t(16))
    call("cuMemcpyHtoD_v2", x, numbers.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(4096))
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(x), ctypes.addressof(sums))
    call("cuLaunchKernel", function, 4, 1, 1, 256, 1, 1, 0, None, pointers, None)
    call("cuMemcpyDtoH_v2", result.ctypes.data_as(ctypes.c_void_p), sums, ctypes.c_size_t(16))
    print("sums", *result)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
