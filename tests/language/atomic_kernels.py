"""Kernels of test_atomics.py."""

import triton
import triton.language as tl


@triton.jit
def _apply(p, x, mask, OP: tl.constexpr):
    if OP == "add":
        r = tl.atomic_add(p, x, mask)
    elif OP == "max":
        r = tl.atomic_max(p, x, mask)
    elif OP == "min":
        r = tl.atomic_min(p, x, mask)
    elif OP == "and":
        r = tl.atomic_and(p, x, mask)
    elif OP == "or":
        r = tl.atomic_or(p, x, mask)
    elif OP == "xor":
        r = tl.atomic_xor(p, x, mask)
    else:
        r = tl.atomic_xchg(p, x, mask)
    return r


@triton.jit
def rmw_tile(o_ptr, old_ptr, index_ptr, x_ptr, n, OP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    at = tl.load(index_ptr + i, mask, 0)
    x = tl.load(x_ptr + i, mask)
    tl.store(old_ptr + i, _apply(o_ptr + at, x, mask, OP), mask)


@triton.jit
def rmw_scalar(o_ptr, old_ptr, index_ptr, x_ptr, n, OP: tl.constexpr):
    i = tl.program_id(0)
    at = tl.load(index_ptr + i)
    tl.store(old_ptr + i, _apply(o_ptr + at, tl.load(x_ptr + i), i < n, OP))


@triton.jit
def rmw_order(o_ptr, SEM: tl.constexpr, SCOPE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(o_ptr + i, 1, sem=SEM, scope=SCOPE)
    tl.atomic_xchg(o_ptr + B, 7, sem=SEM, scope=SCOPE)
    tl.atomic_cas(o_ptr + B + 1, 0, 5, sem=SEM, scope=SCOPE)


@triton.jit
def load_store(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.atomic_load(x_ptr + i, mask=i < n, sem="relaxed", scope="sys")
    tl.atomic_store(o_ptr + i, x, mask=i < n, sem="release", scope="cta")
    tl.atomic_store(o_ptr + n, tl.atomic_load(x_ptr))


@triton.jit
def cas_tile(o_ptr, old_ptr, c_ptr, v_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(old_ptr + i, tl.atomic_cas(o_ptr + i, tl.load(c_ptr + i), tl.load(v_ptr + i)))


@triton.jit
def cas_loop_add(o_ptr, x_ptr):
    """A float added by compare-and-swap, as kernels do for types without atomic_add."""
    x = tl.load(x_ptr + tl.program_id(0))
    seen = tl.load(o_ptr)
    old = tl.atomic_cas(o_ptr, seen, seen + x)
    while old != seen:
        seen = old
        old = tl.atomic_cas(o_ptr, seen, seen + x)


@triton.jit
def histogram_2d(o_ptr, x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.atomic_add(o_ptr + x * N + y, 1, sem="relaxed")


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    k = tl.program_id(0) * B + tl.arange(0, B)
    m, n = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, input_precision="ieee"), sem="relaxed")


@triton.jit
def order_of_adds(o_ptr, x_ptr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * B + tl.arange(0, B))
    tl.atomic_add(o_ptr, tl.sum(x, 0))
    tl.atomic_add(o_ptr + 1 + tl.zeros((B,), tl.int32), x)


@triton.jit
def outside(o_ptr, OP: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if OP == "cas":
        tl.atomic_cas(o_ptr + i, tl.zeros((B,), tl.int32), i)
    elif OP == "load":
        tl.store(o_ptr, tl.sum(tl.atomic_load(o_ptr + i), 0))
    elif OP == "store":
        tl.atomic_store(o_ptr + i, i)
    elif OP == "scalar":
        tl.atomic_add(o_ptr + B, 1)
    else:
        _apply(o_ptr + i, i + 1, i >= 0, OP)


@triton.jit
def misaligned(b_ptr, tile: tl.constexpr):
    p = (b_ptr + 2).to(tl.pointer_type(tl.int32))
    if tile:
        tl.atomic_add(p + tl.arange(0, 2), 1)
    else:
        tl.atomic_add(p, 1)


@triton.jit
def barrier(o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o_ptr + i, i)
    tl.debug_barrier()
    tl.store(o_ptr + B + i, tl.load(o_ptr + B - 1 - i))


@triton.jit
def every_operation(address, OP: tl.constexpr, TILE: tl.constexpr, T: tl.constexpr):
    """One operation at an address that is a number; all lanes but the last are masked off, where there are masks."""
    if TILE:
        i = tl.arange(0, 4)
        p = (address + i.to(tl.int64) * 0).to(tl.pointer_type(T))
        mask = i == 3
        one = tl.full((4,), 1, T)
    else:
        p = address.to(tl.pointer_type(T))
        mask = True
        one = tl.full((), 1, T)
    if OP == "cas":
        tl.atomic_cas(p, one, one)
    elif OP == "load":
        tl.atomic_load(p, mask=mask)
    elif OP == "store":
        tl.atomic_store(p, one, mask=mask)
    elif OP == "poll":
        tl.atomic_poll(address.to(tl.pointer_type(T)), 1)
    else:
        _apply(p, one, mask, OP)
