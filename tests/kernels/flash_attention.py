"""Flash attention over [B, H, T, D]: causal masks, grouped heads, log-sum-exp; forward and backward."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(acc, l_i, m_i, q, k_ptrs, v_ptrs, k_stride, v_stride, lo, hi, rows, shift, t_k, scale,
            MASKED: tl.constexpr, BLOCK_N: tl.constexpr):  # fmt: skip
    """Keys lo .. hi; masked: key <= row + shift and key < t_k."""
    for start in tl.range(lo, hi, BLOCK_N):
        start = tl.multiple_of(start, BLOCK_N)
        cols = start + tl.arange(0, BLOCK_N)
        if MASKED:
            k = tl.load(k_ptrs + start * k_stride, mask=cols[None, :] < t_k, other=0.0)
            v = tl.load(v_ptrs + start * v_stride, mask=cols[:, None] < t_k, other=0.0)
        else:
            k = tl.load(k_ptrs + start * k_stride)
            v = tl.load(v_ptrs + start * v_stride)
        s = tl.dot(q, k, input_precision="ieee") * scale
        if MASKED:
            s = tl.where((cols[None, :] <= rows[:, None] + shift) & (cols[None, :] < t_k), s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        m_safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.math.exp2(s - m_safe[:, None])
        alpha = tl.math.exp2(m_i - m_safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m_i = m_new
    return acc, l_i, m_i


@triton.jit
def _flash_fwd(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, sm_scale,
    stride_qb, stride_qh, stride_qt, stride_kb, stride_kh, stride_kt,
    stride_vb, stride_vh, stride_vt, stride_ob, stride_oh, stride_ot,
    heads, group, t_q, t_k,
    D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(0)
    b = (tl.program_id(1) // heads).to(tl.int64)
    h = (tl.program_id(1) % heads).to(tl.int64)
    kv = h // group
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    n = tl.arange(0, BLOCK_N)
    q = tl.load(
        q_ptr + b * stride_qb + h * stride_qh + rows[:, None] * stride_qt + d[None, :],
        mask=rows[:, None] < t_q,
        other=0.0,
    )
    k_ptrs = k_ptr + b * stride_kb + kv * stride_kh + n[None, :] * stride_kt + d[:, None]
    v_ptrs = v_ptr + b * stride_vb + kv * stride_vh + n[:, None] * stride_vt + d[None, :]
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504089
    shift = t_k - t_q if CAUSAL else t_k
    end = t_k
    full = t_k // BLOCK_N * BLOCK_N
    if CAUSAL:
        end = tl.maximum(tl.minimum(t_k, pid_m * BLOCK_M + BLOCK_M + shift), 0)
        full = tl.maximum(tl.minimum(full, (pid_m * BLOCK_M + shift + 1) // BLOCK_N * BLOCK_N), 0)
    acc, l_i, m_i = _attend(acc, l_i, m_i, q, k_ptrs, v_ptrs, stride_kt, stride_vt, 0, full, rows, shift, t_k, scale,
                            False, BLOCK_N)  # fmt: skip
    acc, l_i, m_i = _attend(acc, l_i, m_i, q, k_ptrs, v_ptrs, stride_kt, stride_vt, full, end, rows, shift, t_k, scale,
                            True, BLOCK_N)  # fmt: skip
    l_safe = tl.where(l_i == 0.0, 1.0, l_i)
    acc = acc / l_safe[:, None]
    o_ptrs = o_ptr + b * stride_ob + h * stride_oh + rows[:, None] * stride_ot + d[None, :]
    tl.store(o_ptrs, acc.to(o_ptr.type.element_ty), mask=rows[:, None] < t_q)
    tl.store(lse_ptr + tl.program_id(1) * t_q + rows, m_i + tl.math.log2(l_safe), mask=rows < t_q)


@triton.jit
def _delta(o_ptr, do_ptr, delta_ptr, t_q, D: tl.constexpr, BLOCK_M: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs = (tl.program_id(1) * t_q + rows)[:, None] * D + tl.arange(0, D)[None, :]
    mask = rows[:, None] < t_q
    o = tl.load(o_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(delta_ptr + tl.program_id(1) * t_q + rows, tl.sum(o * do, axis=1), mask=rows < t_q)


@triton.jit
def _flash_bwd_dkdv(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, sm_scale, heads, group, t_q, t_k,
    D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # One program a block of keys and kv head: sums over the query heads of its group.
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    kv = tl.program_id(1)
    d = tl.arange(0, D)
    kv_offs = (kv * t_k + cols)[:, None] * D + d[None, :]
    k = tl.load(k_ptr + kv_offs, mask=cols[:, None] < t_k, other=0.0)
    v = tl.load(v_ptr + kv_offs, mask=cols[:, None] < t_k, other=0.0)
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504089
    shift = t_k - t_q
    first = 0
    if CAUSAL:
        first = tl.maximum(tl.program_id(0) * BLOCK_N - shift, 0) // BLOCK_M * BLOCK_M
    for g in range(group):
        head = kv * group + g
        for start in range(first, t_q, BLOCK_M):
            rows = start + tl.arange(0, BLOCK_M)
            live = rows < t_q
            offs = (head * t_q + rows)[:, None] * D + d[None, :]
            q = tl.load(q_ptr + offs, mask=live[:, None], other=0.0)
            do = tl.load(do_ptr + offs, mask=live[:, None], other=0.0)
            lse = tl.load(lse_ptr + head * t_q + rows, mask=live, other=float("inf"))
            delta = tl.load(delta_ptr + head * t_q + rows, mask=live, other=0.0)
            st = tl.dot(k, tl.trans(q), input_precision="ieee") * scale
            pt = tl.math.exp2(st - lse[None, :])
            if CAUSAL:
                pt = tl.where(cols[:, None] <= rows[None, :] + shift, pt, 0.0)
            dv = tl.dot(pt.to(do.dtype), do, dv, input_precision="ieee")
            dpt = tl.dot(v, tl.trans(do), input_precision="ieee")
            dst = pt * (dpt - delta[None, :])
            dk = tl.dot(dst.to(q.dtype), q, dk, input_precision="ieee")
    tl.store(dv_ptr + kv_offs, dv, mask=cols[:, None] < t_k)
    tl.store(dk_ptr + kv_offs, dk * sm_scale, mask=cols[:, None] < t_k)


@triton.jit
def _flash_bwd_dq(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, sm_scale, heads, group, t_q, t_k,
    D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1)
    kv = head // group
    d = tl.arange(0, D)
    live = rows < t_q
    offs = (head * t_q + rows)[:, None] * D + d[None, :]
    q = tl.load(q_ptr + offs, mask=live[:, None], other=0.0)
    do = tl.load(do_ptr + offs, mask=live[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * t_q + rows, mask=live, other=float("inf"))
    delta = tl.load(delta_ptr + head * t_q + rows, mask=live, other=0.0)
    dq = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504089
    shift = t_k - t_q
    end = t_k
    if CAUSAL:
        end = tl.minimum(t_k, tl.program_id(0) * BLOCK_M + BLOCK_M + shift)
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        kv_offs = (kv * t_k + cols)[:, None] * D + d[None, :]
        k = tl.load(k_ptr + kv_offs, mask=cols[:, None] < t_k, other=0.0)
        v = tl.load(v_ptr + kv_offs, mask=cols[:, None] < t_k, other=0.0)
        s = tl.dot(q, k.T, input_precision="ieee") * scale
        p = tl.math.exp2(s - lse[:, None])
        live_cols = cols[None, :] < t_k
        if CAUSAL:
            live_cols = live_cols & (cols[None, :] <= rows[:, None] + shift)
        p = tl.where(live_cols, p, 0.0)
        dp = tl.dot(do, v.T, input_precision="ieee")
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    tl.store(dq_ptr + offs, dq * sm_scale, mask=live[:, None])


def flash_attention(q, k, v, causal=False, scale=None, block_m=64, block_n=32):
    """q [B, H, Tq, D], k, v [B, H / group, Tk, D], D a power of two: (output, log2-sum-exp2 [B, H, Tq]).

    Causal masks are aligned at the last query and key. Rows of the last dimension are contiguous.
    """
    b, h, t_q, d = q.shape
    o = torch.empty_like(q)
    lse = torch.empty(b, h, t_q, dtype=torch.float32, device=q.device)
    _flash_fwd[(triton.cdiv(t_q, block_m), b * h)](
        q, k, v, o, lse, scale or d**-0.5, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
        h, h // k.shape[1], t_q, k.shape[2], D=d, CAUSAL=causal, BLOCK_M=block_m, BLOCK_N=block_n,
        num_warps=4, num_stages=2,
    )  # fmt: skip
    return o, lse


def flash_attention_backward(do, q, k, v, o, lse, causal=False, scale=None, block_m=32, block_n=32):
    """Gradients of contiguous q, k, v."""
    b, h, t_q, d = q.shape
    kv_heads, t_k = k.shape[1], k.shape[2]
    scale = scale or d**-0.5
    delta = torch.empty_like(lse)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    _delta[(triton.cdiv(t_q, block_m), b * h)](o, do, delta, t_q, D=d, BLOCK_M=block_m)
    sizes = (scale, h, h // kv_heads, t_q, t_k)
    blocks = dict(D=d, CAUSAL=causal, BLOCK_M=block_m, BLOCK_N=block_n)
    _flash_bwd_dkdv[(triton.cdiv(t_k, block_n), b * kv_heads)](q, k, v, do, lse, delta, dk, dv, *sizes, **blocks)
    _flash_bwd_dq[(triton.cdiv(t_q, block_m), b * h)](q, k, v, do, lse, delta, dq, *sizes, **blocks)
    return dq, dk, dv
