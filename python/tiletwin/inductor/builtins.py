"""Functions of Inductor's that kernels call and that Triton's own front end runs while it compiles, written anew.

Here:      the functions, and putting them in the place of Inductor's.
Not here:  those of triton_helpers that are marked @triton.jit: they are compiled as they are.
Invariant: a kernel gets what Inductor's function would give it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


def constexpr_next_power_of_2(n):
    """The smallest power of two that is at least n."""
    return 1 << max(n - 1, 0).bit_length()


def if_mask(mask, val):
    """`val`, or None where there is no mask: what a load takes as `other`."""
    if mask is None:
        return None
    else:
        return val


def patch(module: ModuleType) -> None:
    """torch._inductor.runtime.triton_helpers."""
    helpers: Any = module
    helpers.constexpr_next_power_of_2 = helpers.triton.constexpr_function(constexpr_next_power_of_2)
    helpers.if_mask = helpers.triton.jit(if_mask)
