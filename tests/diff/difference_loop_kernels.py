"""Kernels with loops and integer division for entries of docs/triton_differences.md (test_triton_differences.py)."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def compared_8_bits(x, y, o, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i).to(KIND, bitcast=True), tl.load(y + i).to(KIND, bitcast=True)
    tl.store(o + i, tl.where(a < b, 1.0, 0.0))


@triton.jit
def and_not(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    one, other = tl.load(x + i) != 0, tl.load(y + i) != 0
    tl.store(o + i, one and not other)


@triton.jit
def behind_a_quotient(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    at = ((tl.program_id(0) // n) * 64 + i) % 48
    tl.store(o + tl.program_id(0) * N + i, tl.load(x + 64 + at))


@triton.jit
def behind_a_product(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    for t in range(n):
        tl.store(o + t * N + i, tl.load(x + 64 + (t * 1073741824 + i) % 48))


@triton.jit
def behind_in_a_loop(o, start, n, N: tl.constexpr):
    first = start + tl.arange(0, N)
    a = first
    b = first
    for _ in range(n):
        a = b
        b = b * 2
    tl.store(o + tl.arange(0, N), a)


@triton.jit
def behind_in_a_while(o, start, n, N: tl.constexpr):
    first = start + tl.arange(0, N)
    a = first
    b = first
    i = 0
    while i < n:
        a = b
        b = b * 2
        i += 1
    tl.store(o + tl.arange(0, N), a)


@triton.jit
def by_way_of_unsigned(x, o, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(KIND).to(tl.float16))


@triton.jit
def where_the_quotient_is_negative(x, o, START: tl.constexpr, BY: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i, mask=(i + START) // BY < 0, other=0))


@triton.jit
def behind_a_remainder(x, o, START: tl.constexpr, BY: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + (i + START) % BY + BY))


@triton.jit
def largest_at_of_reshaped(x, o, HOW: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    v = tl.load(x + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    if HOW == "ravel":
        tl.store(o, tl.argmin(tl.ravel(v), 0))
    elif HOW == "squeeze":
        tl.store(o, tl.max(tl.squeeze(v, 0), 0, return_indices=True)[1])
    else:
        tl.store(o, tl.argmax(tl.reshape(v, (R * C,)), 0))


@triton.jit
def running_sum(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.cumsum(tl.load(x + i).to(tl.bfloat16), 0).to(tl.float32))


@triton.jit
def two_whiles(x, o, M: tl.constexpr, N: tl.constexpr):
    c = tl.load(x)
    j = 0
    while j < M:
        c = c + 1.0
        j += 1
    d = c
    i = 0
    while i < N:
        tl.atomic_add(o, 1.0)
        d = d + c
        i += 1
