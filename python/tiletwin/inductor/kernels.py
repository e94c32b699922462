"""Kernels that Inductor generated: loading them, and launches that go the way of a script's own.

Here:      what takes the place of compilation for a GPU in Inductor's autotuner, and of its compile workers.
Not here:  launches (`triton.jit`), the text of kernels (torch/_inductor/codegen/triton.py).
Invariant: a kernel gets its arguments with the types that Inductor generated it for. The first configuration is taken
           unless a script asks for tuning.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from types import ModuleType
from typing import Any

from tiletwin import origins, variables
from tiletwin.inductor.origins import at_call
from tiletwin.torch_cuda.marks import say_once

_CPP = "Inductor generates C++ for a kernel, which is compiled and runs unchecked"
_EAGER = "Inductor has no kernel for {}; it runs as PyTorch's own operator"
_SCALARS = ("i", "u", "fp", "bf")


def patch_launches(module: ModuleType) -> None:
    """torch._inductor.runtime.triton_heuristics: its autotuner launches JIT functions."""
    heuristics: Any = module
    Autotuner, Result = heuristics.CachingAutotuner, heuristics.CompileResult
    init = Autotuner.__init__

    class LaunchedResult(Result):  # type: ignore[misc, valid-type]
        """A configuration of a kernel; stands where Inductor has a compiled kernel."""

        def make_launcher(self: Any) -> Any:
            """The function that generated code calls: it computes the grid and launches."""
            fn, cfg = self.kernel, self.config
            call_args, def_args, _ = self._get_arg_lists(fn.arg_names, fn.constexprs)
            scope = {"runner": _runner(fn, self.options, self.inductor_meta), "grid_meta": cfg.kwargs, **_modules()}
            launcher = self._gen_launcher_code(scope, def_args, ["grid_0", "grid_1", "grid_2", *call_args])
            launcher.config, launcher.cache_hash, launcher.store_cubin = cfg, fn.cache_key, False
            launcher.n_regs = launcher.n_spills = launcher.shared = 0
            return launcher

    @functools.wraps(init)
    def init_launched(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.triton_interpret = False  # its own way of interpreting has no tuning, and makes the grid anew each time
        self._cache_eligible = not (self.dump_launch_params or self.dump_launch_tensors)
        if not _tunes(self.inductor_meta):
            self.configs = self.configs[:1]

    def precompile_config(self: Any, cfg: Any) -> Any:
        meta = self._create_compile_meta(cfg)
        result = LaunchedResult(self.fn, cfg, meta, self.inductor_meta)
        _declare_types(self.fn, meta["signature"])
        options = {name: meta[name] for name in ("num_warps", "num_stages") if name not in self.fn.arg_names}
        result.options = {**options, "debug": meta["debug"], "sanitize_overflow": False}
        return result

    Autotuner.__init__ = init_launched
    Autotuner._precompile_config = precompile_config


def patch_compilation(module: ModuleType) -> None:
    """torch._inductor.async_compile: Triton kernels are loaded at once, in this process."""
    compilation: Any = module
    guards: Any = importlib.import_module("torch._guards")

    def triton(self: Any, kernel_name: str, source_code: str, device_str: str = "cuda") -> Any:
        compilation.kernel_code_log.info("Triton Kernel:\n%s", source_code)
        kernel = compilation._load_triton_kernel_from_source(kernel_name, source_code)
        graph: Any = compilation.V.graph
        kernel.set_compile_info(guards.CompileContext.current_compile_id(), getattr(graph, "is_backward", False))
        kernel.precompile()
        return kernel

    for name in ("cpp", "cpp_pybinding"):
        setattr(compilation.AsyncCompile, name, _saying(getattr(compilation.AsyncCompile, name), _CPP))
    compilation.AsyncCompile.triton = functools.wraps(compilation.AsyncCompile.triton)(triton)


def patch_fallbacks(module: ModuleType) -> None:
    """torch._inductor.ir: it is said that some operators are not compiled."""
    ir: Any = module
    ir.FallbackKernel.create = classmethod(_saying(ir.FallbackKernel.create.__func__, _EAGER))
    for Kernel in (ir.IndexPutFallback, ir.ScatterFallback):
        Kernel.__init__ = _saying(Kernel.__init__, _EAGER)


def patch_atomics(module: ModuleType) -> None:
    """torch._inductor.utils: sums that Triton has no atomic operation for are PyTorch's own operators."""
    utilities: Any = module
    needs, scatters = utilities.needs_fallback_due_to_atomic_add_limitations, utilities.use_scatter_fallback
    torch: Any = utilities.torch
    small = (torch.int8, torch.uint8, torch.int16, torch.uint16)

    @functools.wraps(needs)
    def needs_there(dtype: Any) -> bool:
        return dtype in small or needs(dtype)

    @functools.wraps(scatters)
    def scatters_there(operator: Any, reduction: Any, dtype: Any, *args: Any) -> bool:
        return (reduction in ("add", "sum") and dtype in small) or scatters(operator, reduction, dtype, *args)

    utilities.needs_fallback_due_to_atomic_add_limitations = needs_there
    utilities.use_scatter_fallback = scatters_there


