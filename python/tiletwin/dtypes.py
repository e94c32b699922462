"""Types of the kernel language: dtypes, pointers, blocks; names of types in signatures.

Here:      the Python objects behind `tl.float32`, `tl.pointer_type(...)`, `x.type`, and what they can be asked.
Not here:  types of tuples and compile-time values (base_types.py), promotion and conversion rules
           (frontend/Semantic.h), the C++ twin of these classes (frontend/Type.h).
Invariant: one object per scalar type and per pointer type, so both can be compared by identity; equality is by value.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from enum import Enum
from typing import Any

from tiletwin import ports
from tiletwin.base_types import base_type, base_value, constexpr_type, tuple_type, unwrap  # noqa: F401  names of dtypes
from tiletwin.version import NAME

__all__ = [
    "TRITON_MAX_TENSOR_NUMEL", "bfloat16", "block_type", "const", "constexpr_type", "dtype", "float8e4b8",
    "float8e4b15", "float8e4nv", "float8e5", "float8e5b16", "float16", "float32", "float64", "int1", "int8", "int16",
    "int32", "int64", "pi32_t", "pointer_type", "str_to_ty", "tuple_type", "uint8", "uint16", "uint32", "uint64",
    "void",
]  # fmt: skip
"""What `triton.language` has of this module."""

TRITON_MAX_TENSOR_NUMEL = 1 << 20


class _Signedness(Enum):
    SIGNED = 0
    UNSIGNED = 1


class _Kind(Enum):
    BOOLEAN = 0
    INTEGRAL = 1
    FLOATING = 2


# name: (bits, kind, signed, mantissa bits, exponent bias, spelling in the IR, spelling in Python)
_SCALARS: dict[str, tuple[int, _Kind | None, bool, int, int, str, str]] = {
    "void": (0, None, False, 0, 0, "none", "void"),
    "int1": (1, _Kind.BOOLEAN, False, 0, 0, "i1", "int1"),
    "int8": (8, _Kind.INTEGRAL, True, 0, 0, "i8", "int8"),
    "int16": (16, _Kind.INTEGRAL, True, 0, 0, "i16", "int16"),
    "int32": (32, _Kind.INTEGRAL, True, 0, 0, "i32", "int32"),
    "int64": (64, _Kind.INTEGRAL, True, 0, 0, "i64", "int64"),
    "uint8": (8, _Kind.INTEGRAL, False, 0, 0, "i8", "uint8"),
    "uint16": (16, _Kind.INTEGRAL, False, 0, 0, "i16", "uint16"),
    "uint32": (32, _Kind.INTEGRAL, False, 0, 0, "i32", "uint32"),
    "uint64": (64, _Kind.INTEGRAL, False, 0, 0, "i64", "uint64"),
    "fp8e5": (8, _Kind.FLOATING, True, 2, 15, "f8E5M2", "float8e5"),
    "fp8e4nv": (8, _Kind.FLOATING, True, 3, 7, "f8E4M3FN", "float8e4nv"),
    "fp8e4b15": (8, _Kind.FLOATING, True, 3, 15, "f8E4M3B11FNUZ", "float8e4b15"),
    "fp8e4b8": (8, _Kind.FLOATING, True, 3, 8, "f8E4M3FNUZ", "float8e4b8"),
    "fp8e5b16": (8, _Kind.FLOATING, True, 2, 16, "f8E5M2FNUZ", "float8e5b16"),
    "fp16": (16, _Kind.FLOATING, True, 10, 15, "f16", "float16"),
    "bf16": (16, _Kind.FLOATING, True, 7, 127, "bf16", "bfloat16"),
    "fp32": (32, _Kind.FLOATING, True, 23, 127, "f32", "float32"),
    "fp64": (64, _Kind.FLOATING, True, 52, 1023, "f64", "float64"),
}


def _names(kind: _Kind | None, signed: bool | None = None) -> list[str]:
    return [n for n, row in _SCALARS.items() if row[1] is kind and (signed is None or row[2] == signed)]


def _asks_for(name: str) -> Any:
    """A method that says whether a type is the one of that name."""

    def is_it(self: dtype) -> bool:
        return self.name == name

    is_it.__name__ = is_it.__qualname__ = f"is_{name}"
    return is_it


class dtype(base_type):
    """An element type: `tl.float32`, `tl.int8`, ... . `dtype("fp32")` is the object `tl.float32` itself.

    Attributes: name ("fp32", "int8"), primitive_bitwidth, itemsize (bytes; 0 for int1, which occupies one byte in
    memory), and for integers int_bitwidth and int_signedness, for floats fp_mantissa_width and exponent_bias.
    Calling one casts: `tl.float16(x)` is `tl.cast(x, tl.float16)`.
    Errors: ValueError for an unknown name.
    """

    SINT_TYPES = _names(_Kind.INTEGRAL, True)
    UINT_TYPES = _names(_Kind.BOOLEAN) + _names(_Kind.INTEGRAL, False)
    FP_TYPES = _names(_Kind.FLOATING)
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]
    SIGNEDNESS = _Signedness
    KIND = _Kind

    name: str
    primitive_bitwidth: int
    itemsize: int
    int_bitwidth: int
    int_signedness: _Signedness
    fp_mantissa_width: int
    exponent_bias: int
    _kind: _Kind | None
    _ir_name: str
    _python_name: str

    _interned: dict[str, dtype] = {}

    def __new__(cls, name: str) -> dtype:
        name = unwrap(name)
        known = dtype._interned.get(name)
        if known is not None:
            return known
        if name not in _SCALARS:
            raise ValueError(f"unknown dtype name {name!r}; the names are {', '.join(_SCALARS)}")
        self = object.__new__(cls)
        bits, kind, signed, mantissa, bias, ir_name, python_name = _SCALARS[name]
        self.name = name
        self.primitive_bitwidth = bits
        self.itemsize = bits // 8
        self._kind = kind
        self._ir_name = ir_name
        self._python_name = python_name
        if kind in (_Kind.BOOLEAN, _Kind.INTEGRAL):
            self.int_signedness = _Signedness.SIGNED if signed else _Signedness.UNSIGNED
            self.int_bitwidth = bits
        elif kind is _Kind.FLOATING:
            self.fp_mantissa_width = mantissa
            self.exponent_bias = bias
        dtype._interned[name] = self
        return self

    def __reduce__(self) -> tuple:
        return dtype, (self.name,)

    # One question per element type.
    is_int1 = _asks_for("int1")
    is_int8 = _asks_for("int8")
    is_int16 = _asks_for("int16")
    is_int32 = _asks_for("int32")
    is_int64 = _asks_for("int64")
    is_uint8 = _asks_for("uint8")
    is_uint16 = _asks_for("uint16")
    is_uint32 = _asks_for("uint32")
    is_uint64 = _asks_for("uint64")
    is_fp8e5 = _asks_for("fp8e5")
    is_fp8e4nv = _asks_for("fp8e4nv")
    is_fp8e4b15 = _asks_for("fp8e4b15")
    is_fp8e4b8 = _asks_for("fp8e4b8")
    is_fp8e5b16 = _asks_for("fp8e5b16")
    is_fp16 = _asks_for("fp16")
    is_bf16 = _asks_for("bf16")
    is_fp32 = _asks_for("fp32")
    is_fp64 = _asks_for("fp64")
    is_void = _asks_for("void")

    # Questions about classes of types. Pointers and blocks answer no to all but their own.
    def is_fp8(self) -> bool:
        return self._kind is _Kind.FLOATING and self.primitive_bitwidth == 8

    def is_floating(self) -> bool:
        return self._kind is _Kind.FLOATING

    def is_standard_floating(self) -> bool:
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int(self) -> bool:
        return self._kind in (_Kind.BOOLEAN, _Kind.INTEGRAL)

    def is_int_signed(self) -> bool:
        return self.is_int() and self.int_signedness is _Signedness.SIGNED

    def is_int_unsigned(self) -> bool:
        """True for int1 too, which counts as unsigned."""
        return self.is_int() and self.int_signedness is _Signedness.UNSIGNED

    def is_bool(self) -> bool:
        return self.is_int1()

    def is_block(self) -> bool:
        return False

    def is_ptr(self) -> bool:
        return False

    def is_const(self) -> bool:
        return False

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        """True if there is an element type of that name."""
        return type_str in _SCALARS

    def kind(self) -> _Kind:
        """BOOLEAN < INTEGRAL < FLOATING: the order that promotion uses. ValueError for void, pointers and blocks."""
        if self._kind is None:
            raise ValueError(f"{self} is neither an integer nor a floating-point type")
        return self._kind

    def _int_bits(self) -> int:
        if not self.is_int():
            raise ValueError(f"{self} is not an integer type")
        return self.int_bitwidth - self.is_int_signed()

    def get_int_max_value(self) -> int:
        """Largest value of an integer type. ValueError for other types."""
        return (1 << self._int_bits()) - 1

    def get_int_min_value(self) -> int:
        """Smallest value of an integer type. ValueError for other types."""
        bits = self._int_bits()
        return -(1 << bits) if self.is_int_signed() else 0

    @property
    def scalar(self) -> dtype:
        """The type of one element: itself unless it is a block."""
        return self

    def with_element_ty(self, element_ty: dtype) -> dtype:
        """The same shape with another element type."""
        return element_ty

    def to_ir(self, builder: object = None) -> str:
        """The type as the IR spells it ("f32", "!tt.ptr<f32>", "tensor<8xi32>"). Signedness is not part of it."""
        return self._ir_name

    def codegen_name(self) -> str:
        """The name of the object in this module: "float32" for fp32."""
        return self._python_name

    @property
    def cache_key_part(self) -> str:
        """What stands for the type in a kernel's cache key."""
        return self.name

    def mangle(self) -> str:
        if self.is_int():
            return ("i" if self.is_int_signed() else "u") + str(self.int_bitwidth)
        return "V" if self.is_void() else self.name

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return isinstance(other, dtype) and self.name == other.name

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{NAME}.language.{self._python_name}"

    def __call__(self, x: Any) -> Any:
        return ports.cast(x, self)


