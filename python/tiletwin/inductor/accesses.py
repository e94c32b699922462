"""Which arguments a kernel of the script reads and writes, so that a compiled function copies no more than it must.

Here:      the answer in the form that Dynamo asks for.
Not here:  where a kernel's addresses come from (ir/ArgumentEffects.h), what Dynamo does with the answer.
Invariant: an argument that the kernel may write is said to be written. Where nobody can tell, nothing is said, and
           Dynamo takes every tensor for written.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any


def patch(module: ModuleType) -> None:
    """torch._higher_order_ops.triton_kernel_wrap: it would ask Triton's MLIR bindings."""
    wrap: Any = module
    if not hasattr(wrap, "identify_accessed_tensors"):
        _patch_mutations(wrap)
        return
    identify = wrap.identify_accessed_tensors

    @functools.wraps(identify)
    def identify_here(kernel: Any, kwargs: dict[str, Any], descriptors: Any) -> Any:
        from torch._inductor.dependencies import ReadWrites, StarDep
        from torch._inductor.ir import TensorBox
        from torch.utils._ordered_set import OrderedSet

        kinds = (wrap.Tensor, TensorBox)
        tensors = [name for name, value in kwargs.items() if isinstance(value, kinds)]
        found = None if descriptors else _of_kernel(kernel, kwargs, kinds)
        read, written = (tensors, tensors) if found is None else found

        def named(names: Any) -> Any:
            return OrderedSet(StarDep(name) for name in tensors if name in names)

        facts = ReadWrites(reads=named(read), writes=named(written), index_exprs=OrderedSet())
        return wrap.TensorAccesses(facts, can_fuse_epilogue=False)

    wrap.identify_accessed_tensors = identify_here


def _patch_mutations(wrap: Any) -> None:
    """The same of PyTorch before 2.13, which only asks what is written."""
    identify = wrap.identify_mutated_tensors

    @functools.wraps(identify)
    def identify_here(kernel: Any, kwargs: dict[str, Any], descriptors: Any) -> list[str]:
        from torch._inductor.ir import TensorBox

        kinds = (wrap.Tensor, TensorBox)
        found = None if descriptors else _of_kernel(kernel, kwargs, kinds)
        tensors = [name for name, value in kwargs.items() if isinstance(value, kinds)]
        return [name for name in tensors if found is None or name in found[1]]

    wrap.identify_mutated_tensors = identify_here


def _of_kernel(kernel: Any, kwargs: dict[str, Any], kinds: Any) -> tuple[set[str], set[str]] | None:
    """Names of the parameters that a kernel reads and writes."""
    torch: Any = importlib.import_module("torch")
    if hasattr(kernel, "configs"):  # all configurations are of the same text
        kwargs = {**kwargs, **(kernel.configs[0].kwargs if kernel.configs else {})}
        kernel = kernel.fn
    symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)
    given = {}
    with torch._C._DisableTorchDispatch():
        for name in kernel.arg_names:
            value: Any = kwargs.get(name)
            is_symbol = isinstance(value, symbols) or type(value).__module__.startswith("sympy")
            given[name] = 2 if is_symbol else torch.empty(2, dtype=value.dtype) if isinstance(value, kinds) else value
    compiled = kernel.warmup(**given, grid=(1,))
    effects = compiled.module.argument_effects()
    names = [name for name, kind in compiled.src.signature.items() if kind != "constexpr"]
    if effects is None or len(names) != len(effects):  # a tuple is several parameters
        return None
    facts = list(zip(names, effects))
    return {name for name, (reads, _) in facts if reads}, {name for name, (_, writes) in facts if writes}
