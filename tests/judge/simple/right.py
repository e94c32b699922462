import torch
import triton
import triton.language as tl


@triton.jit
def _row(o, x, sx, so, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + r * sx + c, mask=c < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * so + c, e / tl.sum(e, 0), mask=c < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        _row[(x.shape[0],)](y, x, x.stride(0), y.stride(0), x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y
