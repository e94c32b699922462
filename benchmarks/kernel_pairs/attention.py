"""Attention, recurrences, selective scan."""

import decoding
import flash_attention
import linear_attention
import selective_scan
import sliding_window
import torch
import torch.nn.functional as F

from kernel_pairs.registry import backward_of, pair


def attention_tensors(h, kv, t, d=64, dtype=torch.float32):
    return (
        torch.randn(1, h, t, d, dtype=dtype),
        torch.randn(1, kv, t, d, dtype=dtype),
        torch.randn(1, kv, t, d, dtype=dtype),
    )


for dtype in (torch.float32, torch.bfloat16):

    @pair(f"flash attention causal 8 / 2 x 512 x 64 {str(dtype)[6:]}")
    def _(dtype=dtype):
        q, k, v = attention_tensors(8, 2, 512, dtype=dtype)
        return (
            lambda: flash_attention.flash_attention(q, k, v, True),
            lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True),
        )


@pair("flash attention backward causal 8 / 2 x 256 x 64")
def _():
    q, k, v = attention_tensors(8, 2, 256)
    do = torch.randn_like(q)
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    loss = (F.scaled_dot_product_attention(*leaves, is_causal=True, enable_gqa=True) * do).sum()
    o, lse = flash_attention.flash_attention(q, k, v, True)
    return (
        lambda: flash_attention.flash_attention_backward(do, q, k, v, o, lse, True),
        backward_of(loss, *leaves),
    )


@pair("sliding window attention 4 x 512 x 64, window 128")
def _():
    q, k, v = attention_tensors(4, 4, 512)
    at = torch.arange(512)
    mask = (at <= at[:, None]) & (at[:, None] - at < 128)
    return (
        lambda: sliding_window.window_attention(q, k, v, 128),
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
    )


@pair("packed sequences attention 4 x 128, 8 heads of 64")
def _():
    q, k, v = (torch.randn(512, 8, 64) for _ in range(3))
    ends = torch.arange(0, 513, 128, dtype=torch.int32)
    dense = [t.view(4, 128, 8, 64).transpose(1, 2) for t in (q, k, v)]
    return (
        lambda: sliding_window.varlen_attention(q, k, v, ends, 128),
        lambda: F.scaled_dot_product_attention(*dense, is_causal=True),
    )


@pair("paged attention 8 x 1024, 16 / 4 heads of 64")
def _():
    k, v = torch.randn(512, 4, 16, 64), torch.randn(512, 4, 16, 64)
    q, tables = torch.randn(8, 16, 64), torch.arange(512, dtype=torch.int32).view(8, 64)
    lens = torch.full((8,), 1024, dtype=torch.int32)

    def theirs():
        dense = [c[tables.long()].transpose(1, 2).reshape(8, 4, 1024, 64) for c in (k, v)]
        return F.scaled_dot_product_attention(q[:, :, None], *dense, enable_gqa=True)

    return lambda: decoding.paged_attention(q, k, v, tables, lens), theirs


@pair("split-KV attention 2 x 2048, 8 / 2 heads of 64")
def _():
    q, k, v = torch.randn(2, 8, 64), torch.randn(2, 2048, 2, 64), torch.randn(2, 2048, 2, 64)
    lens = torch.full((2,), 2048, dtype=torch.int32)
    dense = [t.transpose(1, 2) for t in (k, v)]
    return (
        lambda: decoding.split_kv_attention(q, k, v, lens, 4),
        lambda: F.scaled_dot_product_attention(q[:, :, None], *dense, enable_gqa=True),
    )


@pair("reshape and cache 512 tokens, 8 heads of 64")
def _():
    k, v, slots = torch.randn(512, 8, 64), torch.randn(512, 8, 64), torch.randperm(512)
    caches = [torch.zeros(32, 8, 16, 64) for _ in range(2)]

    def theirs():
        for cache, new in zip(caches, (k, v)):
            cache[slots // 16, :, slots % 16] = new

    return lambda: decoding.reshape_and_cache_(k, v, *caches, slots), theirs


def recurrence_by_matmul(q, k, v, decay):
    """The same outputs as one masked product over all pairs of times."""
    return lambda: (q @ k.transpose(-1, -2) * decay) @ v


@pair("retention 4 x 512 x 64")
def _():
    q, k, v = (torch.randn(1, 4, 512, 64) for _ in range(3))
    g = torch.log(torch.tensor([0.9, 0.95, 0.97, 0.99]))
    lag = torch.arange(512)[:, None] - torch.arange(512)
    decay = torch.where(lag >= 0, torch.exp(lag * g[:, None, None]), 0.0)
    return lambda: linear_attention.retention(q, k, v, g), recurrence_by_matmul(q, k, v, decay)


@pair("gated linear attention 4 x 512 x 64")
def _():
    q, k, v = (torch.randn(1, 4, 512, 64) for _ in range(3))
    gates = F.logsigmoid(torch.randn(1, 4, 512) + 2)
    cum = gates.cumsum(-1)
    decay = torch.exp(cum[..., :, None] - cum[..., None, :]).tril()
    return lambda: linear_attention.gated_linear_attention(q, k, v, gates), recurrence_by_matmul(q, k, v, decay)


@pair("selective scan 2 x 128 x 256 x 16")
def _():
    u, delta = torch.randn(2, 128, 256), torch.randn(2, 128, 256)
    a, b, c, d = -torch.rand(256, 16), torch.randn(2, 128, 16), torch.randn(2, 128, 16), torch.randn(256)

    def theirs():
        step = F.softplus(delta)
        decay, add = torch.exp(step[..., None] * a), (step * u)[..., None] * b[:, :, None]
        h, out = torch.zeros(2, 256, 16), []
        for t in range(128):
            h = h * decay[:, t] + add[:, t]
            out.append((h * c[:, t, None]).sum(-1))
        return torch.stack(out, 1) + u * d

    return lambda: selective_scan.selective_scan(u, delta, a, b, c, d), theirs


@pair("gated recurrence by scans 2 x 256 x 256")
def _():
    x, gate = torch.randn(2, 256, 256), torch.rand(2, 256, 256)

    def theirs():
        h, out = torch.zeros(2, 256), []
        for t in range(256):
            h = h * gate[:, t] + x[:, t]
            out.append(h)
        return torch.stack(out, 1)

    return lambda: selective_scan.gated_recurrence(x, gate), theirs
