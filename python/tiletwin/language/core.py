"""The core of the language under the names of `triton.language.core`.

Here:      re-exports of the declarations, attributes of `tensor` that are functions of the language, and aggregates.
Not here:  implementations (frontend/), and functions written in the language itself (standard.py, random.py).
"""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any, NoReturn, dataclass_transform

from tiletwin import _C
from tiletwin._C import block_pointer, constexpr, tensor, tensor_descriptor
from tiletwin._refused import refuse
from tiletwin.dtypes import *
from tiletwin.dtypes import base_type, base_value, get_int_dtype, unwrap, validate_block_shape
from tiletwin.language.aggregate import aggregate, aggregate_replace
from tiletwin.language.arith_ops import *
from tiletwin.language.arith_ops import builtin_max, builtin_min, extern_elementwise, logical_and, logical_or
from tiletwin.language.creation_ops import *
from tiletwin.language.debug_ops import *
from tiletwin.language.memory_ops import *
from tiletwin.language.memory_ops import (
    descriptor_atomic_add,
    descriptor_atomic_and,
    descriptor_atomic_max,
    descriptor_atomic_min,
    descriptor_atomic_or,
    descriptor_atomic_xor,
    descriptor_gather,
    descriptor_scatter,
)
from tiletwin.language.reduce_ops import *
from tiletwin.language.shape_ops import *
from tiletwin.language.shape_ops import _unsplat, item
from tiletwin.language.values import *
from tiletwin.language.values import CONSTEXPR_0, slice_type, tensor_descriptor_base_type

_aggregate = aggregate  # its name in Triton

_unwrap_if_constexpr = unwrap
tensor_descriptor_base = tensor_descriptor


def is_builtin(fn: object) -> bool:
    """True for a function that is declared as a builtin of the language."""
    return isinstance(fn, builtin_type)


builtin_type = _C.builtin


def builtin(fn: Callable[..., Any]) -> _C.builtin:
    """Marks a Python function that kernels may call: it runs while they are compiled, on their values, and may call
    functions of the language. A parameter `_semantic` gets None; there is nothing to be done with it here."""
    return _C.builtin(fn, python=True)


def extern(fn: Callable[..., Any]) -> _C.builtin:
    """The same as `builtin`, for functions that wrap functions of a library."""
    return _C.builtin(fn, python=True)


def dispatch(
    func: str,
    lib_name: str,
    lib_path: str,
    args: list,
    arg_type_symbol_dict: dict,
    ret_type: dtype,
    is_pure: bool,
) -> NoReturn:
    """Would emit the call of a library's function; extern_elementwise does."""
    refuse("triton.language.core.dispatch")


def binary_op_type_legalization(lhs: tensor, rhs: tensor, semantic: object) -> NoReturn:
    """Would promote two operands."""
    refuse("triton.language.core.binary_op_type_legalization")


def check_bit_width(value: tensor, shift_value: tensor) -> NoReturn:
    """Would check a shift."""
    refuse("triton.language.core.check_bit_width")


def must_use_result(x: Any, s: Any = True) -> Any:
    """Marks a function whose result should not be thrown away; `s` may be the text of the complaint."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


def is_negative_zero(x: object) -> bool:
    """True for the float -0.0."""
    return isinstance(x, float) and x == 0.0 and _math.copysign(1.0, x) < 0


_C.register_types(dtype_by_name=dict(dtype._interned), pointer_type=pointer_type, block_type=block_type)

# Builtins that are methods of tensors too. Library functions add themselves in standard.py.
TENSOR_METHODS = (
    "advance", "associative_scan", "atomic_add", "atomic_and", "atomic_cas", "atomic_load", "atomic_max", "atomic_min",
    "atomic_or", "atomic_poll", "atomic_store", "atomic_xchg", "atomic_xor", "broadcast_to", "cast", "expand_dims",
    "gather", "histogram", "item", "logical_and", "logical_or", "permute", "reduce", "reshape", "split", "store",
    "trans", "view",
)  # fmt: skip
for _name in TENSOR_METHODS:
    setattr(tensor, _name, globals()[_name])
tensor.to = cast

tensor_descriptor.load, tensor_descriptor.store = load_tensor_descriptor, store_tensor_descriptor
for _name in [name for name in globals() if name.startswith("descriptor_")]:
    setattr(tensor_descriptor, _name.removeprefix("descriptor_"), globals()[_name])
block_pointer.advance = advance
block_pointer.store = store
del _name
