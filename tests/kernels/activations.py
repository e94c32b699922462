"""Activations: gated units (SwiGLU, GeGLU, ReGLU) with backward passes, and the variants of GELU."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

SQRT_2_OVER_PI: tl.constexpr = tl.constexpr(0.7978845608028654)
INV_SQRT_2: tl.constexpr = tl.constexpr(0.7071067811865476)
INV_SQRT_2PI: tl.constexpr = tl.constexpr(0.3989422804014327)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def gelu_tanh(x):
    return 0.5 * x * (1 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


@triton.jit
def gelu_erf(x):
    return 0.5 * x * (1 + tl.erf(x * INV_SQRT_2))


@triton.jit
def gelu_quick(x):
    return x * tl.sigmoid(1.702 * x)


@triton.jit
def gelu_libdevice(x):
    return 0.5 * x * (1 + libdevice.tanh(SQRT_2_OVER_PI * (x + 0.044715 * libdevice.pow(x, 3.0))))


@triton.jit
def _pointwise(x_ptr, y_ptr, n, FN: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    tl.store(y_ptr + offs, FN(x), mask=mask)


@triton.jit
def _gelu_bwd(dy_ptr, x_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    cdf = 0.5 * (1 + tl.erf(x * INV_SQRT_2))
    pdf = tl.exp(-0.5 * x * x) * INV_SQRT_2PI
    tl.store(dx_ptr + offs, dy * (cdf + x * pdf), mask=mask)


@triton.jit
def _gated_fwd(a_ptr, b_ptr, c_ptr, stride, n_cols, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    a = tl.load(a_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * stride + cols, mask=mask, other=0)
    if KIND == "swiglu":
        gate = silu(a)
    elif KIND == "geglu":
        gate = gelu_tanh(a)
    else:
        tl.static_assert(KIND == "reglu", "unknown kind of gate")
        gate = tl.maximum(a, 0.0)
    tl.store(c_ptr + row * n_cols + cols, gate.to(b.dtype) * b, mask=mask)


@triton.jit
def _gated_bwd(dc_ptr, a_ptr, b_ptr, stride, n_cols, KIND: tl.constexpr, BLOCK: tl.constexpr):
    # The gradients replace the inputs.
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    dc = tl.load(dc_ptr + row * n_cols + cols, mask=mask, other=0).to(tl.float32)
    a = tl.load(a_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    if KIND == "swiglu":
        sig = tl.sigmoid(a)
        gate = a * sig
        slope = sig * (1 + a * (1 - sig))
    elif KIND == "geglu":
        t = tanh(SQRT_2_OVER_PI * (a + 0.044715 * a * a * a))
        gate = 0.5 * a * (1 + t)
        slope = 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * SQRT_2_OVER_PI * (1 + 3 * 0.044715 * a * a)
    else:
        gate = tl.maximum(a, 0.0)
        slope = tl.where(a > 0, 1.0, 0.0)
    tl.store(a_ptr + row * stride + cols, dc * b * slope, mask=mask)
    tl.store(b_ptr + row * stride + cols, dc * gate, mask=mask)


def gelu(x, function=gelu_erf, block=1024):
    """A function of this module on every element."""
    y = torch.empty_like(x)
    _pointwise[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), FN=function, BLOCK=block)
    return y


def gelu_backward(dy, x, block=1024):
    """Gradient of the exact GELU."""
    dx = torch.empty_like(x)
    _gelu_bwd[(triton.cdiv(x.numel(), block),)](dy, x, dx, x.numel(), BLOCK=block)
    return dx


def gated(packed, kind, block=1024):
    """packed [rows, 2 n] holds gate and value side by side: act(gate) * value, [rows, n]."""
    rows, n = packed.shape[0], packed.shape[1] // 2
    a, b = packed[:, :n], packed[:, n:]
    c = torch.empty(rows, n, dtype=packed.dtype, device=packed.device)
    _gated_fwd[(rows, triton.cdiv(n, block))](a, b, c, packed.stride(0), n, KIND=kind, BLOCK=block)
    return c


def gated_backward_(dc, packed, kind, block=1024):
    """Replaces `packed` by its gradient."""
    rows, n = dc.shape
    _gated_bwd[(rows, triton.cdiv(n, block))](
        dc, packed[:, :n], packed[:, n:], packed.stride(0), n, KIND=kind, BLOCK=block
    )
