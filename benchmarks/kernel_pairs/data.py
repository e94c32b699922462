"""Embeddings, convolutions, random numbers, scans, sorting, layouts, optimisers."""

import convolutions
import embeddings
import optimisers
import prefix_sums
import randomness
import torch
import torch.nn.functional as F
import transforms

from kernel_pairs.registry import backward_of, pair


@pair("embedding 4096 of 32000 x 256")
def _():
    table, index = torch.randn(32000, 256), torch.randint(0, 32000, (4096,))
    return lambda: embeddings.embedding(table, index), lambda: table[index]


@pair("embedding backward 2048 of 1000 x 256")
def _():
    dout, index = torch.randn(2048, 256), torch.randint(0, 1000, (2048,))
    return (
        lambda: embeddings.embedding_backward(dout, index, 1000),
        lambda: torch.zeros(1000, 256).index_add_(0, index, dout),
    )


@pair("embedding bag 512 bags of 8 x 128")
def _():
    table, index, offsets = torch.randn(10000, 128), torch.randint(0, 10000, (4096,)), torch.arange(0, 4097, 8)
    return (
        lambda: embeddings.embedding_bag(table, index, offsets),
        lambda: F.embedding_bag(index, table, offsets[:-1], mode="sum"),
    )


@pair("segment sum 20000 x 4")
def _():
    x, keys = torch.randn(20000, 4), torch.randint(0, 1000, (20000,), dtype=torch.int32).sort().values
    return lambda: embeddings.segment_sum(x, keys, 1000), lambda: torch.zeros(1000, 4).index_add_(0, keys, x)


@pair("conv2d 2 x 32 x 28 x 28, 32 filters 3 x 3")
def _():
    x, w = torch.randn(2, 32, 28, 28), torch.randn(32, 32, 3, 3)
    return lambda: convolutions.conv2d(x, w, pad=1), lambda: F.conv2d(x, w, padding=1)


@pair("causal conv1d 2 x 512 x 512, 4")
def _():
    x, w = torch.randn(2, 512, 512), torch.randn(512, 4)
    wide = F.pad(x.transpose(1, 2), (3, 0))
    return lambda: convolutions.causal_conv1d(x, w), lambda: F.conv1d(wide, w[:, None], groups=512)


@pair("causal conv1d backward 2 x 512 x 512, 4")
def _():
    x, w, dy = torch.randn(2, 512, 512), torch.randn(512, 4), torch.randn(2, 512, 512)
    leaves = [x.clone().requires_grad_(), w.clone().requires_grad_()]
    y = F.conv1d(F.pad(leaves[0].transpose(1, 2), (3, 0)), leaves[1][:, None], groups=512).transpose(1, 2)
    return lambda: convolutions.causal_conv1d_backward(dy, x, w), backward_of((y * dy).sum(), *leaves)


@pair("max pooling 4 x 64 x 32 x 32, 2")
def _():
    x = torch.randn(4, 64, 32, 32)
    return lambda: convolutions.max_pool2d(x, 2, 2), lambda: F.max_pool2d(x, 2, 2, return_indices=True)


@pair("dropout 2^20")
def _():
    x = torch.randn(1 << 20)
    return lambda: randomness.dropout(x, 0.1, 3), lambda: F.dropout(x, 0.1)


@pair("dropout + residual + rms norm 512 x 2048")
def _():
    x, r, w = torch.randn(512, 2048), torch.randn(512, 2048), torch.randn(2048)
    return (
        lambda: randomness.dropout_residual_norm(x, r, w, 0.1, 3),
        lambda: F.rms_norm(r + F.dropout(x, 0.1), (2048,), w),
    )


@pair("normal initialiser 2^20")
def _():
    return lambda: randomness.initialise(1 << 20, "normal", 0.0, 1.0, 3), lambda: torch.randn(1 << 20)


@pair("stochastic rounding to bf16 2^20")
def _():
    x = torch.randn(1 << 20)

    def theirs():
        noise = torch.randint(0, 1 << 16, x.shape, dtype=torch.int32)
        return ((x.view(torch.int32) + noise) >> 16).to(torch.int16).view(torch.bfloat16)

    return lambda: randomness.stochastic_bf16(x, 3), theirs


