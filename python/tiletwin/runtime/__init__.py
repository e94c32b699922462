"""Kernels at run time, under the names of `triton.runtime`. The modules hand out what others hold."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tiletwin.errors import InterpreterError, OutOfResources
from tiletwin.runtime.driver import driver
from tiletwin.runtime.jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret

if TYPE_CHECKING:  # loaded when first used
    from tiletwin.runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics
    from tiletwin.runtime.cache import RedisRemoteCacheBackend, RemoteCacheBackend

_MODULES = ("autotuner", "build", "cache", "errors", "interpreter")
_LAZY = {
    **dict.fromkeys(("Autotuner", "Config", "Heuristics", "autotune", "heuristics"), "autotuner"),
    **dict.fromkeys(("RedisRemoteCacheBackend", "RemoteCacheBackend"), "cache"),
}

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "TensorWrapper",
    "autotune",
    "driver",
    "heuristics",
    "reinterpret",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tiletwin.runtime.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(f"tiletwin.runtime.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
