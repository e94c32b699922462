"""What `triton` has and this package refuses, with the reason: the text of the error, and of docs/language.md.

Here:      the tables, and the names that earlier versions of Triton had.
Not here:  the functions that call `refuse` (where Triton has them).
Invariant: importing a refused function works, calling it raises NotImplementedError; importing a refused module raises
ModuleNotFoundError with the reason. Names are Triton's.
"""

from __future__ import annotations

from typing import NoReturn

_GPU = "kernels run on the CPU here, and there is no GPU to ask"
_FRONT_END = "belongs to Triton's own front end, which is written in C++ here"
_NATIVE = "compiles C code into the process; nothing needs that here"
_AMD = "exists on AMD GPUs only; the target is an NVIDIA GPU. Use triton.language.extra.libdevice"

REFUSED: dict[str, str] = {
    # triton.testing
    "triton.testing.cuda_graph_without_gc": "records a CUDA graph, and kernels run on the CPU here; call them directly",
    "triton.testing.nvsmi": f"runs nvidia-smi; {_GPU}",
    "triton.testing.set_gpu_clock": f"sets the clocks of a GPU; {_GPU}",
    "triton.testing.cublas": f"gives a handle of cuBLAS; {_GPU}. Compare with torch.matmul",
    # triton.runtime.jit, triton.runtime.build
    "triton.runtime.jit.DependenciesFinder": f"{_FRONT_END}; JITFunction.cache_key is the hash it would compute",
    "triton.runtime.build.compile_module_from_src": _NATIVE,
    "triton.runtime.build.compile_module_from_file": _NATIVE,
    # triton.compiler
    "triton.compiler.ASTSource.make_ir": f"returns an object of Triton's MLIR bindings, and {_FRONT_END}; "
    "triton.compile(source).asm['source'] is the text",
    "triton.compiler.IRSource.make_ir": f"returns an object of Triton's MLIR bindings, and {_FRONT_END}; "
    "triton.compile(path).asm['ttir'] is the text",
    "triton.compiler.CompiledKernel.__init__": "reads a kernel's files from Triton's cache; triton.compile() makes one",
    "triton.compiler.CompiledKernel.run": "is the raw launcher of GPU code, and this kernel does not run on a GPU; "
    "kernel[grid](...) launches",
    # triton.backends
    "triton.backends.compiler.BaseBackend.add_stages": "adds Triton's own stages of GPU code; kernel.asm has "
    "those of this package",
    "triton.backends.compiler.BaseBackend.load_dialects": f"takes an MLIR context, and {_FRONT_END}",
    "triton.backends.driver.utils.load_binary": f"loads a GPU binary; {_GPU}",
    "triton.backends.driver.utils.unload_module": f"unloads a GPU binary; {_GPU}",
    "triton.backends.driver.utils.launch": f"launches a GPU binary; {_GPU}",
    "triton.backends.driver.utils.fill_tma_descriptor_tiled": f"encodes a descriptor for the TMA unit; {_GPU}. Pass a "
    "triton.tools.tensor_descriptor.TensorDescriptor",
    "triton.backends.driver.utils.fill_tma_descriptor_im2col": f"encodes a descriptor for the TMA unit; {_GPU}",
    "triton.backends.driver.utils.cuOccupancyMaxActiveClusters": f"asks the CUDA driver about a GPU function; {_GPU}",
    # triton.tools
    "triton.tools.LinearLayout": "maps a GPU's registers, lanes and warps to the elements of a tile; tiles have no "
    "layout here",
    "triton.tools.build_extern.main": "makes wrappers of an LLVM bitcode library; those of libdevice are built in",
    # triton.language.core
    "triton.language.core.dispatch": f"{_FRONT_END}; use extern_elementwise",
    "triton.language.core.binary_op_type_legalization": f"{_FRONT_END}; operators promote their operands",
    "triton.language.core.check_bit_width": f"{_FRONT_END}; shifts check their operands",
    # triton.language.extra.hip
    "triton.language.extra.hip.memrealtime": _AMD.replace("extra.libdevice", "extra.cuda.globaltimer"),
    "triton.language.extra.hip.libdevice": _AMD,
}

