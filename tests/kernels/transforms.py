"""Layout and transforms: batched transpose, permuted copies, Hadamard and Fourier transforms, triangular packing."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def _transpose(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    base = tl.program_id(2).to(tl.int64) * M * N
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + base + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(y_ptr + base + n[:, None] * M + m[None, :], tl.trans(x), mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def _heads_first(x_ptr, y_ptr, T, H: tl.constexpr, D: tl.constexpr, BLOCK_T: tl.constexpr):
    # [B, T, H, D] to [B, H, T, D] by a permute of rank 3.
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    b = tl.program_id(1)
    h = tl.arange(0, H)
    d = tl.arange(0, D)
    x = tl.load(
        x_ptr + ((b * T + t)[:, None, None] * H + h[None, :, None]) * D + d[None, None, :], mask=t[:, None, None] < T
    )
    y = tl.permute(x, (1, 0, 2))
    tl.store(
        y_ptr + ((b * H + h)[:, None, None] * T + t[None, :, None]) * D + d[None, None, :], y, mask=t[None, :, None] < T
    )


@triton.jit
def _hadamard(x_ptr, y_ptr, scale, N: tl.constexpr, LOG2_N: tl.constexpr):
    # Butterflies of growing width: pairs (a, b) become (a + b, a - b).
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i).to(tl.float32)
    for step in tl.static_range(LOG2_N):
        x = tl.reshape(x, (N >> (step + 1), 2, 1 << step))
        a, b = tl.split(tl.permute(x, (0, 2, 1)))
        x = tl.permute(tl.join(a + b, a - b), (0, 2, 1))
    tl.store(y_ptr + row * N + i, tl.reshape(x, (N,)) * scale)


@triton.jit
def _butterflies(re, im, sign, N: tl.constexpr, HALF: tl.constexpr):
    angle = sign * 3.141592653589793 / HALF * tl.arange(0, HALF).to(tl.float32)
    wr = tl.cos(angle)[None, :]
    wi = tl.sin(angle)[None, :]
    re_even, re_odd = tl.split(tl.permute(tl.reshape(re, (N // (2 * HALF), 2, HALF)), (0, 2, 1)))
    im_even, im_odd = tl.split(tl.permute(tl.reshape(im, (N // (2 * HALF), 2, HALF)), (0, 2, 1)))
    tr = re_odd * wr - im_odd * wi
    ti = re_odd * wi + im_odd * wr
    re = tl.reshape(tl.permute(tl.join(re_even + tr, re_even - tr), (0, 2, 1)), (N,))
    im = tl.reshape(tl.permute(tl.join(im_even + ti, im_even - ti), (0, 2, 1)), (N,))
    return re, im


@triton.jit
def _fft(re_ptr, im_ptr, out_re_ptr, out_im_ptr, sign, N: tl.constexpr, LOG2_N: tl.constexpr):
    # Radix 2, decimation in time: the input in the order of reversed bits, then LOG2_N rounds of butterflies.
    row = tl.program_id(0)
    i = tl.arange(0, N)
    reversed_bits = i * 0
    for bit in tl.static_range(LOG2_N):
        reversed_bits |= ((i >> bit) & 1) << (LOG2_N - 1 - bit)
    re = tl.load(re_ptr + row * N + reversed_bits)
    im = tl.load(im_ptr + row * N + reversed_bits)
    for step in tl.static_range(LOG2_N):
        re, im = _butterflies(re, im, sign, N, 1 << step)
    tl.store(out_re_ptr + row * N + i, re)
    tl.store(out_im_ptr + row * N + i, im)


@triton.jit
def _pack_lower(x_ptr, packed_ptr, n, BLOCK: tl.constexpr):
    # The lower triangle, row after row: row r begins at r (r + 1) / 2.
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (r < n) & (c <= r)
    x = tl.load(x_ptr + r * n + c, mask=mask)
    tl.store(packed_ptr + r * (r + 1) // 2 + c, x, mask=mask)


def transpose(x, block_m=32, block_n=64):
    """[B, M, N] to [B, N, M]."""
    b, m, n = x.shape
    y = torch.empty(b, n, m, dtype=x.dtype, device=x.device)
    _transpose[(triton.cdiv(m, block_m), triton.cdiv(n, block_n), b)](x, y, m, n, BLOCK_M=block_m, BLOCK_N=block_n)
    return y


def heads_first(x, block=16):
    """[B, T, H, D] to [B, H, T, D]; H and D powers of two."""
    b, t, h, d = x.shape
    y = torch.empty(b, h, t, d, dtype=x.dtype, device=x.device)
    _heads_first[(triton.cdiv(t, block), b)](x, y, t, H=h, D=d, BLOCK_T=block)
    return y


def hadamard(x):
    """Orthonormal Walsh-Hadamard transform of the rows; a power of two long."""
    n = x.shape[1]
    y = torch.empty_like(x)
    _hadamard[(x.shape[0],)](x, y, 1 / math.sqrt(n), N=n, LOG2_N=n.bit_length() - 1)
    return y


def fft(re, im, inverse=False):
    """Fourier transform of the rows (unscaled); a power of two long, at least 2."""
    n = re.shape[1]
    out_re, out_im = torch.empty_like(re), torch.empty_like(im)
    _fft[(re.shape[0],)](re, im, out_re, out_im, 1.0 if inverse else -1.0, N=n, LOG2_N=n.bit_length() - 1)
    return out_re, out_im


def pack_lower(x, block=16):
    """The n (n + 1) / 2 elements of the lower triangle of a square matrix."""
    n = x.shape[0]
    packed = torch.empty(n * (n + 1) // 2, dtype=x.dtype, device=x.device)
    _pack_lower[(triton.cdiv(n, block), triton.cdiv(n, block))](x, packed, n, BLOCK=block)
    return packed
