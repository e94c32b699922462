"""What benchmarks/kernels.py times: for each kernel of tests/kernels a call and the same work by torch's operations."""

import activations
import convolutions
import decoding
import embeddings
import flash_attention
import grouped_matmul
import layer_norms
import linear_attention
import linear_cross_entropy
import losses
import matmuls
import moe
import norms
import optimisers
import prefix_sums
import quantised_matmul
import quantising
import randomness
import rotary
import sampling
import selective_scan
import sliding_window
import softmaxes
import torch
import torch.nn.functional as F
import transforms

ROWS = []


def pair(name):
    """Registers a function that makes (ours, theirs)."""

    def keep(make):
        ROWS.append((name, make))
        return make

    return keep


def pairs():
    """(name, function that returns the two calls) of each row."""
    return ROWS


def backward_of(loss, *leaves):
    """torch's backward pass alone."""
    return lambda: torch.autograd.grad(loss, leaves, retain_graph=True)


@pair("rms norm 512 x 2048")
def _():
    x, w = torch.randn(512, 2048), torch.randn(2048)
    return lambda: norms.rms_norm(x, w), lambda: F.rms_norm(x, (2048,), w)


@pair("rms norm backward 512 x 2048")
def _():
    x, w, dy = torch.randn(512, 2048, requires_grad=True), torch.randn(2048, requires_grad=True), torch.randn(512, 2048)
    _, rstd = norms.rms_norm(x.detach(), w.detach())
    loss = (F.rms_norm(x, (2048,), w) * dy).sum()
    return lambda: norms.rms_norm_backward(dy, x.detach(), w.detach(), rstd), backward_of(loss, x, w)


@pair("add + rms norm 512 x 2048")
def _():
    x, r, w = torch.randn(512, 2048), torch.randn(512, 2048), torch.randn(2048)

    def theirs():
        r.add_(x)
        x.copy_(F.rms_norm(r, (2048,), w))

    return lambda: norms.add_rms_norm_(x, r, w), theirs


@pair("layer norm 512 x 2048")
def _():
    x, w, b = torch.randn(512, 2048), torch.randn(2048), torch.randn(2048)
    return lambda: layer_norms.layer_norm(x, w, b), lambda: F.layer_norm(x, (2048,), w, b)


def layer_norm_backward(function):
    x, w, b = (torch.randn(*s, requires_grad=True) for s in ((512, 2048), (2048,), (2048,)))
    dy = torch.randn(512, 2048)
    loss = (F.layer_norm(x, (2048,), w, b) * dy).sum()
    plain = [t.detach() for t in (x, w)]
    _, mean, rstd = layer_norms.layer_norm(*plain, b.detach())
    return lambda: function(dy, *plain, mean, rstd), backward_of(loss, x, w, b)


pair("layer norm backward, partial sums 512 x 2048")(lambda: layer_norm_backward(layer_norms.layer_norm_backward))
pair("layer norm backward, locks 512 x 2048")(lambda: layer_norm_backward(layer_norms.layer_norm_backward_locked))


@pair("group norm 4 x 64 x 32 x 32")
def _():
    x, w, b = torch.randn(4, 64, 32, 32), torch.randn(64), torch.randn(64)
    return lambda: norms.group_norm(x, 16, w, b), lambda: F.group_norm(x, 16, w, b)


@pair("l2 norm 8192 x 64")
def _():
    x = torch.randn(8192, 64)
    return lambda: norms.l2_norm(x), lambda: F.normalize(x, dim=-1)


@pair("softmax 512 x 2000")
def _():
    x = torch.randn(512, 2000)
    return lambda: softmaxes.softmax(x), lambda: torch.softmax(x, -1)


@pair("softmax online 64 x 32000")
def _():
    x = torch.randn(64, 32000)
    return lambda: softmaxes.softmax_online(x), lambda: torch.softmax(x, -1)


@pair("softmax backward 512 x 2000")
def _():
    x, dy = torch.randn(512, 2000, requires_grad=True), torch.randn(512, 2000)
    y = torch.softmax(x, -1)
    return lambda: softmaxes.softmax_backward(dy, y.detach()), backward_of((y * dy).sum(), x)


@pair("causal softmax 8 x 256 x 256")
def _():
    s, lengths = torch.randn(1, 8, 256, 256), torch.tensor([256], dtype=torch.int32)
    mask = torch.ones(256, 256, dtype=torch.bool).triu(1)
    return (
        lambda: softmaxes.causal_softmax_(s, lengths, 1.0),
        lambda: torch.softmax(s.masked_fill(mask, float("-inf")), -1),
    )


@pair("cross entropy with gradient 64 x 32000")
def _():
    x, y = torch.randn(64, 32000, requires_grad=True), torch.randint(0, 32000, (64,))
    copy = x.detach().clone()
    return (
        lambda: losses.cross_entropy(copy, y, 0.1, grad=True),
        lambda: torch.autograd.grad(F.cross_entropy(x, y, label_smoothing=0.1), x),
    )


