"""Norms, softmax, losses, rotary embedding, activations."""

import activations
import layer_norms
import linear_cross_entropy
import losses
import norms
import rotary
import softmaxes
import torch
import torch.nn.functional as F

from kernel_pairs.registry import backward_of, pair


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
