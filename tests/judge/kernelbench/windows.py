"""Pooling and convolutions: a program for a block of one channel's results."""

import torch
import triton
import triton.language as tl


@triton.jit
def _pool(
    x, o, h, w, oh, ow, kh, kw, stride_h, stride_w, pad_h, pad_w, gap_h, gap_w, IS_MAX: tl.constexpr, B: tl.constexpr
):
    image = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * B + tl.arange(0, B)
    row, column = i // ow, i % ow
    acc = tl.full([B], float("-inf") if IS_MAX else 0.0, tl.float32)
    for a in range(kh):
        for b in range(kw):
            r, c = row * stride_h - pad_h + a * gap_h, column * stride_w - pad_w + b * gap_w
            inside = (i < oh * ow) & (r >= 0) & (r < h) & (c >= 0) & (c < w)
            v = tl.load(x + image * h * w + r * w + c, mask=inside, other=float("-inf") if IS_MAX else 0.0)
            acc = tl.where((v > acc) | (v != v), v, acc) if IS_MAX else acc + v
    if not IS_MAX:
        acc = acc / (kh * kw)
    tl.store(o + image * oh * ow + i, acc, mask=i < oh * ow)


@triton.jit
def _convolve(
    x, w, bias, more, o, channels, out_channels, per_group, h, width, oh, ow, kh, kw, stride, pad, gap,
    THEN: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """per_group: channels that one channel of the result reads."""
    image, to = tl.program_id(0).to(tl.int64), tl.program_id(2)
    i = tl.program_id(1) * B + tl.arange(0, B)
    row, column = i // ow, i % ow
    first = to // (out_channels // (channels // per_group)) * per_group
    acc = tl.zeros([B], tl.float32)
    for c in range(per_group):
        plane = x + (image * channels + first + c) * h * width
        for a in range(kh):
            for b in range(kw):
                r, s = row * stride - pad + a * gap, column * stride - pad + b * gap
                inside = (i < oh * ow) & (r >= 0) & (r < h) & (s >= 0) & (s < width)
                v = tl.load(plane + r * width + s, mask=inside, other=0.0)
                acc += v * tl.load(w + ((to * per_group + c) * kh + a) * kw + b)
    if bias is not None:
        acc += tl.load(bias + to)
    if THEN == "relu, add":
        acc = tl.where(acc < 0, 0.0, acc) + tl.load(more + to)
    tl.store(o + (image * out_channels + to) * oh * ow + i, acc, mask=i < oh * ow)


def _two(value):
    return value if isinstance(value, tuple) else (value, value)


def pooled(x, kernel, stride, pad, gap, is_max):
    """Windows in the last two dimensions of x: [images, h, w]."""
    images, h, w = x.shape
    (kh, kw), (sh, sw), (ph, pw), (gh, gw) = map(_two, (kernel, stride, pad, gap))
    oh, ow = (h + 2 * ph - gh * (kh - 1) - 1) // sh + 1, (w + 2 * pw - gw * (kw - 1) - 1) // sw + 1
    if min(oh, ow) < 1:
        raise ValueError("the window is larger than the image")
    o = torch.empty((images, oh, ow), dtype=x.dtype, device=x.device)
    if o.numel():
        grid = images, triton.cdiv(oh * ow, 128)
        _pool[grid](x, o, h, w, oh, ow, kh, kw, sh, sw, ph, pw, gh, gw, IS_MAX=is_max, B=128)
    return o


class MaxPool1d(torch.nn.Module):
    def __init__(self, kernel_size, stride, padding, dilation, return_indices):
        super().__init__()
        assert not return_indices
        self.window = (1, kernel_size), (1, stride), (0, padding), (1, dilation)

    def forward(self, x):
        o = pooled(x.reshape(-1, 1, x.shape[2]), *self.window, True)
        return o.view(*x.shape[:2], -1)


class MaxPool2d(torch.nn.Module):
    def __init__(self, kernel_size, stride, padding, dilation):
        super().__init__()
        self.window = kernel_size, stride, padding, dilation

    def forward(self, x):
        o = pooled(x.reshape(-1, *x.shape[2:]), *self.window, True)
        return o.view(*x.shape[:2], *o.shape[1:])


class AvgPool1d(torch.nn.Module):
    def __init__(self, kernel_size, stride=1, padding=0):
        super().__init__()
        self.window = (1, kernel_size), (1, stride), (0, padding), (1, 1)

    def forward(self, x):
        o = pooled(x.reshape(-1, 1, x.shape[2]), *self.window, False)
        return o.view(*x.shape[:2], -1)


class AvgPool2d(torch.nn.Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.window = kernel_size, stride or kernel_size, padding, 1

    def forward(self, x):
        o = pooled(x.reshape(-1, *x.shape[2:]), *self.window, False)
        return o.view(*x.shape[:2], *o.shape[1:])


def convolved(x, layer, more=None, then=""):
    images, channels, h, w = x.shape
    out, per_group, kh, kw = layer.weight.shape
    stride, pad, gap = layer.stride[0], layer.padding[0], layer.dilation[0]
    oh, ow = (h + 2 * pad - gap * (kh - 1) - 1) // stride + 1, (w + 2 * pad - gap * (kw - 1) - 1) // stride + 1
    if min(oh, ow) < 1:
        raise ValueError("the window is larger than the image")
    o = torch.empty((images, out, oh, ow), dtype=x.dtype, device=x.device)
    if o.numel():
        grid = images, triton.cdiv(oh * ow, 256), out
        _convolve[grid](
            x, layer.weight, layer.bias, more, o, channels, out, per_group, h, w, oh, ow, kh, kw, stride, pad, gap,
            THEN=then, B=256,
        )  # fmt: skip
    return o


class Conv2d(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv2d = torch.nn.Conv2d(in_channels, out_channels, kernel_size, bias=False)

    def forward(self, x):
        return convolved(x, self.conv2d)


class Pointwise(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv1d = torch.nn.Conv2d(in_channels, out_channels, 1, bias=False)

    def forward(self, x):
        return convolved(x, self.conv1d)


class Depthwise(torch.nn.Module):
    def __init__(self, in_channels, kernel_size, stride=1, padding=0):
        super().__init__()
        self.conv2d = torch.nn.Conv2d(
            in_channels, in_channels, kernel_size, stride, padding, groups=in_channels, bias=False
        )

    def forward(self, x):
        return convolved(x, self.conv2d)


class ConvReLUBias(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = torch.nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return convolved(x, self.conv, self.bias, "relu, add")