@pair("KL divergence 256 x 4096")
def _():
    x, p = torch.randn(256, 4096).log_softmax(-1).requires_grad_(), torch.randn(256, 4096).softmax(-1)
    plain = x.detach()
    return lambda: losses.kl_div(plain, p), lambda: torch.autograd.grad(F.kl_div(x, p, reduction="sum"), x)


@pair("JSD 256 x 4096")
def _():
    x, y = (torch.randn(256, 4096).log_softmax(-1) for _ in range(2))
    leaf = x.clone().requires_grad_()

    def theirs():
        mix = ((y.exp() + leaf.exp()) / 2).log()
        loss = y.exp() * (y - mix) / 2 + leaf.exp() * (leaf - mix) / 2
        return torch.autograd.grad(loss.sum(), leaf)

    return lambda: losses.jsd(x, y), theirs


@pair("linear cross entropy 128 x 256 x 4096")
def _():
    x, w, y = torch.randn(128, 256), torch.randn(4096, 256), torch.randint(0, 4096, (128,))
    return lambda: linear_cross_entropy.linear_cross_entropy(x, w, y), lambda: F.cross_entropy(x @ w.T, y)


@pair("linear cross entropy backward 128 x 256 x 4096")
def _():
    x, w, y = torch.randn(128, 256), torch.randn(4096, 256), torch.randint(0, 4096, (128,))
    _, lse = linear_cross_entropy.linear_cross_entropy(x, w, y)
    leaves = [t.clone().requires_grad_() for t in (x, w)]
    loss = F.cross_entropy(leaves[0] @ leaves[1].T, y)
    return lambda: linear_cross_entropy.linear_cross_entropy_backward(x, w, y, lse), backward_of(loss, *leaves)


@pair("rotary halves 512 tokens, 16 + 4 heads of 64")
def _():
    q, k, angle = torch.randn(1, 512, 16, 64), torch.randn(1, 512, 4, 64), torch.randn(512, 32)
    cos, sin = angle.cos(), angle.sin()

    def turn(x):
        a, b = x.chunk(2, -1)
        c, s = cos[:, None], sin[:, None]
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    return lambda: rotary.rope_half_(q, k, cos, sin), lambda: (turn(q), turn(k))


@pair("rotary interleaved 1024 tokens, 8 heads of 64")
def _():
    x, positions = torch.randn(1024, 8, 64), torch.arange(1024)
    inv = 1.0 / 10000 ** (torch.arange(0, 64, 2) / 64)

    def theirs():
        angle = positions[:, None] * inv
        turned = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angle), angle)[:, None]
        return torch.view_as_real(turned).flatten(-2)

    return lambda: rotary.rope_interleaved(x, positions, 64), theirs


for kind, act in {"swiglu": F.silu, "geglu": lambda x: F.gelu(x, approximate="tanh")}.items():

    @pair(f"{kind} 256 x 5632")
    def _(kind=kind, act=act):
        x = torch.randn(256, 2 * 2816)
        return lambda: activations.gated(x, kind), lambda: act(x[:, :2816]) * x[:, 2816:]

    @pair(f"{kind} backward 256 x 5632")
    def _(kind=kind, act=act):
        x, dc = torch.randn(256, 2 * 2816, requires_grad=True), torch.randn(256, 2816)
        loss = (act(x[:, :2816]) * x[:, 2816:] * dc).sum()
        copy = x.detach().clone()
        return lambda: activations.gated_backward_(dc, copy, kind), backward_of(loss, x)


@pair("gelu 2^20")
def _():
    x = torch.randn(1 << 20)
    return lambda: activations.gelu(x), lambda: F.gelu(x)


@pair("gelu by libdevice 2^18")
def _():
    x = torch.randn(1 << 18)
    return lambda: activations.gelu(x, activations.gelu_libdevice), lambda: F.gelu(x, approximate="tanh")


def attention_tensors(h, kv, t, d=64, dtype=torch.float32):
    return (
        torch.randn(1, h, t, d, dtype=dtype),
        torch.randn(1, kv, t, d, dtype=dtype),
        torch.randn(1, kv, t, d, dtype=dtype),
    )


for dtype in (torch.float32, torch.bfloat16):

    @pair(f"flash attention causal 8 / 2 x 512 x 64 {str(dtype)[6:]}")
    def _(dtype=dtype):
        q, k, v = attention_tensors(8, 2, 512, dtype=dtype)
        return (
            lambda: flash_attention.flash_attention(q, k, v, True),
            lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True),
        )


@pair("flash attention backward causal 8 / 2 x 256 x 64")
def _():
    q, k, v = attention_tensors(8, 2, 256)
    do = torch.randn_like(q)
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    loss = (F.scaled_dot_product_attention(*leaves, is_causal=True, enable_gqa=True) * do).sum()
    o, lse = flash_attention.flash_attention(q, k, v, True)
    return (
        lambda: flash_attention.flash_attention_backward(do, q, k, v, o, lse, True),
        backward_of(loss, *leaves),
    )


