"""Values of the language that are not single tensors: tuples, slices, loop ranges, types of descriptors.

Here:      plain Python classes; the front end recognises them by identity or by `isinstance`.
Not here:  `tensor`, `constexpr` and `tensor_descriptor`, which are made in C++ (frontend/Objects.h).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tiletwin import _C
from tiletwin._C import constexpr, tensor
from tiletwin.dtypes import base_type, base_value, block_type, constexpr_type, tuple_type, unwrap
from tiletwin.language.declare import Operand, Whole

__all__ = ["condition", "range", "slice", "static_range", "tensor_descriptor_type", "tuple"]
"""What `triton.language` has of this module."""

CONSTEXPR_0 = constexpr(0)
Known = int | constexpr
"""A whole number that is known while the kernel is compiled."""


def type_of(x: Any) -> base_type:
    """The language type of a value: `x.type`, or a constexpr_type for a plain Python value."""
    if isinstance(x, (tensor, base_value)):
        return x.type
    if isinstance(x, builtins.tuple):
        return tuple_type([type_of(v) for v in x], getattr(x, "_fields", None))
    return constexpr_type(unwrap(x))


class tuple(builtins.tuple, base_value):
    """A tuple of values of the language; a Python tuple that also takes constexpr indices and has a type.

    With a `type` that names its fields (a NamedTuple's), the elements can be read as attributes.
    """

    _tuple_type: tuple_type | None

    def __new__(cls, args: Iterable[Any] = (), type: tuple_type | Sequence[base_type] | None = None) -> tuple:
        self = builtins.tuple.__new__(cls, args)
        self._tuple_type = type if type is None or isinstance(type, tuple_type) else tuple_type(type)
        return self

    @property
    def values(self) -> list[Any]:
        return list(self)

    @property
    def type(self) -> tuple_type:
        if self._tuple_type is None:
            self._tuple_type = tuple_type([type_of(v) for v in self])
        return self._tuple_type

    def __getitem__(self, idx: Any) -> Any:
        idx = unwrap(idx)
        if isinstance(idx, (slice, builtins.slice)):
            return tuple(
                builtins.tuple.__getitem__(self, builtins.slice(unwrap(idx.start), unwrap(idx.stop), unwrap(idx.step)))
            )
        return builtins.tuple.__getitem__(self, idx)

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__.get("_tuple_type")
        if known is None or known.fields is None or name not in known.fields:
            raise AttributeError(f"this tuple has no field {name!r}")
        return builtins.tuple.__getitem__(self, known.fields.index(name))

    def __add__(self, other: Any) -> tuple:
        return tuple(builtins.tuple.__add__(self, builtins.tuple(unwrap(other))))

    def __radd__(self, other: Any) -> tuple:
        return tuple(builtins.tuple(unwrap(other)) + builtins.tuple(self))

    def __mul__(self, other: Any) -> tuple:
        return tuple(builtins.tuple.__mul__(self, unwrap(other)))

    __rmul__ = __mul__

    def __eq__(self, other: Any) -> bool:
        other = unwrap(other)
        if not isinstance(other, (builtins.tuple, list)) or len(self) != len(other):
            return False
        return all(bool(unwrap(a) == unwrap(b)) for a, b in zip(self, other))

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return builtins.tuple.__hash__(self)


class slice:
    """The slice in `x[start:stop:step]` of a kernel; any part may be None."""

    def __init__(self, start: Whole | None, stop: Whole | None, step: Whole | None) -> None:
        self.start, self.stop, self.step = start, stop, step

    def __repr__(self) -> str:
        return f"slice({self.start}, {self.stop}, {self.step})"


class slice_type(base_type):
    """The type of a slice; it has no form in the IR."""

    name = "slice_type"


class static_range(base_value):
    """`for i in tl.static_range(...)`: the loop is unrolled while compiling, and i is a compile-time int in each copy.

    Takes what Python's range takes: end, or start and end, and a step of either sign; all compile-time ints.
    Errors: TypeError for a run-time bound.
    """

    def __init__(self, arg1: Known, arg2: Known | None = None, step: Known | None = None) -> None:
        self.start = constexpr(0) if arg2 is None else constexpr(arg1)
        self.end = constexpr(arg1) if arg2 is None else constexpr(arg2)
        self.step = constexpr(1) if unwrap(step) is None else constexpr(step)
        for name in ("start", "end", "step"):
            value = unwrap(getattr(self, name))
            if not isinstance(value, int):
                raise TypeError(
                    f"tl.static_range: {name} must be a compile-time int, not {builtins.type(value).__name__}; "
                    "use range or tl.range for bounds known at run time"
                )

    def __iter__(self) -> Iterator[Any]:
        values = builtins.range(unwrap(self.start), unwrap(self.end), unwrap(self.step))
        return iter([constexpr(i) for i in values])


class range(base_value):
    """`for i in tl.range(...)`: a run-time loop, as with `range`, with hints to the compiler of a GPU.

    arg1, arg2, step     end, or start and end, and step; run-time or compile-time ints. A negative step must be a
                         compile-time value.
    num_stages           iterations in flight when the loop is pipelined
    loop_unroll_factor   rounds that become one, in code for a GPU
    disable_licm         what is the same in every round is computed in each
    warp_specialize      on Hopper, warps of their own load the loop's blocks through tensor descriptors that the host
                         made; a warning says where they cannot, and why
    flatten              on Hopper, warps of their own load the blocks of the loops in this one, and go on between its
                         rounds; a warning says where they cannot, and why
    disallow_acc_multi_buffer    concerns tensor memory, which no target of tiletwin has
    The hints change nothing in what the loop computes; the interpreter ignores them.
    """

    def __init__(
        self,
        arg1: Whole,
        arg2: Whole | None = None,
        step: Whole | None = None,
        num_stages: Known | None = None,
        loop_unroll_factor: Known | None = None,
        disallow_acc_multi_buffer: bool | constexpr = False,
        flatten: bool | constexpr = False,
        warp_specialize: bool | constexpr = False,
        disable_licm: bool | constexpr = False,
    ) -> None:
        self.start = constexpr(0) if arg2 is None else arg1
        self.end = arg1 if arg2 is None else arg2
        self.step = constexpr(1) if step is None else step
        self.num_stages = num_stages
        self.loop_unroll_factor = loop_unroll_factor
        self.disallow_acc_multi_buffer = disallow_acc_multi_buffer
        self.flatten = flatten
        self.warp_specialize = warp_specialize
        self.disable_licm = disable_licm

    def __iter__(self) -> Iterator[Any]:
        if _C.eager_program() is None:
            raise RuntimeError("tl.range can only be iterated by a for loop inside a @jit function")
        return iter(_C.eager_loop(range, self.start, self.end, self.step))  # in a function that Python runs as it is


class condition(base_value):
    """`while tl.condition(c):` is `while c:` with a hint: disable_licm keeps invariant code inside the loop."""

    def __init__(self, arg1: Operand, disable_licm: bool | constexpr = False) -> None:
        self.condition = arg1
        self.disable_licm = disable_licm


class tensor_descriptor_base_type(base_type):
    """The type of a descriptor: the block that it loads and stores."""

    def __init__(self, block_type: block_type) -> None:
        self.block_type = block_type

    def mangle(self) -> str:
        return f"TD{self.block_type.mangle()}"

    def __eq__(self, other: object) -> bool:
        return builtins.type(other) is builtins.type(self) and self.block_type == other.block_type

    def __hash__(self) -> int:
        return hash(self.block_type)

    def __str__(self) -> str:
        shape = ", ".join(map(str, self.block_type.shape))
        return f"tensor_descriptor<{self.block_type.element_ty}[{shape}]>"

    __repr__ = __str__


class tensor_descriptor_type(tensor_descriptor_base_type):
    """A descriptor's type with the types of its shape and strides."""

    def __init__(self, block_type: block_type, shape_type: tuple_type, strides_type: tuple_type) -> None:
        super().__init__(block_type)
        self.shape_type, self.strides_type = shape_type, strides_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tensor_descriptor_type) or self.block_type != other.block_type:
            return False
        return self.shape_type == other.shape_type and self.strides_type == other.strides_type

    def __hash__(self) -> int:
        return hash(self.block_type)
