"""Quantising, matrix products, mixtures of experts, sampling."""

import grouped_matmul
import matmuls
import moe
import quantised_matmul
import quantising
import sampling
import torch

from kernel_pairs.registry import pair


@pair("quantise tokens to int8 512 x 2048")
def _():
    x = torch.randn(512, 2048)

    def theirs():
        scale = x.abs().amax(1, keepdim=True) / 127
        return (x / scale).round().to(torch.int8), scale

    return lambda: quantising.quantise_tokens(x), theirs


@pair("quantise tokens to fp8 512 x 2048")
def _():
    x = torch.randn(512, 2048)

    def theirs():
        scale = x.abs().amax(1, keepdim=True) / 448
        return (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale

    return lambda: quantising.quantise_tokens(x, torch.float8_e4m3fn), theirs


@pair("quantise blocks to fp8 1024 x 1024")
def _():
    x = torch.randn(1024, 1024)

    def theirs():
        tiles = x.view(8, 128, 8, 128)
        scale = tiles.abs().amax((1, 3), keepdim=True) / 448
        return (tiles / scale).to(torch.float8_e4m3fn), scale

    return lambda: quantising.quantise_blocks(x), theirs


@pair("pack int4 1024 x 1024")
def _():
    w = torch.randn(1024, 1024)

    def theirs():
        g = w.view(32, 32, 1024)
        low, high = g.amin(1, keepdim=True), g.amax(1, keepdim=True)
        scale = (high - low) / 15
        q = ((g / scale).round() + (-low / scale).round()).clamp(0, 15).to(torch.int32).view(128, 8, 1024)
        return (q << (torch.arange(8, dtype=torch.int32) * 4)[:, None]).sum(1)

    return lambda: quantising.pack_int4(w), theirs


@pair("int4 matmul 128 x 512 x 512")
def _():
    a, w = torch.randn(128, 512), torch.randn(512, 512)
    packed, scale, zero = quantising.pack_int4(w)
    shifts = (torch.arange(8, dtype=torch.int32) * 4)[:, None]

    def theirs():
        q = ((packed[:, None] >> shifts) & 15).view(16, 32, 512)
        return a @ ((q - zero[:, None]).float() * scale[:, None]).view(512, 512)

    return lambda: quantised_matmul.int4_matmul(a, packed, scale, zero, 32), theirs


@pair("int8 matmul 256 x 512 x 512")
def _():
    a, sa = quantising.quantise_tokens(torch.randn(256, 512))
    b, sb = quantising.quantise_tokens(torch.randn(512, 512))
    return (
        lambda: quantised_matmul.int8_matmul(a, b, sa, sb),
        lambda: torch._int_mm(a, b.T).float() * sa[:, None] * sb,
    )


@pair("fp8 matmul by blocks 256 x 512 x 512")
def _():
    a, sa = quantising.quantise_tokens(torch.randn(256, 512), torch.float8_e4m3fn)
    b, sb = quantising.quantise_blocks(torch.randn(512, 512))
    sa = sa[:, None].repeat(1, 4).contiguous()
    wide = sb.repeat_interleave(128, 0).repeat_interleave(128, 1)
    return (
        lambda: quantised_matmul.fp8_block_matmul(a, b, sa, sb),
        lambda: (a.float() * sa[:, :1]) @ (b.float() * wide).T,
    )


@pair("mxfp4 matmul 128 x 256 x 256")
def _():
    a, b = torch.randn(128, 256).bfloat16(), torch.randint(0, 256, (256, 128), dtype=torch.uint8)
    scale = torch.randint(120, 130, (256, 8), dtype=torch.uint8)
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])

    def theirs():
        w = torch.stack([values[(b & 15).long()], values[(b >> 4).long()]], -1).flatten(1)
        return a.float() @ (w * torch.exp2(scale.float() - 127).repeat_interleave(32, 1)).T

    return lambda: quantised_matmul.mxfp4_matmul(a, b, scale), theirs


