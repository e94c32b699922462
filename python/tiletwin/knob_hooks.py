"""Hooks of `triton.knobs`: the chain, what is passed to them, and the signatures that libraries name in annotations.

Not here:  who calls them (kernels/launch_hooks.py, compiler/, launch/autotuner.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypedDict, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class HookChain(Generic[F]):
    """Functions that are called one after the other, `reversed` from the last to the first."""

    def __init__(self, reversed: bool = False) -> None:
        self._calls: list[F] = []
        self.reversed = reversed

    @property
    def calls(self) -> list[F]:
        """The functions, in the order they were added; launches look at this very list."""
        return self._calls

    @calls.setter
    def calls(self, functions: list[F]) -> None:
        self._calls[:] = functions

    def add(self, func: F) -> None:
        """Adds `func` unless it is there already."""
        if func not in self._calls:
            self._calls.append(func)

    def remove(self, func: F) -> None:
        """Removes `func` if it is there."""
        if func in self._calls:
            self._calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self._calls[::-1] if self.reversed else list(self._calls):
            call(*args, **kwargs)


@dataclass(frozen=True)
class CompileTimes:
    """How long a compilation took, in microseconds; what a compilation listener gets as `times`."""

    ir_initialization: int
    """The front end."""
    lowering_stages: list[tuple[str, int]]
    """Each stage after it, by name."""
    store_results: int
    """Writing to a cache."""

    @property
    def total_lowering(self) -> int:
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


class JITHookCompileInfo(TypedDict):
    """What `compile` holds in a JITHook."""

    key: str
    signature: dict[Any, str]
    device: int
    constants: None
    num_warps: int
    num_ctas: int
    num_stages: int
    enable_fp_fusion: bool
    launch_cooperative_grid: bool
    extern_libs: tuple[tuple[str, str], ...]
    configs: list[dict[tuple[int, ...], list[Any]]]
    specialization_data: str
    is_warmup: bool


class JITHook(Protocol):
    """`knobs.runtime.jit_cache_hook`, `jit_post_compile_hook`; a true result of the first prevents the launch."""

    def __call__(
        self,
        *,
        key: str,
        repr: str,
        fn: Any,
        compile: JITHookCompileInfo,
        is_manual_warmup: bool,
        already_compiled: bool,
    ) -> bool | None: ...


class LaunchHook(Protocol):
    """`knobs.runtime.launch_enter_hook`, `launch_exit_hook`; `metadata.get()` is a dict."""

    def __call__(self, metadata: Any) -> None: ...


class InitHandleHook(Protocol):
    """`knobs.runtime.kernel_load_start_hook`, `kernel_load_end_hook`, `kernel_unload_hook`."""

    def __call__(
        self, module: object | None, function: Callable | None, name: str, metadata_group: dict[str, str], hash: str
    ) -> None: ...


class AutotuneListener(Protocol):
    """`knobs.autotuning.listener`."""

    def __call__(
        self,
        *,
        fn: Any,
        key: tuple,
        best_config: Any,
        configs_timings: dict[Any, list[float]],
        duration: float | None,
        cache_hit: bool,
    ) -> None: ...


class CompilationListener(Protocol):
    """`knobs.compilation.listener`."""

    def __call__(
        self,
        *,
        src: Any,
        metadata: dict[str, Any],
        metadata_group: dict[str, str],
        times: CompileTimes,
        cache_hit: bool,
    ) -> None: ...


class PipelineStagesHook(Protocol):
    """`knobs.runtime.add_stages_inspection_hook`: for GPU code, refused here."""

    def __call__(self, stages: Any, options: Any, language: Any, capability: Any) -> Any: ...


class BuildImpl(Protocol):
    """`knobs.build.impl`: compiles C code of a GPU launcher; never called here."""

    def __call__(
        self,
        name: str,
        src: str,
        srcdir: str,
        library_dirs: list[str],
        include_dirs: list[str],
        libraries: list[str],
        /,
    ) -> str: ...
