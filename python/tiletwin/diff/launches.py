"""A launch as data: its kernel's text, grid, arguments, and the bytes of its memory before it ran.

Here:      Launch; its arguments rebuilt over copies of the memory.
Not here:  taking one from a launch that is about to run (taking.py), files (files.py), running (backends.py).
Invariant: arguments that share a storage share its copy, and a copy lies at the same place modulo 64 bytes, so that
           what was compiled for the original's alignment holds for it.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tiletwin.dtypes import str_to_ty
from tiletwin.elements import ITEM_SIZES, NUMPY_NAMES, numbers_in
from tiletwin.kernels.tensors import TensorWrapper
from tiletwin.tools.tensor_descriptor import TensorDescriptor

_SIGNATURES = "u1 i8 i16 i32 i64 u8 u16 u32 u64 fp16 bf16 fp32 fp64 fp8e5 fp8e4nv fp8e4b15 fp8e4b8 fp8e5b16".split()
_FULL = {name: str_to_ty(name).name for name in _SIGNATURES}
ELEMENTS: dict[str, tuple[str, int, bool]] = {
    name: (str_to_ty(name).to_ir(), ITEM_SIZES[full], name.startswith("u")) for name, full in _FULL.items()
}
"""Names of element types in signatures: (name in the IR, bytes, unsigned)."""
_NUMPY = {name: NUMPY_NAMES[full] for name, full in _FULL.items() if full in NUMPY_NAMES}


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


class Address(NamedTuple):
    """A number of 8 bytes in a storage that is the address of a byte of another one. In recorded memory it is 0."""

    storage: int
    offset: int
    to: int
    byte: int


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
    reached: list[Array] = field(default_factory=list)
    """Memory that no argument is, and whose addresses are among the numbers of its memory."""
    addresses: list[Address] = field(default_factory=list)
    is_augmented: bool = False
    """The kernel is one that the tester made of the launch's own: it tells more, and no file may replace its code."""

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Every array among the arguments with its name ("x", "pair[1]"), a descriptor's has the descriptor's; and
        memory that is reached by addresses."""

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
        for number, array in enumerate(self.reached):
            yield f"memory {number} at an address", array

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
        """Fresh copies of the memory, aligned as the originals. Addresses are those of the copies."""
        copies = [aligned_copy(bytes_, begin) for bytes_, begin in zip(self.memory, self.alignment)]
        for place, value in self._addresses_in(copies):
            place[:] = value
        return copies

    def without_addresses(self, copies: list[np.ndarray]) -> None:
        """Makes addresses in copies 0, as they are in recorded memory, where no program has written others."""
        for place, value in self._addresses_in(copies):
            if (place == value).all():
                place[:] = 0

    def _addresses_in(self, copies: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Bytes of a copy, and those that an address has there."""
        for one in self.addresses:
            value = np.array([copies[one.to].ctypes.data + one.byte], np.uint64).view(np.uint8)
            yield copies[one.storage][one.offset : one.offset + 8], value

    def kept(self) -> list[tuple[str, Any]]:
        """The arguments that the compiled kernel takes, in order, with their parameters' names; of a tuple the items
        that it takes."""
        kinds = self.signature
        return [(n, _kept(v, kinds.get(n, ""))) for n, v in self.arguments.items() if kinds.get(n, "") != "constexpr"]

    def given_options(self, *names: str) -> dict[str, Any]:
        """Those of these options that have a value."""
        return {name: self.options[name] for name in names if self.options.get(name) is not None}

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
    shift, item = array.offset % array.item, array.item
    data = data[shift : shift + (data.size - shift) // item * item]
    return data if array.type == "u1" else numbers_in(data, _FULL[array.type])


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
