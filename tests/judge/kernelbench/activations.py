"""Element by element: one kernel, which calls a function of one number."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _relu(v, a):
    return tl.where(v < 0, 0.0, v)


@triton.jit
def _leaky_relu(v, a):
    return tl.where(v < 0, a * v, v)


@triton.jit
def _sigmoid(v, a):
    return 1 / (1 + tl.exp(-v))


@triton.jit
def _tanh(v, a):
    return libdevice.tanh(v)


@triton.jit
def _swish(v, a):
    return v / (1 + tl.exp(-v))


@triton.jit
def _gelu(v, a):
    return 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))


@triton.jit
def _selu(v, a):
    return 1.0507009873554805 * tl.where(v > 0, v, 1.6732632423543772 * libdevice.expm1(v))


@triton.jit
def _hard_sigmoid(v, a):
    low = tl.where(v < -3, 0.0, v / 6 + 0.5)
    return tl.where(v > 3, 1.0, low)


@triton.jit
def _softplus(v, a):
    return tl.where(v > 20, v, libdevice.log1p(tl.exp(v)))


@triton.jit
def _softsign(v, a):
    return v / (1 + tl.abs(v))


@triton.jit
def _elu(v, a):
    return tl.where(v > 0, v, a * libdevice.expm1(v))


@triton.jit
def _hard_tanh(v, a):
    low = tl.where(v < -1, -1.0, v)
    return tl.where(low > 1, 1.0, low)


@triton.jit
def _new_gelu(v, a):
    inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    return 0.5 * v * (1 + libdevice.tanh(inner))


@triton.jit
def _scaled(v, a):
    return v * a


@triton.jit
def _each(x, o, n, a, F: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, F(v, a), mask=i < n)


def each(function, x, a=0.0):
    o = torch.empty_like(x)
    if x.numel():
        _each[(triton.cdiv(x.numel(), 1024),)](x, o, x.numel(), a, F=function, B=1024)
    return o


class Activation(torch.nn.Module):
    function = _relu

    def __init__(self, a=0.0):
        super().__init__()
        self.a = a

    def forward(self, x):
        return each(self.function, x, self.a)


class ReLU(Activation):
    pass


class LeakyReLU(Activation):
    function = _leaky_relu

    def __init__(self, negative_slope=0.01):
        super().__init__(negative_slope)


class Sigmoid(Activation):
    function = _sigmoid


class Tanh(Activation):
    function = _tanh


class Swish(Activation):
    function = _swish


class GELU(Activation):
    function = _gelu


class SELU(Activation):
    function = _selu


class HardSigmoid(Activation):
    function = _hard_sigmoid


class Softplus(Activation):
    function = _softplus


class Softsign(Activation):
    function = _softsign


class ELU(Activation):
    function = _elu


class HardTanh(Activation):
    function = _hard_tanh


class NewGELU(Activation):
    function = _new_gelu


class Scaled(Activation):
    def forward(self, x, s):
        return each(_scaled, x, s)
