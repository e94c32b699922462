"""The kernels of tests/kernels over rows, as they are: softmaxes, norms, losses; and mistakes in them."""

# ruff: noqa: E501  texts are replaced as they stand
# fmt: off

from problems import Change, Problem, kernels

_SUM = "s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)"
_LOAD = 'x = tl.load(in_ptr + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)\n        m_new'

PROBLEMS: list[Problem] = [
    Problem(
        "softmax_persistent",
        """
def softmax(x):
    return torch.softmax(x, -1)
def get_inputs():
    return [torch.randn(37, 200)]
JUDGE = {"vary": ["sizes", "values", "offsets", "special", "dtypes"], "dtypes": ["float16", "bfloat16"]}
""",
        kernels("softmaxes"),
        [
            Change("mask-le", "mask = cols < n_cols\n", "mask = cols <= n_cols\n", line="row * "),
            Change("bound-rows", "tl.range(start, n_rows, step,", "tl.range(start, n_rows - 1, step,", line="tl.store(out_ptr + row"),
            Change("scale-padding", "y = e / tl.sum(e, axis=0)", "y = e / tl.sum(e + 1e-6, axis=0)", line="tl.store(out_ptr + row"),
            Change("shape-rows", "min(programs, rows), 1, 1", "min(programs, rows, 130), 1, 1", "right"),
        ],
    ),
    Problem(
        "softmax_online",
        """
def softmax_online(x, log, block):
    return torch.log_softmax(x, -1) if log else torch.softmax(x, -1)
def get_inputs():
    return [torch.randn(9, 150), True, 32]
JUDGE = {"vary": ["sizes", "values", "offsets", "special"]}
""",
        kernels("softmaxes"),
        [
            Change("acc-not-rescaled", _SUM, "s = s + tl.sum(tl.exp(x - m_new), 0)", line="tl.store(out_ptr + cols"),
            Change("formula-log2", "y = x - m - tl.log(s)", "y = x - m - tl.log2(s)", line="tl.store(out_ptr + cols"),
            Change("other-0", _LOAD, _LOAD.replace('float("-inf")', "0.0"), line="tl.store(out_ptr + cols"),
        ],
    ),
    Problem(
        "softmax_backward_rows",
        """
def softmax_backward(dy, y):
    return y * (dy - (dy * y).sum(-1, keepdim=True))
def get_inputs():
    return [torch.randn(30, 70), torch.softmax(torch.randn(30, 70), -1)]
JUDGE = {"vary": ["sizes", "values", "offsets", "aliases", "special"]}
""",
        kernels("softmaxes"),
        [
            Change("grad-no-sum", "dx = y * (dy - dot[:, None])", "dx = y * dy", line="tl.store(dx_ptr"),
            Change("mask-rows", "mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)", "mask = (rows[:, None] >= 0) & (cols[None, :] < n_cols)", line="tl.load(y_ptr"),
        ],
    ),
    Problem(
        "causal_softmax",
        """
def causal_softmax_(scores, lengths, scale):
    i, n = torch.arange(scores.shape[-1]), lengths[:, None, None, None]
    live = (i[None, :] <= i[:, None]) & (i < n) & (i[:, None] < n)
    made = torch.softmax((scores * scale).masked_fill(~live, float("-inf")), -1)
    scores.copy_(torch.where(live, made, 0.0))
def get_inputs():
    return [torch.randn(2, 3, 40, 40), torch.tensor([40, 17], dtype=torch.int32), 0.125]
JUDGE = {"vary": ["sizes", "values"]}
""",
        kernels("softmaxes"),
        [
            Change("mask-strictly", "(cols <= query)", "(cols < query)", line="tl.store(s_ptr"),
            Change("index-batch", "tl.load(lengths_ptr + batch)", "tl.load(lengths_ptr)", line="tl.store(s_ptr"),
            Change("nan-empty-rows", "y = tl.where(total > 0, e / total, 0.0)", "y = e / total", line="tl.store(s_ptr"),
        ],
    ),
    Problem(
        "rms_norm_rows",
        """
def rms_norm(x, w):
    rstd = torch.rsqrt((x * x).mean(-1) + 1e-6)
    return x * rstd[:, None] * w, rstd
def get_inputs():
    return [torch.randn(20, 120), torch.randn(120)]
JUDGE = {"vary": ["sizes", "values", "offsets", "special"]}
""",
        kernels("norms"),
        [
            Change("cast-early", "y = (x * rstd) * w.to(tl.float32)", "y = (x * rstd).to(tl.float16).to(tl.float32) * w.to(tl.float32)", line="tl.store(y_ptr + row * y_stride"),
            Change("scale-block", "rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)", "rstd = tl.rsqrt(tl.sum(x * x, axis=0) / BLOCK + eps)", line="tl.store(rstd_ptr"),
            Change("stride-output", "rows.stride(0), y.stride(0), n, eps", "rows.stride(0), y.stride(0) + 1, n, eps", line="tl.store(y_ptr + row * y_stride"),
        ],
    ),
    Problem(
        "rms_norm_backward",
        """
def rms_norm_backward(dy, x, w, rstd):
    xhat, wdy = x * rstd[:, None], w * dy
    c = (xhat * wdy).mean(-1, keepdim=True)
    return (wdy - xhat * c) * rstd[:, None], (dy * xhat).sum(0)
def get_inputs():
    x = torch.randn(45, 60)
    return [torch.randn(45, 60), x, torch.randn(60), torch.rsqrt((x * x).mean(-1) + 1e-6)]
JUDGE = {"vary": ["sizes", "values", "offsets", "special"]}
""",
        kernels("norms"),
        [
            Change("bound-last", "last = min(first + ROWS, n_rows)", "last = first + ROWS", line="tl.load(x_ptr + row * stride"),
            Change("grad-no-mean", "dx = (wdy - xhat * c) * rstd", "dx = wdy * rstd", line="tl.store(dx_ptr"),
            Change("acc-overwritten", "dw += dy * xhat", "dw = dy * xhat"),
            Change("scale-mean", "c = tl.sum(xhat * wdy, axis=0) / n_cols", "c = tl.sum(xhat * wdy, axis=0) / BLOCK", line="tl.store(dx_ptr"),
        ],
    ),
    Problem(
        "add_rms_norm",
        """
def add_rms_norm_(x, residual, w, eps, block):
    residual.add_(x)
    x.copy_(residual * torch.rsqrt((residual * residual).mean(-1, keepdim=True) + eps) * w)
def get_inputs():
    return [torch.randn(14, 100), torch.randn(14, 100), torch.randn(100), 1e-5, 32]
JUDGE = {"vary": ["sizes", "values", "offsets", "special"]}
""",
        kernels("norms"),
        [
            Change("formula-no-residual", "s = x.to(tl.float32) + r.to(tl.float32)", "s = x.to(tl.float32) + 0 * r.to(tl.float32)", line="tl.store(residual_ptr"),
            Change("scale-inverse", "rstd = 1.0 / tl.sqrt(", "rstd = tl.sqrt(", line="tl.store(x_ptr"),
            Change("acc-overwritten", "square += s * s", "square = s * s", line="tl.store(x_ptr"),
        ],
    ),
    Problem(
        "group_norm",
        """
def group_norm(x, groups, w, b, eps, block):
    return torch.nn.functional.group_norm(x, groups, w, b, eps)
def get_inputs():
    return [torch.randn(2, 6, 5, 7), 2, torch.randn(6), torch.randn(6), 1e-5, 16]
JUDGE = {"vary": ["sizes"]}
""",
        kernels("norms"),
        [
            Change("scale-count", "count = CPG * hw", "count = BLOCK_C * hw", line="tl.store(y_ptr + base + c * hw"),
            Change("index-weight", "tl.load(w_ptr + group * CPG + c, ", "tl.load(w_ptr + c, ", line="tl.store(y_ptr + base + c * hw"),
            Change("mask-channels", "x = tl.load(x_ptr + base + c * hw + p, mask=(c < CPG) & (p < hw), other=0.0)", "x = tl.load(x_ptr + base + c * hw + p, mask=p < hw, other=0.0)", line="tl."),
        ],
    ),
    Problem(
        "l2_norm",
        """
def l2_norm(x):
    return x / (x * x).sum(-1, keepdim=True).sqrt().clamp(min=1e-6)
def get_inputs():
    return [torch.randn(10, 3, 20)]
JUDGE = {"vary": ["sizes", "offsets", "special"]}
""",
        kernels("norms").replace("tl.maximum(norm, eps)", "tl.maximum(norm, eps, propagate_nan=tl.PropagateNan.ALL)"),
        [
            Change("nan-lost", "tl.maximum(norm, eps, propagate_nan=tl.PropagateNan.ALL)", "tl.maximum(norm, eps)", line="tl.store(y_ptr + offs, x / "),
            Change("formula-eps-added", "x / tl.maximum(norm, eps, propagate_nan=tl.PropagateNan.ALL)", "x / (norm + eps * 100)", line="tl.store(y_ptr + offs, x / "),
            Change("mask-transposed", "(rows < n_rows)[:, None] & (d < D)[None, :]\n    offs = rows[:, None] * D", "(rows < n_rows)[:, None] & (d < BLOCK_D)[None, :]\n    offs = rows[:, None] * D", line="tl."),
        ],
    ),
    Problem(
        "layer_norm_rows",
        """
def layer_norm(x, w, b, eps, block):
    mean = x.mean(-1)
    rstd = torch.rsqrt(((x - mean[:, None]) ** 2).mean(-1) + eps)
    return (x - mean[:, None]) * rstd[:, None] * w + b, mean, rstd
def get_inputs():
    return [torch.randn(17, 150), torch.randn(150), torch.randn(150), 1e-5, 64]
JUDGE = {"vary": ["sizes", "offsets", "special", "dtypes"], "dtypes": ["float16"]}
""",
        kernels("layer_norms"),
        [
            Change("mask-variance", "x = tl.where(cols < N, x - mean, 0.0)", "x = x - mean", line="tl.store(Rstd"),
            Change("formula-eps-outside", "tl.sqrt(tl.sum(_var, axis=0) / N + eps)", "(tl.sqrt(tl.sum(_var, axis=0) / N) + eps)", line="tl.store(Rstd"),
            Change("scale-unbiased", "tl.sqrt(tl.sum(_var, axis=0) / N + eps)", "tl.sqrt(tl.sum(_var, axis=0) / (N - 1) + eps)", line="tl.store(Rstd"),
            Change("acc-last-block", "_mean += a", "_mean = a", line="tl.store(Mean"),
        ],
    ),
    Problem(
        "layer_norm_backward",
        """
def layer_norm_backward(dy, x, w, mean, rstd):
    xhat, wdy = (x - mean[:, None]) * rstd[:, None], w * dy
    c1, c2 = (xhat * wdy).mean(-1, keepdim=True), wdy.mean(-1, keepdim=True)
    return (wdy - (xhat * c1 + c2)) * rstd[:, None], (dy * xhat).sum(0), dy.sum(0)
def get_inputs():
    x = torch.randn(30, 50)
    return [torch.randn(30, 50), x, torch.randn(50), x.mean(-1), 1 / x.std(-1)]
JUDGE = {"vary": ["sizes", "values", "special"]}
""",
        kernels("layer_norms"),
        [
            Change("grad-no-mean", "(wdy - (xhat * c1 + c2)) * rstd", "(wdy - xhat * c1) * rstd", line="tl.store(DX + row * stride + cols, dx.to"),
            Change("acc-bias", "db += dy\n", "db = dy\n", line="tl.store(FINAL_DB"),
            Change("index-rows", "range(pid, n_rows, programs)", "range(pid + 1, n_rows, programs)", line="tl.store(DX + row * stride + cols, dx.to"),
            Change("mask-partial-sums", "mask = (rows[:, None] < M) & (cols[None, :] < N)", "mask = (rows[:, None] < M - 1) & (cols[None, :] < N)", line="tl.store(FINAL_D"),
        ],
    ),
    Problem(
        "layer_norm_locked",
        """
def layer_norm_backward_locked(dy, x, w, mean, rstd, groups):
    xhat, wdy = (x - mean[:, None]) * rstd[:, None], w * dy
    c1, c2 = (xhat * wdy).mean(-1, keepdim=True), wdy.mean(-1, keepdim=True)
    return (wdy - (xhat * c1 + c2)) * rstd[:, None], (dy * xhat).sum(0), dy.sum(0)
def get_inputs():
    x = torch.randn(19, 40)
    return [torch.randn(19, 40), x, torch.randn(40), x.mean(-1), 1 / x.std(-1), 3]
JUDGE = {"vary": ["sizes", "values"]}
""",
        kernels("layer_norms"),
        [
            Change("race-no-lock", "    while tl.atomic_cas(Lock, 0, 1) == 1:\n        pass\n", "", rule="races", line="DW"),
            Change("race-half-a-lock", "while tl.atomic_cas(Lock, 0, 1) == 1:", "while tl.atomic_cas(Lock + row % 2, 0, 1) == 1:", line="tl.atomic_cas(Lock"),
            Change("barrier-before-unlocking", "    tl.debug_barrier()\n    tl.atomic_xchg(Lock, 0)\n", "    tl.atomic_xchg(Lock, 0)\n", line="D"),
            Change("race-never-freed", "    tl.debug_barrier()\n    tl.atomic_xchg(Lock, 0)\n", "    tl.debug_barrier()\n", line="tl.atomic_cas(Lock"),
            Change("acc-first-row", "    if count == 0:\n", "    if count <= 1:\n"),
        ],
    ),
    Problem(
        "cross_entropy_smoothed",
        """
def cross_entropy(logits, target, smoothing, ignore_index, z_weight, grad, block):
    lse = torch.logsumexp(logits, -1)
    loss = (1 - smoothing) * (lse - logits.gather(1, target[:, None])[:, 0]) + smoothing * (lse - logits.mean(-1))
    return ((loss + z_weight * lse * lse) / len(target)).sum(), lse
def get_inputs():
    return [torch.randn(21, 90), torch.randint(0, 90, (21,)), 0.1, -100, 0.01, False, 32]
JUDGE = {"vary": ["sizes", "values"]}
""",
        kernels("losses"),
        [
            Change("acc-not-rescaled", "d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))", "d = d + tl.sum(tl.exp(x - m_new))", line="tl.store(lse_ptr + row, lse)"),
            Change("scale-smoothing", "(lse - total / n_cols)", "(lse - total)"),
            Change("mask-total", "tl.sum(tl.where(offs < n_cols, x, 0.0))", "tl.sum(x)"),
            Change("formula-z", "loss += z_weight * lse * lse", "loss += z_weight * lse"),
        ],
    ),
    Problem(
        "cross_entropy_in_place",
        """
def cross_entropy(logits, target, smoothing, ignore_index, z_weight, grad, block):
    lse, hot = torch.logsumexp(logits, -1), torch.nn.functional.one_hot(target, logits.shape[-1]).to(logits.dtype)
    loss = (1 - smoothing) * (lse - (logits * hot).sum(-1)) + smoothing * (lse - logits.mean(-1))
    logits.copy_((torch.exp(logits - lse[:, None]) - smoothing / logits.shape[-1] - (1 - smoothing) * hot) / len(target))
    return loss.sum() / max(len(target), 1), lse
def get_inputs():
    return [torch.randn(13, 70), torch.randint(0, 70, (13,)), 0.1, -100, 0.0, True, 32]
JUDGE = {"vary": ["sizes"]}
""",
        kernels("losses"),
        [
            Change("grad-no-smoothing", "grad = p - eps - tl.where", "grad = p - tl.where", line="tl.store(logits_ptr + offs, grad"),
            Change("scale-rows", "grad / n_kept, mask", "grad, mask", line="tl.store(logits_ptr + offs, grad"),
            Change("index-target", "tl.where(offs == y, 1 - smoothing", "tl.where(offs == y + 1, 1 - smoothing", line="tl.store(logits_ptr + offs, grad"),
        ],
    ),
    Problem(
        "kl_div",
        """
def kl_div(logq, p, reduction, log_target, block):
    return (p * (torch.log(p.clamp(min=1e-10)) - logq)).sum(-1), -p
def get_inputs():
    return [torch.log_softmax(torch.randn(11, 75), -1), torch.softmax(torch.randn(11, 75), -1), "sum", False, 32]
JUDGE = {"vary": ["sizes", "values", "offsets"]}
""",
        kernels("losses"),
        [
            Change("formula-sign", "(tl.log(tl.maximum(p, eps)) - logq), 0.0)", "(logq - tl.log(tl.maximum(p, eps))), 0.0)", line="tl.store(loss_ptr + tl.program_id(0), acc)"),
            Change("bound-one-column", "offs = i + tl.arange(0, BLOCK)\n        mask = offs < n_cols\n        logq", "offs = i + tl.arange(0, BLOCK)\n        mask = offs < n_cols - (n_cols % BLOCK == 1)\n        logq", line="tl.store("),
            Change("acc-last-block", "acc += tl.sum(loss, axis=0)", "acc = tl.sum(loss, axis=0)", line="tl.store(loss_ptr + tl.program_id(0), acc)"),
        ],
    ),
    Problem(
        "jsd",
        """
def jsd(x, y, beta):
    q, p = x.exp(), y.exp()
    logm = torch.log(beta * p + (1 - beta) * q)
    return beta * p * (y - logm) + (1 - beta) * q * (x - logm), (1 - beta) * q * (x - logm)
def get_inputs():
    return [torch.log_softmax(torch.randn(12, 33), -1), torch.log_softmax(torch.randn(12, 33), -1), 0.3]
JUDGE = {"vary": ["sizes", "offsets", "aliases"]}
""",
        kernels("losses"),
        [
            Change("formula-mixture", "mix = beta * p + (1 - beta) * q", "mix = (1 - beta) * p + beta * q", line="tl.store(loss_ptr + row + offs, loss"),
            Change("grad-weight", "dx = (1 - beta) * q * (x - logm)", "dx = q * (x - logm)", line="tl.store(dx_ptr"),
        ],
    ),
    Problem(
        "scale_rows",
        """
def scale_rows_(x, factor):
    x.mul_(factor)
def get_inputs():
    return [torch.randn(9, 140), torch.tensor([0.7])]
JUDGE = {"vary": ["sizes", "values", "offsets", "special"]}
""",
        kernels("losses"),
        [
            Change("formula-skipped", "if factor == 1.0:", "if factor <= 1.0:", line="factor"),
            Change("scale-squared", "x * factor, mask=offs < n_cols", "x * factor * factor, mask=offs < n_cols", line="x * factor * factor"),
        ],
    ),
    Problem(
        "linear_cross_entropy",
        """
def linear_cross_entropy(x, w, target):
    logits = x @ w.t()
    lse = torch.logsumexp(logits, -1)
    return (lse - logits.gather(1, target[:, None])[:, 0]).sum() / len(target), lse
def get_inputs():
    return [torch.randn(35, 40) / 2, torch.randn(90, 40) / 3, torch.randint(0, 90, (35,))]
JUDGE = {"vary": ["sizes"], "tf32": False}
""",
        kernels("linear_cross_entropy"),
        [
            Change("other-vocabulary", 'return tl.where(cols[None, :] < n_vocab, acc, float("-inf"))', "return acc", line="tl.store(lse_ptr"),
            Change("acc-overwritten", 'acc = tl.dot(x, w, acc, input_precision="ieee")', 'acc = tl.dot(x, w, input_precision="ieee")', line="tl.store(lse_ptr"),
            Change("cast-tf32", 'acc = tl.dot(x, w, acc, input_precision="ieee")', "acc = tl.dot(x, w, acc)", line="tl.store(lse_ptr"),
        ],
    ),
    Problem(
        "linear_cross_entropy_backward",
        """
def linear_cross_entropy_backward(x, w, target, lse):
    p = torch.exp(x @ w.t() - lse[:, None])
    g = (p - torch.nn.functional.one_hot(target, w.shape[0])) / len(target)
    return g @ w, g.t() @ x
def get_inputs():
    x, w = torch.randn(45, 32) / 2, torch.randn(70, 32) / 3
    return [x, w, torch.randint(0, 70, (45,)), torch.logsumexp(x @ w.t(), -1)]
JUDGE = {"vary": ["sizes"], "sizes": {32: [16, 64]}, "tf32": False}
""",
        kernels("linear_cross_entropy"),
        [
            Change("grad-target", "p - 1.0, p)", "p, p)", line="tl.store(d"),
            Change("scale-rows", "p * scale)", "p)", line="tl.store(d"),
            Change("acc-overwritten", 'dw = tl.dot(tl.trans(g).to(x.dtype), x, dw, input_precision="ieee")', 'dw = tl.dot(tl.trans(g).to(x.dtype), x, input_precision="ieee")', line="tl.store(dw_ptr"),
        ],
    ),
]