MODULES: dict[str, str] = {
    "_C.libtriton": "is Triton's native library; tiletwin has its own (tiletwin._C), with another interface",
    "_C.libproton": "is the native library of Triton's profiler; triton.profiler measures on the CPU without it",
    "profiler.language": "measures inside of GPU code; triton.profiler's scopes and whole launches work",
    "profiler.viewer": "needs Hatchet; the .hatchet files that triton.profiler writes are JSON",
    "experimental": "holds Gluon, whose kernels lay out a GPU's registers and shared memory: nothing to interpret",
    "compiler.code_generator": _FRONT_END,
    "language.semantic": _FRONT_END,
    "backends.amd": "compiles for AMD GPUs; only 'cuda' targets are known here",
    "tools.triton_to_gluon_translator": "makes Gluon kernels, which cannot be interpreted",
    "tools.gsan": "is a race checker for GPU code; the interpreter checks every access itself",
    "compiler.make_launcher": "makes C code that launches GPU binaries; the launcher is written in C++ here",
    "_instrumentation": "changes GPU code by passes of Triton's own, which this package does not have",
    "_utils": _FRONT_END,
    **dict.fromkeys(
        "_compile_warmup _compile_warmup_pool _compile_warmup_state _filecheck _internal_testing _test_runner".split(),
        "belongs to Triton's own tests",
    ),
}
"""Modules below `triton`. Their own submodules are refused with them."""

REMOVED: dict[str, str] = {
    "triton.language._experimental_make_tensor_descriptor": "is called tl.make_tensor_descriptor now",
    "triton.language._experimental_reinterpret_tensor_descriptor": "is gone: pass a "
    "triton.tools.tensor_descriptor.TensorDescriptor, whose parameter is the descriptor",
    "triton.language._experimental_descriptor_load": "is called tl.load_tensor_descriptor(desc, offsets) now, "
    "where desc comes from tl.make_tensor_descriptor or is a TensorDescriptor argument",
    "triton.language._experimental_descriptor_store": "is called tl.store_tensor_descriptor(desc, offsets, value) "
    "now, where desc comes from tl.make_tensor_descriptor or is a TensorDescriptor argument",
    "triton.language.extra.cuda.experimental_device_tensormap_create1d": "is gone: use tl.make_tensor_descriptor",
    "triton.language.extra.cuda.experimental_device_tensormap_create2d": "is gone: use tl.make_tensor_descriptor",
    "triton.language.extra.cuda.experimental_tensormap_fenceproxy_acquire": "is gone: descriptors of "
    "tl.make_tensor_descriptor need no fence",
    "triton.tools.experimental_descriptor": "is gone: use triton.tools.tensor_descriptor.TensorDescriptor",
}
"""What earlier versions of Triton had, under other names or for what is done otherwise in 3.9."""


def missing(module: str, name: str) -> AttributeError:
    """The error of a name that a module below `triton.language` does not have."""
    reason = REMOVED.get(f"{module}.{name}")
    text = f"module {module.replace('triton', 'tiletwin', 1)!r} has no attribute {name!r}"
    return AttributeError(f"{text}: it {reason}" if reason else text)


def refuse(name: str) -> NoReturn:
    """Raises NotImplementedError for one of `REFUSED`."""
    raise NotImplementedError(f"{name} {REFUSED[name]}")


def refused_module(name: str) -> str | None:
    """Why the module `name` (below `triton`, without that prefix) is refused, or None."""
    for refused, reason in MODULES.items():
        if name == refused or name.startswith(refused + "."):
            return f"triton.{refused} {reason}"
    removed = REMOVED.get(f"triton.{name}")
    return removed and f"triton.{name} {removed}"
