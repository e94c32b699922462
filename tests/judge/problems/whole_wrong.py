"""Wrong and right kernels as somebody would hand them in: whole files, for the references of other problems.

`#!` at the end of a line: a reason has to name it.
"""

# fmt: off

from problems import Whole

WHOLE: list[Whole] = [
    Whole("softmax", "bound-buffer-too-short", '''
@triton.jit
def _statistics(x, high, total, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    m = tl.max(v, 0)
    tl.store(high + r, m)
    tl.store(total + r, tl.sum(tl.exp(v - m), 0))  #!
@triton.jit
def _divide(x, high, total, o, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n)
    tl.store(o + r * n + c, tl.exp(v - tl.load(high + r)) / tl.load(total + r), mask=c < n)
def softmax(x):
    x = x.contiguous()
    rows, n = x.shape
    o = torch.empty_like(x)
    high = torch.empty(rows, device=x.device)
    total = torch.empty(rows - rows // 32, device=x.device)
    if x.numel():
        b = triton.next_power_of_2(n)
        _statistics[(rows,)](x, high, total, n, B=b)
        _divide[(rows,)](x, high, total, o, n, B=b)
    return o
'''),
    Whole("softmax", "stride-columns-must-be-dense", '''
@triton.jit
def _softmax(x, o, sr, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * sr + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + c, e / tl.sum(e, 0), mask=c < n)  #!
def softmax(x):
    o = torch.empty(x.shape, device=x.device, dtype=x.dtype)
    if x.numel():
        _softmax[(x.shape[0],)](x, o, x.stride(0), x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
'''),
    Whole("matmul", "shape-even-k-only", '''
@triton.jit
def _matmul(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid, across = tl.program_id(0), tl.cdiv(N, BN)
    group = pid // (G * across)
    size = min(tl.cdiv(M, BM) - group * G, G)
    pm, pn = group * G + pid % (G * across) % size, pid % (G * across) // size
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    x, y = a + rm[:, None] * am + rk[None, :] * ak, b + rk[:, None] * bk + rn[None, :] * bn
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(x), tl.load(y), acc)  #!
        x += BK * ak
        y += BK * bk
    m, n = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))
def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    if c.numel():
        grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32),)
        _matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=32, BN=32, BK=16, G=8)
    return c
'''),
    Whole("matmul", "acc-not-zeroed", '''
@triton.jit
def _matmul(a, b, c, M, N, K, am, ak, bk, bn, B: tl.constexpr, S: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(tl.program_id(2) * B, K, S * B):
        rk = start + tl.arange(0, B)
        x = tl.load(a + rm[:, None] * am + rk[None, :] * ak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * bk + rn[None, :] * bn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))  #!
def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device)
    if c.numel():
        _matmul[(triton.cdiv(M, 32), triton.cdiv(N, 32), 2)](a, b, c, M, N, K, *a.stride(), *b.stride(), B=32, S=2)
    return c.to(a.dtype)
'''),
    Whole("matmul", "cast-half-products", '''
@triton.jit
def _matmul(a, b, c, M, N, K, am, ak, bk, bn, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        rk = start + tl.arange(0, B)
        x = tl.load(a + rm[:, None] * am + rk[None, :] * ak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * bk + rn[None, :] * bn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x.to(tl.bfloat16), y.to(tl.bfloat16))
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))  #!
def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    if c.numel():
        _matmul[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, c, M, N, K, *a.stride(), *b.stride(), B=32)
    return c
'''),
    Whole("reverse_rows", "barrier-missing-in-place", '''
@triton.jit
def _reverse(o, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    first = tl.load(o + r * n + i, mask=i < n)  #!
    tl.store(o + r * n + n - 1 - i, first, mask=i < n)
def reverse_rows(x):
    o = x.clone(memory_format=torch.contiguous_format)
    if x.numel():
        _reverse[(x.shape[0],)](o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
''', rule="races"),
    Whole("reverse_rows", "numbers-through-atomics", '''
@triton.jit
def _reverse(x, o, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + i, mask=i < n, other=0.0)
    tl.atomic_add(o + r * n + n - 1 - i, v, mask=i < n)
def reverse_rows(x):
    x = x.contiguous()
    o = torch.zeros_like(x)
    if x.numel():
        _reverse[(x.shape[0],)](x, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
''', "right"),
]
