"""Where cuda.h is, and our tables of the driver's functions against it: compiled, never linked or run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

COMPARED = r"""
#include "sim/driver/Arrays.h"
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <type_traits>
template <class A, class B>
constexpr bool isSame = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class A, class B> struct SameFunction : std::false_type {};
template <class... A, class... B> requires(sizeof...(A) == sizeof...(B))
struct SameFunction<CUresult (*)(A...), tiletwin::cuda::Result (*)(B...)>
    : std::bool_constant<(isSame<A, B> && ...)> {};
#define LAYOUT(ours, theirs) static_assert(sizeof(tiletwin::driver::ours) == sizeof(theirs), #ours);
LAYOUT(Copy2D, CUDA_MEMCPY2D) LAYOUT(Copy3D, CUDA_MEMCPY3D) LAYOUT(PoolProperties, CUmemPoolProps)
LAYOUT(AccessDescription, CUmemAccessDesc) LAYOUT(KernelNodeParams, CUDA_KERNEL_NODE_PARAMS)
LAYOUT(MemsetNodeParams, CUDA_MEMSET_NODE_PARAMS) LAYOUT(HostNodeParams, CUDA_HOST_NODE_PARAMS)
LAYOUT(GraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS) LAYOUT(Location, CUmemLocation)
LAYOUT(AllocationProperties, CUmemAllocationProp) LAYOUT(GraphNodeParams, CUgraphNodeParams)
LAYOUT(GraphAllocParams, CUDA_MEM_ALLOC_NODE_PARAMS) LAYOUT(UpdateInfo, CUgraphExecUpdateResultInfo)
LAYOUT(ArrayDescription, CUDA_ARRAY_DESCRIPTOR) LAYOUT(Array3DDescription, CUDA_ARRAY3D_DESCRIPTOR)
LAYOUT(ResourceDescription, CUDA_RESOURCE_DESC) LAYOUT(TextureDescription, CUDA_TEXTURE_DESC)
LAYOUT(ViewDescription, CUDA_RESOURCE_VIEW_DESC)
namespace tiletwin::driver {
"""


def header_folder() -> Path | None:
    places = [Path(os.environ[v], "include") for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)]
    places += [Path("/usr/local/cuda/include")]
    for folder in filter(None, sys.path):
        places += Path(folder).glob("nvidia/*/include")
    return next((place for place in places if (place / "cuda.h").is_file()), None)


def rows() -> list[tuple[str, str, str, str]]:
    """(name, version, symbol, parameters) of each function."""
    import re

    text = "".join(
        (ROOT / "sim" / "driver" / name).read_text() for name in ("Api.h", "MemoryApi.h", "GraphApi.h", "ArrayApi.h")
    )
    plain = re.sub(r"\\\n\s*", " ", text)
    return re.findall(r"\bX\((cu\w+),\s*(\d+),\s*(cu\w+),\s*(\((?:[^()]|\([^()]*\))*\))\)", plain)


def compile_rows(listed: list[tuple[str, str, str, str]], folder: Path) -> str:
    """What a compiler says of rows that differ from cuda.h; empty: nothing."""
    checks = [
        f"static_assert(SameFunction<decltype(&::{symbol}), Result(*) {parameters}>::value, \"{symbol}\");"
        for _, _, symbol, parameters in listed
    ]  # fmt: skip
    compiler = shutil.which("clang++-22") or shutil.which("g++") or "c++"
    words = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{ROOT}", f"-I{folder}", "-"]
    source = COMPARED + "\n".join(checks) + "\n}\n"
    ran = subprocess.run(words, input=source, capture_output=True, text=True)
    return ran.stderr if ran.returncode else ""
