"""Gradients: backward kernels behind torch.autograd.Function; and a module of KernelBench's kind."""

# ruff: noqa: E501  texts are replaced as they stand

from problems import Change, Problem

PROBLEMS = [
    Problem(
        "square_backward",
        """
def square(x, w):
    return x * x * w
def get_inputs():
    return [torch.randn(300), torch.randn(300)]
JUDGE = {"gradients": True, "vary": ["sizes"]}
""",
        """
@triton.jit
def _forward(x, w, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, a * a * tl.load(w + i, mask=i < n, other=0.0), mask=i < n)
@triton.jit
def _backward(x, w, g, dx, dw, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    a = tl.load(x + i, mask=m, other=0.0)
    c = tl.load(g + i, mask=m, other=0.0)
    tl.store(dx + i, 2 * a * tl.load(w + i, mask=m, other=0.0) * c, mask=m)
    tl.store(dw + i, a * a * c, mask=m)
class _Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        o = torch.empty_like(x)
        if x.numel():
            _forward[(triton.cdiv(x.numel(), 64),)](x, w, o, x.numel(), B=64)
        return o
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        dx, dw = torch.empty_like(x), torch.empty_like(w)
        if x.numel():
            _backward[(triton.cdiv(x.numel(), 64),)](x, w, g.contiguous(), dx, dw, x.numel(), B=64)
        return dx, dw
def square(x, w):
    return _Square.apply(x, w)
""",
        [
            Change("grad-factor", "2 * a * tl.load(w", "a * tl.load(w", line="tl.store(dx"),
            Change("grad-no-upstream", "a * a * c, mask=m", "a * a, mask=m", line="tl.store(dw"),
            Change("grad-swapped", "return dx, dw", "return dw, dx"),
            Change("grad-none", "return dx, dw", "return dx, torch.zeros_like(w)"),
        ],
    ),
    Problem(
        "softmax_backward",
        """
def softmax(x):
    return torch.softmax(x, -1)
def get_inputs():
    return [torch.randn(20, 50)]
JUDGE = {"gradients": True, "vary": ["sizes"]}
""",
        """
@triton.jit
def _forward(x, o, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + c, e / tl.sum(e, 0), mask=c < n)
@triton.jit
def _backward(y, g, d, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    a = tl.load(y + r * n + c, mask=c < n, other=0.0)
    b = tl.load(g + r * n + c, mask=c < n, other=0.0)
    tl.store(d + r * n + c, a * (b - tl.sum(a * b, 0)), mask=c < n)
class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        o = torch.empty_like(x)
        if x.numel():
            _forward[(x.shape[0],)](x, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
        ctx.save_for_backward(o)
        return o
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        d = torch.empty_like(y)
        if y.numel():
            _backward[(y.shape[0],)](y, g.contiguous(), d, y.shape[1], B=triton.next_power_of_2(y.shape[1]))
        return d
def softmax(x):
    return _Softmax.apply(x)
""",
        [
            Change("grad-no-sum", "a * (b - tl.sum(a * b, 0))", "a * b", line="tl.store(d"),
            Change("grad-sum", "tl.sum(a * b, 0)", "tl.sum(b, 0)", line="tl.store(d"),
            Change("grad-transposed", "g.contiguous()", "g"),
        ],
    ),
    Problem(
        "kernelbench_linear",
        """
class Model(torch.nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.linear = torch.nn.Linear(n, m)
    def forward(self, x):
        return self.linear(x)
def get_inputs():
    return [torch.randn(30, 24)]
def get_init_inputs():
    return [24, 40]
""",
        """
@triton.jit
def _linear(x, w, b, o, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    p = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
    q = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
    y = tl.dot(p, q) + tl.load(b + n, mask=n < N, other=0.0)[None, :]
    tl.store(o + m[:, None] * N + n[None, :], y, mask=(m[:, None] < M) & (n[None, :] < N))
class ModelNew(torch.nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.linear = torch.nn.Linear(n, m)
    def forward(self, x):
        w, b = self.linear.weight, self.linear.bias
        (M, K), N = x.shape, w.shape[0]
        o = torch.empty((M, N), device=x.device)
        if o.numel():
            _linear[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, w, b, o, M, N, K, BM=16, BN=16, BK=32)
        return o
""",
        [
            Change(
                "own-names",
                "self.linear = torch.nn.Linear(n, m)\n    def forward(self, x):\n        w, b = self.linear.weight, self.linear.bias",
                "self.layer = torch.nn.Linear(n, m)\n    def forward(self, x):\n        w, b = self.layer.weight, self.layer.bias",
                "right",
            ),
            Change(
                "formula-no-bias",
                "+ tl.load(b + n, mask=n < N, other=0.0)[None, :]",
                "+ 0.0 * n[None, :]",
                line="tl.store",
            ),
            Change("bound-k", "BK=32", "BK=16", line="tl.store"),
        ],
    ),
]
