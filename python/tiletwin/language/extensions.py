"""Functions of the language that Triton does not have, written in the language.

Not here:  those of Triton (standard.py); operations, which are declared with their families (math.py, memory_ops.py).
"""

# Kernel code: operators and defaults mean what the language says, not what Python would do.
# pyright: reportReturnType=false
from __future__ import annotations

from tiletwin.kernels.jit import jit
from tiletwin.language import core

__all__ = ["reduce_and"]


@jit
def _and_combine(a, b):
    return a & b


@jit
def reduce_and(input, axis, keep_dims=False):
    """And along `axis` (all elements for None) of integers; the type stays. Triton has no such function."""
    core.static_assert(input.dtype.is_int(), "reduce_and: needs integers")
    return core.reduce(input, axis, _and_combine, keep_dims=keep_dims)
