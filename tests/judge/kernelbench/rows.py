"""Softmax and norms: a program for each row, which reads it in blocks. Numbers of a row may lie apart in memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def _log_softmax(x, o, n, IS_LOG: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    i = tl.arange(0, B)
    most = tl.full([B], float("-inf"), tl.float32)
    for start in range(0, n, B):
        most = tl.maximum(most, tl.load(x + row + start + i, mask=start + i < n, other=float("-inf")))
    top = tl.max(most, 0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        v = tl.load(x + row + start + i, mask=start + i < n, other=float("-inf"))
        total += tl.where(start + i < n, tl.exp(v - top), 0.0)
    sum = tl.sum(total, 0)
    for start in range(0, n, B):
        v = tl.load(x + row + start + i, mask=start + i < n) - top
        tl.store(o + row + start + i, v - tl.log(sum) if IS_LOG else tl.exp(v) / sum, mask=start + i < n)


@triton.jit
def _scale(x, o, n, inner, eps, HOW: tl.constexpr, B: tl.constexpr):
    """A row's numbers lie `inner` apart."""
    at = tl.program_id(0).to(tl.int64)
    row = at // inner * n * inner + at % inner
    i = tl.arange(0, B)
    size = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        v = tl.load(x + row + (start + i) * inner, mask=start + i < n, other=0.0)
        size += tl.abs(v) if HOW == "l1" else v * v
    total = tl.sum(size, 0)
    by = total / n if HOW == "l1" else tl.sqrt(total / n + eps) if HOW == "rms" else tl.sqrt(total)
    for start in range(0, n, B):
        v = tl.load(x + row + (start + i) * inner, mask=start + i < n)
        tl.store(o + row + (start + i) * inner, v / by, mask=start + i < n)


@triton.jit
def _standardize(x, o, w, b, n, groups, between, eps, B: tl.constexpr):
    """Mean 0, variance 1. Numbers of one channel, of which w and b have one each, are `between`."""
    at = tl.program_id(0).to(tl.int64)
    row = at * n
    i = tl.arange(0, B)
    sums, squares = tl.zeros([B], tl.float32), tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        sums += tl.load(x + row + start + i, mask=start + i < n, other=0.0)
    mean = tl.sum(sums, 0) / n
    for start in range(0, n, B):
        v = tl.load(x + row + start + i, mask=start + i < n, other=0.0) - mean
        squares += tl.where(start + i < n, v * v, 0.0)
    by = tl.sqrt(tl.sum(squares, 0) / n + eps)
    for start in range(0, n, B):
        k = start + i
        v = (tl.load(x + row + k, mask=k < n) - mean) / by
        if w is not None:
            c = at % groups * (n // between) + k // between
            v = v * tl.load(w + c, mask=k < n) + tl.load(b + c, mask=k < n)
        tl.store(o + row + k, v, mask=k < n)


class Softmax(torch.nn.Module):
    is_log = False

    def __init__(self, dim=1):
        super().__init__()
        assert dim == 1

    def forward(self, x):
        o = torch.empty_like(x)
        if x.numel():
            _log_softmax[(x.shape[0],)](x, o, x.shape[1], IS_LOG=self.is_log, B=512)
        return o


class LogSoftmax(Softmax):
    is_log = True


def scaled(x, n, inner, how, eps=0.0):
    o = torch.empty_like(x)
    if x.numel():
        _scale[(x.numel() // n,)](x, o, n, inner, eps, HOW=how, B=256)
    return o


class RMSNorm(torch.nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return scaled(x, x.shape[1], x[0, 0].numel(), "rms", self.eps)


class Frobenius(torch.nn.Module):
    def forward(self, x):
        return scaled(x, x.numel(), 1, "l2")


class L1Norm(torch.nn.Module):
    def forward(self, x):
        return scaled(x, x.shape[1], 1, "l1")


class L2Norm(torch.nn.Module):
    def forward(self, x):
        return scaled(x, x.shape[1], 1, "l2")


def standardized(x, n, groups, between, eps, w=None, b=None):
    o = torch.empty_like(x)
    if x.numel():
        _standardize[(x.numel() // n,)](x, o, w, b, n, groups, between, eps, B=256)
    return o


class LayerNorm(torch.nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = torch.nn.LayerNorm(normalized_shape)

    def forward(self, x):
        return standardized(x, self.ln.weight.numel(), 1, 1, self.ln.eps, self.ln.weight, self.ln.bias)


class GroupNorm(torch.nn.Module):
    def __init__(self, num_features, num_groups):
        super().__init__()
        self.gn = torch.nn.GroupNorm(num_groups, num_features)

    def forward(self, x):
        groups, between = self.gn.num_groups, x[0, 0].numel()
        n = x.shape[1] // groups * between
        return standardized(x, n, groups, between, self.gn.eps, self.gn.weight, self.gn.bias)


class InstanceNorm(torch.nn.Module):
    def __init__(self, num_features):
        super().__init__()

    def forward(self, x):
        n = x[0, 0].numel()
        return standardized(x, n, x.shape[1], n, 1e-5)
