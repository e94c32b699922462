"""Compilation ahead of use on an executor: `triton.AsyncCompileMode` and `triton.FutureKernel`.

Here:      the mode and the stand-in for a kernel that is being compiled.
Not here:  who submits: `JITFunction.run` with warmup (jit.py). A launch always waits for its kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # takes a while to import
    from concurrent.futures import Executor, Future

active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("active_mode", default=None)


class FutureKernel:
    """A kernel that an executor compiles. Reading an attribute of the kernel waits for it."""

    def __init__(self, finalize_compile: Callable, cleanup_compile: Callable, future: Future) -> None:
        self.finalize_compile = finalize_compile
        self.cleanup_compile = cleanup_compile
        self.future: Future | None = future
        self.kernel: Any = None

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel; waits. A failed compilation raises, or gives None with `ignore_errors`."""
        if self.future is not None:
            future, self.future = self.future, None
            try:
                kernel = future.result()
            except Exception:
                self.cleanup_compile(self)
                if ignore_errors:
                    return None
                raise
            self.finalize_compile(kernel)
            self.kernel = kernel
        return self.kernel

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "future" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.result(), name)


class AsyncCompileMode:
    """Within the `with` block `kernel.warmup(...)` compiles on `executor` and returns a FutureKernel; the end of the
    block waits for all of them.

    Attributes:
        executor: a concurrent.futures.ThreadPoolExecutor or alike, with the kernel's process.
        ignore_errors: kernels that do not compile are passed over at the end of the block.

    Raises:
        RuntimeError: a mode within a mode.
    """

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.raw_futures: list[Future] = []
        self.future_kernels: dict[Hashable, FutureKernel] = {}

    def submit(
        self, key: Hashable, compile_fn: Callable[[], Any], finalize_fn: Callable, cleanup_fn: Callable
    ) -> FutureKernel:
        """The FutureKernel of `key`, compiled by `compile_fn()` unless that was submitted before.

        finalize_fn(kernel) is called when the kernel is asked for, cleanup_fn(future_kernel) if it failed.
        """
        if key not in self.future_kernels:
            future = self.executor.submit(compile_fn)
            self.raw_futures.append(future)
            self.future_kernels[key] = FutureKernel(finalize_fn, cleanup_fn, future)
        return self.future_kernels[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("an AsyncCompileMode is active already")
        active_mode.set(self)
        return self

    def __exit__(self, *error: Any) -> None:
        active_mode.set(None)
        kernels = list(self.future_kernels.values())
        self.raw_futures, self.future_kernels = [], {}
        failures = []
        for kernel in kernels:
            try:
                kernel.result(self.ignore_errors)
            except Exception as failure:
                failures.append(failure)
        if failures:
            raise failures[0]
