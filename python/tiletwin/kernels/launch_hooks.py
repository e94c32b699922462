"""The user's hooks around launches and compilations: what `knobs.runtime`'s hooks are called with.

Here:      metadata of a launch, information about a compilation.
Not here:  the hooks themselves (knobs.py), specialization data (specialization_data.py), who calls in: `_C.Launcher`,
           JITFunction, CompiledKernel.
Invariant: nothing here runs while no hook is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tiletwin import knobs
from tiletwin.kernels.callables import JitFunctionInfo, get_full_name
from tiletwin.kernels.specialization_data import write_specialization


class LazyDict:
    """Launch metadata that is computed only when somebody reads it."""

    def __init__(self, data: dict) -> None:
        self.data = data
        self.extras: list[tuple] = []
        self.launch: tuple | None = None
        """What the launch is made of, for hooks of this package."""

    def get(self) -> dict:
        for function, args in self.extras:
            self.data = {**self.data, **function(*args)}
        self.extras.clear()
        return self.data

    def add(self, func: Callable[..., dict], args: tuple) -> None:
        self.extras.append((func, args))


def metadata_of(fn: Any, kernel: Any, arguments: dict[str, Any], grid: tuple[int, ...]) -> LazyDict:
    """The LazyDict that hooks around a launch get: name, function, stream, and what the kernel's `launch_metadata`
    function returns, which is called when somebody reads it. kernel: None where CPython runs the body."""
    if kernel is not None:
        kernel._load()  # hooks may ask for its function before its first launch
    name = fn.__name__ if kernel is None else kernel.name
    metadata = LazyDict({"name": name, "function": getattr(kernel, "function", None), "stream": 0})
    function = getattr(fn, "launch_metadata", None)
    if function is not None:
        facts = SimpleNamespace(name=name) if kernel is None else kernel.metadata
        metadata.add(function, (grid, facts, arguments))
    return metadata


def enter(fn: Any, kernel: Any, arguments: dict[str, Any], grid: tuple[int, ...]) -> LazyDict:
    """Calls the hook before a launch; returns what `leave` takes."""
    metadata = metadata_of(fn, kernel, arguments, grid)
    metadata.launch = (fn, kernel, arguments, grid)  # for hooks of this package (diff/mode.py)
    hook = knobs.runtime.launch_enter_hook
    if hook is not None:
        hook(metadata)
    return metadata


def leave(metadata: LazyDict) -> None:
    """Calls the hook after a launch."""
    hook = knobs.runtime.launch_exit_hook
    if hook is not None:
        hook(metadata)


def load_hook(hook: Any, kernel: Any, *, loaded: bool) -> None:
    """Calls one of the hooks around loading with a kernel, if there is anything to call."""
    if hook is None or (isinstance(hook, knobs.HookChain) and not hook.calls):
        return
    module, function = (kernel.module, kernel.function) if loaded else (None, None)
    hook(module, function, kernel.name, kernel.metadata_group, kernel.hash)


def call_jit_hook(
    hook: Any,
    fn: Any,
    signature: dict,
    constants: dict,
    attrs: dict,
    given: dict[str, Any],
    target: Any,
    is_warmup: bool,
) -> bool:
    """Calls `jit_cache_hook` or `jit_post_compile_hook`; returns whether its result is true."""
    from tiletwin.kernels.options import parse_options

    options = parse_options(given, target, fn.debug)
    key = f"{signature}{constants}{attrs}{given}"
    shown = ("num_warps", "num_ctas", "num_stages", "enable_fp_fusion", "launch_cooperative_grid")
    types = ", ".join(f"{name}: {kind}" for name, kind in signature.items())
    settings = ", ".join(f"{name}={options[name]}" for name in shown)
    try:
        data = write_specialization(get_full_name(fn), signature, constants, attrs, given, key, target)
    except TypeError as error:
        data = f"not available: {error}"
    compile_info = {
        "key": key,
        "signature": signature,
        "device": 0,
        "constants": constants,
        **{name: options[name] for name in shown},
        "extern_libs": options["extern_libs"],
        "configs": [attrs],
        "specialization_data": data,
        "is_warmup": is_warmup,
    }
    result = hook(
        key=key,
        repr=f"{fn.fn.__qualname__}[{settings}]({types})",
        fn=JitFunctionInfo(fn.module, fn.fn.__qualname__, fn),
        compile=compile_info,
        is_manual_warmup=is_warmup,
        already_compiled=False,
    )
    return bool(result)
