"""Flash attention on a grid of 64 x 64 programs, to be looked at in a debugger: docs/debugging.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def rescale(acc, total, old_max, new_max):
    alpha = tl.exp2(old_max - new_max)
    return acc * alpha[:, None], total * alpha


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1)
    base = head * T * D
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + base + rm[:, None] * D + rd[None, :])
    biggest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, T, BN):
        rn = n + tl.arange(0, BN)
        k = tl.load(k_ptr + base + rn[None, :] * D + rd[:, None])
        s = tl.dot(q, k, input_precision="ieee") * (scale * 1.4426950408889634)
        now = tl.maximum(biggest, tl.max(s, 1))
        acc, total = rescale(acc, total, biggest, now)
        p = tl.exp2(s - now[:, None])
        total += tl.sum(p, 1)
        v = tl.load(v_ptr + base + rn[:, None] * D + rd[None, :])
        acc = tl.dot(p, v, acc, input_precision="ieee")
        biggest = now
    tl.store(out_ptr + base + rm[:, None] * D + rd[None, :], acc / total[:, None])


H, T, D = 64, 1024, 16
torch.manual_seed(0)
q, k, v = (torch.randn(H, T, D) for _ in range(3))
out = torch.empty_like(q)
attention[(T // 16, H)](q, k, v, out, T, D**-0.5, BM=16, BN=32, D=D)
wrong = ((out - torch.softmax(q @ k.transpose(1, 2) * D**-0.5, 2) @ v).abs() > 1e-3).sum().item()
print(f"{wrong} of {out.numel()} elements differ from torch's attention")
