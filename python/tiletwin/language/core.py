"""The core of the language under the names of `triton.language.core`.

Here:      re-exports of the declarations, attributes of `tensor` that are functions of the language, and aggregates.
Not here:  implementations (frontend/), and functions written in the language itself (standard.py, random.py).
"""

from __future__ import annotations

import math as _math
from typing import Any, dataclass_transform

from tiletwin import _C
from tiletwin._C import block_pointer, constexpr, tensor, tensor_descriptor
from tiletwin._refused import refuse
from tiletwin.dtypes import (
    TRITON_MAX_TENSOR_NUMEL,
    base_type,
    base_value,
    bfloat16,
    block_type,
    const,
    constexpr_type,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    get_int_dtype,
    int1,
    int8,
    int16,
    int32,
    int64,
    pi32_t,
    pointer_type,
    str_to_ty,
    tuple_type,
    uint8,
    uint16,
    uint32,
    uint64,
    unwrap,
    validate_block_shape,
    void,
)
from tiletwin.language.aggregate import aggregate, aggregate_replace
from tiletwin.language.arith_ops import (
    PropagateNan,
    add,
    builtin_max,
    builtin_min,
    clamp,
    extern_elementwise,
    inline_asm_elementwise,
    logical_and,
    logical_or,
    map_elementwise,
    maximum,
    minimum,
    mul,
    sub,
    where,
)
from tiletwin.language.creation_ops import arange, cast, full, num_programs, program_id, to_tensor
from tiletwin.language.debug_ops import (
    assume,
    debug_barrier,
    device_assert,
    device_print,
    expect_zero,
    max_constancy,
    max_contiguous,
    multiple_of,
    static_assert,
    static_print,
)
from tiletwin.language.memory_ops import (
    advance,
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_poll,
    atomic_store,
    atomic_xchg,
    atomic_xor,
    descriptor_atomic_add,
    descriptor_atomic_and,
    descriptor_atomic_max,
    descriptor_atomic_min,
    descriptor_atomic_or,
    descriptor_atomic_xor,
    descriptor_gather,
    descriptor_scatter,
    load,
    load_tensor_descriptor,
    make_block_ptr,
    make_tensor_descriptor,
    store,
    store_tensor_descriptor,
)
from tiletwin.language.reduce_ops import associative_scan, dot, dot_scaled, histogram, reduce
from tiletwin.language.shape_ops import (
    _unsplat,
    broadcast,
    broadcast_to,
    cat,
    expand_dims,
    gather,
    item,
    join,
    permute,
    reshape,
    split,
    trans,
    view,
)
from tiletwin.language.values import (
    CONSTEXPR_0,
    condition,
    range,
    slice,
    slice_type,
    static_range,
    tensor_descriptor_base_type,
    tensor_descriptor_type,
    tuple,
)

_aggregate = aggregate  # its name in Triton

_unwrap_if_constexpr = unwrap
tensor_descriptor_base = tensor_descriptor


def is_builtin(fn: Any) -> bool:
    """True for a function that is declared as a builtin of the language."""
    return isinstance(fn, builtin_type)


builtin_type = _C.builtin


def builtin(fn: Any) -> Any:
    """Marks a Python function that kernels may call: it runs while they are compiled, on their values, and may call
    functions of the language. A parameter `_semantic` gets None; there is nothing to be done with it here."""
    return _C.builtin(fn, python=True)


def extern(fn: Any) -> Any:
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
) -> tensor:
    """Would emit the call of a library's function; extern_elementwise does."""
    refuse("triton.language.core.dispatch")


def binary_op_type_legalization(lhs: Any, rhs: Any, semantic: Any) -> Any:
    """Would promote two operands."""
    refuse("triton.language.core.binary_op_type_legalization")


def check_bit_width(value: Any, shift_value: Any) -> Any:
    """Would check a shift."""
    refuse("triton.language.core.check_bit_width")


def must_use_result(x: Any, s: Any = True) -> Any:
    """Marks a function whose result should not be thrown away; `s` may be the text of the complaint."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


def is_negative_zero(x: Any) -> bool:
    """True for the float -0.0."""
    return isinstance(x, float) and x == 0.0 and _math.copysign(1.0, x) < 0


_C.register_types(dtype_by_name=dict(dtype._interned), pointer_type=pointer_type, block_type=block_type)

# Builtins that are methods of tensors too. Library functions add themselves in standard.py.
TENSOR_METHODS = (
    "advance",
    "associative_scan",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
    "broadcast_to",
    "cast",
    "expand_dims",
    "gather",
    "histogram",
    "item",
    "logical_and",
    "logical_or",
    "permute",
    "reduce",
    "reshape",
    "split",
    "store",
    "trans",
    "view",
)
for _name in TENSOR_METHODS:
    setattr(tensor, _name, globals()[_name])
tensor.to = cast

DESCRIPTOR_METHODS = {
    "load": load_tensor_descriptor,
    "store": store_tensor_descriptor,
    "gather": descriptor_gather,
    "scatter": descriptor_scatter,
    "atomic_add": descriptor_atomic_add,
    "atomic_min": descriptor_atomic_min,
    "atomic_max": descriptor_atomic_max,
    "atomic_and": descriptor_atomic_and,
    "atomic_or": descriptor_atomic_or,
    "atomic_xor": descriptor_atomic_xor,
}
for _name, _function in DESCRIPTOR_METHODS.items():
    setattr(tensor_descriptor, _name, _function)
block_pointer.advance = advance
block_pointer.store = store
del _name, _function
