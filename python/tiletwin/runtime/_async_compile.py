"""Compilation ahead of use, under the names of `triton.runtime._async_compile`."""

from tiletwin.kernels.async_compile import (
    AsyncCompileMode,
    FutureKernel,
    active_mode,
)

__all__ = [
    "AsyncCompileMode",
    "FutureKernel",
    "active_mode",
]
