"""Reductions and sums along one dimension: a program for each block of columns, or for each row."""

import torch
import triton
import triton.language as tl


@triton.jit
def _reduce(x, o, n, inner, HOW: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """x: [outer, n, inner]. Of NaN the result is NaN, or its place."""
    c = tl.program_id(0) * C + tl.arange(0, C)
    i = tl.arange(0, B)
    base = x + tl.program_id(1).to(tl.int64) * n * inner
    nothing = float("inf") if HOW == "min" or HOW == "argmin" else float("-inf")
    best = tl.full([B, C], 0.0 if HOW == "sum" or HOW == "mean" else nothing, tl.float32)
    place = tl.full([B, C], 2147483647, tl.int32)
    for start in range(0, n, B):
        k = start + i
        inside = (k[:, None] < n) & (c[None, :] < inner)
        v = tl.load(base + k[:, None].to(tl.int64) * inner + c[None, :], mask=inside, other=0.0)
        if HOW == "sum" or HOW == "mean":
            best += v
        else:
            is_new = v < best if HOW == "min" or HOW == "argmin" else v > best
            is_first = (place == 2147483647) & (v == best)
            take = inside & (best == best) & (is_new | is_first | (v != v))
            place = tl.where(take, k[:, None], place)
            best = tl.where(take, v, best)
    at = o + tl.program_id(1).to(tl.int64) * inner + c
    if HOW == "sum":
        tl.store(at, tl.sum(best, 0), mask=c < inner)
    elif HOW == "mean":
        tl.store(at, tl.sum(best, 0) / n, mask=c < inner)
    else:
        has_nan = tl.max((best != best).to(tl.int32), 0) > 0
        most = tl.min(best, 0) if HOW == "min" or HOW == "argmin" else tl.max(best, 0)
        if HOW == "min" or HOW == "max":
            tl.store(at, tl.where(has_nan, float("nan"), most), mask=c < inner)
        else:
            hit = tl.where(has_nan[None, :], best != best, best == most[None, :])
            tl.store(at, tl.min(tl.where(hit, place, 2147483647), 0).to(tl.int64), mask=c < inner)


@triton.jit
def _scan(x, m, o, n, stride, HOW: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    before = 0.0
    for start in range(0, n, B):
        k = start + i
        at = n - 1 - k if HOW == "reverse" else k - 1 if HOW == "exclusive" else k
        inside = (k < n) & (at >= 0)
        v = tl.load(x + row * stride + at, mask=inside, other=0.0)
        if HOW == "masked":
            v = v * tl.load(m + row * n + at, mask=inside, other=0).to(tl.float32)
        to = o + row * n + (at + 1 if HOW == "exclusive" else at)
        now = before + tl.cumsum(v, 0)
        before += tl.sum(v, 0)
        tl.store(to, now, mask=k < n)


class Reduction(torch.nn.Module):
    how, keeps, kind = "sum", True, torch.float32

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        n, inner = x.shape[self.dim], x.stride(self.dim)
        shape = list(x.shape)
        shape[self.dim] = 1
        if n == 0 and self.how not in ("sum", "mean"):
            raise ValueError("nothing to choose from")
        o = torch.empty(shape, dtype=self.kind, device=x.device)
        if o.numel():
            grid = (triton.cdiv(inner, 32), o.numel() // inner)
            _reduce[grid](x, o, n, inner, HOW=self.how, B=64, C=32)
        return o if self.keeps else o.squeeze(self.dim)


class Sum(Reduction):
    pass


class Mean(Reduction):
    how, keeps = "mean", False


class Max(Reduction):
    how, keeps = "max", False


class Min(Reduction):
    how, keeps = "min", False


class ArgMax(Reduction):
    how, keeps, kind = "argmax", False, torch.int64


class ArgMin(Reduction):
    how, keeps, kind = "argmin", False, torch.int64


class Scan(torch.nn.Module):
    how = "sum"

    def __init__(self, dim):
        super().__init__()
        assert dim == 1

    def forward(self, x, mask=None):
        o = torch.empty_like(x)
        if x.numel():
            _scan[(x.shape[0],)](x, mask, o, x.shape[1], x.stride(0), HOW=self.how, B=256)
        return o


class Reversed(Scan):
    how = "reverse"


class Exclusive(Scan):
    how = "exclusive"


class Masked(Scan):
    how = "masked"
