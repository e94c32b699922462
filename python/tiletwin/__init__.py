"""The CPU twin of a GPU tile kernel: `import tiletwin as triton` runs kernels of the Triton language on the CPU.

For pytest, which would rewrite the asserts of a plugin's package: PYTEST_DONT_REWRITE.

Here:      the names of `triton`, and tiletwin's own (register, print_if, ...). Heavy modules load on first use.
Not here:  the language (language/), run time (runtime/), compilation (compiler/).
Invariant: importing this package imports neither torch nor anything a kernel does not need.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tiletwin import variables, wiring  # noqa: F401  connects the layers
from tiletwin.errors import CompilationError, InterpreterError, OutOfResources, TileTwinError, TritonError
from tiletwin.kernels.callables import constexpr_function
from tiletwin.kernels.jit import JITFunction, KernelInterface, jit
from tiletwin.kernels.tensors import MockTensor, TensorWrapper, reinterpret
from tiletwin.version import TILETWIN_VERSION, TRITON_VERSION

if TYPE_CHECKING:  # loaded when first used
    from tiletwin import compiler, language, runtime, testing, tools
    from tiletwin.compiler.compiler import compile
    from tiletwin.kernels.async_compile import AsyncCompileMode, FutureKernel
    from tiletwin.language.aggregate import aggregate
    from tiletwin.language.core import must_use_result
    from tiletwin.launch.autotuner import Config, autotune, heuristics
    from tiletwin.memory import register, unregister
    from tiletwin.runtime._allocation import set_allocator

_MODULES = (
    "backends", "checks", "compiler", "diff", "errors", "judge", "knobs", "language", "profiler", "runtime", "testing",
    "tools",
)  # fmt: skip
_LAZY = {
    name: module
    for module, names in {
        "compiler.compiler": "ASTSource compile",
        "debug": "breakpoint_if print_if",
        "eager.html": "show",
        "eager.prompt": "pointer program",
        "errors": "CheckError DeadlockError DifferenceError OutOfBoundsError",
        "kernels.async_compile": "AsyncCompileMode FutureKernel",
        "language.aggregate": "aggregate",
        "language.core": "must_use_result",
        "launch.autotuner": "Autotuner Config Heuristics autotune heuristics",
        "memory": "register unregister",
        "runtime._allocation": "set_allocator",
    }.items()
    for name in names.split()
}

__all__ = [
    "AsyncCompileMode",
    "CompilationError",
    "Config",
    "FutureKernel",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TileTwinError",
    "TritonError",
    "aggregate",
    "autotune",
    "cdiv",
    "compile",
    "compiler",
    "constexpr_function",
    "heuristics",
    "jit",
    "language",
    "must_use_result",
    "next_power_of_2",
    "register",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
    "unregister",
]


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """The smallest integer >= x / y."""
    return -(-x // y)


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two >= n; 1 for n <= 1."""
    return 1 << max(n - 1, 0).bit_length() if n > 1 else 1


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tiletwin.{name}")
    if name in _LAZY:
        value = getattr(importlib.import_module(f"tiletwin.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    from tiletwin._refused import refused_module

    reason = refused_module(name)
    raise AttributeError(f"module 'tiletwin' has no attribute {name!r}" + (f": {reason}" if reason else ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_LAZY, "__version__"})


class _Package(ModuleType):
    """The package's class. `__version__` depends on the name the package is used under: one object serves as both
    `tiletwin` and, after activation, `triton`, and scripts compare `triton.__version__` with Triton's numbers."""

    @property
    def __version__(self) -> str:
        answers_to_triton = sys.modules.get("triton") is self
        return TRITON_VERSION if answers_to_triton else TILETWIN_VERSION


sys.modules[__name__].__class__ = _Package

variables.hint()
if variables.get("TILETWIN_FINDINGS") or variables.get("TILETWIN_FINDINGS_RUN"):
    importlib.import_module("tiletwin.findings.output").begin_by_variable()
if variables.get("TILETWIN_BASELINE"):
    importlib.import_module("tiletwin.findings.baseline").begin_by_variable()
if variables.get("TILETWIN_SAVE") or variables.text("TILETWIN_BACKEND").lower() == "diff":
    importlib.import_module("tiletwin.diff.mode").install()
