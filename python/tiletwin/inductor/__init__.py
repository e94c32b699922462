"""torch.compile while kernels are interpreted: Inductor's generated Triton kernels run on the interpreter. On a GPU:
gpu.py.

Here:      `prepare`, which says what is done when which of torch's modules has been imported. Each part has a module:
           settings.py (Inductor's configuration and where its caches are), dynamo.py (tracing beside the function
           mode), memory.py (what generated code allocates), kernels.py (generated kernels and their launches),
           origins.py (lines of the model that they come from), builtins.py (functions that Inductor's kernels call),
           flex.py (the template of flex_attention), cpp_wrapper.py (graphs that C++ code calls).
Not here:  the emulated CUDA (torch_cuda/), fake tensors there (torch_cuda/fakes.py), launches (`triton.jit`).
Invariant: torch.compile stays torch's own function. Inductor generates for an emulated CUDA device what it would
           generate for that GPU; every kernel is launched as a script would launch it, so that all tools see it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tiletwin._activate import TorchFinder
from tiletwin.inductor import accesses, builtins, cpp_wrapper, dynamo, flex, kernels, memory, origins, settings
from tiletwin.torch_cuda import emulation

_INDUCTOR: dict[str, Callable[[ModuleType], None]] = {
    "torch._dynamo": dynamo.patch,
    "torch._inductor.config": settings.patch_config,
    "torch._inductor.runtime.cache_dir_utils": settings.patch_cache_directory,
    "torch._inductor.runtime.triton_heuristics": kernels.patch_launches,
    "torch._inductor.runtime.triton_helpers": builtins.patch,
    "torch._inductor.compile_fx": cpp_wrapper.patch_compile,
    "torch._inductor.graph": cpp_wrapper.patch_graph,
    "torch._inductor.async_compile": kernels.patch_compilation,
    "torch._higher_order_ops.triton_kernel_wrap": accesses.patch,
    "torch._inductor.utils": kernels.patch_atomics,
    "torch._inductor.ir": kernels.patch_fallbacks,
    "torch._inductor.kernel.flex.flex_attention": flex.patch,
    "torch._inductor.codegen.wrapper": kernels.patch_calls,
    "torch._inductor.codegen.triton_utils": kernels.patch_scalars,
    "torch._inductor.codegen.triton": origins.patch_comments,
    "torch._inductor.codecache": origins.patch_keys,
}
"""What is done after the import of a module of torch: nothing of Inductor is imported before a script compiles."""
_EMULATED: dict[str, Callable[[ModuleType], None]] = {
    "torch._functorch._aot_autograd.runtime_wrappers": memory.patch_views,
    "torch._inductor.output_code": memory.patch_graphs,
}
"""The same where CUDA is emulated."""


def prepare(torch: Any) -> None:
    """Called when torch has been imported in a process that interprets kernels, and CUDA is emulated where it must."""
    parts = _INDUCTOR
    if emulation.is_installed():
        memory.patch(torch)
        parts = parts | _EMULATED
    install(parts, torch, "PyTorch 2.13", "TILETWIN_TORCH_COMPILE=0 lets functions run uncompiled")


def install(parts: dict[str, Callable[[ModuleType], None]], torch: Any, followed: str, otherwise: str) -> None:
    """Has functions called with the modules of torch that they are for, once each has been imported.

    followed, otherwise: which torch they know, and what can be done with another one.
    """
    patches = {name: _of_this_torch(patch, torch, followed, otherwise) for name, patch in parts.items()}
    for name in sys.modules.keys() & patches.keys():
        patches[name](sys.modules[name])
    later = patches.keys() - sys.modules.keys()
    sys.meta_path.insert(0, CompilerFinder(lambda module: patches[module.__name__](module), *later))


class CompilerFinder(TorchFinder):
    """Waits for the modules of torch's compiler."""


def _of_this_torch(
    patch: Callable[[ModuleType], None], torch: Any, followed: str, otherwise: str
) -> Callable[[ModuleType], None]:
    """`patch`, which says what is wrong where torch has other names. Errors: ImportError, it has."""

    def call(module: ModuleType) -> None:
        try:
            patch(module)
        except AttributeError as error:
            raise ImportError(
                f"tiletwin follows torch.compile of {followed}; {module.__name__} of {torch.__version__} differs: "
                f"{error}. {otherwise}"
            ) from error

    return call
