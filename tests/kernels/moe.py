"""Mixture of experts: top-k gate, alignment of tokens by expert, the experts' product, and the weighted sum back."""

import torch
import triton
import triton.language as tl


@triton.jit
def _topk_gate(logits_ptr, weight_ptr, index_ptr, n_tokens, E: tl.constexpr, TOPK: tl.constexpr, RENORM: tl.constexpr,
               PAD_E: tl.constexpr, BLOCK_T: tl.constexpr):  # fmt: skip
    # Softmax over experts, then TOPK rounds of argmax. Ties go to the lower expert.
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    e = tl.arange(0, PAD_E)
    live = t < n_tokens
    x = tl.load(logits_ptr + t[:, None] * E + e[None, :], mask=live[:, None] & (e[None, :] < E), other=float("-inf"))
    x = tl.where(live[:, None], x.to(tl.float32), 0.0)
    p = tl.exp(x - tl.max(x, axis=1)[:, None])
    p = p / tl.sum(p, axis=1)[:, None]
    left = tl.where(e[None, :] < E, p, -1.0)
    total = tl.zeros([BLOCK_T], tl.float32)
    for i in tl.static_range(TOPK):
        best, at = tl.max(left, axis=1, return_indices=True)
        total += best
        tl.store(weight_ptr + t * TOPK + i, best, mask=live)
        tl.store(index_ptr + t * TOPK + i, at, mask=live)
        left = tl.where(e[None, :] == at[:, None], -1.0, left)
    if RENORM:
        tl.debug_barrier()
        for i in tl.static_range(TOPK):
            w = tl.load(weight_ptr + t * TOPK + i, mask=live, other=0.0)
            tl.store(weight_ptr + t * TOPK + i, w / total, mask=live)


@triton.jit
def _count(experts_ptr, counts_ptr, n, PER_PROGRAM: tl.constexpr, E: tl.constexpr):
    # counts [programs, E] of each program's part of the assignments.
    pid = tl.program_id(0)
    offs = pid * PER_PROGRAM + tl.arange(0, PER_PROGRAM)
    expert = tl.load(experts_ptr + offs, mask=offs < n, other=0)
    counts = tl.histogram(expert, E, mask=offs < n)
    tl.store(counts_ptr + pid * E + tl.arange(0, E), counts)


@triton.jit
def _offsets(counts_ptr, starts_ptr, block_expert_ptr, programs, BLOCK: tl.constexpr, E: tl.constexpr):
    # One program: where each expert's padded run begins, each part's place in it, the expert of each block of rows.
    e = tl.arange(0, E)
    total = tl.zeros([E], tl.int32)
    for i in range(programs):
        c = tl.load(counts_ptr + i * E + e)
        tl.store(counts_ptr + i * E + e, total)
        total += c
    padded = tl.cdiv(total, BLOCK) * BLOCK
    end = tl.cumsum(padded, axis=0)
    tl.store(starts_ptr + e, end - padded)
    tl.store(starts_ptr + E, tl.max(end, axis=0))
    tl.debug_barrier()
    for expert in range(E):
        first = tl.load(starts_ptr + expert) // BLOCK
        last = tl.load(starts_ptr + expert + 1) // BLOCK
        for block in range(first, last):
            tl.store(block_expert_ptr + block, expert)


@triton.jit
def _place(experts_ptr, counts_ptr, starts_ptr, sorted_ptr, n, PER_PROGRAM: tl.constexpr, E: tl.constexpr):
    # A stable sort: the rank of an assignment among the equal ones before it, by a comparison of all pairs.
    pid = tl.program_id(0)
    i = tl.arange(0, PER_PROGRAM)
    offs = pid * PER_PROGRAM + i
    expert = tl.load(experts_ptr + offs, mask=offs < n, other=-1)
    same = (expert[:, None] == expert[None, :]) & (i[None, :] < i[:, None])
    rank = tl.sum(same.to(tl.int32), axis=1)
    live = offs < n
    base = tl.load(starts_ptr + expert, mask=live, other=0) + tl.load(counts_ptr + pid * E + expert, mask=live, other=0)
    tl.store(sorted_ptr + base + rank, offs, mask=live)


