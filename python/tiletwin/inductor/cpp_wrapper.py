"""Graphs that Inductor wraps in C++: AOTInductor's packages, and `cpp_wrapper=True`.

Here:      what becomes of them where kernels are interpreted.
Not here:  graphs that are called from Python, which is what torch.compile makes by default.
Invariant: C++ code launches machine code, which the interpreter has none of. For tensors of the host Inductor takes its
           C++ kernels, and it is said; for an emulated GPU nothing is compiled.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from tiletwin.torch_cuda.marks import say_once

_CPP = (
    "torch.compile: a graph with a wrapper in C++ (AOTInductor, cpp_wrapper=True) gets kernels in C++ for tensors of "
    "the host, which run unchecked; torch.compile without cpp_wrapper has interpreted kernels"
)
_NO_GPU = (
    "a graph with a wrapper in C++ (AOTInductor, cpp_wrapper=True) launches machine code, which an emulated GPU does "
    "not run. Interpret the same model with torch.compile without cpp_wrapper, or compile for the host"
)


def patch_compile(module: ModuleType) -> None:
    """torch._inductor.compile_fx: other kernels for such graphs."""
    names: Any = module
    compile_fx = names.compile_fx

    @functools.wraps(compile_fx)
    def compile_there(
        model: Any, inputs: Any, *args: Any, config_patches: dict[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        asked = {name: getattr(names.config, name) for name in ("cpp_wrapper", "cpu_backend")} | (config_patches or {})
        if asked["cpp_wrapper"] and asked["cpu_backend"] == "triton":
            say_once(_CPP)
            config_patches = {**(config_patches or {}), "cpu_backend": "cpp"}
        return compile_fx(model, inputs, *args, config_patches=config_patches, **kwargs)

    names.compile_fx = compile_there


def patch_graph(module: ModuleType) -> None:
    """torch._inductor.graph: no such graph is made for an emulated GPU."""
    Graph: Any = vars(module)["GraphLowering"]
    init = Graph.init_wrapper_code

    @functools.wraps(init)
    def init_wrapper_code(self: Any, *args: Any, **kwargs: Any) -> None:
        if self.cpp_wrapper and "cuda" in self.device_types:
            raise NotImplementedError(_NO_GPU)
        init(self, *args, **kwargs)

    Graph.init_wrapper_code = init_wrapper_code
