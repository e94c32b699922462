"""The virtual GPU's libnvrtc and nvcc: machine code of NVIDIA's compilers carries the PTX that it was made from."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from typing import Any

import children
import numpy as np
import pytest
import virtual_gpu
from tiletwin import gpu
from virtual_gpu import call, context, number

KERNEL = '#include "value.h"\nextern "C" __global__ void write(int* x) { *x = VALUE; }\n'
FAKE = r"""
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n";
/* A file of ELF with a section of names and nothing else. */
static size_t image(unsigned char* out) {
  unsigned char file[64 + 16 + 2 * 64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  memcpy(file + 40, &(size_t){80}, 8);                       /* e_shoff */
  file[58] = 64, file[60] = 2, file[62] = 1;                 /* e_shentsize, e_shnum, e_shstrndx */
  memcpy(file + 65, ".shstrtab", 9);
  file[80 + 64] = 1, file[80 + 64 + 4] = 3;                  /* sh_name, sh_type */
  memcpy(file + 80 + 64 + 24, &(size_t){64}, 8);             /* sh_offset */
  memcpy(file + 80 + 64 + 32, &(size_t){16}, 8);             /* sh_size */
  if (out) memcpy(out, file, sizeof file);
  return sizeof file;
}
int nvrtcVersion(int* major, int* minor) { *major = 13, *minor = 99; return 0; }
const char* nvrtcGetErrorString(int result) { return result ? "wrong" : "fine"; }
int nvrtcGetCUBINSize(void* program, size_t* bytes) { *bytes = program ? image(NULL) : 0; return 0; }
int nvrtcGetCUBIN(void* program, char* bytes) { /* a call of its own that must stay in it */
  size_t n = 0;
  nvrtcGetCUBINSize(program, &n);
  if (n != 208) return 1;
  image((unsigned char*)bytes);
  return 0;
}
int nvrtcGetPTXSize(void* program, size_t* bytes) { *bytes = sizeof ptx; return 0; }
int nvrtcGetPTX(void* program, char* bytes) { memcpy(bytes, ptx, sizeof ptx); return 0; }
int nvrtcCompileProgram(void* program, int count, const char** options) {
  return count == 2 && !strcmp(options[1], "-b") ? 0 : 6;
}
"""
CLIENT = """
import ctypes, sys
nvrtc = ctypes.CDLL("libnvrtc.so.13")
major, minor, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
print(nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), major.value, minor.value)
nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
print(nvrtc.nvrtcGetErrorString(1).decode())
if major.value:
    print(nvrtc.nvrtcCompileProgram(None, 2, (ctypes.c_char_p * 2)(b"-a", b"-b")))
    nvrtc.nvrtcGetCUBINSize(ctypes.c_void_p(1), ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(ctypes.c_void_p(1), image)
    nvrtc.nvrtcGetCUBINSize(None, ctypes.byref(size))
    print(size.value)
    open(sys.argv[1], "wb").write(image.raw)
"""


def client(tmp_path, **values: Any) -> subprocess.CompletedProcess[str]:
    (tmp_path / "client.py").write_text(CLIENT)
    words = ("-m", "tiletwin", "gpu", "--", sys.executable, str(tmp_path / "client.py"), str(tmp_path / "image"))
    return children.run(*words, **values)


def test_machine_code_of_nvrtc_runs(tmp_path):
    """NVIDIA's library is one of our own here, so that every byte is known."""
    compiler = shutil.which("gcc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("a C compiler is not installed")
    (tmp_path / "fake.c").write_text(FAKE)
    real = tmp_path / "libnvrtc-real.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", real, tmp_path / "fake.c"], check=True)
    ran = client(tmp_path, TILETWIN_GPU_NVRTC=str(real))
    assert ran.stdout.split("\n")[:4] == ["0 13 99", "wrong", "0", "0"], ran.stderr
    with context():
        module = number("cuModuleLoadData", (tmp_path / "image").read_bytes())
        virtual_gpu.launch(virtual_gpu.function("f", module))
        call("cuCtxSynchronize")


def test_without_nvrtc_it_says_where_it_was_looked_for(tmp_path):
    empty = {"VIRTUAL_ENV": "", "CONDA_PREFIX": "", "CUDA_HOME": "", "CUDA_PATH": ""}
    ran = client(tmp_path, TILETWIN_GPU_NVRTC=str(tmp_path / "none"), **empty)
    if "not there" not in ran.stderr:
        pytest.skip("NVIDIA's libnvrtc is installed where it is found without variables")
    assert ran.stdout.split("\n")[:2] == ["11 0 0", "NVIDIA's libnvrtc is not there"]
    assert ran.stderr.count("TILETWIN_GPU_NVRTC") == 1


def nvcc(folder, *words: str) -> subprocess.CompletedProcess[str]:
    return children.run("-m", "tiletwin", "gpu", "--", "nvcc", *words, cwd=folder)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_machine_code_of_nvcc_runs(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "value.h").write_text("#define VALUE 42\n")
    (tmp_path / "kernel.cu").write_text(KERNEL)
    ran = nvcc(tmp_path, "-cubin", "-arch", "sm_90", "-Iinc", "kernel.cu")
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    ran = nvcc(tmp_path, "--cubin", "-arch=sm_90", "-Iinc", "-o", "named.bin", "kernel.cu")
    assert ran.returncode == 0
    for name in ("kernel.cubin", "named.bin"):
        with context():
            x = number("cuMemAlloc_v2", 4)
            module = number("cuModuleLoadData", (tmp_path / name).read_bytes())
            virtual_gpu.launch(virtual_gpu.function("write", module), ctypes.c_uint64(x))
            assert virtual_gpu.from_device(x, np.zeros(1, np.int32)) == [42]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["inc", "kernel.cu", "kernel.cubin", "named.bin"]
    ran = nvcc(tmp_path, "-cubin", "-arch=sm_90", "kernel.cu")
    assert ran.returncode != 0 and "value.h" in ran.stderr
    assert "release" in nvcc(tmp_path, "--version").stdout
    assert gpu.FOLDER.joinpath("bin", "nvcc").exists()
