"""Matrix products by strides, and what follows them in the same kernel."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _sigmoid(v):
    return 1 / (1 + tl.exp(-v))


@triton.jit
def _gelu(v):
    return 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))


@triton.jit
def _mish(v):
    return v * libdevice.tanh(tl.where(v > 20, v, libdevice.log1p(tl.exp(v))))


@triton.jit
def _relu(v):
    return tl.where(v < 0, 0.0, v)


@triton.jit
def _clamp(v, low, high):
    v = tl.where(v < low, low, v)
    return tl.where(v > high, high, v)


@triton.jit
def _after(v, a, c, THEN: tl.constexpr):
    """What a model of level 2 does with its product; a, c: its numbers."""
    if THEN == "subtract, multiply, relu":
        v = _relu((v - a) * c)
    elif THEN == "multiply, leaky relu":
        v = v * a
        v = tl.where(v < 0, c * v, v)
    elif THEN == "mish, mish":
        v = _mish(_mish(v))
    elif THEN == "scale, add":
        v = v * a + v
    elif THEN == "scale, clamp, gelu":
        v = _gelu(_clamp(v * a, -c, c))
    elif THEN == "swish, scale":
        v = v * _sigmoid(v) * a
    elif THEN == "relu, divide":
        v = _relu(v) / a
    elif THEN == "sigmoid, scale, add":
        v = _sigmoid(v) * a + v
    elif THEN == "relu":
        v = _relu(v)
    elif THEN == "swish, divide, clamp, tanh":
        v = libdevice.tanh(_clamp(v * _sigmoid(v) / 2, -1.0, 1.0))
    elif THEN == "divide, gelu":
        v = _gelu(v / a)
    elif THEN == "swish, tanh, gelu, clamp":
        v = _clamp(_gelu(libdevice.tanh(_sigmoid(v) * v)), -1.0, 1.0)
    return v


@triton.jit
def _product(
    x, y, o, bias, more, m, n, k, xb, xm, xk, yb, yk, yn, a, c, THEN: tl.constexpr, KEEP: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """o[b] = x[b] @ y[b]. KEEP: "upper" or "lower" triangle, or all."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    batch = tl.program_id(2).to(tl.int64)
    acc = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        r = start + tl.arange(0, K)
        left = tl.load(
            x + batch * xb + i[:, None] * xm + r[None, :] * xk, mask=(i[:, None] < m) & (r[None, :] < k), other=0.0
        )
        right = tl.load(
            y + batch * yb + r[:, None] * yk + j[None, :] * yn, mask=(r[:, None] < k) & (j[None, :] < n), other=0.0
        )
        acc = tl.dot(left, right, acc)
    if bias is not None:
        acc += tl.load(bias + j, mask=j < n, other=0.0)[None, :]
    if more is not None:
        acc += tl.load(more + j, mask=j < n, other=0.0)[None, :]
    acc = _after(acc, a, c, THEN)
    if KEEP == "upper":
        acc = tl.where(i[:, None] <= j[None, :], acc, 0.0)
    elif KEEP == "lower":
        acc = tl.where(i[:, None] >= j[None, :], acc, 0.0)
    tl.store(o + (batch * m + i[:, None]) * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


def product(x, y, bias=None, more=None, a=0.0, c=0.0, then="", keep="all"):
    """x: [..., m, k]; y: [..., k, n]."""
    (m, k), n = x.shape[-2:], y.shape[-1]
    o = torch.empty((*x.shape[:-2], m, n), dtype=x.dtype, device=x.device)
    if o.numel():
        batches = o.numel() // (m * n)
        strides = [s for v in (x, y) for s in (v.stride(-3) if v.dim() > 2 else 0, *v.stride()[-2:])]
        grid = triton.cdiv(m, 32), triton.cdiv(n, 32), batches
        _product[grid](x, y, o, bias, more, m, n, k, *strides, a, c, THEN=then, KEEP=keep, M=32, N=32, K=32)
    return o


@triton.jit
def _scale_rows(d, y, o, m, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(o + i * n + j, tl.load(d + i) * tl.load(y + i * n + j, mask=j < n), mask=j < n)


class MatMul(torch.nn.Module):
    def forward(self, A, B):
        return product(A, B)


class TransposedA(torch.nn.Module):
    def forward(self, A, B):
        return product(A.T, B)


class TransposedB(torch.nn.Module):
    def forward(self, A, B):
        return product(A, B.T)


class TransposedBoth(torch.nn.Module):
    def forward(self, A, B):
        return product(A.T, B.T)


class Upper(torch.nn.Module):
    def forward(self, A, B):
        return product(A, B, keep="upper")


class Lower(torch.nn.Module):
    def forward(self, A, B):
        return product(A, B, keep="lower")


class Flattened(torch.nn.Module):
    """Further dimensions of A are rows."""

    def forward(self, A, B):
        rows = A.reshape(A.numel() // max(A.shape[-1], 1), A.shape[-1])
        return product(rows, B).view(*A.shape[:-1], B.shape[-1])


class Diagonal(torch.nn.Module):
    def forward(self, A, B):
        o = torch.empty_like(B)
        if B.numel():
            _scale_rows[(B.shape[0], triton.cdiv(B.shape[1], 256))](A, B, o, *B.shape, B=256)
        return o


class Linear(torch.nn.Module):
    """A model of level 2: its layer has the reference's name, so that it gets its weights."""

    layer, then = "linear", ""

    def __init__(self, in_features, out_features, a=0.0, c=0.0, *more):
        super().__init__()
        self.a, self.c = float(a), float(c)
        setattr(self, self.layer, torch.nn.Linear(in_features, out_features))

    def forward(self, x):
        layer = getattr(self, self.layer)
        return product(x, layer.weight.T, layer.bias, None, self.a, self.c, self.then)


class SubtractMultiplyReLU(Linear):
    then = "subtract, multiply, relu"


class MultiplyLeakyReLU(Linear):
    layer, then = "gemm", "multiply, leaky relu"


class MishMish(Linear):
    then = "mish, mish"


class ScalingResidual(Linear):
    layer, then = "matmul", "scale, add"


class ScalingHardtanhGELU(Linear):
    layer, then = "gemm", "scale, clamp, gelu"

    def __init__(self, in_features, out_features, scaling_factor, hardtanh_min, hardtanh_max):
        super().__init__(in_features, out_features, scaling_factor, hardtanh_max)


class SwishScaling(Linear):
    layer, then = "matmul", "swish, scale"


class ReLUDivide(Linear):
    then = "relu, divide"


class SigmoidScalingResidual(Linear):
    layer, then = "gemm", "sigmoid, scale, add"


class SwishDivideClampTanh(Linear):
    layer, then = "gemm", "swish, divide, clamp, tanh"


class DivideGELU(Linear):
    then = "divide, gelu"


class AddReLU(torch.nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return product(x, self.gemm.weight.T, self.bias, then="relu")


class AddSwishTanhGELU(torch.nn.Module):
    def __init__(self, in_features, out_features, add_value_shape):
        super().__init__()
        self.matmul = torch.nn.Linear(in_features, out_features)
        self.add_value = torch.nn.Parameter(torch.randn(add_value_shape))

    def forward(self, x):
        return product(x, self.matmul.weight.T, self.matmul.bias, self.add_value, then="swish, tanh, gelu, clamp")