class const:
    """Annotation of a pointer parameter whose data the kernel only reads: `def kernel(x_ptr: tl.const, ...)`."""


def _as_dtype(x: Any, what: str) -> dtype:
    x = unwrap(x)
    if not isinstance(x, dtype):
        raise TypeError(f"{what} must be a dtype such as tl.float32, not {type(x).__name__}")
    return x


class pointer_type(dtype):
    """The type of a pointer to `element_ty`. `const=True` is a pointer to data that is not written.

    Errors: TypeError if element_ty is not a dtype.
    """

    element_ty: dtype
    address_space: str
    const: bool

    _pointers: dict[tuple, pointer_type] = {}

    def __new__(cls, element_ty: dtype, address_space: str = "global", const: bool = False) -> pointer_type:
        element_ty = _as_dtype(element_ty, "element_ty of a pointer")
        address_space, const = unwrap(address_space), bool(unwrap(const))
        key = (element_ty, address_space, const)
        known = pointer_type._pointers.get(key)
        if known is not None:
            return known
        self = object.__new__(cls)
        self.element_ty, self.address_space, self.const = key
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8
        self._kind = None
        pointer_type._pointers[key] = self
        return self

    def __reduce__(self) -> tuple:
        return pointer_type, (self.element_ty, self.address_space, self.const)

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def to_ir(self, builder: object = None) -> str:
        space = ', "constant"' if self.const else ""
        return f"!tt.ptr<{self.element_ty.to_ir()}{space}>"

    def codegen_name(self) -> str:
        return repr(self)

    def mangle(self) -> str:
        return "P" + self.element_ty.mangle()

    def __eq__(self, other: object) -> bool:
        return self is unwrap(other)

    def __hash__(self) -> int:
        return hash((self.name, self.address_space))

    def __repr__(self) -> str:
        return self.name