@pair("sliding window attention 4 x 512 x 64, window 128")
def _():
    q, k, v = attention_tensors(4, 4, 512)
    at = torch.arange(512)
    mask = (at <= at[:, None]) & (at[:, None] - at < 128)
    return (
        lambda: sliding_window.window_attention(q, k, v, 128),
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
    )


@pair("packed sequences attention 4 x 128, 8 heads of 64")
def _():
    q, k, v = (torch.randn(512, 8, 64) for _ in range(3))
    ends = torch.arange(0, 513, 128, dtype=torch.int32)
    dense = [t.view(4, 128, 8, 64).transpose(1, 2) for t in (q, k, v)]
    return (
        lambda: sliding_window.varlen_attention(q, k, v, ends, 128),
        lambda: F.scaled_dot_product_attention(*dense, is_causal=True),
    )


@pair("paged attention 8 x 1024, 16 / 4 heads of 64")
def _():
    k, v = torch.randn(512, 4, 16, 64), torch.randn(512, 4, 16, 64)
    q, tables = torch.randn(8, 16, 64), torch.arange(512, dtype=torch.int32).view(8, 64)
    lens = torch.full((8,), 1024, dtype=torch.int32)

    def theirs():
        dense = [c[tables.long()].transpose(1, 2).reshape(8, 4, 1024, 64) for c in (k, v)]
        return F.scaled_dot_product_attention(q[:, :, None], *dense, enable_gqa=True)

    return lambda: decoding.paged_attention(q, k, v, tables, lens), theirs


@pair("split-KV attention 2 x 2048, 8 / 2 heads of 64")
def _():
    q, k, v = torch.randn(2, 8, 64), torch.randn(2, 2048, 2, 64), torch.randn(2, 2048, 2, 64)
    lens = torch.full((2,), 2048, dtype=torch.int32)
    dense = [t.transpose(1, 2) for t in (k, v)]
    return (
        lambda: decoding.split_kv_attention(q, k, v, lens, 4),
        lambda: F.scaled_dot_product_attention(q[:, :, None], *dense, enable_gqa=True),
    )


@pair("reshape and cache 512 tokens, 8 heads of 64")
def _():
    k, v, slots = torch.randn(512, 8, 64), torch.randn(512, 8, 64), torch.randperm(512)
    caches = [torch.zeros(32, 8, 16, 64) for _ in range(2)]

    def theirs():
        for cache, new in zip(caches, (k, v)):
            cache[slots // 16, :, slots % 16] = new

    return lambda: decoding.reshape_and_cache_(k, v, *caches, slots), theirs


def recurrence_by_matmul(q, k, v, decay):
    """The same outputs as one masked product over all pairs of times."""
    return lambda: (q @ k.transpose(-1, -2) * decay) @ v


@pair("retention 4 x 512 x 64")
def _():
    q, k, v = (torch.randn(1, 4, 512, 64) for _ in range(3))
    g = torch.log(torch.tensor([0.9, 0.95, 0.97, 0.99]))
    lag = torch.arange(512)[:, None] - torch.arange(512)
    decay = torch.where(lag >= 0, torch.exp(lag * g[:, None, None]), 0.0)
    return lambda: linear_attention.retention(q, k, v, g), recurrence_by_matmul(q, k, v, decay)


@pair("gated linear attention 4 x 512 x 64")
def _():
    q, k, v = (torch.randn(1, 4, 512, 64) for _ in range(3))
    gates = F.logsigmoid(torch.randn(1, 4, 512) + 2)
    cum = gates.cumsum(-1)
    decay = torch.exp(cum[..., :, None] - cum[..., None, :]).tril()
    return lambda: linear_attention.gated_linear_attention(q, k, v, gates), recurrence_by_matmul(q, k, v, decay)


@pair("selective scan 2 x 128 x 256 x 16")
def _():
    u, delta = torch.randn(2, 128, 256), torch.randn(2, 128, 256)
    a, b, c, d = -torch.rand(256, 16), torch.randn(2, 128, 16), torch.randn(2, 128, 16), torch.randn(256)

    def theirs():
        step = F.softplus(delta)
        decay, add = torch.exp(step[..., None] * a), (step * u)[..., None] * b[:, :, None]
        h, out = torch.zeros(2, 256, 16), []
        for t in range(128):
            h = h * decay[:, t] + add[:, t]
            out.append((h * c[:, t, None]).sum(-1))
        return torch.stack(out, 1) + u * d

    return lambda: selective_scan.selective_scan(u, delta, a, b, c, d), theirs


@pair("gated recurrence by scans 2 x 256 x 256")
def _():
    x, gate = torch.randn(2, 256, 256), torch.rand(2, 256, 256)

    def theirs():
        h, out = torch.zeros(2, 256), []
        for t in range(256):
            h = h * gate[:, t] + x[:, t]
            out.append(h)
        return torch.stack(out, 1)

    return lambda: selective_scan.gated_recurrence(x, gate), theirs


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
