"""Products and attention: bounds of K, strides, scales, masks of scores."""

# ruff: noqa: E501  texts are replaced as they stand

from problems import Change, Problem

PROBLEMS = [
    Problem(
        "matmul",
        """
def matmul(a, b):
    return a @ b
def get_inputs():
    return [torch.randn(70, 50), torch.randn(50, 90)]
JUDGE = {"vary": ["sizes", "strides", "offsets"], "dtypes": ["float16"]}
""",
        """
@triton.jit
def _matmul(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * am + k[None, :] * ak, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * bk + n[None, :] * bn, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * cm + n[None, :] * cn, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))
def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    if c.numel():
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        _matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=32, BK=32)
    return c
""",
        [
            Change("blocks-16", "BM=32, BN=32, BK=32", "BM=32, BN=32, BK=16", "right"),
            Change("ieee", "tl.dot(x, y, acc)", "tl.dot(x, y, acc, input_precision='ieee')", "right"),
            Change("bound-k-floor", "range(0, K, BK)", "range(0, K - BK + 1, BK)", line="tl.store"),
            Change("mask-k", "& (k[None, :] < K), other=0.0)", "& (k[None, :] < K + BK), other=0.0)", line="tl."),
            Change("acc-none", "acc = tl.dot(x, y, acc)", "acc = tl.dot(x, y)", line="tl.store"),
            Change(
                "acc-half",
                "acc = tl.dot(x, y, acc)",
                "acc = tl.dot(x, y, acc).to(tl.bfloat16).to(tl.float32)",
                line="tl.store",
            ),
            Change("stride-swapped", "*b.stride(), *c.stride()", "b.stride(1), b.stride(0), *c.stride()", line="tl."),
            Change("stride-fixed", "*a.stride(), *b.stride()", "a.stride(0), 1, *b.stride()", cases=40),
            Change("bound-grid", "triton.cdiv(M, 32)", "max(M // 32, 1)", line="tl.store"),
            Change(
                "mask-n",
                "(k[:, None] < K) & (n[None, :] < N)",
                "(k[:, None] < K) & (n[None, :] < N - 1)",
                line="tl.store",
            ),
        ],
    ),
    Problem(
        "linear_relu",
        """
def linear(x, w, b):
    return torch.relu(x @ w.t() + b)
def get_inputs():
    return [torch.randn(33, 40), torch.randn(20, 40), torch.randn(20)]
JUDGE = {"vary": ["sizes"]}
""",
        """
@triton.jit
def _linear(x, w, b, o, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        p = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        q = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(p, q)
    bias = tl.load(b + n, mask=n < N, other=0.0)
    y = acc + bias[None, :]
    y = tl.where(y < 0, 0.0, y)
    tl.store(o + m[:, None] * N + n[None, :], y, mask=(m[:, None] < M) & (n[None, :] < N))
def linear(x, w, b):
    (M, K), N = x.shape, w.shape[0]
    o = torch.empty((M, N), device=x.device)
    if o.numel():
        _linear[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, w, b, o, M, N, K, BM=16, BN=16, BK=16)
    return o
""",
        [
            Change(
                "formula-relu-first",
                "y = acc + bias[None, :]\n    y = tl.where(y < 0, 0.0, y)",
                "y = tl.where(acc < 0, 0.0, acc) + bias[None, :]",
                line="tl.store",
            ),
            Change("formula-no-bias", "y = acc + bias[None, :]", "y = acc + 0 * bias[None, :]", line="tl.store"),
            Change("index-bias", "tl.load(b + n, mask=n < N", "tl.load(b + (n + 1) % N, mask=n < N", line="tl.store"),
        ],
    ),
    Problem(
        "attention",
        """
def attention(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
def get_inputs():
    return [torch.randn(2, 2, 70, 32) for _ in range(3)]
JUDGE = {"vary": ["sizes", "aliases"], "sizes": {32: [16, 64]}, "dtypes": ["float16"]}
""",
        """
@triton.jit
def _attend(q, k, v, o, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * T * D
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    a = tl.load(q + head + m[:, None] * D + d[None, :], mask=m[:, None] < T, other=0.0)
    high = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * BM), BN):
        n = start + tl.arange(0, BN)
        b = tl.load(k + head + n[None, :] * D + d[:, None], mask=n[None, :] < T, other=0.0)
        c = tl.load(v + head + n[:, None] * D + d[None, :], mask=n[:, None] < T, other=0.0)
        s = tl.dot(a, b) * scale
        s = tl.where((m[:, None] >= n[None, :]) & (n[None, :] < T), s, float("-inf"))
        new = tl.maximum(high, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        fix = tl.exp(high - new)
        total = total * fix + tl.sum(p, 1)
        acc = acc * fix[:, None] + tl.dot(p.to(c.dtype), c)
        high = new
    tl.store(o + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty), mask=m[:, None] < T)
def attention(q, k, v):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, D = q.shape
    o = torch.empty_like(q)
    if o.numel():
        _attend[(triton.cdiv(T, 32), B * H)](q, k, v, o, T, D**-0.5, D=D, BM=32, BN=32)
    return o
""",
        [
            Change("scale-power", "D**-0.5", "D**-0.4", line="tl.store"),
            Change("mask-not-causal", "(m[:, None] >= n[None, :]) & ", "", line="tl.store"),
            Change("mask-strictly", "m[:, None] >= n[None, :]", "m[:, None] > n[None, :]", line="tl.store"),
            Change("acc-not-rescaled", "acc * fix[:, None]", "acc", line="tl.store"),
            Change("acc-total", "total * fix", "total", line="tl.store"),
            Change("index-heads", "* T * D\n", "* T * D * 0\n", line="tl.store"),
        ],
    ),
    Problem(
        "transpose",
        """
def transpose(x):
    return x.t().contiguous()
def get_inputs():
    return [torch.randn(45, 61)]
""",
        """
@triton.jit
def _transpose(x, o, M, N, sm, sn, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    mask = (m[:, None] < M) & (n[None, :] < N)
    v = tl.load(x + m[:, None] * sm + n[None, :] * sn, mask=mask)
    tl.store(o + n[None, :] * M + m[:, None], v, mask=mask)
def transpose(x):
    M, N = x.shape
    o = torch.empty((N, M), device=x.device, dtype=x.dtype)
    if x.numel():
        _transpose[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, o, M, N, *x.stride(), B=16)
    return o
""",
        [
            Change(
                "mask-swapped", "(m[:, None] < M) & (n[None, :] < N)", "(m[:, None] < N) & (n[None, :] < M)", line="tl."
            ),
            Change(
                "index-not-transposed",
                "n[None, :] * M + m[:, None], v",
                "m[:, None] * N + n[None, :], v",
                line="tl.store",
            ),
            Change(
                "bound-grid-swapped", "triton.cdiv(M, 16), triton.cdiv(N, 16)", "triton.cdiv(N, 16), triton.cdiv(M, 16)"
            ),
        ],
    ),
]
