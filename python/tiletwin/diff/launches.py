"""A launch as data: its kernel's text, grid, arguments, and the bytes of its memory before it ran.

Here:      Launch, taken from a launch that is about to run; its arguments rebuilt over copies of the memory.
Not here:  files (files.py), the kernel's source for another process (sources.py), running (backends.py).
Invariant: arguments that share a storage share its copy, and a copy lies at the same place modulo 64 bytes, so that
           what was compiled for the original's alignment holds for it.
"""

from __future__ import annotations

import ctypes
import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tiletwin import _C
from tiletwin.kernels.tensors import TensorWrapper
from tiletwin.tools.tensor_descriptor import TensorDescriptor

# Names of element types in signatures: (name in the IR, bytes, unsigned).
ELEMENTS: dict[str, tuple[str, int, bool]] = {
    "u1": ("i1", 1, True), "i8": ("i8", 1, False), "i16": ("i16", 2, False), "i32": ("i32", 4, False),
    "i64": ("i64", 8, False), "u8": ("i8", 1, True), "u16": ("i16", 2, True), "u32": ("i32", 4, True),
    "u64": ("i64", 8, True), "fp16": ("f16", 2, False), "bf16": ("bf16", 2, False), "fp32": ("f32", 4, False),
    "fp64": ("f64", 8, False), "fp8e5": ("f8E5M2", 1, False), "fp8e4nv": ("f8E4M3FN", 1, False),
    "fp8e4b15": ("f8E4M3B11FNUZ", 1, False), "fp8e4b8": ("f8E4M3FNUZ", 1, False), "fp8e5b16": ("f8E5M2FNUZ", 1, False),
}  # fmt: skip

_NUMPY = {
    "u1": "bool", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "fp16": "f2", "fp32": "f4", "fp64": "f8",
}  # fmt: skip


class NotRecordable(TypeError):
    """A launch with an argument that cannot be kept in a file."""


@dataclass(frozen=True)
class Array:
    """An argument that is memory: elements of `type` in a storage, from byte `offset` on. Shape and strides, which may
    be negative, are in elements. kind: "torch", "numpy" or "" (anything else)."""

    storage: int
    offset: int
    type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str = ""

    @property
    def item(self) -> int:
        return ELEMENTS[self.type][1]

    def is_dense(self) -> bool:
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True

    def index_text(self, element: int) -> str:
        """The place of element number `element` (counted from the array's first one) as an index."""
        if self.shape and self.is_dense() and 0 <= element < int(np.prod(self.shape)):
            return "[" + ", ".join(map(str, np.unravel_index(element, self.shape))) + "]"
        rest, index = element, [0] * len(self.shape)
        for d in sorted(range(len(self.shape)), key=lambda d: -self.strides[d]):
            if self.strides[d] > 0:
                index[d], rest = divmod(rest, self.strides[d])
        inside = rest == 0 and all(0 <= i < n for i, n in zip(index, self.shape))
        return "[" + ", ".join(map(str, index)) + "]" if inside and index else f"element {element}"


@dataclass(frozen=True)
class Descriptor:
    """A TensorDescriptor argument."""

    base: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_shape: tuple[int, ...]
    padding: str
    round_f32_to_tf32: bool


@dataclass(frozen=True)
class Constant:
    """A value of the language that JSON has no word for. kind: "dtype" or "function"."""

    kind: str
    text: str