def validate_block_shape(shape: Sequence[int]) -> int:
    """Number of elements of a block of that shape.

    Errors: TypeError for a dimension that is no compile-time int; ValueError for one that is not a power of two, or
    for more than TRITON_MAX_TENSOR_NUMEL elements.
    """
    numel = 1
    for i, size in enumerate(shape):
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"dimension {i} of a block shape must be a compile-time int, not {type(size).__name__}")
        if size <= 0 or size & (size - 1):
            raise ValueError(f"Shape element {i} must be a power of 2, not {size}, in {tuple(shape)}")
        numel *= size
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(
            f"block shape {tuple(shape)} has {numel} elements; at most {TRITON_MAX_TENSOR_NUMEL} are allowed"
        )
    return numel


class block_type(dtype):
    """The type of a block: `shape` (tuple of ints, powers of two), `numel`, and `element_ty`, also called `scalar`.

    Errors: TypeError for an empty shape (a 0-d value has a scalar type); shapes as in `validate_block_shape`.
    """

    element_ty: dtype
    shape: tuple[int, ...]
    numel: int

    def __new__(cls, element_ty: dtype, shape: Sequence[int]) -> block_type:
        self = object.__new__(cls)
        self.element_ty = _as_dtype(element_ty, "element_ty of a block")
        self.shape = builtins.tuple(unwrap(s) for s in unwrap(shape))
        if not self.shape:
            raise TypeError("a block type needs at least one dimension; a 0-d value has the scalar type itself")
        self.numel = validate_block_shape(self.shape)
        self.name = f"<{list(self.shape)}, {self.element_ty}>"
        self.primitive_bitwidth = self.element_ty.primitive_bitwidth
        self.itemsize = self.element_ty.itemsize
        self._kind = None
        return self

    def __reduce__(self) -> tuple:
        return block_type, (self.element_ty, self.shape)

    def is_block(self) -> bool:
        return True

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def with_element_ty(self, scalar_ty: dtype) -> block_type:
        return block_type(scalar_ty, self.shape)

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @property
    def nbytes(self) -> int:
        return self.numel * self.element_ty.itemsize

    def to_ir(self, builder: object = None) -> str:
        return f"tensor<{'x'.join(map(str, self.shape))}x{self.element_ty.to_ir()}>"

    def codegen_name(self) -> str:
        return repr(self)

    def mangle(self) -> str:
        return f"{self.element_ty.mangle()}S{'_'.join(map(str, self.shape))}S"

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return isinstance(other, block_type) and self.element_ty == other.element_ty and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.element_ty, self.shape))

    def __repr__(self) -> str:
        return self.name


