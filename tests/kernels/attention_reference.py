"""Attention in float64 by its definition, for the tests of the attention kernels."""

from __future__ import annotations

import torch

UNITS = {torch.float32: 64, torch.float16: 16, torch.bfloat16: 16}
"""Roundings of the type allowed in results of attention. In fp32 those of the exponents count: numbers up to 10."""


def attention(q, k, v, scale=None, causal=False, window=None, sink=0):
    """q [..., H, Tq, D], k, v [..., H / group, Tk, D] in float64: (output, natural log-sum-exp).

    causal: key <= query, aligned at the ends; window: at most this many keys up to the query; the first `sink` keys are
    in every window. A row without keys is zero.
    """
    q, k, v = q.double(), k.double(), v.double()
    group = q.shape[-3] // k.shape[-3]
    k, v = k.repeat_interleave(group, -3), v.repeat_interleave(group, -3)
    t_q, t_k = q.shape[-2], k.shape[-2]
    s = q @ k.transpose(-1, -2) * (scale or q.shape[-1] ** -0.5)
    row = torch.arange(t_q, device=q.device)[:, None] + t_k - t_q
    col = torch.arange(t_k, device=q.device)[None]
    live = torch.ones(t_q, t_k, dtype=torch.bool, device=q.device)
    if causal or window is not None:
        live &= col <= row
    if window is not None:
        live &= (row - col < window) | (col < sink)
    s = s.masked_fill(~live, float("-inf"))
    return s.softmax(-1).nan_to_num(0.0) @ v, torch.logsumexp(s, -1)