@dataclass
class Launch:
    """One launch. `arguments` has every parameter's value: Array, Descriptor, Constant, tuple, numbers, text, None."""

    name: str
    file: str
    first_line: int
    grid: tuple[int, int, int]
    arguments: dict[str, Any]
    memory: list[np.ndarray]
    """Bytes of each storage before the launch."""
    alignment: list[int]
    """Where each storage began, modulo 64."""
    signature: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    ttir: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    """Texts of modules by name, the kernel's own first (sources.py)."""
    files: dict[str, str] = field(default_factory=dict)
    """By module: the file that its text stands for."""
    qualname: str = ""
    source_problem: str = ""
    """Why the kernel's source cannot run elsewhere; empty: it can."""
    outputs: dict[str, list[np.ndarray]] = field(default_factory=dict)
    """Memory after the launch, by backend."""
    errors: dict[str, str] = field(default_factory=dict)
    """How it failed, by backend."""
    versions: dict[str, str] = field(default_factory=dict)
    number: int = 0
    """Counted from 0 for each kernel of a process."""
    function: Any = None
    """The JIT function, in the process that launched it."""
    is_augmented: bool = False
    """The kernel is one that the tester made of the launch's own: it tells more, and no file may replace its code."""

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Every array among the arguments with its name ("x", "pair[1]"); a descriptor's has the descriptor's."""

        def inside(name: str, value: Any) -> Iterator[tuple[str, Array]]:
            if isinstance(value, Array):
                yield name, value
            elif isinstance(value, Descriptor):
                yield name, value.base
            elif isinstance(value, tuple):
                for i, item in enumerate(value):
                    yield from inside(f"{name}[{i}]", item)

        for name, value in self.arguments.items():
            yield from inside(name, value)

    def source_line(self, file: str, line: int) -> str:
        """A line of the kernel's text as it was when it was launched; of a file that has none here, as it is now."""
        files = self.files or dict.fromkeys(list(self.sources)[:1], self.file)
        for module, name in files.items():
            if name == file and module in self.sources:
                lines = self.sources[module].splitlines()
                return lines[line - 1] if 1 < line <= len(lines) else ""  # line 1 is sources.py's own
        return linecache.getline(file, line).rstrip("\n")

    def makes_pointers(self) -> bool:
        """Whether the kernel makes pointers of integers or reads them from memory: they lead to what is no argument."""
        return "tt.int_to_ptr" in self.ttir or "!tt.ptr<!tt.ptr" in self.ttir

    def reads_addresses(self) -> bool:
        """Whether addresses of this process's memory come to the kernel as numbers, in arguments or in what it loads.
        An integer that it has made of a pointer is none."""
        return self.makes_pointers() and "tt.ptr_to_int" not in self.ttir

    def copies(self) -> list[np.ndarray]:
        """Fresh copies of the memory, aligned as the originals."""
        return [aligned_copy(bytes_, begin) for bytes_, begin in zip(self.memory, self.alignment)]

    def kept(self) -> list[tuple[str, Any]]:
        """The arguments that the compiled kernel takes, in order, with their parameters' names; of a tuple the items
        that it takes."""
        kinds = self.signature
        return [(n, _kept(v, kinds.get(n, ""))) for n, v in self.arguments.items() if kinds.get(n, "") != "constexpr"]

    def kept_signature(self) -> dict[str, Any]:
        """The types of `kept()`."""
        return {name: _kept(kind, kind) for name, kind in self.signature.items() if kind != "constexpr"}


def _kept(value: Any, kind: Any) -> Any:
    """A value, or its type, without the items that are compile-time constants."""
    if not isinstance(kind, (list, tuple)) or not isinstance(value, (list, tuple)):
        return value
    return type(value)([_kept(item, k) for item, k in zip(value, kind) if k != "constexpr"])


def aligned_copy(data: np.ndarray, begin: int) -> np.ndarray:
    """A copy at an address that is `begin` modulo 64, whose extents are the data's own: an access outside is seen."""
    room = np.empty(data.size + 128, np.uint8)
    shift = (begin - room.ctypes.data) % 64
    view = np.asarray(room.data[shift : shift + data.size])
    view[:] = data
    return view


# ---- taking a launch ----


def _memory_at(begin: int, size: int) -> np.ndarray:
    if size == 0:
        return np.empty(0, dtype=np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(begin))


