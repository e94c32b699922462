"""Losses: programs that each give one sum, and one that adds these up."""

import torch
import triton
import triton.language as tl


@triton.jit
def _term(p, t, HOW: tl.constexpr):
    if HOW == "mse":
        v = (p - t) * (p - t)
    elif HOW == "huber":
        d = tl.abs(p - t)
        v = tl.where(d < 1, 0.5 * d * d, d - 0.5)
    elif HOW == "kl":
        v = tl.where(t == 0, 0.0, t * tl.log(t)) - t * tl.log(p)
    else:
        v = 1 - p * t
        v = tl.where(v < 0, 0.0, v)
    return v


@triton.jit
def _sums(p, t, o, n, columns, HOW: tl.constexpr, B: tl.constexpr):
    """columns: of t, which is the same for all rows; 0: it has as many numbers as p."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = i if columns == 0 else i % columns
    v = _term(tl.load(p + i, mask=i < n, other=0.0), tl.load(t + at, mask=i < n, other=0.0), HOW)
    tl.store(o + tl.program_id(0), tl.sum(tl.where(i < n, v, 0.0), 0))


@triton.jit
def _finish(parts, o, count, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for start in range(0, count, B):
        acc += tl.load(parts + start + i, mask=start + i < count, other=0.0)
    tl.store(o, tl.sum(acc, 0) / n)


@triton.jit
def _cross_entropy(p, t, o, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    most = tl.full([B], float("-inf"), tl.float32)
    for start in range(0, n, B):
        most = tl.maximum(most, tl.load(p + row * n + start + i, mask=start + i < n, other=float("-inf")))
    top = tl.max(most, 0)
    acc = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        v = tl.load(p + row * n + start + i, mask=start + i < n, other=float("-inf"))
        acc += tl.where(start + i < n, tl.exp(v - top), 0.0)
    chosen = tl.load(p + row * n + tl.load(t + row))
    tl.store(o + row, tl.log(tl.sum(acc, 0)) + top - chosen)


@triton.jit
def _triplet(a, p, q, o, n, margin, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    i = tl.arange(0, B)
    near, far = tl.zeros([B], tl.float32), tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        k = start + i
        v = tl.load(a + row + k, mask=k < n, other=0.0)
        d = v - tl.load(p + row + k, mask=k < n, other=0.0) + 1e-6
        e = v - tl.load(q + row + k, mask=k < n, other=0.0) + 1e-6
        near += tl.where(k < n, d * d, 0.0)
        far += tl.where(k < n, e * e, 0.0)
    v = tl.sqrt(tl.sum(near, 0)) - tl.sqrt(tl.sum(far, 0)) + margin
    tl.store(o + tl.program_id(0), tl.where(v < 0, 0.0, v))


def finished(parts, n):
    o = torch.empty((), dtype=torch.float32, device=parts.device)
    _finish[(1,)](parts, o, parts.numel(), float(n), B=256)
    return o


class Loss(torch.nn.Module):
    how = "mse"

    def forward(self, predictions, targets):
        n = predictions.numel()
        parts = torch.empty(triton.cdiv(n, 1024), device=predictions.device)
        columns = 0 if targets.shape == predictions.shape else targets.numel()
        if n:
            _sums[(parts.numel(),)](predictions, targets, parts, n, columns, HOW=self.how, B=1024)
        return finished(parts, predictions.shape[0] if self.how == "kl" else n)


class MSE(Loss):
    pass


class Huber(Loss):
    how = "huber"


class KL(Loss):
    how = "kl"


class Hinge(Loss):
    how = "hinge"


class CrossEntropy(torch.nn.Module):
    def forward(self, predictions, targets):
        rows, n = predictions.shape
        parts = torch.empty(rows, device=predictions.device)
        if rows:
            _cross_entropy[(rows,)](predictions, targets, parts, n, B=256)
        return finished(parts, rows)


class Triplet(torch.nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        rows, n = anchor.shape
        parts = torch.empty(rows, device=anchor.device)
        if rows:
            _triplet[(rows,)](anchor, positive, negative, parts, n, self.margin, B=256)
        return finished(parts, rows)
