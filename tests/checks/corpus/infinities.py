"""Where NaN and infinity are first born: exp without the maximum, logarithms and divisions of zero, sums in f16, rows
of attention in which every key is masked."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from corpus.seeded import normal, seeded

INF = float("inf")


@triton.jit
def softmax_without_maximum(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=-float("inf"))
    if not BUG:
        x = x - tl.max(x)
    e = tl.exp(x)  # BUG: nan
    tl.store(o_ptr + row * n + offs, e / tl.sum(e), mask=offs < n)


@seeded("nan", softmax_without_maximum)
def _(bug):
    x, o = normal(4, 40) * 60, torch.zeros(4, 40)
    softmax_without_maximum[(4,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, x.softmax(1)


@triton.jit
def fully_masked_row(
    q_ptr, k_ptr, v_ptr, o_ptr, window, T: tl.constexpr, D: tl.constexpr, B: tl.constexpr, BUG: tl.constexpr
):
    rows, dims = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :])
    peak = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, T, B):
        cols = start + tl.arange(0, B)
        k = tl.load(k_ptr + cols[:, None] * D + dims[None, :])
        v = tl.load(v_ptr + cols[:, None] * D + dims[None, :])
        seen = (cols[None, :] <= rows[:, None]) & (cols[None, :] > rows[:, None] - window)
        s = tl.where(seen, tl.dot(q, tl.trans(k)), -float("inf"))
        new_peak = tl.maximum(peak, tl.max(s, 1))
        if BUG:
            base = new_peak
        else:
            base = tl.where(new_peak == -float("inf"), 0.0, new_peak)
        p = tl.exp(s - base[:, None])  # BUG: nan
        alpha = tl.exp(peak - base)  # ALSO: nan
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        peak = new_peak
    tl.store(o_ptr + rows[:, None] * D + dims[None, :], acc / total[:, None])


@seeded("nan", fully_masked_row)
def _(bug):
    q, k, v = (normal(64, 16, seed=i).half() for i in range(3))
    o = torch.zeros(64, 16)
    fully_masked_row[(4,)](q, k, v, o, 8, T=64, D=16, B=16, BUG=bug)
    at = torch.arange(64)
    seen = (at[None, :] <= at[:, None]) & (at[None, :] > at[:, None] - 8)
    s = (q.float() @ k.float().T).masked_fill(~seen, -INF)
    return o.half(), (s.softmax(1) @ v.float()).half()


@triton.jit
def padded_query_row(s_ptr, length_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    length = tl.load(length_ptr + row)
    s = tl.load(s_ptr + row * n + offs, mask=offs < length, other=-float("inf"))
    peak = tl.max(s)
    if not BUG:
        peak = tl.maximum(peak, -1e30)
    e = tl.exp(s - peak)  # BUG: nan
    total = tl.sum(e)
    tl.store(o_ptr + row * n + offs, e / tl.maximum(total, 1e-20), mask=offs < n)


@seeded("nan", padded_query_row)
def _(bug):
    s, lengths, o = normal(3, 20), torch.tensor([20, 0, 7], dtype=torch.int32), torch.zeros(3, 20)
    padded_query_row[(3,)](s, lengths, o, 20, BLOCK=32, BUG=bug)
    want = s.masked_fill(torch.arange(20)[None, :] >= lengths[:, None], -INF).softmax(1).nan_to_num(0.0)
    return o, want


@triton.jit
def dot_sums_in_half(a_ptr, b_ptr, c_ptr, B: tl.constexpr, K: tl.constexpr, BUG: tl.constexpr):
    rows, k = tl.arange(0, B), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * B + rows[None, :])
    if BUG:
        c = tl.dot(a, b, out_dtype=tl.float16)  # BUG: nan
    else:
        c = tl.dot(a, b, out_dtype=tl.float32)
    tl.store(c_ptr + rows[:, None] * B + rows[None, :], c * 0.001)


@seeded("nan", dot_sums_in_half)
def _(bug):
    a, b, c = torch.full((16, 64), 64.0).half(), torch.full((64, 16), 32.0).half(), torch.zeros(16, 16)
    dot_sums_in_half[(1,)](a, b, c, B=16, K=64, BUG=bug)
    return c, (a.float() @ b.float()) * 0.001


@triton.jit
def sum_of_halves(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if not BUG:
        x = x.to(tl.float32)
    total = tl.sum(x)  # BUG: nan
    tl.store(o_ptr, total / BLOCK)


@seeded("nan", sum_of_halves)
def _(bug):
    x, o = torch.full((128,), 1000.0, dtype=torch.float16), torch.zeros(1)
    sum_of_halves[(1,)](x, o, BLOCK=128, BUG=bug)
    return o, torch.full((1,), 1000.0)


@triton.jit
def square_in_half(x_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if BUG:
        square = x * x  # BUG: nan
    else:
        square = x.to(tl.float32) * x.to(tl.float32)
    tl.store(o_ptr, tl.sqrt(tl.sum(square.to(tl.float32)) / BLOCK))


@seeded("nan", square_in_half)
def _(bug):
    x, o = torch.full((32,), 300.0, dtype=torch.float16), torch.zeros(1)
    square_in_half[(1,)](x, o, BLOCK=32, BUG=bug)
    return o, torch.full((1,), 300.0)


@triton.jit
def log_of_zero(p_ptr, t_ptr, loss_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask, other=1.0)
    t = tl.load(t_ptr + offs, mask=mask, other=0.0)
    if not BUG:
        p = tl.maximum(p, 1e-10)
    log_p = tl.log(p)  # BUG: nan
    tl.store(loss_ptr, -tl.sum(t * log_p))


@seeded("nan", log_of_zero)
def _(bug):
    p, t, loss = torch.tensor([0.0, 0.25, 0.75]), torch.tensor([0.0, 0.5, 0.5]), torch.zeros(1)
    log_of_zero[(1,)](p, t, loss, 3, BLOCK=4, BUG=bug)
    return loss, -torch.xlogy(t, p).sum().reshape(1)


@triton.jit
def mean_of_an_empty_segment(x_ptr, start_ptr, o_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    segment = tl.program_id(0)
    begin, end = tl.load(start_ptr + segment), tl.load(start_ptr + segment + 1)
    offs = begin + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offs, mask=offs < end, other=0.0))
    count = (end - begin).to(tl.float32)
    if not BUG:
        count = tl.maximum(count, 1.0)
    mean = total / count  # BUG: nan
    tl.store(o_ptr + segment, mean)


@seeded("nan", mean_of_an_empty_segment)
def _(bug):
    x, starts, o = torch.arange(10.0), torch.tensor([0, 4, 4, 10], dtype=torch.int32), torch.zeros(3)
    mean_of_an_empty_segment[(3,)](x, starts, o, BLOCK=16, BUG=bug)
    return o, torch.tensor([1.5, 0.0, 6.5])


@triton.jit
def variance_by_squares(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    mean = tl.sum(x) / n
    if BUG:
        variance = tl.sum(x * x) / n - mean * mean
    else:
        variance = tl.sum(tl.where(mask, (x - mean) * (x - mean), 0.0)) / n
    deviation = tl.sqrt(variance)  # BUG: nan
    tl.store(o_ptr, mean + deviation)


@seeded("nan", variance_by_squares)
def _(bug):
    x, o = torch.tensor([999.9, 999.9, 999.9]), torch.zeros(1)
    variance_by_squares[(1,)](x, o, 3, BLOCK=4, BUG=bug)
    return o, x[:1]


@triton.jit
def norm_without_epsilon(x_ptr, o_ptr, n, eps, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
    square = tl.sum(x * x) / n
    if not BUG:
        square += eps
    scale = tl.rsqrt(square)  # BUG: nan
    tl.store(o_ptr + row * n + offs, x * scale, mask=offs < n)


@seeded("nan", norm_without_epsilon)
def _(bug):
    x, o = torch.cat([normal(1, 20), torch.zeros(1, 20)]), torch.ones(2, 20)
    norm_without_epsilon[(2,)](x, o, 20, 1e-6, BLOCK=32, BUG=bug)
    return o, torch.nn.functional.rms_norm(x, (20,), eps=1e-6)


@triton.jit
def narrow_to_half(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    y = x * x
    if not BUG:
        y = tl.minimum(y, 65504.0)
    half = y.to(tl.float16)  # BUG: overflow
    tl.store(o_ptr + offs, half, mask=offs < n)


@seeded("overflow", narrow_to_half)
def _(bug):
    x, o = torch.arange(0.0, 400.0, 10.0), torch.zeros(40, dtype=torch.float16)
    narrow_to_half[(1,)](x, o, 40, BLOCK=64, BUG=bug)
    return o, (x * x).clamp(max=65504).half()


@triton.jit
def sigmoid_by_quotient(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    if BUG:
        e = tl.exp(x)  # BUG: nan
        y = e / (1.0 + e)
    else:
        e = tl.exp(-tl.abs(x))
        y = tl.where(x >= 0, 1.0 / (1.0 + e), e / (1.0 + e))
    tl.store(o_ptr + offs, y, mask=offs < n)


@seeded("nan", sigmoid_by_quotient)
def _(bug):
    x, o = torch.linspace(-200, 200, 50), torch.zeros(50)
    sigmoid_by_quotient[(1,)](x, o, 50, BLOCK=64, BUG=bug)
    return o, x.sigmoid()


@triton.jit
def log_of_softmax(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=-1000.0)
    x = x - tl.max(x)
    e = tl.exp(x)
    if BUG:
        y = tl.log(e / tl.sum(e))  # BUG: nan
    else:
        y = x - tl.log(tl.sum(e))
    tl.store(o_ptr + offs, y, mask=mask)


@seeded("nan", log_of_softmax)
def _(bug):
    x, o = torch.tensor([0.0, -200.0, 3.0, 4.0]), torch.zeros(4)
    log_of_softmax[(1,)](x, o, 4, BLOCK=4, BUG=bug)
    return o, x.log_softmax(0)


@triton.jit
def scale_of_a_zero_row(x_ptr, o_ptr, scale_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    row = tl.program_id(0)
    offs = row * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    peak = tl.max(tl.abs(x))
    if not BUG:
        peak = tl.maximum(peak, 1e-12)
    inverse = 448.0 / peak  # BUG: nan
    tl.store(o_ptr + offs, (x * inverse).to(tl.float8e4nv))
    tl.store(scale_ptr + row, peak / 448.0)


@seeded("nan", scale_of_a_zero_row)
def _(bug):
    x = torch.cat([normal(1, 32), torch.zeros(1, 32)])
    o, scale = torch.zeros(2, 32, dtype=torch.float8_e4m3fn), torch.zeros(2)
    scale_of_a_zero_row[(2,)](x, o, scale, BLOCK=32, BUG=bug)
    peak = x.abs().amax(1).clamp(min=1e-12)
    return o.float(), (x * (448.0 / peak)[:, None]).to(torch.float8_e4m3fn).float()


@triton.jit
def power_of_a_negative(x_ptr, o_ptr, n, BLOCK: tl.constexpr, BUG: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=1.0)
    if BUG:
        y = tl.exp(1.5 * tl.log(x))  # BUG: nan
    else:
        y = tl.exp(1.5 * tl.log(tl.abs(x)))
    tl.store(o_ptr + offs, y, mask=offs < n)


@seeded("nan", power_of_a_negative)
def _(bug):
    x, o = torch.tensor([1.0, 2.0, -3.0]), torch.zeros(3)
    power_of_a_negative[(1,)](x, o, 3, BLOCK=4, BUG=bug)
    return o, x.abs() ** 1.5
