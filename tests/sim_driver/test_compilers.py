"""The virtual GPU's libnvrtc, nvJitLink and nvcc: machine code of NVIDIA's carries the PTX that it was made from."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import children
import numpy as np
import pytest
import virtual_gpu
from images import fat_binary
from test_link import CALLEE, CALLER
from tiletwin import gpu
from virtual_gpu import call, code_of, context, number

KERNEL = '#include "value.h"\nextern "C" __global__ void write(int* x) { *x = VALUE; }\n'
IMAGE = r"""
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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
"""
FAKE = r"""
#include <dlfcn.h>
static char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n";
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
  return count != 2 || strcmp(options[1], "-b") ? 6 : dlopen("libnvrtc-builtins.so.9", RTLD_LAZY) ? 0 : 7;
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


def stand_in(folder: Path, text: str) -> str:
    """A library of our own in the place of NVIDIA's, so that every byte is known."""
    compiler = shutil.which("gcc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("a C compiler is not installed")
    (folder / "fake.c").write_text(IMAGE + text)
    real = folder / "real.so"
    words = [compiler, "-shared", "-fPIC", "-w", folder / "fake.c", "-o"]
    subprocess.run([*words, folder / "libnvrtc-builtins.so.9", "-Wl,-soname,libnvrtc-builtins.so.9"], check=True)
    subprocess.run([*words, real], check=True)
    return str(real)


def test_machine_code_of_nvrtc_runs(tmp_path):
    ran = client(tmp_path, TILETWIN_GPU_NVRTC=stand_in(tmp_path, FAKE))
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


LINKER = r"""
/* Handles count up; what a link asked for -ptx gives is its last input behind the four bytes of its magic. Machine code
   that is given is what is made, with all that it carries. */
static char text[9][9999];
static int made, asks_ptx[9];
static size_t given[9];
int nvJitLinkCreate(size_t* handle, unsigned count, const char** options) {
  *handle = ++made;
  for (unsigned i = 0; i < count; ++i) asks_ptx[made] |= !strcmp(options[i], "-ptx");
  return count > 1 && !strncmp(options[count - 1], "-arch", 5) ? 0 : 2;
}
int nvJitLinkDestroy(size_t* handle) { *handle = 0; return 0; }
int nvJitLinkAddData(size_t handle, int type, const char* data, size_t bytes, const char* name) {
  if (type == 1 && bytes > 208 && !given[handle]) given[handle] = bytes, memcpy(text[handle], data, bytes);
  if (type == 3) memcpy(text[handle], data + 4, bytes - 4);
  return bytes ? 0 : 3;
}
int nvJitLinkComplete(size_t handle) { return 0; }
int nvJitLinkGetLinkedCubinSize(size_t handle, size_t* bytes) {
  *bytes = given[handle] ? given[handle] : image(NULL);
  return 0;
}
int nvJitLinkGetLinkedCubin(size_t handle, void* bytes) {
  if (given[handle]) memcpy(bytes, text[handle], given[handle]); else image(bytes);
  return 0;
}
int nvJitLinkGetLinkedPtxSize(size_t handle, size_t* bytes) {
  *bytes = strlen(text[handle]) + 1;
  return asks_ptx[handle] ? 0 : 6;
}
int nvJitLinkGetLinkedPtx(size_t handle, char* bytes) { strcpy(bytes, text[handle]); return 0; }
"""
LINKS = """
import ctypes, sys
from pathlib import Path
OBJECT = 5
library, size, handle = ctypes.CDLL(None), ctypes.c_size_t(), ctypes.c_size_t()
options = (ctypes.c_char_p * 3)(b"-lto", b"-maxrregcount=40", b"-arch=sm_90")
assert library.nvJitLinkCreate(ctypes.byref(handle), 1, options) == 2
assert library.nvJitLinkCreate(ctypes.byref(handle), 3, options) == 0
add = lambda kind, data, name: library.nvJitLinkAddData(handle, kind, data, ctypes.c_size_t(len(data)), name)
assert add(2, b"", b"nothing") == 3
for word in sys.argv[2:]:
    kind, path = word.split(":")
    assert add(int(kind), Path(path).read_bytes(), path.encode() if int(kind) < OBJECT else b"") == 0
assert library.nvJitLinkComplete(handle) == 0
assert library.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)) == 0
image = ctypes.create_string_buffer(size.value)
assert library.nvJitLinkGetLinkedCubin(handle, image) == 0
assert library.nvJitLinkDestroy(ctypes.byref(handle)) == 0 and handle.value == 0
Path(sys.argv[1]).write_bytes(image.raw)
"""


CUBIN, PTX, LTO_IR, OBJECT = 1, 2, 3, 5
OPTIMISED = b"\xed\x43\x4e\x7f" + CALLEE.encode()
MACHINE_CODE = b"\x7fELF" + bytes(200)


def linked(folder: Path, *inputs: tuple[int, bytes]) -> tuple[bytes, str]:
    """The machine code of a link of NVIDIA's kinds of input, and what stands on stderr."""
    (folder / "client.py").write_text(LINKS)
    words = ["-m", "tiletwin", "gpu", "--", sys.executable, str(folder / "client.py"), str(folder / "image")]
    for i, (kind, content) in enumerate(inputs):
        (folder / f"input{i}").write_bytes(content)
        words.append(f"{kind}:{folder / f'input{i}'}")
    ran = children.run(*words, TILETWIN_GPU_NVJITLINK=stand_in(folder, LINKER))
    assert ran.returncode == 0, ran.stderr
    return (folder / "image").read_bytes(), ran.stderr


def runs(image: bytes) -> bool:
    """Whether it is CALLER, linked with CALLEE."""
    with context():
        x = number("cuMemAlloc_v2", 4)
        function = virtual_gpu.function("main_kernel", number("cuModuleLoadData", image))
        virtual_gpu.launch(function, ctypes.c_uint64(x))
        return virtual_gpu.from_device(x, np.zeros(1, np.int32)) == [20 * 2 + 100 + 5]


def test_machine_code_of_nvjitlink_runs(tmp_path):
    """One input is PTX, and one is what NVIDIA's linker optimises, and gives as PTX where it is asked to."""
    image, said = linked(tmp_path, (PTX, CALLER.encode() + b"\0"), (LTO_IR, OPTIMISED))
    assert said == "" and b"maxrregcount 40\n" in image
    assert runs(image)


def test_nvjitlink_takes_machine_code_that_carries_its_ptx(tmp_path):
    image, _ = linked(tmp_path, (LTO_IR, OPTIMISED))
    image, said = linked(tmp_path, (PTX, CALLER.encode()), (CUBIN, image))
    assert said == "" and runs(image)


def test_nvjitlink_takes_objects_with_ptx(tmp_path):
    """A fat binary stands somewhere in an object. What looks like the beginning of one may stand before it."""
    text = CALLEE.encode()
    hold = b"\x7fELF" + bytes(36) + struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 2**60) + fat_binary(text, 0, 0) + bytes(99)
    image, said = linked(tmp_path, (PTX, CALLER.encode()), (OBJECT, hold))
    assert said == "" and runs(image)


