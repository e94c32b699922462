"""Whether a recorded launch is what its own parts say: sizes before anything is read, arguments before they are used.

Here:      limits of members, arguments beside the signature and the kernel's text, options.
Not here:  reading (files.py), what the kernel itself does wrong when it is replayed.
Invariant: nothing of the file runs. What a launch can hold passes; everything else is a ValueError that names the part.
"""

from __future__ import annotations

import ast
import os
import zipfile
from collections.abc import Sequence
from typing import Any

from tiletwin.diff.launches import ELEMENTS, Address, Array, Constant, Descriptor, Launch
from tiletwin.kernels.options import OPTIONS
from tiletwin.kernels.specialization import mangle_type_name

MOST_TEXT = 1 << 26
"""Most bytes of all texts of a file: its description, the TTIR and the Python sources."""
HEADER = 4096
"""Most bytes of an .npy file before its numbers."""


def check_sizes(archive: zipfile.ZipFile, texts: Sequence[str], memory: dict[str, int]) -> None:
    """Before members are read: what they are when they are unpacked. memory: the bytes of each array, by its member.

    Errors: ValueError, too large; KeyError, there is no such member.
    """
    size = sum(archive.getinfo(name).file_size for name in texts)
    if size > MOST_TEXT:
        raise ValueError(
            f"its texts ({', '.join(texts)[:80]}) are {size >> 20} MB, and at most {MOST_TEXT >> 20} are read"
        )
    total = sum(memory.values())
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if total > there:
        raise ValueError(f"its arrays need {total >> 20} MB of memory, and this machine has {there >> 20}")
    for name, expected in memory.items():
        found = archive.getinfo(name).file_size
        if found > expected + HEADER:
            raise ValueError(f"{name} has {found} bytes, and its array has {expected}")


def check(launch: Launch) -> None:
    """Errors: ValueError, a part is wrong or two do not fit; SyntaxError, its text is no Python."""
    for name, array in launch.arrays():
        _check_array(name, array, launch)
    for name, value in launch.arguments.items():
        _check_value(name, value)
    for address in launch.addresses:
        _check_address(address, launch)
    if launch.ttir:
        _check_names("signature", list(launch.signature), launch)
        for name, kind in launch.signature.items():
            _check_type(name, kind, launch.arguments[name])
    for name, value in launch.options.items():
        if value is not None and name in OPTIONS:
            OPTIONS[name][1](name, value)
    if launch.sources and not launch.source_problem:
        _check_sources(launch)


def _check_array(name: str, array: Array, launch: Launch) -> None:
    if array.type not in ELEMENTS:
        raise ValueError(f"{array.type!r}, of argument {name}, is no element type")
    if len(array.shape) != len(array.strides) or array.offset < 0 or any(n < 0 for n in array.shape):
        sizes = f"shape {array.shape} and strides {array.strides} at offset {array.offset}"
        raise ValueError(f"argument {name} is an array of {sizes}")
    if not 0 <= array.storage < len(launch.memory) or not _fits(array, launch.memory[array.storage].size):
        raise ValueError(f"argument {name} lies outside of its storage")


def _check_address(address: Address, launch: Launch) -> None:
    sizes = dict(enumerate(data.size for data in launch.memory))
    fits = 0 <= address.offset <= sizes.get(address.storage, 0) - 8
    if not fits or not 0 <= address.byte <= sizes.get(address.to, -1):
        raise ValueError(
            f"an address at byte {address.offset} of storage {address.storage} lies outside of its storage"
        )


def _fits(array: Array, size: int) -> bool:
    if any(n == 0 for n in array.shape):
        return array.offset <= size
    reach = [(n - 1) * s * array.item for n, s in zip(array.shape, array.strides)]
    low, high = array.offset + sum(r for r in reach if r < 0), array.offset + sum(r for r in reach if r > 0)
    return low >= 0 and high + array.item <= size


def _check_names(what: str, names: list[str], launch: Launch) -> None:
    lacks = [name for name in names if name not in launch.arguments]
    more = [name for name in launch.arguments if name not in names]
    if lacks:
        raise ValueError(f"there is no argument {lacks[0]!r}, which its {what} has")
    if more:
        raise ValueError(f"its {what} has no parameter {more[0]!r}, which is among its arguments")


def _check_value(name: str, value: Any) -> None:
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"argument {name} is {str(value)[:40]}, which no integer of a kernel holds")
    if isinstance(value, Descriptor) and not (
        len(value.shape) == len(value.strides) == len(value.block_shape) and min(value.block_shape, default=1) > 0
    ):
        sizes = f"shape {value.shape}, strides {value.strides} and block_shape {value.block_shape}"
        raise ValueError(f"argument {name} is a descriptor with {sizes}")
    for number, item in enumerate(value if isinstance(value, tuple) else ()):
        _check_value(f"{name}[{number}]", item)


def _check_type(name: str, kind: Any, value: Any) -> None:
    """kind: as a signature has it, of a tuple a list."""
    if isinstance(kind, list):
        if not isinstance(value, tuple) or len(value) != len(kind):
            raise ValueError(f"argument {name} is {_shown(value)}, and its signature has {len(kind)} types for it")
        for number, (inner, item) in enumerate(zip(kind, value)):
            _check_type(f"{name}[{number}]", inner, item)
        return
    if not isinstance(kind, str):
        raise ValueError(f"{kind!r}, the type of {name}, is no type")
    if kind == "constexpr":
        return
    if kind.startswith("tensordesc"):
        fits = isinstance(value, Descriptor)
    elif mangle_type_name(kind) is None:
        raise ValueError(f"{kind!r}, the type of {name}, is no type")
    elif kind.startswith("*"):
        fits = isinstance(value, Array) or type(value) is int
    else:
        fits = isinstance(value, (bool, int, float))
    if not fits:
        raise ValueError(f"argument {name} is {_shown(value)}, and its signature says {kind}")


def _shown(value: Any) -> str:
    if isinstance(value, (Array, Descriptor)):
        return "memory" if isinstance(value, Array) else "a descriptor"
    return value.text if isinstance(value, Constant) else repr(value)[:40]


def _check_sources(launch: Launch) -> None:
    trees = [ast.parse(text, f"{module}.py") for module, text in launch.sources.items()]
    for node in trees[0].body:
        if isinstance(node, ast.FunctionDef) and node.name == launch.name:
            given = node.args
            parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            names = [parameter.arg for parameter in (*parameters, given.vararg, given.kwarg) if parameter is not None]
            _check_names("text", names, launch)
            return
    raise ValueError(f"its text defines no function {launch.name}")
