"""The arguments of a recorded launch as kernels of the code generator take them, over copies of its memory.

Here:      tensor descriptors as maps or addresses, all arguments in order.
Not here:  numbers of a parameter's type (tiletwin/sim/arguments.py); running (backends.py); what Triton's compiler
           makes of the arguments (triton_sim.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiletwin.diff.launches import Array, Descriptor, Launch, leaves, rebuilt
from tiletwin.sim.arguments import gpu_number

ALIGNMENT = 128
"""Of scratch memory: tensor maps that a kernel writes lie there."""


def _descriptor(value: Descriptor, kind: str, memory: list[np.ndarray]) -> Any:
    """A tensor descriptor as the kernel takes it: a tensor map, or the address."""
    from tiletwin import sim
    from tiletwin.launch import tensor_map_arguments
    from tiletwin.sim import tensor_maps

    argument = tensor_map_arguments.map_argument(kind)
    notes = int(value.padding == "nan") | int(value.round_f32_to_tf32) << 1
    if argument is None:  # the address, a multiple of 16, with the notes in its low bits
        return memory[value.base.storage][value.base.offset + notes :]
    base = rebuilt(value.base, memory)
    place = "a tensor descriptor"
    facts = tensor_map_arguments.numbers(argument, [notes, *value.shape, *value.strides], place)
    return sim.tensor_map(
        base, facts[4], sizes=facts[2], strides=facts[3], dtype=list(tensor_maps.ELEMENTS)[facts[0]],
        swizzle=argument.swizzle or None, oob_fill="nan" if facts[-1] else None,
    )  # fmt: skip


def gpu_arguments(launch: Launch, memory: list[np.ndarray], kinds: Sequence[str]) -> list[Any]:
    """The arguments in the order of the kernel's parameters, whose storage types are `kinds`. Errors:
    NotImplementedError."""
    values = []
    for value, kind in zip(leaves(launch), kinds, strict=True):
        if isinstance(value, Descriptor):
            values.append(_descriptor(value, kind, memory))
        else:
            values.append(rebuilt(value, memory) if isinstance(value, Array) else gpu_number(value, kind))
    return values
