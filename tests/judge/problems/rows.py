"""Reductions over rows: what masked lanes hold, order of operations, accumulators."""

from pathlib import Path

from problems import Change, Problem

SOFTMAX = (Path(__file__).resolve().parents[1] / "simple/right.py").read_text()

PROBLEMS = [
    Problem(
        "softmax",
        """
def softmax(x):
    return torch.softmax(x, -1)
def get_inputs():
    return [torch.randn(40, 117)]
JUDGE = {"dtypes": ["float16"]}
""",
        SOFTMAX,
        [
            Change("exp2", "tl.exp(v - tl.max(v, 0))", "tl.exp2((v - tl.max(v, 0)) * 1.4426950408889634)", "right"),
            Change("other-none", ', other=-float("inf")', "", line="tl.", rule="judge-value"),
            Change("other-0", 'other=-float("inf")', "other=0.0", line="tl.store"),
            Change("formula-no-max", "v - tl.max(v, 0)", "v", line="tl.store", cases=40),
            Change("formula-min", "tl.max(v, 0)", "tl.min(v, 0)", line="tl.store"),
            Change("shape-fixed-block", "triton.next_power_of_2(x.shape[1])", "128", cases=40),
            Change("input-stride", "r * sx", "r * so + 0 * sx", "right"),
            Change("acc-half", "tl.sum(e, 0)", "tl.sum(e.to(tl.bfloat16), 0)", line="tl.store"),
            Change("stride-output", "x.stride(0), y.stride(0)", "x.stride(0), y.stride(0) - 1", line="tl.store"),
            Change("stride-ignored", "x = x.contiguous()", "pass", cases=40),
        ],
    ),
    Problem(
        "layer_norm",
        """
def layer_norm(x, w, b):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)
def get_inputs():
    return [torch.randn(20, 300), torch.randn(300), torch.randn(300)]
JUDGE = {"vary": ["sizes", "strides", "offsets", "aliases", "special"]}
""",
        """
@triton.jit
def _norm(x, w, b, o, n, eps, B: tl.constexpr):
    r = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        total += tl.load(x + r * n + c, mask=c < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / n
    square = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + r * n + c, mask=c < n, other=0.0).to(tl.float32)
        d = tl.where(c < n, v - mean, 0.0)
        square += d * d
    scale = 1 / tl.sqrt(tl.sum(square, 0) / n + eps)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        m = c < n
        v = tl.load(x + r * n + c, mask=m, other=0.0).to(tl.float32)
        y = (v - mean) * scale * tl.load(w + c, mask=m) + tl.load(b + c, mask=m)
        tl.store(o + r * n + c, y, mask=m)
def layer_norm(x, w, b):
    x, w, b = x.contiguous(), w.contiguous(), b.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _norm[(x.shape[0],)](x, w, b, o, x.shape[1], 1e-5, B=64)
    return o
""",
        [
            Change("block-512", "B=64", "B=512", "right"),
            Change(
                "rsqrt", "1 / tl.sqrt(tl.sum(square, 0) / n + eps)", "tl.rsqrt(tl.sum(square, 0) / n + eps)", "right"
            ),
            Change("mask-padding-counts", "tl.where(c < n, v - mean, 0.0)", "v - mean", line="tl.store"),
            Change("scale-eps", "x.shape[1], 1e-5", "x.shape[1], 1e-3", line="tl.store"),
            Change("scale-unbiased", "tl.sum(square, 0) / n", "tl.sum(square, 0) / (n - 1)", line="tl.store"),
            Change("formula-bias-twice", "+ tl.load(b + c, mask=m)", "+ 2 * tl.load(b + c, mask=m)", line="tl.store"),
            Change(
                "index-weight-of-block", "tl.load(w + c, mask=m)", "tl.load(w + c - start, mask=m)", line="tl.store"
            ),
            Change("scale-mean-of-block", "tl.sum(total, 0) / n", "tl.sum(total, 0) / B", line="tl.store"),
        ],
    ),
    Problem(
        "rms_norm",
        """
def rms_norm(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
def get_inputs():
    return [torch.randn(12, 200), torch.randn(200)]
JUDGE = {"vary": ["sizes", "strides"]}
""",
        """
@triton.jit
def _rms(x, w, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0)
    s = tl.rsqrt(tl.sum(v * v, 0) / n + 1e-6)
    tl.store(o + r * n + c, v * s * tl.load(w + c, mask=c < n), mask=c < n)
def rms_norm(x, w):
    x, w = x.contiguous(), w.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _rms[(x.shape[0],)](x, w, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
""",
        [
            Change("scale-block", "/ n + 1e-6", "/ B + 1e-6", line="tl.store"),
            Change("scale-eps", "/ n + 1e-6", "/ n + 1e-2", line="tl.store"),
            Change("formula-sqrt", "tl.rsqrt", "tl.sqrt", line="tl.store"),
        ],
    ),
    Problem(
        "argmax",
        """
def argmax(x):
    return x.max(-1).values, x.argmax(-1)
def get_inputs():
    return [torch.randn(30, 77)]
JUDGE = {"vary": ["sizes", "strides"]}
""",
        """
@triton.jit
def _argmax(x, v, k, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    a = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    m, i = tl.max(a, 0, return_indices=True)
    tl.store(v + r, m)
    tl.store(k + r, i)
def argmax(x):
    x = x.contiguous()
    v = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    k = torch.empty(x.shape[0], device=x.device, dtype=torch.int64)
    if x.shape[0]:
        _argmax[(x.shape[0],)](x, v, k, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return v, k
""",
        [
            Change("other-0", 'other=-float("inf")', "other=0.0", line="", cases=40),
            Change("formula-argmin", "tl.store(k + r, i)", "tl.store(k + r, tl.argmin(a, 0))", line="tl.store(k"),
            Change("index-off-by-one", "tl.store(k + r, i)", "tl.store(k + r, i + 1)", line="tl.store(k"),
        ],
    ),
    Problem(
        "cross_entropy",
        """
def cross_entropy(x, t):
    return torch.nn.functional.cross_entropy(x, t, reduction="none")
def get_inputs():
    return [torch.randn(25, 90), torch.randint(0, 90, (25,))]
JUDGE = {"vary": ["sizes"]}
""",
        """
@triton.jit
def _loss(x, t, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    m = tl.max(v, 0)
    lse = m + tl.log(tl.sum(tl.exp(v - m), 0))
    tl.store(o + r, lse - tl.load(x + r * n + tl.load(t + r)))
def cross_entropy(x, t):
    o = torch.empty(x.shape[0], device=x.device)
    if x.shape[0]:
        _loss[(x.shape[0],)](x, t, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
""",
        [
            Change("formula-no-target", "lse - tl.load(x + r * n + tl.load(t + r))", "lse", line="tl.store"),
            Change("formula-log2", "tl.log(", "tl.log2(", line="tl.store"),
            Change("index-next-target", "tl.load(t + r))", "tl.load(t + r) + 1)", line="tl."),
        ],
    ),
    Problem(
        "cumsum",
        """
def cumsum(x):
    return torch.cumsum(x, -1)
def get_inputs():
    return [torch.randn(10, 150)]
JUDGE = {"vary": ["sizes"]}
""",
        """
@triton.jit
def _scan(x, o, n, B: tl.constexpr):
    r = tl.program_id(0)
    carry = 0.0
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + r * n + c, mask=c < n, other=0.0)
        tl.store(o + r * n + c, carry + tl.cumsum(v, 0), mask=c < n)
        carry += tl.sum(v, 0)
def cumsum(x):
    o = torch.empty_like(x)
    if x.numel():
        _scan[(x.shape[0],)](x, o, x.shape[1], B=32)
    return o
""",
        [
            Change("acc-no-carry", "carry += tl.sum(v, 0)", "carry += 0.0", line="tl.store"),
            Change("formula-exclusive", "carry + tl.cumsum(v, 0)", "carry + tl.cumsum(v, 0) - v", line="tl.store"),
            Change("formula-reverse", "tl.cumsum(v, 0)", "tl.cumsum(v, 0, reverse=True)", line="tl.store"),
        ],
    ),
]