def test_machine_code_that_nvjitlink_is_given_has_no_ptx(tmp_path):
    """What the linker leaves of the PTX of an input is not taken for the whole."""
    carried, _ = linked(tmp_path, (LTO_IR, OPTIMISED))
    for kind, name in ((CUBIN, "input2"), (OBJECT, "an input")):
        image, said = linked(tmp_path, (PTX, CALLER.encode()), (CUBIN, carried), (kind, MACHINE_CODE))
        assert said.count(f"{name} is machine code without its PTX") == 1
        with context():
            assert code_of("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), image) == virtual_gpu.NO_BINARY


def test_texts_that_cannot_be_linked(tmp_path):
    _, said = linked(tmp_path, (PTX, CALLEE.encode()), (LTO_IR, OPTIMISED))
    assert said.count("twice") == 1 and "it will not run here" in said


def test_ours_stands_in_front_of_the_nvjitlink_that_a_program_has(tmp_path):
    there = tmp_path / "lib" / "python3.12" / "site-packages" / "nvidia" / "cu13" / "lib" / "libnvJitLink.so.13"
    program = str(tmp_path / "bin" / "python")
    assert gpu._linker(program, {}) == {}
    there.parent.mkdir(parents=True)
    there.touch()
    found = gpu._linker(program, {"LD_PRELOAD": "a.so"})
    ours = str(gpu.FOLDER / "libtiletwin_nvjitlink.so")
    assert found == {"TILETWIN_GPU_NVJITLINK": str(there), "LD_PRELOAD": f"{ours}:a.so"}
    assert gpu._linker(program, {"TILETWIN_GPU_NVJITLINK": ""}) == {}
    assert gpu._linker("/none/bin/python", {"VIRTUAL_ENV": str(tmp_path)})["TILETWIN_GPU_NVJITLINK"] == str(there)


def test_libraries_of_the_toolkit_are_where_its_nvcc_was(tmp_path, monkeypatch):
    for place in ("mine", "given"):
        (tmp_path / place / "lib64").mkdir(parents=True)
    program = tmp_path / "mine" / "bin" / "nvcc"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    for name in ("CUDA_ROOT", "CUDA_PATH", "TILETWIN_GPU_NVCC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "given"))
    root = lambda: gpu.environment({}).get("CUDA_ROOT")
    assert root() is None  # there are no libraries: the nvcc may be a script that calls one elsewhere
    (tmp_path / "given" / "lib64" / "libcudadevrt.a").touch()
    assert root() == str(tmp_path / "given")
    (tmp_path / "mine" / "lib64" / "libcudadevrt.a").touch()
    assert root() == str(tmp_path / "mine")
    monkeypatch.setenv("CUDA_ROOT", str(tmp_path / "given"))
    assert root() == str(tmp_path / "given")


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
