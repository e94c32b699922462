"""Tensor maps for launches on a GPU.

Here:      tensor_map, of tensors on the GPU or on the host; the 128 bytes, made by the driver when a launch knows the
           address.
Not here:  what a map is described by, and its defaults (tiletwin/sim/tensor_maps.py: maps of the simulator serve here
           too).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from tiletwin.cuda.extension import extension
from tiletwin.cuda.launch_memory import LaunchMemory
from tiletwin.sim import tensor_maps
from tiletwin.sim.launch_memory import array_facts


class TensorMap:
    """A tensor map as an argument of kernels. See `tensor_map`. array: what it describes; it lives as long as the
    map."""

    def __init__(self, array: Any, facts: dict[str, Any]) -> None:
        self.array = array
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        return f"<tensor map: {', '.join(f'{k}={v!r}' for k, v in vars(self).items() if k != 'array')}>"


def is_tensor_map(value: object) -> TypeGuard[TensorMap | tensor_maps.TensorMap]:
    return isinstance(value, (TensorMap, tensor_maps.TensorMap))


def tensor_map(
    array: Any,
    box: Sequence[int],
    *,
    sizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    element_strides: Sequence[int] | None = None,
    dtype: str | None = None,
    interleave: str | None = None,
    swizzle: str | int | None = None,
    l2_promotion: str | int | None = None,
    oob_fill: str | None = None,
) -> TensorMap:
    """A tensor map of `array`, on the GPU or on the host: arguments as of `tiletwin.sim.tensor_map`.

    Errors: TypeError and ValueError, numbers that do not fit; what else the driver refuses it says at the launch.
    """
    found = array_facts("tensor_map(): array", array)
    facts = tensor_maps.described(
        array, found, box, sizes=sizes, strides=strides, element_strides=element_strides, dtype=dtype,
        interleave=interleave, swizzle=swizzle, l2_promotion=l2_promotion, oob_fill=oob_fill,
    )  # fmt: skip
    return TensorMap(array, facts)


def encoded(value: TensorMap | tensor_maps.TensorMap, reached: LaunchMemory, *, as_pointer: bool) -> bytes | int:
    """The map for one launch: its bytes, or the address on the GPU of a copy of them."""
    address = reached.add("tensor map", "tensor map", value.array)
    data = extension().encode_tensor_map(reached.device, *tensor_maps.numbers(vars(value), address))
    return reached.keep(data) if as_pointer else data
