"""A matrix product on 3,968 programs that leaves a corner of its result empty. docs/debugging.md finds it in gdb."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_of(pid, n_rows, n_cols, GROUP: tl.constexpr):
    group = pid // (GROUP * n_cols)
    inside = pid % (GROUP * n_cols)
    row = group * GROUP + inside % GROUP
    col = inside // GROUP
    return row, col


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    row, col = tile_of(pid, tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    rm = row * BM + tl.arange(0, BM)
    rn = col * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :])
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=rm[:, None] < M)


M, N, K = 992, 1024, 32
torch.manual_seed(0)
a, b, c = torch.randn(M, K), torch.randn(K, N), torch.zeros(M, N)
matmul[(M // 16 * N // 16,)](a, b, c, M, N, K, BM=16, BN=16, BK=16, GROUP=8)
wrong = ((c - a @ b).abs() > 1e-3).nonzero()
corners = f", from {tuple(wrong[0].tolist())} to {tuple(wrong[-1].tolist())}" if len(wrong) else ""
print(f"{len(wrong)} elements differ from torch{corners}")
