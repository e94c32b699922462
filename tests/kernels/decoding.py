"""Attention of one new token: over paged caches with block tables, and split over the keys with a reducing kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def _paged_attention(
    out_ptr, q_ptr, k_cache_ptr, v_cache_ptr, block_tables_ptr, seq_lens_ptr, scale, max_blocks,
    stride_q_seq, stride_cache_block, stride_cache_head, stride_cache_slot,
    GROUP: tl.constexpr, PAD_GROUP: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    # One program a sequence and kv head; caches [blocks, kv heads, PAGE, D].
    seq = tl.program_id(0)
    kv_head = tl.program_id(1)
    seq_len = tl.load(seq_lens_ptr + seq)
    if seq_len == 0:
        return
    g = tl.arange(0, PAD_GROUP)
    d = tl.arange(0, D)
    slot = tl.arange(0, PAGE)
    q_offs = seq * stride_q_seq + (kv_head * GROUP + g)[:, None] * D + d[None, :]
    q = tl.load(q_ptr + q_offs, mask=g[:, None] < GROUP, other=0.0)
    q = (q.to(tl.float32) * scale).to(q.dtype)
    m = tl.full([PAD_GROUP], -float("inf"), tl.float32)
    total = tl.zeros([PAD_GROUP], tl.float32)
    acc = tl.zeros([PAD_GROUP, D], tl.float32)
    for page in range(0, tl.cdiv(seq_len, PAGE)):
        block = tl.load(block_tables_ptr + seq * max_blocks + page).to(tl.int64)
        base = block * stride_cache_block + kv_head * stride_cache_head
        offs = base + slot[:, None] * stride_cache_slot + d[None, :]
        live = page * PAGE + slot < seq_len
        k = tl.load(k_cache_ptr + offs, mask=live[:, None], other=0.0)
        v = tl.load(v_cache_ptr + offs, mask=live[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee")
        s = tl.where(live[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m - m_new)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        total = total * alpha + tl.sum(p, axis=1)
        m = m_new
    tl.store(out_ptr + q_offs, acc / total[:, None], mask=g[:, None] < GROUP)


@triton.jit
def _split_stage1(
    q_ptr, k_ptr, v_ptr, partial_ptr, lse_ptr, seq_lens_ptr, scale,
    stride_qb, stride_kb, stride_kt, stride_kh, GROUP: tl.constexpr, SPLITS: tl.constexpr,
    D: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # No dot: one query head a program, scores by multiplying and summing. Caches [B, T, kv heads, D].
    b = tl.program_id(0)
    head = tl.program_id(1)
    split = tl.program_id(2)
    kv = head // GROUP
    seq_len = tl.load(seq_lens_ptr + b)
    per_split = tl.cdiv(seq_len, SPLITS)
    start = split * per_split
    end = tl.minimum(start + per_split, seq_len)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * stride_qb + head * D + d).to(tl.float32)
    m = float("-inf")
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for n in range(start, end, BLOCK_N):
        cols = n + tl.arange(0, BLOCK_N)
        offs = b * stride_kb + cols[:, None] * stride_kt + kv * stride_kh + d[None, :]
        k = tl.load(k_ptr + offs, mask=cols[:, None] < end, other=0.0)
        s = tl.sum(q[None, :] * k, 1) * scale
        s = tl.where(cols < end, s, float("-inf"))
        m_new = tl.maximum(tl.max(s, 0), m)
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        v = tl.load(v_ptr + offs, mask=cols[:, None] < end, other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        total = total * alpha + tl.sum(p, 0)
        m = m_new
    at = (b * tl.num_programs(1) + head) * SPLITS + split
    if end > start:
        tl.store(partial_ptr + at * D + d, acc / total)
        tl.store(lse_ptr + at, m + tl.log(total))
    else:
        tl.store(lse_ptr + at, float("-inf"))


@triton.jit
def _split_stage2(partial_ptr, lse_ptr, out_ptr, SPLITS: tl.constexpr, D: tl.constexpr):
    at = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    d = tl.arange(0, D)
    total = 0.0
    m = -float("inf")
    acc = tl.zeros([D], dtype=tl.float32)
    for split in tl.static_range(SPLITS):
        lse = tl.load(lse_ptr + at * SPLITS + split)
        if lse > float("-inf"):
            value = tl.load(partial_ptr + (at * SPLITS + split) * D + d)
            m_new = tl.maximum(lse, m)
            alpha = tl.exp(m - m_new)
            weight = tl.exp(lse - m_new)
            acc = acc * alpha + weight * value
            total = total * alpha + weight
            m = m_new
    tl.store(out_ptr + at * D + d, acc / total)


@triton.jit
def _reshape_and_cache(k_ptr, v_ptr, k_cache_ptr, v_cache_ptr, slot_mapping_ptr, heads: tl.constexpr, D: tl.constexpr,
                       PAGE: tl.constexpr):  # fmt: skip
    # Writes each token's keys and values into its slot of the paged caches; slot -1: none.
    token = tl.program_id(0)
    slot = tl.load(slot_mapping_ptr + token)
    if slot < 0:
        return
    page = slot // PAGE
    within = slot % PAGE
    d = tl.arange(0, D)
    for h in tl.static_range(heads):
        to = ((page * heads + h) * PAGE + within) * D + d
        tl.store(k_cache_ptr + to, tl.load(k_ptr + (token * heads + h) * D + d))
        tl.store(v_cache_ptr + to, tl.load(v_ptr + (token * heads + h) * D + d))


def paged_attention(q, k_cache, v_cache, block_tables, seq_lens, scale=None):
    """q [seqs, H, D], caches [blocks, kv heads, page, D], block_tables int32 [seqs, max blocks], seq_lens int32."""
    seqs, heads, d = q.shape
    _, kv_heads, page, _ = k_cache.shape
    group = heads // kv_heads
    out = torch.zeros_like(q)
    _paged_attention[(seqs, kv_heads)](
        out, q, k_cache, v_cache, block_tables, seq_lens, scale or d**-0.5, block_tables.shape[1],
        q.stride(0), *k_cache.stride()[:3], GROUP=group,
        PAD_GROUP=max(16, triton.next_power_of_2(group)), D=d, PAGE=page,
    )  # fmt: skip
    return out


def split_kv_attention(q, k, v, seq_lens, splits=4, scale=None, block_n=32):
    """q [B, H, D], k, v [B, T, kv heads, D]; the keys of each sequence are shared out among `splits` programs."""
    b, h, d = q.shape
    partial = torch.empty(b, h, splits, d, dtype=torch.float32, device=q.device)
    lse = torch.empty(b, h, splits, dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    _split_stage1[(b, h, splits)](
        q, k, v, partial, lse, seq_lens, scale or d**-0.5, q.stride(0), *k.stride()[:3],
        GROUP=h // k.shape[2], SPLITS=splits, D=d, BLOCK_N=block_n,
    )  # fmt: skip
    _split_stage2[(b, h)](partial, lse, out, SPLITS=splits, D=d)
    return out


def reshape_and_cache_(k, v, k_cache, v_cache, slots):
    """k, v [tokens, heads, D] into the slots (int64, -1: skip) of paged caches."""
    tokens, heads, d = k.shape
    _reshape_and_cache[(tokens,)](k, v, k_cache, v_cache, slots, heads, D=d, PAGE=k_cache.shape[2])