def patch_calls(module: ModuleType) -> None:
    """torch._inductor.codegen.wrapper: a kernel of the host in a graph of a GPU is called as it was generated."""
    wrapper: Any = module
    Code = wrapper.PythonWrapperCodegen
    generate = Code._generate_kernel_call_helper

    @functools.wraps(generate)
    def generate_there(self: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None:
            return generate(self, *args, **kwargs)
        with wrapper.V.graph.set_current_device(device):  # who asks whether a number is passed as such goes by it
            return generate(self, *args, device=device, **kwargs)

    Code._generate_kernel_call_helper = generate_there


def patch_scalars(module: ModuleType) -> None:
    """torch._inductor.codegen.triton_utils: kernels of the host get tensors without dimensions as pointers.

    Inductor hands them to kernels as numbers, which is for a GPU. For the host it also writes results into their
    memory, through the parameter that is a number.
    """
    utilities: Any = module
    unwraps = utilities.should_unwrap_unspec_arg

    @functools.wraps(unwraps)
    def unwraps_there(name: str) -> bool:
        return utilities.V.graph.get_current_device_or_throw().type != "cpu" and unwraps(name)

    utilities.should_unwrap_unspec_arg = unwraps_there


def _saying(function: Any, what: str) -> Any:
    """`function`, which says `what`, with the name of the operator in it: once for each."""

    @functools.wraps(function)
    def call(self: Any, first: Any, *args: Any, **kwargs: Any) -> Any:
        say_once(f"torch.compile: {what.format(first)}")
        return function(self, first, *args, **kwargs)

    return call


def _tunes(meta: dict[str, Any]) -> bool:
    """Whether a script asks for more than the first configuration."""
    asked = any(meta.get(name) for name in ("max_autotune", "max_autotune_pointwise", "coordinate_descent_tuning"))
    return asked or variables.get("TILETWIN_AUTOTUNE") == "all"


def _runner(fn: Any, options: dict[str, Any], meta: dict[str, Any]) -> Any:
    called = meta.get("kernel_name", fn.__name__)

    def run(x: int, y: int, z: int, *args: Any) -> None:
        if not (x and y and z):
            return
        origins.launches(fn.__name__, at_call(called))
        try:
            fn[(x, y, z)](*args, **options)
        except Exception as error:
            error.origins = origins.of(fn.__name__)  # type: ignore[attr-defined]
            for origin in error.origins:  # type: ignore[attr-defined]
                error.add_note(f"  {origin}")
            raise

    return run


def _modules() -> dict[str, Any]:
    """What expressions of grids name."""
    return {name: importlib.import_module(name) for name in ("math", "torch", "triton")}


def _declare_types(fn: Any, signature: dict[str, str]) -> None:
    """Numbers get the types that Inductor chose: the size of a dimension may be i64 although its value is small."""
    parameters = fn.signature.parameters
    typed = {
        name: parameter.replace(annotation=signature[name])
        for name, parameter in parameters.items()
        if parameter.annotation is inspect.Parameter.empty and signature.get(name, "").startswith(_SCALARS)
    }
    if typed:
        fn.signature = fn.signature.replace(parameters=list((dict(parameters) | typed).values()))
        vars(fn).pop("params", None)
