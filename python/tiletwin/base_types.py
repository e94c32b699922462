"""What all types and values of the kernel language share, and the types of tuples and compile-time values.

Here:      base_type, base_value, constexpr_type, tuple_type, and the value inside of a constexpr.
Not here:  element types, pointers and blocks (dtypes.py), which has these names too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tiletwin import _C


class base_type:
    """Base of all types of the language. `mangle()` is a type's part of a function's mangled name."""

    def mangle(self) -> str:
        raise NotImplementedError(f"a {type(self).__name__} has no mangled form")


class _ValueMeta(type):
    """Makes C++ objects and aggregates count as `base_value` without deriving from it."""

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        in_cpp = (_C.tensor, _C.constexpr, _C.tensor_descriptor)
        return cls is base_value and (isinstance(instance, in_cpp) or hasattr(type(instance), "__tiletwin_fields__"))


class base_value(metaclass=_ValueMeta):
    """Base of the values of the language; `tensor`, `constexpr`, `tuple` and their like are instances of it."""

    type: base_type


def unwrap(x: Any) -> Any:
    """The value inside a constexpr; anything else as it is."""
    return x.value if isinstance(x, _C.constexpr) else x


def plain(value: Any) -> Any:
    """The value inside a constexpr, also inside tuples."""
    if type(value) is tuple:
        return tuple(plain(item) for item in value)
    return unwrap(value)


class constexpr_type(base_type):
    """The type of a compile-time value: the value itself."""

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    def mangle(self) -> str:
        return "c" + (self.value.mangle() if hasattr(self.value, "mangle") else repr(self.value))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple_type):
            return other == self
        return isinstance(other, constexpr_type) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


class tuple_type(base_type):
    """The type of a tuple: the types of its elements, and their names if it is a named tuple."""

    def __init__(self, types: Sequence[base_type], fields: Sequence[str] | None = None) -> None:
        self.types = list(types)
        self.fields = None if fields is None else list(fields)

    @property
    def name(self) -> str:
        if self.fields is None:
            return f"[{','.join(map(str, self.types))}]"
        return f"[{','.join(f'{k}:{t}' for k, t in zip(self.fields, self.types))}]"

    def mangle(self) -> str:
        return f"T{'_'.join(t.mangle() for t in self.types)}T"

    def __getitem__(self, index: int) -> base_type:
        return self.types[index]

    def __len__(self) -> int:
        return len(self.types)

    def __iter__(self) -> Iterator[base_type]:
        return iter(self.types)

    @property
    def _value(self) -> tuple[Any, ...] | None:
        """The tuple itself if it is known while compiling: its type is that of a compile-time value, too."""
        values = tuple(t._value if isinstance(t, tuple_type) else getattr(t, "value", None) for t in self.types)
        return values if all(isinstance(t, (constexpr_type, tuple_type)) for t in self.types) else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, constexpr_type):
            return self._value is not None and self._value == other.value
        return isinstance(other, tuple_type) and self.types == other.types and self.fields == other.fields

    def __hash__(self) -> int:
        return hash(self.name if self._value is None else self._value)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__
