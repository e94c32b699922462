"""torch.cuda on a machine without CUDA, while kernels are interpreted: scripts that say device="cuda" run on the CPU.

Here:      switching it on, when torch has been imported; torch.compile.
Not here:  torch.cuda (__init__.py), torch functions (mode.py), what no mode sees (patches.py), files
           (files.py), operators (operators.py, overrides.py), other processes (processes.py), fake tensors
           (fakes.py), launches, `triton.runtime.driver`.
Invariant: a tensor that "lives on cuda" is one of the CPU with a mark (marks.py), which `.device` goes by.
"""

from __future__ import annotations

import functools
from typing import Any

from tiletwin import _C, torch_cuda
from tiletwin.torch_cuda.hidden import sees_no_gpu

_mode: Any = None


def is_installed() -> bool:
    return _mode is not None


def prepare(torch: Any, compiles: bool = False) -> None:
    """Called when torch has been imported in a process that interprets kernels.

    compiles: whether torch.compile is left as it is.
    Errors: ImportError, it was imported before, and was built with CUDA, but there is no GPU.
    """
    if not compiles:
        _quiet_compiler(torch)
    if sees_no_gpu(torch._C):
        raise ImportError(
            "this torch was built with CUDA, there is no GPU, and torch was imported before tiletwin was activated, so "
            "CUDA cannot be emulated; start Python with TILETWIN_INTERPRET=1"
        )
    if not torch.cuda.is_available():
        install(torch)


def _same(function: Any) -> Any:
    return function


def _quiet_compiler(torch: Any) -> None:
    """With TILETWIN_TORCH_COMPILE=0, what torch.compile is called on runs as it is.

    A module comes back in torch's own class for compiled modules, since scripts ask for what that has.
    """
    from tiletwin.torch_cuda.marks import say_once

    @functools.wraps(torch.compile)
    def compile(model: Any = None, **kwargs: Any) -> Any:
        say_once(
            "torch.compile does nothing, as TILETWIN_TORCH_COMPILE=0 says; without it, kernels that PyTorch "
            "generates are interpreted"
        )
        if model is None:
            return lambda fn: compile(fn, **kwargs)
        if not isinstance(model, torch.nn.Module) or kwargs.get("disable"):
            return model
        from torch._dynamo.eval_frame import OptimizedModule

        return OptimizedModule(model, _same)  # type: ignore[arg-type]  all that it does is to call it

    torch.compile = compile
    try:
        from torch.utils import _triton
    except ImportError:
        return
    for name in ("has_triton_package", "has_triton"):  # libraries ask before they define kernels
        if hasattr(_triton, name):
            setattr(_triton, name, lambda: True)


def install(torch: Any) -> None:
    """Maps CUDA to the CPU for the rest of the process."""
    global _mode
    if _mode is not None:
        return
    from tiletwin.torch_cuda import cuda_only, fakes, files, mode, operators, patches, processes, types

    torch_cuda.patch(torch)
    for part in (patches, files, operators, processes, fakes, types, cuda_only):
        part.patch(torch)
    _mode = mode.CudaOnCpu()
    _mode.__enter__()
    _C.set_torch_guard(torch._C.DisableTorchFunction)