void = dtype("void")
int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float8e5 = dtype("fp8e5")
float8e5b16 = dtype("fp8e5b16")
float8e4nv = dtype("fp8e4nv")
float8e4b8 = dtype("fp8e4b8")
float8e4b15 = dtype("fp8e4b15")
float16 = dtype("fp16")
bfloat16 = dtype("bf16")
float32 = dtype("fp32")
float64 = dtype("fp64")
pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of that width and signedness. Errors: ValueError, there is no such type."""
    bitwidth, signed = unwrap(bitwidth), unwrap(signed)
    name = "int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}"
    if name not in _SCALARS:
        raise ValueError(f"there is no {bitwidth}-bit integer type; widths are 1, 8, 16, 32 and 64")
    return dtype(name)


SIGNATURE_NAMES: dict[str, str] = {
    **{name: name for name in _SCALARS},
    **{row[6]: name for name, row in _SCALARS.items()},
    **{f"i{bits}": f"int{bits}" for bits in (1, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "u1": "int1",
    "uint1": "int1",
    "bool": "int1",
    "int": "int32",
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
}
"""Names that a type goes by in signature strings ("*fp32", "i64") and in annotations."""


def str_to_ty(name: str, c: Any = None) -> Any:
    """The type that a signature string names: "i32", "*fp16", "*kbf16", "constexpr". `c` is a constexpr's value.

    Errors: ValueError for a string that is none.
    """
    if name == "constexpr":
        return constexpr_type(c)
    if name.startswith("*"):
        is_const = name.startswith("*k")
        pointee = str_to_ty(name[2:] if is_const else name[1:])
        return pointer_type(_as_dtype(pointee, "element_ty of a pointer"), const=is_const)
    if name not in SIGNATURE_NAMES:
        raise ValueError(f"{name!r} names no type; examples of types are i32, u8, fp16, bf16, *fp32")
    return dtype(SIGNATURE_NAMES[name])
