"""torch.compile on a GPU with tiletwin in Triton's place: Inductor generates kernels, tiletwin compiles them, Inductor
launches them.

Here:      the little that Inductor cannot find under Triton's names: files of compiled kernels, caches of their own;
           builtins.py and accesses.py have the rest.
Not here:  the same while kernels are interpreted (__init__.py); what Inductor calls of a Triton (compiler/, launch/,
           drivers/, kernels/sent.py).
Invariant: everything that decides about kernels and launches them is Inductor's own, in this process and in its compile
           workers, which are processes with the same variables.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from tiletwin.inductor import accesses, builtins, install, settings


def prepare(torch: Any) -> None:
    """Called when torch has been imported in a process that launches kernels on GPUs."""
    install(
        {
            "torch._inductor.runtime.cache_dir_utils": _patch_cache_directory,
            "torch._inductor.runtime.triton_heuristics": _patch_sources,
            "torch._inductor.runtime.triton_helpers": builtins.patch,
            "torch._higher_order_ops.triton_kernel_wrap": accesses.patch,
        },
        torch,
        "PyTorch 2.11 to 2.13",
        "TORCH_COMPILE_DISABLE=1 lets functions run uncompiled",
    )


def _patch_cache_directory(module: ModuleType) -> None:
    settings.patch_cache_directory(module, "-gpu")


def _patch_sources(module: ModuleType) -> None:
    """torch._inductor.runtime.triton_heuristics: its launcher loads a cubin that lies where Triton puts it."""
    heuristics: Any = module
    Source = heuristics.ASTSource

    @functools.wraps(Source, updated=())
    def kept(*args: Any, **kwargs: Any) -> Any:
        source = Source(*args, **kwargs)
        source.kept_in_files = True
        return source

    heuristics.ASTSource = kept
