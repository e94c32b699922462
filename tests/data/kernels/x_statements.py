"""Kernels whose statements, names and compile-time values are expected to be turned down (one mistake each)."""
import triton
import triton.language as tl

from cases import case

GLOBAL_INT = 4


@triton.jit
def bad_global(o_ptr):
    tl.store(o_ptr, GLOBAL_INT)


@triton.jit
def bad_loop_type(o_ptr, n):
    a = 0
    for i in range(n):
        a = a + 1.5
    tl.store(o_ptr, a)


@triton.jit
def bad_while_type(o_ptr, n):
    a = 0
    while a < n:
        a = (a + 1).to(tl.int64)
    tl.store(o_ptr, a)


@triton.jit
def bad_if_type(o_ptr, n):
    if n > 0:
        a = 1
    else:
        a = 2.0
    tl.store(o_ptr, a)


@triton.jit
def bad_if_redefine(o_ptr, n):
    a = 1
    if n > 0:
        a = 2.0
    tl.store(o_ptr, a)


@triton.jit
def bad_if_undefined(o_ptr, n):
    if n > 0:
        a = 1
    tl.store(o_ptr, a)


@triton.jit
def bad_ternary(o_ptr, n):
    tl.store(o_ptr, 1 if n > 0 else 2.0)


@triton.jit
def bad_break(o_ptr, n):
    for i in range(n):
        if i > 3:
            break
    tl.store(o_ptr, i)


@triton.jit
def bad_continue(o_ptr, n):
    for i in range(n):
        if i > 3:
            continue
        tl.store(o_ptr + i, i)


@triton.jit
def bad_return_in_loop(o_ptr, n):
    for i in range(n):
        if i > n // 2:
            return
        tl.store(o_ptr + i, i)


@triton.jit
def bad_for_else(o_ptr, n):
    for i in range(n):
        tl.store(o_ptr + i, i)
    else:
        tl.store(o_ptr, 0)


@triton.jit
def bad_for_list(o_ptr):
    for i in [1, 2, 3]:
        tl.store(o_ptr + i, i)


@triton.jit
def bad_float_range(o_ptr, n):
    for i in range(0.0, n):
        tl.store(o_ptr, i)


@triton.jit
def bad_static_range(o_ptr, n):
    for i in tl.static_range(n):
        tl.store(o_ptr + i, i)


@triton.jit
def bad_static_assert_runtime(o_ptr, n):
    tl.static_assert(n > 64)
    tl.store(o_ptr, n)


@triton.jit
def bad_constexpr_reassign(o_ptr):
    a: tl.constexpr = 1
    a: tl.constexpr = 2
    tl.store(o_ptr, a)


@triton.jit
def bad_constexpr_runtime(o_ptr, n):
    a: tl.constexpr = n + 1
    tl.store(o_ptr + tl.arange(0, a), 1)


@triton.jit
def bad_constexpr_loop(o_ptr, n, B: tl.constexpr):
    for i in range(n):
        B = B + 1
    tl.store(o_ptr, B)


@triton.jit
def bad_setitem(o_ptr):
    i = tl.arange(0, 16)
    i[0] = 3
    tl.store(o_ptr + i, i)


@triton.jit
def bad_int_index(o_ptr):
    i = tl.arange(0, 16)
    tl.store(o_ptr, i[0])


@triton.jit
def bad_slice(o_ptr):
    i = tl.arange(0, 16)
    tl.store(o_ptr + tl.arange(0, 8), i[0:8])


@triton.jit
def bad_lambda(o_ptr):
    f = lambda x: x + 1
    tl.store(o_ptr, f(1))


@triton.jit
def bad_dict(o_ptr):
    d = {"a": 1}
    tl.store(o_ptr, d["a"])


@triton.jit
def bad_try(o_ptr):
    try:
        tl.store(o_ptr, 1)
    except ValueError:
        pass


@triton.jit
def bad_nested_def(o_ptr):

    def f(x):
        return x

    tl.store(o_ptr, f(1))


@triton.jit
def bad_multi_assign(o_ptr):
    a = b = 3
    tl.store(o_ptr, a + b)


@triton.jit
def bad_unpack(o_ptr):
    a, b = (1, 2, 3)
    tl.store(o_ptr, a + b)


@triton.jit
def bad_starred(o_ptr):
    a, *b = (1, 2, 3)
    tl.store(o_ptr, a)