for name, product in {
    "swizzled": matmuls.matmul,
    "split-K": matmuls.matmul_split_k,
    "persistent": matmuls.matmul_persistent,
    "block pointers": matmuls.matmul_block_pointers,
    "host descriptors": lambda a, b: matmuls.matmul_host_descriptors(a, b),
    "device descriptors": lambda a, b: matmuls.matmul_device_descriptors(a, b),
    "stream-K": lambda a, b: grouped_matmul.stream_k_matmul(a, b),
}.items():

    @pair(f"matmul {name} 512^3")
    def _(product=product):
        a, b = torch.randn(512, 512), torch.randn(512, 512)
        return lambda: product(a, b), lambda: a @ b


@pair("grouped matmul 4 x 256^3, fp16")
def _():
    sets = [(torch.randn(256, 256).half(), torch.randn(256, 256).half()) for _ in range(4)]
    return lambda: grouped_matmul.grouped_matmul(sets), lambda: [a @ b for a, b in sets]


@pair("lora 256 x 512 x 512, rank 16")
def _():
    x, w, a, b = torch.randn(256, 512), torch.randn(512, 512), torch.randn(16, 512), torch.randn(512, 16)
    return lambda: grouped_matmul.lora_matmul(x, w, a, b, 2.0), lambda: x @ w.T + 2.0 * ((x @ a.T) @ b.T)


@pair("batched matmul 64 x 64^3")
def _():
    a, b = torch.randn(64, 64, 64), torch.randn(64, 64, 64)
    return lambda: grouped_matmul.batched_matmul(a, b), lambda: a @ b


@pair("top-k gate 2048 tokens, 64 experts, 4")
def _():
    x = torch.randn(2048, 64)
    return lambda: moe.topk_gate(x, 4), lambda: torch.softmax(x, -1).topk(4)


@pair("align 2048 tokens by 8 experts, 2")
def _():
    index = torch.randint(0, 8, (2048, 2), dtype=torch.int32)

    def theirs():
        order = index.flatten().argsort(stable=True)
        return order, torch.bincount(index.flatten(), minlength=8)

    return lambda: moe.align_by_expert(index, 8, 16), theirs


@pair("mixture of experts 256 x 128 x 256, 8 experts, 2")
def _():
    x, w, logits = torch.randn(256, 128), torch.randn(8, 256, 128), torch.randn(256, 8)

    def theirs():
        top = torch.softmax(logits, -1).topk(2)
        out = torch.zeros(256, 256)
        for e in range(8):
            token, slot = (top.indices == e).nonzero(as_tuple=True)
            out.index_add_(0, token, x[token] @ w[e].T * top.values[token, slot, None])
        return out

    return lambda: moe.moe_layer(x, w, logits, 2), theirs


@pair("argmax 64 x 32000")
def _():
    x = torch.randn(64, 32000)
    return lambda: sampling.argmax(x), lambda: x.max(1)


@pair("top-k top-p sampling 16 x 4096")
def _():
    x, u = torch.randn(16, 4096), torch.rand(16)

    def theirs():
        ordered, order = x.sort(-1, descending=True)
        p = torch.softmax(ordered, -1)
        keep = (p.cumsum(-1) - p < 0.9) & (torch.arange(4096) < 50)
        return order.gather(1, torch.multinomial(torch.where(keep, p, 0), 1))

    return lambda: sampling.sample_topk_topp(x, u), theirs


@pair("gumbel sampling 16 x 32000")
def _():
    x = torch.randn(16, 32000)
    return lambda: sampling.sample_gumbel(x, 7), lambda: torch.multinomial(torch.softmax(x, -1), 1)


@pair("penalties 64 x 32000")
def _():
    x, counts = torch.randn(64, 32000), torch.randint(0, 3, (64, 32000), dtype=torch.int32)

    def theirs():
        y = torch.where(counts > 0, torch.where(x > 0, x / 1.2, x * 1.2), x)
        return y - 0.5 * counts - 0.25 * (counts > 0)

    return lambda: sampling.apply_penalties_(x, counts, 1.2, 0.5, 0.25), theirs
