"""`tiletwin gpu`: a program finds the virtual GPU by the name that every client opens; options; what was missing."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess

import children
import pytest
from tiletwin import gpu

LOOKS = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count, bytes_, major = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
print(cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count)), count.value)
cuda.cuDeviceTotalMem_v2(ctypes.byref(bytes_), 0)
cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
print(bytes_.value, major.value)
print(cuda.cuMulticastCreate(None, None))
raise SystemExit(5)
"""


def command(*words: str, **values: str) -> subprocess.CompletedProcess[str]:
    return children.run("-m", "tiletwin", "gpu", *words, **values)


def test_a_program_finds_the_gpu_and_keeps_its_exit_status(tmp_path):
    own = {"TMPDIR": str(tmp_path)}
    ran = command("--count", "3", "--memory", "2G", "--arch", "sm_80", "--", "python", "-c", LOOKS, **own)
    assert ran.stdout.split("\n")[:3] == ["0 0 3", f"{2 << 30} 8", "801"]
    assert ran.returncode == 5
    assert "cuMulticastCreate is not there" in ran.stderr
    assert command("--missing", **own).stdout == "cuMulticastCreate\n"
    assert command("python", "-c", "print(1)", **own).stdout == "1\n"
    assert command("--missing", **own).stdout == "nothing was missing\n"


@pytest.mark.parametrize("words, text", [
    (("--arch", "sm_70", "--", "python", "-c", LOOKS), "TILETWIN_GPU_ARCH=sm_70: expected one of: sm_90a, sm_80"),
    (("--memory", "much", "--", "python", "-c", LOOKS), "TILETWIN_GPU_MEMORY=much: expected bytes"),
    (("--", "no-such-program"), "there is no program no-such-program"),
    ((), "name a program"),
])  # fmt: skip
def test_mistakes_say_what_to_write(words, text):
    ran = command(*words)
    assert text in ran.stderr and ran.returncode != 0


PROGRAM = r"""
#include <cuda.h>
#include <stdio.h>
int main(void) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction function; CUdeviceptr memory;
  unsigned value = 0;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device)) return 1;
  if (cuCtxSetCurrent(context) || cuMemAlloc(&memory, 4)) return 2;
  if (cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 p) "
      "{ .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [p]; mov.u32 %r1, 42; st.global.u32 [%d1], %r1; ret; }"))
    return 3;
  void* parameters[] = {&memory};
  if (cuModuleGetFunction(&function, module, "f")) return 4;
  if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0) || cuCtxSynchronize()) return 5;
  if (cuMemcpyDtoH(&value, memory, 4) || cuMemFree(memory)) return 6;
  printf("%u\n", value);
  return 0;
}
"""


def test_a_c_program_that_links_the_driver(tmp_path):
    import declarations

    compiler = shutil.which("gcc") or shutil.which("clang-22")
    headers = declarations.header_folder()
    if compiler is None or headers is None:
        pytest.skip("a C compiler and cuda.h are not installed")
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([compiler, "program.c", "-o", "program", f"-I{headers}", f"-L{gpu.FOLDER}", "-l:libcuda.so.1"],
                   cwd=tmp_path, check=True)  # fmt: skip
    ran = command("--", str(tmp_path / "program"))
    assert (ran.returncode, ran.stdout) == (0, "42\n"), ran.stderr


NUMBA = """
import numpy as np
from numba import cuda

@cuda.jit
def add(x, y, z):
    i = cuda.grid(1)
    if i < x.size:
        z[i] = x[i] + y[i]

x = np.arange(1000, dtype=np.float32)
z = cuda.device_array_like(x)
add[8, 128](cuda.to_device(x), cuda.to_device(2 * x), z)
assert np.array_equal(z.copy_to_host(), 3 * x)
print("numba added")
"""


def test_numba(tmp_path):
    if importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    script = tmp_path / "add.py"
    script.write_text(NUMBA)
    ran = command("--", "python", str(script))
    assert "numba added" in ran.stdout, ran.stderr


SHARED = """
import ctypes
import sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
text = (".version 8.0\\n.target sm_80\\n.address_size 64\\n.shared .align 4 .b8 room[16];\\n.visible .entry f() {"
        " .reg .b32 %r<2>; mov.u32 %r1, room; st.shared.u32 [%r1+" + sys.argv[1] + "], %r1; ret; }")
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
assert cuda.cuModuleLoadData(ctypes.byref(module), text.encode()) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"f") == 0
cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None)
print(cuda.cuCtxSynchronize())
"""


@pytest.mark.parametrize("bounds, offset, code", [
    ("exact", 12, 0), ("exact", 16, 700), ("pages", 124, 0), ("pages", 128, 700),
])  # fmt: skip
def test_shared_memory_ends_where_bounds_say(bounds, offset, code):
    """Hardware gives shared memory out in units of 128 bytes."""
    assert command("--bounds", bounds, "--", "python", "-c", SHARED, str(offset)).stdout == f"{code}\n"