@triton.jit
def bad_numpy_call(o_ptr):
    tl.store(o_ptr, abs(-3))


@triton.jit
def bad_fstring(o_ptr, n):
    tl.device_print(f"n {n}", n)


@triton.jit
def bad_print_prefix(o_ptr, n):
    tl.device_print(n)


@triton.jit
def _rec(x):
    return _rec(x - 1)


@triton.jit
def bad_recursion(o_ptr, n):
    tl.store(o_ptr, _rec(n))


@triton.jit
def _mixed_return(x):
    if x > 0:
        return x
    return 1.5


@triton.jit
def bad_return_types(o_ptr, n):
    tl.store(o_ptr, _mixed_return(n))


@triton.jit(noinline=True)
def _no_inline(x):
    return x + 1


@triton.jit
def bad_noinline_block(o_ptr):
    i = tl.arange(0, 16)
    tl.store(o_ptr + i, _no_inline(i))


@triton.jit
def bad_missing_arg(o_ptr):
    tl.store(o_ptr, _mixed_return())


@triton.jit
def bad_undefined(o_ptr):
    tl.store(o_ptr, some_name)  # noqa: F821


@triton.jit
def bad_attr(o_ptr):
    tl.store(o_ptr, tl.no_such_function(1))


@triton.jit
def odd_loop_var_after(o_ptr, n):
    for i in range(n):
        tl.store(o_ptr + i, i)
    tl.store(o_ptr, i)


@triton.jit
def odd_int64_literal(o_ptr):
    tl.store(o_ptr, 5000000000)
    tl.store(o_ptr + 1, 3000000000)
    tl.store(o_ptr + 2, 10000000000000000000)


@triton.jit
def bad_int_literal(o_ptr):
    tl.store(o_ptr, 20000000000000000000)


P = "*i32"
CASES = [
    case("bad_global", bad_global, P),
    case("bad_loop_type", bad_loop_type, "*fp32 i32"),
    case("bad_while_type", bad_while_type, "*i64 i32"),
    case("bad_if_type", bad_if_type, "*i32 i32"),
    case("bad_if_redefine", bad_if_redefine, "*i32 i32"),
    case("bad_if_undefined", bad_if_undefined, "*i32 i32"),
    case("bad_ternary", bad_ternary, "*i32 i32"),
    case("bad_break", bad_break, "*i32 i32"),
    case("bad_continue", bad_continue, "*i32 i32"),
    case("bad_return_in_loop", bad_return_in_loop, "*i32 i32"),
    case("bad_for_else", bad_for_else, "*i32 i32"),
    case("bad_for_list", bad_for_list, P),
    case("bad_float_range", bad_float_range, "*i32 i32"),
    case("bad_static_range", bad_static_range, "*i32 i32"),
    case("bad_static_assert_runtime", bad_static_assert_runtime, "*i32 i32"),
    case("bad_constexpr_reassign", bad_constexpr_reassign, P),
    case("bad_constexpr_runtime", bad_constexpr_runtime, "*i32 i32"),
    case("bad_constexpr_loop", bad_constexpr_loop, "*i32 i32", {"B": 1}),
    case("bad_setitem", bad_setitem, P),
    case("bad_int_index", bad_int_index, P),
    case("bad_slice", bad_slice, P),
    case("bad_lambda", bad_lambda, P),
    case("bad_dict", bad_dict, P),
    case("bad_try", bad_try, P),
    case("bad_nested_def", bad_nested_def, P),
    case("bad_multi_assign", bad_multi_assign, P),
    case("bad_unpack", bad_unpack, P),
    case("bad_starred", bad_starred, P),
    case("bad_numpy_call", bad_numpy_call, P),
    case("bad_fstring", bad_fstring, "*i32 i32"),
    case("bad_print_prefix", bad_print_prefix, "*i32 i32"),
    case("bad_recursion", bad_recursion, "*i32 i32"),
    case("bad_return_types", bad_return_types, "*fp32 i32"),
    case("bad_noinline_block", bad_noinline_block, P),
    case("bad_missing_arg", bad_missing_arg, P),
    case("bad_undefined", bad_undefined, P),
    case("bad_attr", bad_attr, P),
    case("odd_loop_var_after", odd_loop_var_after, "*i32 i32"),
    case("odd_int64_literal", odd_int64_literal, "*i64"),
    case("bad_int_literal", bad_int_literal, "*i64"),
]
