"""A tile that changes hands: what one warp loads another one stores. pictures.py draws it."""

import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    tile = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + j[:, None] * M + i[None, :], tile.T)