@pair("hash buckets 2^20")
def _():
    x = torch.randint(-(2**31), 2**31 - 1, (1 << 20,)).to(torch.int32)

    def theirs():
        h = x ^ (x >> 16)
        h = h * -2048144789
        h = h ^ (h >> 13)
        h = h * -1028477387
        return ((h ^ (h >> 16)).long() * 1000) >> 32

    return lambda: randomness.hash_buckets(x, 1000), theirs


@pair("cumsum over rows 256 x 2048")
def _():
    x = torch.randn(256, 2048)
    return lambda: prefix_sums.cumsum_rows(x), lambda: x.cumsum(1)


@pair("prefix sum by look-back 2^20")
def _():
    x = torch.randint(-100, 100, (1 << 20,), dtype=torch.int32)
    return lambda: prefix_sums.prefix_sum(x), lambda: x.cumsum(0, dtype=torch.int32)


@pair("histogram 2^20, 256 bins")
def _():
    x = torch.randn(1 << 20)
    return lambda: prefix_sums.histogram(x, 256, -4.0, 4.0), lambda: torch.histc(x, 256, -4.0, 4.0)


@pair("compaction 2^20")
def _():
    x = torch.randn(1 << 20)
    return lambda: prefix_sums.compact(x, 0.5), lambda: x[x > 0.5]


@pair("top-k of rows 256 x 1024, 8")
def _():
    x = torch.randn(256, 1024)
    return lambda: prefix_sums.topk_rows(x, 8), lambda: x.topk(8)


@pair("batched transpose 8 x 512 x 256")
def _():
    x = torch.randn(8, 512, 256)
    return lambda: transforms.transpose(x), lambda: x.transpose(1, 2).contiguous()


@pair("heads first 2 x 512 x 8 x 64")
def _():
    x = torch.randn(2, 512, 8, 64)
    return lambda: transforms.heads_first(x), lambda: x.transpose(1, 2).contiguous()


@pair("Hadamard 256 x 1024")
def _():
    x, h = torch.randn(256, 1024), torch.randn(1024, 1024)
    return lambda: transforms.hadamard(x), lambda: x @ h


@pair("FFT 256 x 1024")
def _():
    re, im = torch.randn(256, 1024), torch.randn(256, 1024)
    z = torch.complex(re, im)
    return lambda: transforms.fft(re, im), lambda: torch.fft.fft(z)


@pair("pack a triangle 512")
def _():
    x = torch.randn(512, 512)
    rows, cols = torch.tril_indices(512, 512)
    return lambda: transforms.pack_lower(x), lambda: x[rows, cols]


@pair("AdamW 2^20")
def _():
    p, g, m, v = (torch.rand(1 << 20) for _ in range(4))
    leaf = p.clone().requires_grad_()
    leaf.grad = g
    reference = torch.optim.AdamW([leaf], fused=True)
    return lambda: optimisers.adamw_(p, g, m, v, 3), reference.step


@pair("8-bit Adam 2^20")
def _():
    n = 1 << 20
    p, g = torch.randn(n), torch.randn(n)
    m, v = torch.zeros(n, dtype=torch.int8), torch.zeros(n, dtype=torch.uint8)
    scales = torch.ones(2, n // 256)
    leaf = p.clone().requires_grad_()
    leaf.grad = g
    reference = torch.optim.Adam([leaf], fused=True)
    return lambda: optimisers.adam8_(p, g, m, v, *scales, 3), reference.step


@pair("Lion 2^20")
def _():
    p, g, m = (torch.randn(1 << 20) for _ in range(3))

    def theirs():
        p.mul_(0.9999).sub_((0.9 * m + 0.1 * g).sign_(), alpha=1e-3)
        m.mul_(0.99).add_(g, alpha=0.01)

    return lambda: optimisers.lion_(p, g, m), theirs


@pair("clipped norm 2^20")
def _():
    x = torch.randn(1 << 20)

    def theirs():
        return x.mul_(torch.clamp(1.0 / (x.norm() + 1e-6), max=1.0))

    return lambda: optimisers.clip_norm_(x, 1.0), theirs