class Taker:
    """Turns the arguments of a launch into data. Storages are copied once."""

    def __init__(self) -> None:
        self.memory: list[np.ndarray] = []
        self.alignment: list[int] = []
        self.places: list[tuple[int, int]] = []

    def storage(self, begin: int, end: int) -> int:
        if (begin, end) in self.places:
            return self.places.index((begin, end))
        self.places.append((begin, end))
        self.memory.append(_memory_at(begin, end - begin).copy())
        self.alignment.append(begin % 64)
        return len(self.places) - 1

    def now(self) -> list[np.ndarray]:
        """The memory as it is now, copied."""
        return [_memory_at(begin, end - begin).copy() for begin, end in self.places]

    def array(self, value: Any) -> Array:
        facts = _C.array_info(value)
        if facts["on_device"]:
            raise NotRecordable("memory of a device")
        begin, end = facts["begin"], facts["end"]
        if begin == end and facts["data"]:
            raise NotRecordable(f"a {type(value).__name__} whose extents are not known")
        item = ELEMENTS[facts["type"]][1]
        base = value.base if isinstance(value, TensorWrapper) else value
        shape = tuple(int(n) for n in getattr(base, "shape", ((end - begin) // item,)))
        if hasattr(base, "untyped_storage"):
            kind, strides = "torch", tuple(base.stride())
        elif isinstance(base, np.ndarray):
            kind, strides = "numpy", tuple(s // base.itemsize for s in base.strides)
        else:
            kind, strides = "", tuple(int(np.prod(shape[d + 1 :])) for d in range(len(shape)))
        return Array(self.storage(begin, end), facts["data"] - begin, facts["type"], shape, strides, kind)

    def value(self, value: Any) -> Any:
        from tiletwin.dtypes import dtype
        from tiletwin.kernels.callables import JITCallable

        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, _C.constexpr):
            return self.value(value.value)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, dtype):
            return Constant("dtype", value.name)
        if isinstance(value, (JITCallable, _C.builtin)):
            return Constant("function", value.__name__)
        if isinstance(value, TensorDescriptor):
            return Descriptor(
                self.array(value.base), tuple(value.shape), tuple(value.strides), tuple(value.block_shape),
                value.padding, value.round_f32_to_tf32,
            )  # fmt: skip
        if isinstance(value, (tuple, list)):
            return tuple(self.value(item) for item in value)
        try:
            return self.array(value)
        except TypeError as error:
            if hasattr(value, "__index__") and not hasattr(value, "shape"):
                return value.__index__()
            raise NotRecordable(f"a {type(value).__name__}: {error}") from None


def take(fn: Any, kernel: Any, arguments: dict[str, Any], grid: Any) -> tuple[Launch, Taker]:
    """A launch that is about to run.

    Raises:
        NotRecordable: an argument cannot be kept, or the kernel works in Python only.
    """
    from tiletwin.diff import sources

    taker = Taker()
    values = {}
    for name, value in arguments.items():
        try:
            values[name] = taker.value(value)
        except NotRecordable as error:
            raise NotRecordable(f"{fn.__name__}: argument {name!r} cannot be kept: {error}") from None
    sizes = (*grid, 1, 1)[:3] if isinstance(grid, (tuple, list)) else (grid, 1, 1)
    launch = Launch(
        name=fn.__name__,
        file=fn.file,
        first_line=fn.first_line,
        grid=tuple(int(n) for n in sizes),  # type: ignore[arg-type]
        arguments=values,
        memory=taker.memory,
        alignment=taker.alignment,
        qualname=fn.fn.__qualname__,
        function=fn,
    )
    if kernel is not None:
        launch.signature = {name: _type_text(kind) for name, kind in kernel.src.signature.items()}
        launch.arguments = {name: _compiled(value, launch.signature.get(name)) for name, value in values.items()}
        launch.options = {k: v for k, v in kernel.options.items() if isinstance(v, (bool, int, float, str, type(None)))}
        launch.ttir = kernel.asm["ttir"]
    launch.sources, launch.files, launch.source_problem = sources.collect(fn, arguments)
    return launch, taker


def _compiled(value: Any, kind: Any) -> Any:
    """An argument with elements of the type that the kernel was compiled for; it may be another one of their size."""
    if isinstance(value, tuple) and isinstance(kind, list):
        return tuple(map(_compiled, value, kind))
    if isinstance(value, Descriptor):
        return replace(value, base=_compiled(value.base, kind))
    found = re.match(r"(?:\*|tensordesc<)(\w+)", str(kind))
    if found and isinstance(value, Array) and ELEMENTS.get(found[1], ("", 0))[1] == value.item:
        return replace(value, type=found[1])
    return value


def _type_text(kind: Any) -> Any:
    return [_type_text(k) for k in kind] if isinstance(kind, (tuple, list)) else str(kind)


# ---- arguments over copies ----

# Names that descriptors' own checks know.
_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


class Memory:
    """The base of a descriptor, over bytes that NumPy owns."""

    def __init__(self, data: np.ndarray, array: Array) -> None:
        self._data = data
        self._array = array
        self.dtype = _DTYPES.get(array.type, array.type)
        self.shape = array.shape
        self.nbytes = data.size - array.offset

    def data_ptr(self) -> int:
        return self._data.ctypes.data + self._array.offset

    def stride(self, dim: int | None = None) -> Any:
        return self._array.strides if dim is None else self._array.strides[dim]

    def element_size(self) -> int:
        return self._array.item

    @property
    def device(self) -> str:
        return "cpu"


def rebuilt(value: Any, memory: list[np.ndarray]) -> Any:
    """An argument as a launch takes it, over copies of the memory.

    Constants of kind "function" stay what they are: their kernels run by TTIR, where nobody asks for them.
    """
    if isinstance(value, Array):
        kind = _NUMPY.get(value.type, f"u{value.item}")
        steps = [stride * value.item for stride in value.strides]
        array = np.ndarray(value.shape, kind, memory[value.storage], value.offset, steps)
        return array if value.type in _NUMPY else TensorWrapper(array, value.type)
    if isinstance(value, Descriptor):
        return TensorDescriptor(
            Memory(memory[value.base.storage], value.base), list(value.shape), list(value.strides),
            list(value.block_shape), value.padding, value.round_f32_to_tf32,
        )  # fmt: skip
    if isinstance(value, tuple):
        return tuple(rebuilt(item, memory) for item in value)
    if isinstance(value, Constant) and value.kind == "dtype":
        import tiletwin.language as tl

        return tl.dtype(value.text)
    return value


def elements_of(data: np.ndarray, array: Array) -> np.ndarray:
    """The elements of a storage's bytes as numbers (small floats widened), from the storage's start (`base_of`) on."""
    ir, item, _ = ELEMENTS[array.type]
    shift = array.offset % item
    data = data[shift : shift + (data.size - shift) // item * item]
    if array.type in _NUMPY and array.type != "u1":
        return data.view(_NUMPY[array.type])
    if array.type == "u1":
        return data.view(np.uint8)
    if ir == "bf16":
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    table = np.frombuffer(_C.small_float_table(array.type), dtype=np.float32)
    return table[data.view(np.uint8 if item == 1 else np.uint16)]


def base_of(array: Array) -> int:
    """Number of the array's first element, counted from the first whole element of its storage."""
    return array.offset // array.item


def leaves(launch: Launch) -> list[Any]:
    """The run-time arguments as the compiled kernel numbers them: a descriptor has its extents and strides behind it, a
    tuple's items stand in a row."""
    found: list[Any] = []

    def add(value: Any, kind: Any) -> None:
        if kind == "constexpr":
            return
        if isinstance(value, tuple):
            kinds = kind if isinstance(kind, list) else [""] * len(value)
            for item, item_kind in zip(value, kinds):
                add(item, item_kind)
            return
        found.append(value)
        if isinstance(value, Descriptor):
            found.extend([*value.shape, *value.strides])

    for name, value in launch.arguments.items():
        add(value, launch.signature.get(name, ""))
    return found
