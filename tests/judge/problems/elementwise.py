"""Elementwise kernels: masks, offsets, types, constants."""

from problems import Change, Problem

PROBLEMS = [
    Problem(
        "add",
        """
def add(x, y):
    return x + y
def get_inputs():
    return [torch.randn(3000), torch.randn(3000)]
JUDGE = {"dtypes": ["float16", "bfloat16"]}
""",
        """
@triton.jit
def _add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    a = tl.load(x + i, mask=m)
    b = tl.load(y + i, mask=m)
    tl.store(o + i, a + b, mask=m)
def add(x, y):
    x, y = x.contiguous(), y.contiguous()
    o = torch.empty_like(x)
    n = o.numel()
    if n:
        _add[(triton.cdiv(n, 256),)](x, y, o, n, 256)
    return o
""",
        [
            Change(
                "block-64",
                "_add[(triton.cdiv(n, 256),)](x, y, o, n, 256)",
                "_add[(triton.cdiv(n, 64),)](x, y, o, n, 64)",
                "right",
            ),
            Change("other-0", "a = tl.load(x + i, mask=m)", "a = tl.load(x + i, mask=m, other=0)", "right"),
            Change("mask-le", "m = i < n", "m = i <= n", line="tl."),
            Change("mask-short", "m = i < n", "m = i < n - 1", line="tl.store"),
            Change("mask-none", "tl.store(o + i, a + b, mask=m)", "tl.store(o + i, a + b)", line="tl.store"),
            Change("bound-grid", "triton.cdiv(n, 256)", "max(n // 256, 1)", line="tl.store"),
            Change("formula-one-operand", "a + b", "a + a", line="tl.store"),
            Change("formula-minus", "a + b", "a - b", line="tl.store"),
            Change("stride-ignored", "x, y = x.contiguous(), y.contiguous()", "pass", cases=40),
            Change("shape-257", "n = o.numel()", "n = o.numel() - (o.numel() == 257)", cases=40),
            Change("shape-one", "n = o.numel()", "n = o.numel() - (o.numel() == 1)", cases=40),
            Change("index-writes-input", "o = torch.empty_like(x)", "o = x", rule="judge-input-written"),
            Change("cast-half", "a + b, mask=m", "(a.to(tl.float16) + b.to(tl.float16)), mask=m", line="tl.store"),
        ],
    ),
    Problem(
        "gelu",
        """
def gelu(x):
    return torch.nn.functional.gelu(x)
def get_inputs():
    return [torch.randn(40, 70)]
""",
        """
@triton.jit
def _gelu(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    y = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(o + i, y, mask=i < n)
def gelu(x):
    x = x.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _gelu[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), B=128)
    return o
""",
        [
            Change(
                "grid-lambda",
                "_gelu[(triton.cdiv(x.numel(), 128),)]",
                "_gelu[lambda meta: (triton.cdiv(x.numel(), meta['B']),)]",
                "right",
            ),
            Change("formula-constant", "0.7071067811865476", "0.7071", line="tl.store"),
            Change(
                "formula-tanh",
                "1 + tl.erf(v * 0.7071067811865476)",
                "1 + (2 * tl.sigmoid(2 * 0.7978845608 * (v + 0.044715 * v * v * v)) - 1)",
                line="tl.store",
            ),
            Change("scale", "0.5 * v", "0.51 * v", line="tl.store"),
            Change("cast", "y, mask", "y.to(tl.bfloat16), mask", line="tl.store"),
        ],
    ),
    Problem(
        "relu",
        """
def relu(x):
    return torch.relu(x)
def get_inputs():
    return [torch.randn(33, 65)]
""",
        """
@triton.jit
def _relu(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, tl.where(v < 0, 0.0, v), mask=i < n)
def relu(x):
    x = x.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _relu[(triton.cdiv(x.numel(), 64),)](x, o, x.numel(), B=64)
    return o
""",
        [
            Change(
                "maximum-nan",
                "tl.where(v < 0, 0.0, v)",
                "tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL)",
                "right",
            ),
            Change("nan-lost", "tl.where(v < 0, 0.0, v)", "tl.where(v > 0, v, 0.0)", line="tl.store", cases=40),
            Change("formula-leaky", "tl.where(v < 0, 0.0, v)", "tl.where(v < 0, 0.001 * v, v)", line="tl.store"),
            Change("bound-threshold", "tl.where(v < 0, 0.0, v)", "tl.where(v < 0.01, 0.0, v)", line="tl.store"),
        ],
    ),
    Problem(
        "swiglu",
        """
def swiglu(gate, up):
    return torch.nn.functional.silu(gate) * up
def get_inputs():
    return [torch.randn(24, 96), torch.randn(24, 96)]
JUDGE = {"dtypes": ["float16"]}
""",
        """
@triton.jit
def _swiglu(g, u, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        m = c < n
        a = tl.load(g + row * n + c, mask=m, other=0.0).to(tl.float32)
        b = tl.load(u + row * n + c, mask=m, other=0.0).to(tl.float32)
        y = a / (1 + tl.exp(-a)) * b
        tl.store(o + row * n + c, y.to(o.dtype.element_ty), mask=m)
def swiglu(gate, up):
    gate, up = gate.contiguous(), up.contiguous()
    o = torch.empty_like(gate)
    if o.numel():
        _swiglu[(gate.shape[0],)](gate, up, o, gate.shape[1], B=32)
    return o
""",
        [
            Change("sigmoid", "a / (1 + tl.exp(-a)) * b", "a * tl.sigmoid(a) * b", "right"),
            Change("formula-swapped", "a / (1 + tl.exp(-a)) * b", "b / (1 + tl.exp(-b)) * a", line="tl.store"),
            Change("bound-loop", "range(0, n, B)", "range(0, n - B, B)", line="tl.store"),
            Change("stride-row", "tl.load(u + row * n + c", "tl.load(u + row * (n - 1) + c", line="tl.store"),
            Change("index-rows-from-1", "row = tl.program_id(0)", "row = tl.program_id(0) + 1"),
        ],
    ),
    Problem(
        "quantise",
        """
def quantise(x, scale):
    return torch.clamp(torch.round(x / scale), -127, 127).to(torch.int8)
def get_inputs():
    return [torch.randn(1000), 0.0625]
JUDGE = {"vary": ["sizes", "strides"]}
""",
        """
@triton.jit
def _quantise(x, o, scale, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0) / scale
    r = tl.floor(v + 0.5)
    r = tl.where((r - v == 0.5) & (r != 2 * tl.floor(r / 2)), r - 1, r)
    q = tl.minimum(tl.maximum(r, -127.0), 127.0)
    tl.store(o + i, q.to(tl.int8), mask=i < n)
def quantise(x, scale):
    x = x.contiguous()
    o = torch.empty_like(x, dtype=torch.int8)
    if x.numel():
        _quantise[(triton.cdiv(x.numel(), 256),)](x, o, scale, x.numel(), B=256)
    return o
""",
        [
            Change("cast-truncates", "tl.floor(v + 0.5)", "tl.floor(v)", line="tl.store"),
            Change("bound-unsigned", "-127.0), 127.0", "0.0), 127.0", line="tl.store"),
            Change("scale-multiplies", "other=0.0) / scale", "other=0.0) * scale", line="tl.store"),
        ],
    ),
]
