"""Kernels whose IR test_emit.py reads, one rule each."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def weak_numbers(p, q):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
    tl.store(p + i, 2 * x + 1.5)
    n = tl.load(q + i)
    tl.store(q + i, n + True)
    tl.store(p + i, x / 3)


@triton.jit
def mirrored_comparison(p, q):
    i = tl.arange(0, 16)
    tl.store(q + i, 1 < tl.load(p + i))


@triton.jit
def offsets(p, u, k):
    tl.store(p + u, 1.0)
    tl.store(p - k, 2.0)
    tl.store(3 + p, 2.0)


@triton.jit
def booleans(p):
    i = tl.arange(0, 16)
    tl.store(p + i, ~tl.load(p + i, mask=i < 3, other=True))


@triton.jit
def load_forms(p, m):
    i = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    row = tl.arange(0, 8)[:, None] < m
    x = tl.load(p + i, mask=row, other=-1.5, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
    tl.store(p + i, x, mask=row, cache_modifier=".wt")


@triton.jit
def sums(p, q):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
    tl.store(p + i, x + x)
    tl.store(p + i, tl.add(x, x, sanitize_overflow=False))
    tl.store(q + i, tl.load(q + i) * 3)
    tl.store(p + i, -x)


@triton.jit
def minimum_of_many(p, a, b):
    tl.store(p, min(a, b, 3))
    tl.store(p + 1, max(4, 7))


@triton.jit
def selections(p, n):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
    tl.store(p + i, tl.where(n > 0, x, 0.0))
    tl.store(p + i, tl.clamp(x, -1, n))
    tl.store(p + i, tl.fma(x, 2, n))
    tl.store(p + i, tl.maximum(x, 0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def shapes(p):
    x = tl.load(p + tl.arange(0, 16))
    tl.store(p + tl.arange(0, 32), tl.cat(x, x))
    a, b = tl.split(tl.join(x, x))
    tl.store(p + tl.arange(0, 16), a + b)
    y = x.reshape(4, 4).trans().reshape((2, 8)).permute([-1, 0])
    tl.store(p + tl.arange(0, 16), tl.ravel(y))
    z = tl.expand_dims(x, (0, -1))
    tl.static_assert(z.shape[0] == 1 and z.shape[1] == 16 and z.shape[2] == 1)


@triton.jit
def float_maximum(p, x):
    tl.atomic_max(p, x, sem="relaxed", scope="cta")


@triton.jit
def products(a_ptr, c_ptr, PREC: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(a_ptr + i)
    acc = tl.zeros((16, 16), tl.float16)
    tl.store(c_ptr + i, tl.dot(a, a, acc))
    tl.store(c_ptr + i, tl.dot(a, a, input_precision=PREC))
    tl.store(c_ptr + i, tl.dot(a, a, allow_tf32=False))


@triton.jit
def promises(p, n):
    i = tl.multiple_of(tl.max_contiguous(n + tl.arange(0, 16), 16), [8])
    tl.assume(n > 0)
    tl.store(p + i, tl.max_constancy(tl.load(p + i), 4))


@triton.jit
def descriptors(p, m, n, s):
    d = tl.make_tensor_descriptor(p, [m, n], [s, 1], [2, 16], padding_option="nan")
    x = d.load([2, n])
    d.store([0, 0], x)
    d.atomic_add([n, 0], x)
    tl.static_assert(d.block_shape[1] == 16 and d.dtype == tl.float32)
    tl.store(p, d.shape[0])


@triton.jit
def messages(p):
    x = tl.load(p + tl.arange(0, 16))
    tl.device_print("x:", x, x > 0, hex=True)
    tl.device_print("only text")
    tl.device_assert(x > 0, "positive", mask=x == x)


@triton.jit
def _pair(a, b):
    return a + b, a * b


@triton.jit
def mapped(p):
    i = tl.arange(0, 16)
    s, t = tl.map_elementwise(_pair, tl.load(p + i), 2.0)
    tl.store(p + i, s + t)


@triton.jit
def fp8e4b15_round_trip(codes_ptr, values_ptr, back_ptr):
    i = tl.arange(0, 256)
    code = tl.load(codes_ptr + i)
    value = code.to(tl.float8e4b15, bitcast=True).to(tl.float32)
    tl.store(values_ptr + i, value)
    tl.store(back_ptr + i, value.to(tl.float8e4b15).to(tl.uint8, bitcast=True))


@triton.jit
def ignored_keywords(p):
    tl.store(p, 1.0, _semantic=None)


@triton.jit
def wrong_attribute(p):
    tl.store(p, tl.load(p).astype(tl.float32))


@triton.jit
def full_of(p, VALUE: tl.constexpr, DTYPE: tl.constexpr):
    x = tl.full((4,), VALUE, DTYPE)
    tl.static_assert(x.dtype == DTYPE)
    tl.store(p + tl.arange(0, 4), x.to(tl.int64))
