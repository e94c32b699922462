"""The CUDA runtime over the virtual GPU: its tables against cuda_runtime_api.h, and programs on it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import children
import declarations
import pytest
from tiletwin import gpu

HERE = Path(__file__).parent
COMPARED = r"""
#include "sim/cudart/RuntimeTypes.h"
#define __CUDART_API_VERSION_INTERNAL
#include <cuda_runtime_api.h>
#include <cuda_profiler_api.h>
#include <type_traits>
template <class A, class B>
constexpr bool isSame = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class A, class B> struct SameFunction : std::false_type {};
template <class... A, class... B> requires(sizeof...(A) == sizeof...(B))
struct SameFunction<cudaError_t (*)(A...), int (*)(B...)> : std::bool_constant<(isSame<A, B> && ...)> {};
#define LAYOUT(ours, theirs) static_assert(sizeof(tiletwin::cudart::ours) == sizeof(theirs), #ours);
#define PLACE(ours, theirs) \
  static_assert(offsetof(tiletwin::cudart::DeviceProperties, ours) == offsetof(cudaDeviceProp, theirs), #theirs);
LAYOUT(Dim3, dim3) LAYOUT(Extent, cudaExtent) LAYOUT(Position, cudaPos) LAYOUT(PitchedPointer, cudaPitchedPtr)
LAYOUT(Copy3DParameters, cudaMemcpy3DParms) LAYOUT(LaunchConfiguration, cudaLaunchConfig_t)
LAYOUT(KernelParameters, cudaKernelNodeParams) LAYOUT(FunctionAttributes, cudaFuncAttributes)
LAYOUT(PointerAttributes, cudaPointerAttributes) LAYOUT(DeviceProperties, cudaDeviceProp)
LAYOUT(RuntimeResource, cudaResourceDesc) LAYOUT(RuntimeTexture, cudaTextureDesc)
LAYOUT(ViewDescription, cudaResourceViewDesc) LAYOUT(RuntimeNodeParams, cudaGraphNodeParams)
LAYOUT(ChannelFormat, cudaChannelFormatDesc) LAYOUT(MemsetNodeParams, cudaMemsetParams)
LAYOUT(PoolProperties, cudaMemPoolProps) LAYOUT(AccessDescription, cudaMemAccessDesc) LAYOUT(Location, cudaMemLocation)
PLACE(totalGlobalMem, totalGlobalMem) PLACE(major, major) PLACE(textures, maxTexture1D) PLACE(l2CacheSize, l2CacheSize)
PLACE(surfaceAlignment, surfaceAlignment) PLACE(sharedMemPerBlockOptin, sharedMemPerBlockOptin)
PLACE(memoryPoolsSupported, memoryPoolsSupported) PLACE(clusterLaunch, clusterLaunch) PLACE(reserved, reserved)
namespace tiletwin::cudart {
"""


def compile_checks(checks: list[str], folder: Path) -> str:
    compiler = shutil.which("clang++-22") or shutil.which("g++") or "c++"
    words = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{declarations.ROOT}", f"-I{folder}", "-"]
    ran = subprocess.run(words, input=COMPARED + "\n".join(checks) + "\n}\n", capture_output=True, text=True)
    return ran.stderr if ran.returncode else ""


def test_functions_and_errors_are_those_of_the_toolkit():
    folder = declarations.header_folder()
    if folder is None or not (folder / "cuda_runtime_api.h").is_file():
        pytest.skip("the CUDA runtime's headers are not installed")
    version = re.search(r"#define CUDART_VERSION\s+(\d+)", (folder / "cuda_runtime_api.h").read_text())
    if version is None or int(version[1]) < 13000:
        pytest.skip("the CUDA runtime's headers are of a version before 13")
    text = (declarations.ROOT / "sim" / "cudart" / "RuntimeApi.h").read_text()
    rows = re.findall(
        r"\bX\((cuda\w+),\s*(\((?:[^()]|\([^()]*\))*\))(?:,\s*cu\w+,\s*\((?:[^()]|\([^()]*\))*\))?\)",
        re.sub(r"\\\n\s*", " ", text),
    )
    assert len(rows) > 130
    checks = [f'static_assert(SameFunction<decltype(&::{n}), int (*) {p}>::value, "{n}");' for n, p in rows]
    names = (declarations.ROOT / "sim" / "cudart" / "ErrorCalls.cpp").read_text()
    errors = re.findall(r'\{(\d+), "(cuda\w+)"\}', names)
    assert len(errors) > 100
    checks += [f'static_assert(int(::{name}) == {number}, "{name}");' for number, name in errors]
    assert compile_checks(checks, folder) == ""
    wrong = "static_assert(SameFunction<decltype(&::cudaMalloc), int (*)(int)>::value);"
    assert "static" in compile_checks([wrong], folder)  # it can fail


def run(*words: str, **values: str) -> subprocess.CompletedProcess[str]:
    return children.run("-m", "tiletwin", "gpu", *words, **values)


def test_a_program_of_plain_calls(tmp_path):
    """What nvcc's code does to register a kernel, by hand: no compiler of CUDA is needed."""
    own = {"TMPDIR": str(tmp_path)}
    ran = run("--", "python", str(HERE / "runtime_client.py"), **own)
    assert (ran.returncode, ran.stdout) == (0, "launched\n"), ran.stderr
    assert "cudaImportExternalMemory is not there: it returns cudaErrorNotSupported" in ran.stderr
    assert run("--missing", **own).stdout == "cudaImportExternalMemory\n"


def compiled(folder: Path, *options: str) -> str:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    program = folder / "program"
    words = ["nvcc", "-std=c++17", "-arch=compute_90", *options, "-o", str(program), str(HERE / "runtime_program.cu")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(program)


def test_a_program_of_nvcc(tmp_path):
    ran = run("--count", "2", "--", compiled(tmp_path, "-cudart", "shared"))
    assert ran.stdout.split() == ["launches", "grids", "refusals", "memory", "order", "devices", "errors_stay"], (
        ran.stdout
    )
    assert "writes 4 bytes at offset 4194304" in ran.stderr


def test_a_runtime_that_is_linked_in_says_what_to_do(tmp_path):
    ran = run("--", compiled(tmp_path))
    assert "-cudart shared" in ran.stderr and "launches" not in ran.stdout.split()


def test_it_exports_what_the_runtime_exports():
    library = gpu.FOLDER / "libcudart.so.13"
    listed = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    names = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines() if " A " not in line}
    assert len(names) > 400 and all(name.startswith(("cuda", "__cuda")) for name in names)
