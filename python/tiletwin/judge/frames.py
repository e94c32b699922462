"""Messages between the judge and a process that it does not trust: JSON, and bytes of memory behind it.

Here:      the format, trees of arguments and results with their tensors.
Not here:  who sends what (worker.py, process.py).
Format:    8 bytes length of the JSON, 8 bytes length of the memory, both little-endian; the JSON, an object whose
           "storages" lists the sizes of the memory's parts; the parts one behind the other.
Invariant: reading runs no code and allocates no more than the reader's limit. Tensors that share a storage share it
           afterwards, with their offsets, shapes and strides; those that agree in all of it are one, so that an
           argument that is passed twice has one gradient.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import msgspec
import torch

HEADER = struct.Struct("<QQ")
MOST_DEPTH = 20
TYPES = {
    str(kind).removeprefix("torch."): kind
    for kind in (
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2,
        torch.complex64, torch.complex128,
    )
}  # fmt: skip
"""Element types by their names."""


class BadMessage(ValueError):
    """What came is no message, or a larger one than the reader takes."""


class Packer:
    """Turns trees of tensors and plain values into data. Storages are taken once."""

    def __init__(self) -> None:
        self.storages: list[torch.Tensor] = []
        self._known: dict[int, int] = {}

    def storage(self, tensor: torch.Tensor) -> int:
        """Number of a tensor's storage."""
        held = tensor.untyped_storage()
        key = held.data_ptr() if held.nbytes() else -id(held)
        if key not in self._known:
            self._known[key] = len(self.storages)
            self.storages.append(torch.empty(0, dtype=torch.uint8).set_(held.cpu()))  # type: ignore[call-overload]
        return self._known[key]

    def tree(self, value: Any) -> Any:
        """Errors: TypeError, a value that no message holds."""
        if isinstance(value, torch.Tensor):
            value = value.detach()
            if value.layout != torch.strided:
                raise TypeError(f"a {value.layout} tensor")
            tensor = [self.storage(value), value.storage_offset(), list(value.shape), list(value.stride())]
            return {"tensor": [str(value.dtype).removeprefix("torch."), *tensor]}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, float):
            return {"float": value.hex()}
        if isinstance(value, dict):
            return {"dict": [[self.tree(key), self.tree(item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            return {"list" if isinstance(value, list) else "tuple": [self.tree(item) for item in value]}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        raise TypeError(f"a {type(value).__name__}")


def unpacked(
    tree: Any, storages: list[torch.Tensor], place: Callable[[torch.Tensor], torch.Tensor] = lambda t: t
) -> Any:
    """The value of a tree. place: what a storage becomes before tensors are made of it, for example one on a device.

    Raises: BadMessage: it is no tree, or a tensor leaves its storage.
    """
    placed = [place(storage) for storage in storages]
    made: dict[str, torch.Tensor] = {}

    def tensor(parts: Any) -> torch.Tensor:
        name, number, offset, shape, strides = parts
        kind, data = TYPES[name], placed[number]
        if min([0, offset, number, *shape, *strides]) < 0 or len(shape) != len(strides):
            raise BadMessage("a tensor's shape or strides are negative or do not fit")
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides))
        if 0 not in shape and (last + 1) * kind.itemsize > data.numel():
            raise BadMessage("a tensor leaves its storage")
        key = repr(parts)
        if key not in made:
            empty = torch.empty(0, dtype=kind, device=data.device)
            made[key] = empty.set_(data.untyped_storage(), offset, shape, strides)  # type: ignore[call-overload]
        return made[key]

    def value(tree: Any, depth: int) -> Any:
        if depth > MOST_DEPTH:
            raise BadMessage("a value is nested too deep")
        if not isinstance(tree, dict):
            return tree
        ((word, content),) = tree.items()
        if word == "tensor":
            return tensor(content)
        if word == "dtype":
            return TYPES[content]
        if word == "float":
            return float.fromhex(content)
        if word == "dict":
            return {value(key, depth + 1): value(item, depth + 1) for key, item in content}
        items = [value(item, depth + 1) for item in content]
        return items if word == "list" else tuple(items)

    try:
        return value(tree, 0)
    except BadMessage:
        raise
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise BadMessage(f"a value is damaged: {error}") from None


def write(out: Any, head: dict[str, Any], storages: list[torch.Tensor]) -> None:
    """Writes one message to a binary file. storages: uint8 tensors on the CPU."""
    parts = [data.numpy().data for data in storages]
    text = msgspec.json.encode({**head, "storages": [part.nbytes for part in parts]})
    out.write(HEADER.pack(len(text), sum(part.nbytes for part in parts)))
    out.write(text)
    for part in parts:
        out.write(part)
    out.flush()


def head_and_sizes(text: bytes) -> tuple[dict[str, Any], list[int]]:
    """A message's JSON and the sizes of its storages. Errors: BadMessage."""
    try:
        head = msgspec.json.decode(text, type=dict[str, Any])
        sizes = msgspec.convert(head.pop("storages"), list[int])
    except (msgspec.MsgspecError, KeyError, ValueError, RecursionError) as error:
        raise BadMessage(f"a message is damaged: {error}") from None
    if any(size < 0 for size in sizes):
        raise BadMessage("a storage has a negative size")
    return head, sizes


def read(source: Callable[[int], bytes | bytearray], most: int) -> tuple[dict[str, Any], list[torch.Tensor]]:
    """One message. source: gives so many bytes. most: of the whole message.

    Raises: BadMessage, and what `source` raises.
    """
    text_size, memory_size = HEADER.unpack(source(HEADER.size))
    if text_size + memory_size > most:
        raise BadMessage(f"a message of {text_size + memory_size} bytes; the limit is {most}")
    head, sizes = head_and_sizes(bytes(source(text_size)))
    if sum(sizes) != memory_size:
        raise BadMessage("the sizes of a message's storages do not add up")
    parts = []
    for size in sizes:
        data = bytearray(source(size))
        parts.append(torch.frombuffer(data, dtype=torch.uint8) if size else torch.empty(0, dtype=torch.uint8))
    return head, parts
