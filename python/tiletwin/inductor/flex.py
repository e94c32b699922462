"""flex_attention of tensors on the host.

Here:      which template Inductor takes.
Not here:  the templates (torch/_inductor/kernel/flex).
Invariant: no kernel is C++ where Inductor has a Triton template.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any


def patch(module: ModuleType) -> None:
    """torch._inductor.kernel.flex.flex_attention: its lowering takes the host for a device like others.

    It asks for the host by name, in the middle of a function that goes on with Triton's template. So the name in its
    code is replaced by one that no device has.

    Raises:
        AttributeError: it does not ask in that way.
    """
    lowering: Any = inspect.unwrap(vars(module)["flex_attention"])
    constants = lowering.__code__.co_consts
    if constants.count("cpu") != 1:
        raise AttributeError("flex_attention does not ask once whether a tensor is on the 'cpu'")
    lowering.__code__ = lowering.__code__.replace(
        co_consts=tuple("no device" if constant == "cpu" else constant for constant in constants)
    )
