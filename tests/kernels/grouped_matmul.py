"""Products beyond one dense pair: groups behind a table of addresses, stream-K, batched, LoRA."""

import torch
import triton
import triton.language as tl


@triton.jit
def _grouped(
    a_addresses, b_addresses, c_addresses, sizes_ptr, strides_ptr, groups,
    PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # Programs take tiles in turns over all products; sizes [groups, 3] m, n, k; strides [groups, 3] rows of a, b, c.
    tile = tl.program_id(0)
    last_end = 0
    for g in range(groups):
        m = tl.load(sizes_ptr + g * 3)
        n = tl.load(sizes_ptr + g * 3 + 1)
        k = tl.load(sizes_ptr + g * 3 + 2)
        num_n = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * num_n
        while tile >= last_end and tile < last_end + tiles:
            lda = tl.load(strides_ptr + g * 3)
            ldb = tl.load(strides_ptr + g * 3 + 1)
            ldc = tl.load(strides_ptr + g * 3 + 2)
            a_ptr = tl.load(a_addresses + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_addresses + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_addresses + g).to(tl.pointer_type(tl.float16))
            here = tile - last_end
            rm = here // num_n * BM + tl.arange(0, BM)
            rn = here % num_n * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for kk in range(0, k, BK):
                rk = kk + tl.arange(0, BK)
                a = tl.load(
                    a_ptr + rm[:, None] * lda + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0
                )
                b = tl.load(
                    b_ptr + rk[:, None] * ldb + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0
                )
                acc += tl.dot(a, b)
            mask = (rm[:, None] < m) & (rn[None, :] < n)
            tl.store(c_ptr + rm[:, None] * ldc + rn[None, :], acc.to(tl.float16), mask=mask)
            tile += PROGRAMS
        last_end = last_end + tiles


@triton.jit
def _partial_tile(a_ptr, b_ptr, M, N, K, tile, k_begin, k_end, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    num_n = tl.cdiv(N, BN)
    rm = tile // num_n * BM + tl.arange(0, BM)
    rn = tile % num_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(k_begin, k_end):
        rk = i * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    return acc, rm, rn


@triton.jit
def _stream_k(
    a_ptr, b_ptr, c_ptr, partial_ptr, flag_ptr, M, N, K, PROGRAMS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # All k-steps of all tiles in one line, cut into PROGRAMS equal pieces. Whoever has a tile's first step finishes the
    # tile: it waits for the pieces that the following programs leave in `partial`.
    pid = tl.program_id(0)
    per_tile = tl.cdiv(K, BK)
    total = tl.cdiv(M, BM) * tl.cdiv(N, BN) * per_tile
    per_program = tl.cdiv(total, PROGRAMS)
    at = tl.minimum(pid * per_program, total)
    end = tl.minimum(at + per_program, total)
    offs = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    while at < end:
        tile = at // per_tile
        tile_end = (tile + 1) * per_tile
        stop = tl.minimum(tile_end, end)
        k_begin = at - tile * per_tile
        acc, rm, rn = _partial_tile(a_ptr, b_ptr, M, N, K, tile, k_begin, stop - tile * per_tile, BM, BN, BK)
        if k_begin != 0:
            tl.store(partial_ptr + pid * BM * BN + offs, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flag_ptr + pid, 1, sem="release")
        else:
            helper = pid + 1
            covered = stop
            while covered < tile_end:
                while tl.atomic_add(flag_ptr + helper, 0, sem="acquire") == 0:
                    pass
                acc += tl.load(partial_ptr + helper * BM * BN + offs)
                covered += per_program
                helper += 1
            tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
        at = stop


@triton.jit
def _lora(
    x_ptr, w_ptr, a_ptr, b_ptr, y_ptr, M, N, K, scale, R: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # y = x w^T + scale (x a^T) b^T in one pass over x; w [N, K], a [R, K], b [N, R].
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rr = tl.arange(0, R)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    low = tl.zeros((BM, R), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        in_k = rk < K
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & in_k[None, :], other=0.0)
        w = tl.load(w_ptr + rn[None, :] * K + rk[:, None], mask=(rn[None, :] < N) & in_k[:, None], other=0.0)
        a = tl.load(a_ptr + rr[None, :] * K + rk[:, None], mask=in_k[:, None], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        low = tl.dot(x, a, low, input_precision="ieee")
    b = tl.load(b_ptr + rn[None, :] * R + rr[:, None], mask=rn[None, :] < N, other=0.0)
    acc += tl.dot(low.to(b.dtype), b, input_precision="ieee") * scale
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def _batched(a_ptr, b_ptr, c_ptr, B, M, N, K, BB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # BB products a program, by dots of rank 3.
    rb = (tl.program_id(2) * BB + tl.arange(0, BB))[:, None, None]
    rm = (tl.program_id(0) * BM + tl.arange(0, BM))[None, :, None]
    rn = (tl.program_id(1) * BN + tl.arange(0, BN))[None, None, :]
    acc = tl.zeros((BB, BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + (rb * M + rm) * K + rk[None, None, :], mask=(rb < B) & (rm < M) & (rk < K)[None, None, :], other=0.0
        )
        b = tl.load(
            b_ptr + (rb * K + rk[None, :, None]) * N + rn, mask=(rb < B) & (rk < K)[None, :, None] & (rn < N), other=0.0
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + (rb * M + rm) * N + rn, acc, mask=(rb < B) & (rm < M) & (rn < N))


def grouped_matmul(pairs, programs=4, bm=32, bn=32, bk=32):
    """Products of (a, b) pairs of row-major fp16 matrices of different sizes by one launch."""
    device = pairs[0][0].device
    outs = [torch.empty(a.shape[0], b.shape[1], dtype=torch.float16, device=device) for a, b in pairs]
    tables = [
        torch.tensor([t.data_ptr() for t in row], device=device)
        for row in ([a for a, _ in pairs], [b for _, b in pairs], outs)
    ]
    sizes = torch.tensor([[*a.shape, b.shape[1]] for a, b in pairs], dtype=torch.int32, device=device)[:, [0, 2, 1]]
    strides = torch.tensor([[a.stride(0), b.stride(0), c.stride(0)] for (a, b), c in zip(pairs, outs)])
    _grouped[(programs,)](
        *tables, sizes.contiguous(), strides.to(torch.int32).to(device), len(pairs),
        PROGRAMS=programs, BM=bm, BN=bn, BK=bk,
    )  # fmt: skip
    return outs


def stream_k_matmul(a, b, programs=7, bm=32, bn=32, bk=32):
    """Every program does the same number of k-steps, whatever the number of tiles."""
    m, k, n = *a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=torch.float32, device=a.device)
    partial = torch.empty(programs, bm, bn, dtype=torch.float32, device=a.device)
    flags = torch.zeros(programs, dtype=torch.int32, device=a.device)
    _stream_k[(programs,)](a, b, c, partial, flags, m, n, k, PROGRAMS=programs, BM=bm, BN=bn, BK=bk)
    return c


def lora_matmul(x, w, a, b, scale, bm=32, bn=32, bk=32):
    """x [M, K], w [N, K], a [R, K], b [N, R]: x w^T + scale (x a^T) b^T."""
    m, k, n = *x.shape, w.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    _lora[(triton.cdiv(m, bm), triton.cdiv(n, bn))](x, w, a, b, y, m, n, k, scale, R=a.shape[0], BM=bm, BN=bn, BK=bk)
    return y


def batched_matmul(a, b, bb=2, bm=16, bn=16, bk=16):
    """a [B, M, K] @ b [B, K, N]."""
    batch, m, k = a.shape
    n = b.shape[2]
    c = torch.empty(batch, m, n, dtype=a.dtype, device=a.device)
    _batched[(triton.cdiv(m, bm), triton.cdiv(n, bn), triton.cdiv(batch, bb))](
        a, b, c, batch, m, n, k, BB=bb, BM=bm, BN=bn, BK=bk
    )
    return c
