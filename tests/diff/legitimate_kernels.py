"""Kernels whose results depend, by right, on the order of sums and on how functions round. CASES: launches of them."""

import numpy as np
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def softmax(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def layer_norm(x, w, b, o, mean, rstd, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    m = tl.sum(v, 0) / n
    d = tl.where(c < n, v - m, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    scale = tl.load(w + c, mask=c < n, other=0.0)
    shift = tl.load(b + c, mask=c < n, other=0.0)
    tl.store(o + row * n + c, (d * r * scale + shift).to(o.dtype.element_ty), mask=c < n)


@triton.jit
def rms_norm(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    tl.store(o + row * n + c, v * tl.rsqrt(tl.sum(v * v, 0) / n + 1e-6), mask=c < n)


@triton.jit
def matmul(a, b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def matmul_split_k(a, b, c, K, N, PART: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.program_id(1) * PART + tl.arange(0, PART)
    x = tl.load(a + rm[:, None] * K + rk[None, :])
    y = tl.load(b + rk[:, None] * N + rn[None, :])
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], tl.dot(x, y))


@triton.jit
def atomic_total(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.jit
def atomic_bins(x, key, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    k = tl.load(key + i, mask=i < n, other=0)
    tl.atomic_add(o + k, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def running_sum(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    tl.store(o + row * n + c, tl.cumsum(v, 0), mask=c < n)


@triton.jit
def attention(q, k, v, o, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + rm[:, None] * D + d[None, :])
    high = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, S, BN):
        rn = start + tl.arange(0, BN)
        s = tl.dot(queries, tl.trans(tl.load(k + rn[:, None] * D + d[None, :]))) * 0.18
        s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        new = tl.maximum(high, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(high - new)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + rn[:, None] * D + d[None, :]), acc)
        high = new
    tl.store(o + rm[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def cross_entropy(x, label, loss, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    high = tl.max(v, 0)
    wanted = tl.load(x + row * n + tl.load(label + row))
    tl.store(loss + row, tl.log(tl.sum(tl.exp(v - high), 0)) + high - wanted)


@triton.jit
def gelu(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def swiglu(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    g = tl.load(y + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(o + i, (v * tl.sigmoid(v) * g).to(tl.float16), mask=i < n)


@triton.jit
def quantise(x, o, scale, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.exp(tl.load(x + row * n + c, mask=c < n, other=0.0))
    s = tl.max(tl.where(c < n, v, 0.0), 0) / 127.0
    tl.store(scale + row, s)
    tl.store(o + row * n + c, tl.floor(v / s + 0.5).to(tl.int8), mask=c < n)


@triton.jit
def rotary(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    angle = row * tl.exp2(-c.to(tl.float32) * 0.4)
    left = tl.load(x + row * 2 * B + c)
    right = tl.load(x + row * 2 * B + B + c)
    cosine = tl.cos(angle)
    sine = tl.sin(angle)
    tl.store(o + row * 2 * B + c, left * cosine - right * sine)
    tl.store(o + row * 2 * B + B + c, right * cosine + left * sine)


@triton.jit
def adam(p, g, m, v, rate, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    grad = tl.load(g + i)
    first = 0.9 * tl.load(m + i) + 0.1 * grad
    second = 0.999 * tl.load(v + i) + 0.001 * grad * grad
    tl.store(m + i, first)
    tl.store(v + i, second)
    tl.store(p + i, tl.load(p + i) - rate * first / (tl.sqrt(second) + 1e-8))


@triton.jit
def dropout(x, o, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.rand(seed, i) > 0.3
    tl.store(o + i, tl.where(keep, tl.exp(tl.load(x + i)) / 0.7, 0.0))


@triton.jit
def pick(x, o, best, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    p = tl.exp(v - tl.max(v, 0))
    p = p / tl.sum(p, 0)
    tl.store(best + row, tl.argmax(p, 0))
    tl.store(o + row, tl.max(p, 0))


@triton.jit
def to_fp8(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    mean = tl.sum(v, 0) / n
    tl.store(o + row * n + c, ((v - mean) * 3.0).to(tl.float8e5), mask=c < n)


@triton.jit
def newton(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.exp(tl.load(x + i))
    guess = v
    for _ in range(12):
        guess = 0.5 * (guess + v / guess)
    tl.store(o + i, guess)


@triton.jit
def both_axes(x, rows, columns, R: tl.constexpr, C: tl.constexpr):
    v = tl.load(x + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    v = tl.sin(v)
    tl.store(rows + tl.arange(0, R), tl.sum(v, 1))
    tl.store(columns + tl.arange(0, C), tl.sum(v, 0))


@triton.jit
def half_sums(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((B,), tl.float16)
    for start in range(0, n, B):
        acc += tl.load(x + row * n + start + tl.arange(0, B))
    tl.store(o + row, tl.sum(acc, 0))


@triton.jit
def normalised_twice(x, o, n, B: tl.constexpr):
    """What the first half stores the second half loads."""
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    tl.store(o + row * n + c, v / (tl.sum(tl.abs(v), 0) + 1), mask=c < n)
    again = tl.load(o + row * n + c, mask=c < n, other=0.0)
    tl.store(o + row * n + c, again / (tl.max(again, 0) + 1), mask=c < n)


def _normal(*shape, kind=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


def _zeros(*shape, kind=np.float32):
    return np.zeros(shape, kind)


def _fp8(*shape):
    return triton.reinterpret(_Bytes(_zeros(*shape, kind=np.uint8)), tl.float8e5)


class _Bytes:
    """NumPy bytes with the method that `reinterpret` asks for."""

    def __init__(self, array):
        self.array, self.dtype, self.shape, self.nbytes = array, "uint8", array.shape, array.nbytes

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self):
        return tuple(s for s in self.array.strides)


F16 = np.float16
# name: (kernel, grid, arguments)
CASES = {
    "softmax": lambda: (softmax, (32,), {"x": _normal(32, 200), "o": _zeros(32, 200), "n": 200, "B": 256}),
    "layer_norm": lambda: (layer_norm, (16,), {
        "x": _normal(16, 300, kind=F16), "w": _normal(300), "b": _normal(300, seed=1), "o": _zeros(16, 300, kind=F16),
        "mean": _zeros(16), "rstd": _zeros(16), "n": 300, "eps": 1e-5, "B": 512}),
    "rms_norm": lambda: (rms_norm, (16,), {"x": _normal(16, 300), "o": _zeros(16, 300), "n": 300, "B": 512}),
    "matmul_f16": lambda: (matmul, (2, 2), {
        "a": _normal(64, 256, kind=F16), "b": _normal(256, 64, kind=F16), "c": _zeros(64, 64, kind=F16),
        "K": 256, "N": 64, "BM": 32, "BN": 32, "BK": 64}),
    "matmul_tf32": lambda: (matmul, (2, 2), {
        "a": _normal(64, 256), "b": _normal(256, 64), "c": _zeros(64, 64), "K": 256, "N": 64, "BM": 32, "BN": 32,
        "BK": 32}),
    "matmul_split_k": lambda: (matmul_split_k, (2, 8), {
        "a": _normal(64, 256, kind=F16), "b": _normal(256, 32, kind=F16), "c": _zeros(64, 32), "K": 256, "N": 32,
        "PART": 32, "BM": 32, "BN": 32}),
    "atomic_total": lambda: (atomic_total, (40,), {"x": _normal(5000), "o": _zeros(1), "n": 5000, "B": 128}),
    "atomic_bins": lambda: (atomic_bins, (40,), {
        "x": _normal(5000), "key": (np.arange(5000) * 7 % 64).astype(np.int32), "o": _zeros(64), "n": 5000, "B": 128}),
    "running_sum": lambda: (running_sum, (8,), {"x": _normal(8, 500), "o": _zeros(8, 500), "n": 500, "B": 512}),
    "attention": lambda: (attention, (4,), {
        "q": _normal(128, 64, kind=F16), "k": _normal(128, 64, kind=F16, seed=1),
        "v": _normal(128, 64, kind=F16, seed=2), "o": _zeros(128, 64, kind=F16), "S": 128,
        "D": 64, "BM": 32, "BN": 32}),
    "cross_entropy": lambda: (cross_entropy, (16,), {
        "x": _normal(16, 700), "label": np.arange(16, dtype=np.int64), "loss": _zeros(16), "n": 700, "B": 1024}),
    "gelu": lambda: (gelu, (8,), {"x": _normal(1000), "o": _zeros(1000), "n": 1000, "B": 128}),
    "swiglu": lambda: (swiglu, (8,), {
        "x": _normal(1000, kind=F16), "y": _normal(1000, kind=F16, seed=1), "o": _zeros(1000, kind=F16), "n": 1000,
        "B": 128}),
    "quantise": lambda: (quantise, (16,), {
        "x": _normal(16, 300), "o": _zeros(16, 300, kind=np.int8), "scale": _zeros(16), "n": 300, "B": 512}),
    "rotary": lambda: (rotary, (64,), {"x": _normal(64, 128), "o": _zeros(64, 128), "n": 64, "B": 64}),
    "adam": lambda: (adam, (8,), {
        "p": _normal(1024), "g": _normal(1024, seed=1), "m": _normal(1024, seed=2), "v": np.abs(_normal(1024, seed=3)),
        "rate": 1e-3, "B": 128}),
    "dropout": lambda: (dropout, (8,), {"x": _normal(1024), "o": _zeros(1024), "seed": 7, "B": 128}),
    "pick": lambda: (pick, (64,), {
        "x": _normal(64, 100), "o": _zeros(64), "best": _zeros(64, kind=np.int32), "n": 100, "B": 128}),
    "to_fp8": lambda: (to_fp8, (16,), {"x": _normal(16, 300), "o": _fp8(16, 300), "n": 300, "B": 512}),
    "newton": lambda: (newton, (8,), {"x": _normal(1024), "o": _zeros(1024), "B": 128}),
    "both_axes": lambda: (both_axes, (1,), {"x": _normal(64, 128), "rows": _zeros(64), "columns": _zeros(128), "R": 64,
                                            "C": 128}),
    "half_sums": lambda: (half_sums, (8,), {"x": _normal(8, 1024, kind=F16), "o": _zeros(8, kind=F16), "n": 1024,
                                            "B": 64}),
    "normalised_twice": lambda: (normalised_twice, (16,), {"x": _normal(16, 300), "o": _zeros(16, 300), "n": 300,
                                                           "B": 512}),
}  # fmt: skip
