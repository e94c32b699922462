"""The user's hooks around launches and compilations: what `knobs.runtime`'s hooks are called with.

Here:      metadata of a launch, information about a compilation, specialization data as text.
Not here:  the hooks themselves (knobs.py), who calls in: `_C.Launcher`, JITFunction, CompiledKernel.
Invariant: nothing here runs while no hook is installed.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from tiletwin import _C, knobs
from tiletwin.dtypes import dtype


def metadata_of(fn: Any, kernel: Any, arguments: dict[str, Any], grid: tuple[int, ...]) -> Any:
    """The LazyDict that hooks around a launch get: name, function, stream, and what the kernel's `launch_metadata`
    function returns, which is called when somebody reads it. kernel: None where CPython runs the body."""
    from tiletwin.compiler.compiler import LazyDict

    if kernel is not None:
        kernel._load()  # hooks may ask for its function before its first launch
    name = fn.__name__ if kernel is None else kernel.name
    metadata = LazyDict({"name": name, "function": getattr(kernel, "function", None), "stream": 0})
    function = getattr(fn, "launch_metadata", None)
    if function is not None:
        facts = SimpleNamespace(name=name) if kernel is None else kernel.metadata
        metadata.add(function, (grid, facts, arguments))
    return metadata


def enter(fn: Any, kernel: Any, arguments: dict[str, Any], grid: tuple[int, ...]) -> Any:
    """Calls the hook before a launch; returns what `leave` takes."""
    metadata = metadata_of(fn, kernel, arguments, grid)
    metadata.launch = (fn, kernel, arguments, grid)  # for hooks of this package (diff/mode.py)
    hook = knobs.runtime.launch_enter_hook
    if hook is not None:
        hook(metadata)
    return metadata


def leave(metadata: Any) -> None:
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


def _encoded(value: Any) -> Any:
    """A compile-time value for JSON."""
    from tiletwin.runtime.jit import JITFunction

    if isinstance(value, dtype):
        return {"dtype": value.name}
    if isinstance(value, _C.constexpr):
        return {"constexpr": _encoded(value.value)}
    if isinstance(value, JITFunction):
        return {"jit_function": f"{value.module}:{value.fn.__qualname__}"}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_encoded(item) for item in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a compile-time value of type {type(value).__name__} cannot be written as specialization data")


def _decoded(value: Any) -> Any:
    from tiletwin.runtime.jit import jit_function_named

    if not isinstance(value, dict):
        return value
    (kind, content), *_ = value.items()
    if kind == "dtype":
        return dtype(content)
    if kind == "constexpr":
        return _C.constexpr(_decoded(content))
    if kind == "jit_function":
        return jit_function_named(content)
    return tuple(_decoded(item) for item in content)


def _type_text(kind: Any) -> Any:
    return [_type_text(k) for k in kind] if isinstance(kind, (tuple, list)) else str(kind)


def _type_of(kind: Any) -> Any:
    return tuple(_type_of(k) for k in kind) if isinstance(kind, list) else kind


def write_specialization(
    name: str, signature: dict, constants: dict, attrs: dict, options: Any, key: str, target: Any
) -> str:
    """A specialization as JSON, which `JITFunction.preload` takes.

    Errors: TypeError, a compile-time value that JSON cannot hold.
    """
    table = options if isinstance(options, dict) else vars(options)
    return json.dumps(
        {
            "name": name,
            "signature": {parameter: _type_text(kind) for parameter, kind in signature.items()},
            "constant_keys": [list(path) for path in constants],
            "constant_vals": [_encoded(value) for value in constants.values()],
            "attrs_keys": [list(path) for path in attrs],
            "attrs_vals": [list(value) for value in attrs.values()],
            "options": {n: _encoded(v) for n, v in table.items()},
            "key": key,
            "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
        }
    )


def read_specialization(text: str) -> dict[str, Any]:
    """What `write_specialization` wrote: name, signature, constants, attrs, options, key, target (a dict).

    Errors: ValueError, text that is no specialization data.
    """
    try:
        data = json.loads(text)
        return {
            "name": data["name"],
            "signature": {name: _type_of(kind) for name, kind in data["signature"].items()},
            "constants": dict(zip(map(tuple, data["constant_keys"]), map(_decoded, data["constant_vals"]))),
            "attrs": dict(zip(map(tuple, data["attrs_keys"]), data["attrs_vals"])),
            "options": {name: _decoded(value) for name, value in data["options"].items()},
            "key": data["key"],
            "target": data["target"],
        }
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"this is no specialization data as jit hooks get it: {error!r}") from None


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
    from tiletwin.runtime.jit import JitFunctionInfo, get_full_name
    from tiletwin.runtime.options import parse_options

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
