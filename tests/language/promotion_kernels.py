"""Kernels that check element types of results while they are compiled; test_promotion.py compiles them."""

import triton
import triton.language as tl


@triton.jit
def op_add(a, b):
    return a + b


@triton.jit
def op_mul(a, b):
    return a * b


@triton.jit
def op_div(a, b):
    return a / b


@triton.jit
def op_floordiv(a, b):
    return a // b


@triton.jit
def op_mod(a, b):
    return a % b


@triton.jit
def op_and(a, b):
    return a & b


@triton.jit
def op_shl(a, b):
    return a << b


@triton.jit
def op_shr(a, b):
    return a >> b


@triton.jit
def op_lt(a, b):
    return a < b


@triton.jit
def op_where(a, b):
    return tl.where(True, a, b)


@triton.jit
def op_maximum(a, b):
    return tl.maximum(a, b)


@triton.jit
def op_fma(a, b):
    return tl.fma(a, b, b)


@triton.jit
def op_neg(a):
    return -a


@triton.jit
def op_invert(a):
    return ~a


@triton.jit
def op_not(a):
    return not a


@triton.jit
def op_abs(a):
    return tl.abs(a)


@triton.jit
def op_sum(a):
    return tl.sum(a, 0)


@triton.jit
def op_max(a):
    return tl.max(a, 0)


@triton.jit
def op_max_idx(a):
    value, index = tl.max(a, 0, return_indices=True)
    tl.static_assert(index.dtype == tl.int32)
    return value


@triton.jit
def op_cumsum(a):
    return tl.cumsum(a, 0)


@triton.jit
def op_cumprod(a):
    return tl.cumprod(a, 0)


@triton.jit
def op_xor_sum(a):
    return tl.xor_sum(a, 0)


@triton.jit
def op_sort(a):
    return tl.sort(a)


@triton.jit
def _load(p, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    q = p.to(tl.pointer_type(TYPE), bitcast=True)
    if BLOCK:
        return tl.load(q + tl.arange(0, 16))
    else:
        return tl.load(q)


@triton.jit
def tensor_tensor(p, OP: tl.constexpr, A: tl.constexpr, B: tl.constexpr, WANT: tl.constexpr, BLOCK: tl.constexpr):
    a = _load(p, A, BLOCK)
    for k in tl.static_range(len(B)):
        tl.static_assert(OP(a, _load(p, B[k], BLOCK)).dtype == WANT[k])


@triton.jit
def tensor_scalar(p, OP: tl.constexpr, A: tl.constexpr, B: tl.constexpr, WANT: tl.constexpr):
    a = _load(p, A, True)
    for k in tl.static_range(len(B)):
        tl.static_assert(OP(a, B[k]).dtype == WANT[k])


@triton.jit
def scalar_tensor(p, OP: tl.constexpr, A: tl.constexpr, B: tl.constexpr, WANT: tl.constexpr):
    a = _load(p, A, True)
    for k in tl.static_range(len(B)):
        tl.static_assert(OP(B[k], a).dtype == WANT[k])


@triton.jit
def unary(p, OP: tl.constexpr, A: tl.constexpr, WANT: tl.constexpr):
    for k in tl.static_range(len(A)):
        tl.static_assert(OP(_load(p, A[k], True)).dtype == WANT[k])


@triton.jit
def literal(p, VALUE: tl.constexpr, WANT: tl.constexpr):
    tl.static_assert(tl.to_tensor(VALUE).dtype == WANT)
