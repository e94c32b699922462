"""A minimal kernel for each entry of docs/triton_differences.md (test_triton_differences.py); those with loops and
integer division are in difference_loop_kernels.py."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def clamped(x, o, low: tl.constexpr, high: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.clamp(tl.load(x + i), low, high))


@triton.jit
def product(a, b, o, ALLOW: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + i, tl.dot(tl.load(a + i), tl.load(b + i), allow_tf32=ALLOW))


@triton.jit
def sums_of_products(a, b, c, o, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + i, tl.dot(tl.load(a + i), tl.load(b + i), tl.load(c + i), out_dtype=tl.int32))


@triton.jit
def widened(x, o, SMALL: tl.constexpr, WIDE: tl.constexpr, N: tl.constexpr):
    """The bytes of x are numbers of the type SMALL."""
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(SMALL, bitcast=True).to(WIDE).to(tl.float32))


@triton.jit
def remainder(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) % tl.load(y + i))


@triton.jit
def quotient(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) // tl.load(y + i))


@triton.jit
def rounded_down_and_up(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.floor(tl.load(x + i)))
    tl.store(o + N + i, tl.ceil(tl.load(x + i)))


@triton.jit
def by_way_of(x, o, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(KIND).to(tl.int32))


@triton.jit
def cancelled(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a * b - a * b)


@triton.jit
def bits_as_half(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(tl.float16).to(tl.int16, bitcast=True))


@triton.jit
def filled(o, KIND: tl.constexpr):
    tl.store(o, tl.full((), -1, KIND).to(tl.int64))


@triton.jit
def largest_at(x, o, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + tl.arange(0, N), tl.argmax(tl.load(x + i), 0))


@triton.jit
def joined(x, o, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(o + tl.arange(0, 2 * N), tl.cat(v, v + 100, can_reorder=True))


@triton.jit
def last_round(o, n):
    for k in range(n):
        tl.store(o + 1, k)
    tl.store(o, k)


@triton.jit
def in_bf16(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v, w = tl.load(x + i).to(tl.bfloat16), tl.load(y + i).to(tl.bfloat16)
    tl.store(o + i, (v + w).to(tl.float32))


@triton.jit
def as_bits(x, o, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(KIND).to(tl.int8, bitcast=True))


@triton.jit
def cut_to_half(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32))


@triton.jit
def product_of_bytes(x, y, o, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + i).to(KIND, bitcast=True), tl.load(y + i).to(KIND, bitcast=True)
    tl.store(o + i, tl.dot(a, b))


@triton.jit
def scaled_product(a, b, scale, o, FORMAT: tl.constexpr, N: tl.constexpr):
    """a: of FORMAT; b: float8e4nv as bytes; scale: one exponent for each column of b."""
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    y = tl.load(b + i * N + j).to(tl.float8e4nv, bitcast=True)
    s = tl.load(scale + i + tl.arange(0, 1)[None, :])
    tl.store(o + i * N + j, tl.dot_scaled(tl.load(a + i * N + j), None, FORMAT, y, s, "e4m3"))


@triton.jit
def times_a_number(x, o, s, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, (tl.load(x + i) * s).to(tl.float32))


@triton.jit
def rounds_divided(o, first, last):
    for k in range(first, last):
        tl.store(o + (k - first), k // 3)
        tl.store(o + (k + last - 2 * first), k % 3)


@triton.jit
def rounds_multiplied(o, n):
    for k in range(n):
        tl.store(o + k, k * 1500000000 // 7)


@triton.jit
def rounds_converted(o, n):
    for k in range(n):
        tl.store(o + k, k.to(tl.int64))


@triton.jit
def halved(o, n):
    tl.store(o, n >> 1)


@triton.jit
def shifted(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, (tl.load(x + i) >> tl.load(y + i)).to(tl.int32))


@triton.jit
def four_times(o, n: tl.int64):
    tl.store(o, n * 4)


@triton.jit
def exchanged(o, x):
    tl.store(o + 1, tl.atomic_xchg(o, x))


@triton.jit
def value_of_a_constexpr(o, N: tl.constexpr):
    tl.store(o, N.value)


@triton.jit
def widened_number(x, o, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(KIND).to(tl.float32))


@triton.jit
def through_two(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(tl.float8e4nv).to(tl.float8e5).to(tl.float32))


@triton.jit
def _first(a, b):
    return a


@triton.jit
def first_of_each(x, o, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, KEPT: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + tl.arange(0, KEPT), tl.reduce(tl.load(x + i), AXIS, _first))


@triton.jit
def any_largest_at(x, o, N: tl.constexpr):
    tl.store(o, tl.argmax(tl.load(x + tl.arange(0, N)), 0, tie_break_left=False))


@triton.jit
def any_largest_of_each(x, o, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + tl.arange(0, N), tl.argmax(tl.load(x + i), 0, tie_break_left=False))


@triton.jit
def _sum(a, b):
    return a + b


@triton.jit
def running(x, o, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + i, tl.associative_scan(tl.load(x + i), AXIS, _sum))


@triton.jit
def full_of_ones(o, N: tl.constexpr):
    tl.store(o + tl.arange(0, N), tl.full((N,), 1.0, tl.float8e5).to(tl.int8, bitcast=True).to(tl.int32))


@triton.jit
def passed_on(o, rounds, B: tl.constexpr, N: tl.constexpr):
    """Every round reads what the round before has written."""
    for r in range(rounds):
        o.store([(r + 1) * B, 0], o.load([r * B, 0]) + 1)


@triton.jit
def tile_at(x, o, AT: tl.constexpr, N: tl.constexpr):
    part = tl.make_tensor_descriptor(x, [64, 64], [64, 1], [N, N]).load([0, AT])
    tl.store(o + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :], part)


@triton.jit
def added(o, x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(o + i, tl.load(x + i))


@triton.jit
def swapped(x, o, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    text: tl.constexpr = "mov.b32 $0, $3; mov.b32 $1, $2;"
    v = tl.inline_asm_elementwise(text, "=&r,=&r,r,r", [v], tl.int32, is_pure=True, pack=2)
    tl.store(o + tl.arange(0, N), v)


@triton.jit
def _sum_since(starts1, sum1, starts2, sum2):
    return starts1 | starts2, sum2 if starts2 != 0 else sum1 + sum2


@triton.jit
def sums_of_segments(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    _, sums = tl.associative_scan(((v % 5 == 0).to(tl.int32), v), 0, _sum_since)
    tl.store(o + i, sums)


@triton.jit
def through(x, o, NARROW: tl.constexpr, OTHER: tl.constexpr, ROUNDING: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i).to(NARROW).to(OTHER, fp_downcast_rounding=ROUNDING)
    tl.store(o + i, v.to(tl.float16).to(tl.float32))


@triton.jit
def _twice(v):
    return v + v


@triton.jit
def mapped(x, o, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.map_elementwise(F, tl.load(x + i)))


@triton.jit
def behind_two_pointers(table, o):
    at = table.to(tl.pointer_type(tl.pointer_type(tl.float32)))
    tl.store(o, tl.load(tl.load(at)))


@triton.jit
def product_in_assembly(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    text: tl.constexpr = "mul.f32 $0, $1, $2;"
    product = tl.inline_asm_elementwise(text, "=f,f,f", [tl.load(x + i), tl.load(y + i)], tl.float32, True, 1)
    tl.store(o + i, product - 1.0)
