"""Linear attention by chunks: retention with a fixed decay per head, and a gated state with decays per step."""

import torch
import triton
import triton.language as tl


@triton.jit
def _retention_chunk(
    q_ptr, k_ptr, v_ptr, o_ptr, decay_ptr, T, heads, scale, D: tl.constexpr, DV: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    # One program a (batch, head) and a slice of the values; the state stays in registers over the chunks.
    # o_t = scale * q_t S_t,  S_t = g S_(t-1) + k_t^T v_t
    slice_v = tl.program_id(0)
    bh = tl.program_id(1)
    log_g = tl.load(decay_ptr + bh % heads)
    t = tl.arange(0, C)
    d = tl.arange(0, D)
    dv = slice_v * DV + tl.arange(0, DV)
    width = tl.num_programs(0) * DV
    lag = (t[:, None] - t[None, :]).to(tl.float32)
    inner = tl.where(lag >= 0, tl.exp(lag * log_g), 0.0)
    from_state = tl.exp((t + 1).to(tl.float32) * log_g)
    to_state = tl.exp((C - 1 - t).to(tl.float32) * log_g)
    whole = tl.exp(C * log_g)
    state = tl.zeros([D, DV], tl.float32)
    for start in range(0, T, C):
        rows = bh * T + start + t
        live = start + t < T
        q = tl.load(q_ptr + rows[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
        k = tl.load(k_ptr + rows[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
        v = tl.load(v_ptr + rows[:, None] * width + dv[None, :], mask=live[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * inner
        o = tl.dot(s.to(v.dtype), v, input_precision="ieee")
        o += tl.dot(q, state.to(q.dtype), input_precision="ieee") * from_state[:, None]
        scaled = (k * to_state[:, None]).to(k.dtype)
        state = state * whole + tl.dot(tl.trans(scaled), v, input_precision="ieee")
        tl.store(o_ptr + rows[:, None] * width + dv[None, :], o * scale, mask=live[:, None])


@triton.jit
def _chunk_decay(g_ptr, cum_ptr, T, C: tl.constexpr):
    # Cumulative log decays inside each chunk.
    offs = tl.program_id(0) * C + tl.arange(0, C)
    base = tl.program_id(1) * T
    g = tl.load(g_ptr + base + offs, mask=offs < T, other=0.0).to(tl.float32)
    tl.store(cum_ptr + base + offs, tl.cumsum(g, axis=0), mask=offs < T)


@triton.jit
def _chunk_states(k_ptr, v_ptr, cum_ptr, states_ptr, T, D: tl.constexpr, DV: tl.constexpr, C: tl.constexpr):
    # The state before each chunk, stored for the second kernel: states [bh, chunks, D, DV].
    bh = tl.program_id(0)
    t = tl.arange(0, C)
    d = tl.arange(0, D)
    dv = tl.arange(0, DV)
    state = tl.zeros([D, DV], tl.float32)
    chunks = tl.cdiv(T, C)
    for i in range(chunks):
        at = states_ptr + ((bh * chunks + i) * D + d[:, None]) * DV + dv[None, :]
        tl.store(at, state.to(states_ptr.dtype.element_ty))
        rows = i * C + t
        live = rows < T
        last = tl.minimum(i * C + C, T) - 1
        total = tl.load(cum_ptr + bh * T + last)
        cum = tl.load(cum_ptr + bh * T + rows, mask=live, other=0.0)
        k = tl.load(k_ptr + (bh * T + rows)[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
        v = tl.load(v_ptr + (bh * T + rows)[:, None] * DV + dv[None, :], mask=live[:, None], other=0.0)
        left = tl.where(live, tl.exp(total - cum), 0.0)
        state *= tl.exp(total)
        state += tl.dot(tl.trans((k * left[:, None]).to(v.dtype)), v, input_precision="ieee")


@triton.jit
def _chunk_outputs(
    q_ptr, k_ptr, v_ptr, cum_ptr, states_ptr, o_ptr, T, scale, D: tl.constexpr, DV: tl.constexpr, C: tl.constexpr
):
    i = tl.program_id(0)
    bh = tl.program_id(1)
    t = tl.arange(0, C)
    rows = i * C + t
    live = rows < T
    d = tl.arange(0, D)
    dv = tl.arange(0, DV)
    q = tl.load(q_ptr + (bh * T + rows)[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
    k = tl.load(k_ptr + (bh * T + rows)[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
    v = tl.load(v_ptr + (bh * T + rows)[:, None] * DV + dv[None, :], mask=live[:, None], other=0.0)
    cum = tl.load(cum_ptr + bh * T + rows, mask=live, other=0.0)
    state = tl.load(states_ptr + ((bh * tl.num_programs(0) + i) * D + d[:, None]) * DV + dv[None, :])
    s = tl.dot(q, k.T, input_precision="ieee")
    causal = t[:, None] >= t[None, :]
    s = tl.where(causal, s * tl.exp(tl.where(causal, cum[:, None] - cum[None, :], 0.0)), 0.0)
    o = tl.dot(q, state.to(q.dtype), input_precision="ieee") * tl.exp(cum)[:, None]
    o = tl.dot(s.to(v.dtype), v, o, input_precision="ieee")
    tl.store(o_ptr + (bh * T + rows)[:, None] * DV + dv[None, :], o * scale, mask=live[:, None])


def retention(q, k, v, log_decay, chunk=32, slice_v=32):
    """q, k [B, H, T, D], v [B, H, T, DV] contiguous, log_decay [H]."""
    b, h, t, d = q.shape
    width = v.shape[-1]
    o = torch.empty_like(v)
    _retention_chunk[(width // slice_v, b * h)](
        q, k, v, o, log_decay, t, h, d**-0.5, D=d, DV=slice_v, C=chunk, num_warps=4
    )
    return o


def gated_linear_attention(q, k, v, log_gates, chunk=32):
    """log_gates [B, H, T]: S_t = exp(g_t) S_(t-1) + k_t^T v_t, o_t = q_t S_t / sqrt(D)."""
    b, h, t, d = q.shape
    width = v.shape[-1]
    chunks = triton.cdiv(t, chunk)
    cum = torch.empty(b, h, t, dtype=torch.float32, device=q.device)
    states = torch.empty(b, h, chunks, d, width, dtype=torch.float32, device=q.device)
    o = torch.empty_like(v)
    _chunk_decay[(chunks, b * h)](log_gates, cum, t, C=chunk)
    _chunk_states[(b * h,)](k, v, cum, states, t, D=d, DV=width, C=chunk)
    _chunk_outputs[(chunks, b * h)](q, k, v, cum, states, o, t, d**-0.5, D=d, DV=width, C=chunk)
    return o