@triton.jit
def _expert_matmul(
    x_ptr, w_ptr, y_ptr, sorted_ptr, block_expert_ptr, starts_ptr, weight_ptr, n_assigned, N, K,
    TOPK: tl.constexpr, E: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # Rows of x gathered by the sorted assignments, times the transposed weights [E, N, K] of the block's expert.
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    if pid_m * BM >= tl.load(starts_ptr + E):
        return
    assigned = tl.load(sorted_ptr + pid_m * BM + tl.arange(0, BM))
    live = assigned < n_assigned
    expert = tl.load(block_expert_ptr + pid_m).to(tl.int64)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = x_ptr + (assigned[:, None] // TOPK) * K + rk[None, :]
    b_ptrs = w_ptr + expert * N * K + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=live[:, None] & (rk[None, :] < K - k * BK), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < K - k * BK) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BK
        b_ptrs += BK
    acc *= tl.load(weight_ptr + assigned, mask=live, other=0.0)[:, None]
    tl.store(y_ptr + assigned[:, None] * N + rn[None, :], acc, mask=live[:, None] & (rn[None, :] < N))


@triton.jit
def _sum_topk(y_ptr, out_ptr, N, TOPK: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for i in tl.static_range(TOPK):
        acc += tl.load(y_ptr + (token * TOPK + i) * N + cols, mask=cols < N, other=0.0)
    tl.store(out_ptr + token * N + cols, acc, mask=cols < N)


def topk_gate(logits, k, renormalise=True, block=16):
    """logits [tokens, E]: (softmax weights of the k best experts fp32 [tokens, k], experts int32 [tokens, k])."""
    tokens, experts = logits.shape
    weights = torch.empty(tokens, k, dtype=torch.float32, device=logits.device)
    index = torch.empty(tokens, k, dtype=torch.int32, device=logits.device)
    _topk_gate[(triton.cdiv(tokens, block),)](
        logits, weights, index, tokens, E=experts, TOPK=k, RENORM=renormalise,
        PAD_E=triton.next_power_of_2(experts), BLOCK_T=block,
    )  # fmt: skip
    return weights, index


def align_by_expert(index, experts, block, per_program=32):
    """index int32 [tokens, k]; experts a power of two.

    Returns (assignments sorted by expert, each expert's run padded to `block` with the number of assignments; expert of
    each block; start of each run and the end of the last, int32 [experts + 1]).
    """
    n = index.numel()
    room = (triton.cdiv(n, block) + experts) * block
    programs = triton.cdiv(n, per_program)
    counts = torch.empty(programs, experts, dtype=torch.int32, device=index.device)
    starts = torch.empty(experts + 1, dtype=torch.int32, device=index.device)
    order = torch.full((room,), n, dtype=torch.int32, device=index.device)
    block_expert = torch.full((room // block,), -1, dtype=torch.int32, device=index.device)
    _count[(programs,)](index, counts, n, PER_PROGRAM=per_program, E=experts)
    _offsets[(1,)](counts, starts, block_expert, programs, BLOCK=block, E=experts)
    _place[(programs,)](index, counts, starts, order, n, PER_PROGRAM=per_program, E=experts)
    return order, block_expert, starts


def moe_layer(x, w, logits, k, block=16, bn=32, bk=32):
    """x [tokens, K] through the k best of the experts w [E, N, K], weighted by the gate."""
    experts, n, width = w.shape
    weights, index = topk_gate(logits, k)
    order, block_expert, starts = align_by_expert(index, experts, block)
    y = torch.empty(index.numel(), n, dtype=torch.float32, device=x.device)
    _expert_matmul[(len(block_expert), triton.cdiv(n, bn))](
        x, w, y, order, block_expert, starts, weights, index.numel(), n, width,
        TOPK=k, E=experts, BM=block, BN=bn, BK=bk,
    )  # fmt: skip
    out = torch.empty(x.shape[0], n, dtype=x.dtype, device=x.device)
    _sum_topk[(x.shape[0], triton.cdiv(n, 256))](y, out, n, TOPK=k, BLOCK=256)
    return out
