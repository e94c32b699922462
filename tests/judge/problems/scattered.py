"""Gathers, scatters and atomics: races, indices, memory that is not initialised."""

from problems import Change, Problem

PROBLEMS = [
    Problem(
        "histogram",
        """
def histogram(x):
    return torch.bincount(x, minlength=64)[:64].to(torch.int32)
def get_inputs():
    return [torch.randint(0, 64, (2000,))]
JUDGE = {"vary": ["sizes"], "sizes": {64: []}}
""",
        """
@triton.jit
def _count(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(o + v, 1, mask=i < n)
def histogram(x):
    o = torch.zeros(64, device=x.device, dtype=torch.int32)
    if x.numel():
        _count[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), B=128)
    return o
""",
        [
            Change(
                "race-atomic", "tl.atomic_add(o + v, 1, mask=i < n)", "tl.store(o + v, tl.load(o + v) + 1, mask=i < n)"
            ),
            Change("mask-counts-padding", "tl.atomic_add(o + v, 1, mask=i < n)", "tl.atomic_add(o + v, 1)", cases=40),
            Change("acc-not-zeroed", "torch.zeros(64", "torch.empty(64"),
        ],
    ),
    Problem(
        "column_sums",
        """
def column_sums(x):
    return x.sum(0)
def get_inputs():
    return [torch.randn(100, 48)]
JUDGE = {"vary": ["sizes"]}
""",
        """
@triton.jit
def _sums(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
    tl.atomic_add(o + n, tl.sum(v, 0), mask=n < N)
def column_sums(x):
    M, N = x.shape
    o = torch.zeros(N, device=x.device)
    if x.numel():
        _sums[(triton.cdiv(M, 32), triton.cdiv(N, 16))](x, o, M, N, BM=32, BN=16)
    return o
""",
        [
            Change(
                "race-atomic",
                "tl.atomic_add(o + n, tl.sum(v, 0), mask=n < N)",
                "tl.store(o + n, tl.load(o + n, mask=n < N, other=0.0) + tl.sum(v, 0), mask=n < N)",
                rule="races",
            ),
            Change(
                "race-store",
                "tl.atomic_add(o + n, tl.sum(v, 0), mask=n < N)",
                "tl.store(o + n, tl.sum(v, 0), mask=n < N)",
                line="tl.store",
            ),
            Change("shape-rows", "tl.sum(v, 0)", "tl.sum(v, 0) * (M > 40)", line="", cases=40),
        ],
    ),
    Problem(
        "embedding",
        """
def embedding(t, i):
    return t[i]
def get_inputs():
    return [torch.randn(50, 24), torch.randint(0, 50, (37,))]
JUDGE = {"vary": ["sizes"]}
""",
        """
@triton.jit
def _gather(t, i, o, D, B: tl.constexpr):
    r = tl.program_id(0)
    d = tl.arange(0, B)
    row = tl.load(i + r)
    tl.store(o + r * D + d, tl.load(t + row * D + d, mask=d < D), mask=d < D)
def embedding(t, i):
    o = torch.empty((i.shape[0], t.shape[1]), device=t.device)
    if o.numel():
        _gather[(i.shape[0],)](t, i, o, t.shape[1], B=triton.next_power_of_2(t.shape[1]))
    return o
""",
        [
            Change("index-row-number", "row = tl.load(i + r)", "row = tl.load(i + r) * 0 + r"),
            Change("stride-row", "tl.load(t + row * D + d", "tl.load(t + row * B + d", line="tl."),
            Change("index-next", "tl.load(i + r)", "tl.load(i + (r + 1) % tl.num_programs(0))", line="tl.store"),
        ],
    ),
    Problem(
        "shift",
        """
def shift(x):
    return torch.cat([x[:1] * 0, x[:-1]])
def get_inputs():
    return [torch.randn(500)]
JUDGE = {"vary": ["sizes", "strides", "offsets"]}
""",
        """
@triton.jit
def _shift(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i - 1, mask=(i > 0) & (i < n), other=0.0)
    tl.store(o + i, v, mask=i < n)
def shift(x):
    x = x.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _shift[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), B=64)
    return o
""",
        [
            Change("mask-before-the-first", "mask=(i > 0) & (i < n)", "mask=i < n", line="tl.load"),
            Change(
                "race-in-place",
                "_shift[(triton.cdiv(x.numel(), 64),)](x, o,",
                "o.copy_(x)\n        _shift[(triton.cdiv(x.numel(), 64),)](o, o,",
                rule="races",
            ),
            Change("other-none", ", other=0.0", "", line="tl.store"),
        ],
    ),
]
