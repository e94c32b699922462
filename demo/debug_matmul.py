"""A matrix product on a grid of 4,096 programs, to be looked at in a debugger: docs/debugging.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    row = pid // (N // BN)
    col = pid % (N // BN)
    rm = row * BM + tl.arange(0, BM)
    rn = col * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :])
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :])
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc)


M = N = 1024
K = 64
torch.manual_seed(0)
a, b = torch.randn(M, K), torch.randn(K, N)
c = torch.empty(M, N)
matmul[(M // 16 * N // 16,)](a, b, c, N, K, BM=16, BN=16, BK=16)
wrong = ((c - a @ b).abs() > 1e-3).sum().item()
print(f"{wrong} of {c.numel()} elements differ from torch's product")
