"""`@triton.jit` and what belongs to it, under the names of `triton.runtime.jit`."""

from typing import TYPE_CHECKING

from tiletwin import knobs
from tiletwin.kernels.callables import (
    BoundConstexprFunction,
    ConstexprFunction,
    JITCallable,
    JitFunctionInfo,
    KernelParam,
    constexpr_function,
    get_full_name,
    jit_function_named,
)
from tiletwin.kernels.jit import (
    GLUON_MODULE,
    TRITON_MODULE,
    DependenciesFinder,
    JITFunction,
    KernelInterface,
    P,
    R,
    T,
    U,
    create_function_from_signature,
    jit,
    serialize_specialization_data,
)
from tiletwin.kernels.specialization import (
    TYPE_NAMES,
    compute_cache_key,
    convert_to_tuple_if_list,
    get_def_col_number,
    get_def_line_number,
    mangle_type,
    mangle_type_name,
    type_canonicalisation_dict,
)
from tiletwin.kernels.tensors import (
    MockTensor,
    TensorWrapper,
    reinterpret,
)

__all__ = [
    "GLUON_MODULE",
    "TRITON_MODULE",
    "TYPE_CHECKING",
    "TYPE_NAMES",
    "BoundConstexprFunction",
    "ConstexprFunction",
    "DependenciesFinder",
    "JITCallable",
    "JITFunction",
    "JitFunctionInfo",
    "KernelInterface",
    "KernelParam",
    "MockTensor",
    "P",
    "R",
    "T",
    "TensorWrapper",
    "U",
    "compute_cache_key",
    "constexpr_function",
    "convert_to_tuple_if_list",
    "create_function_from_signature",
    "get_def_col_number",
    "get_def_line_number",
    "get_full_name",
    "jit",
    "jit_function_named",
    "knobs",
    "mangle_type",
    "mangle_type_name",
    "reinterpret",
    "serialize_specialization_data",
    "type_canonicalisation_dict",
]
