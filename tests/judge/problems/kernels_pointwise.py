"""The kernels of tests/kernels that work element by element, as they are: activations, optimisers, quantising, rotary,
random numbers; and mistakes in them."""

# ruff: noqa: E501  texts are replaced as they stand
# fmt: off

from problems import Change, Problem, kernels

_PHILOX = '''
def words(seed, counters):
    """Philox 4x32-10: four words of each counter."""
    c, key = [counters & 0xFFFFFFFF, counters >> 32, counters * 0, counters * 0], [seed & 0xFFFFFFFF, seed >> 32]
    def product(x, y):
        low = x * (y & 0xFFFF)
        high = x * (y >> 16) + (low >> 16)
        return high >> 16, ((high & 0xFFFF) << 16) | (low & 0xFFFF)
    for _ in range(10):
        (high0, low0), (high1, low1) = product(c[0], 0xD2511F53), product(c[2], 0xCD9E8D57)
        c = [high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c
def uniform(word):
    signed = torch.where(word >= 2**31, word - 2**32, word)
    return torch.where(signed < 0, -signed - 1, signed).float() * 4.6566127342e-10
'''

PROBLEMS: list[Problem] = [
    Problem(
        "gelu_erf",
        """
def gelu(x):
    return torch.nn.functional.gelu(x)
def get_inputs():
    return [torch.randn(3000)]
JUDGE = {"vary": ["sizes", "values", "offsets", "special", "dtypes"], "dtypes": ["float16", "bfloat16"]}
""",
        kernels("activations"),
        [
            Change("formula-quick", "def gelu(x, function=gelu_erf,", "def gelu(x, function=gelu_quick,", line="tl.store(y_ptr + offs"),
            Change("formula-tanh", "def gelu(x, function=gelu_erf,", "def gelu(x, function=gelu_tanh,", line="tl.store(y_ptr + offs"),
            Change("mask-store", "tl.store(y_ptr + offs, FN(x), mask=mask)", "tl.store(y_ptr + offs, FN(x), mask=offs <= n)", line="tl.store(y_ptr + offs"),
            Change("cast-half", "FN(x), mask=mask", "FN(x).to(tl.float16), mask=mask", line="tl.store(y_ptr + offs"),
        ],
    ),
    Problem(
        "gelu_backward",
        """
def gelu_backward(dy, x):
    cdf = 0.5 * (1 + torch.erf(x * 0.7071067811865476))
    return dy * (cdf + x * torch.exp(-0.5 * x * x) * 0.3989422804014327)
def get_inputs():
    return [torch.randn(700), torch.randn(700)]
JUDGE = {"vary": ["sizes", "offsets", "aliases"]}
""",
        kernels("activations"),
        [
            Change("grad-pdf", "dy * (cdf + x * pdf)", "dy * cdf", line="tl.store(dx_ptr + offs"),
            Change("scale-pdf", "tl.exp(-0.5 * x * x) * INV_SQRT_2PI", "tl.exp(-x * x) * INV_SQRT_2PI", line="tl.store(dx_ptr + offs"),
        ],
    ),
    Problem(
        "swiglu_packed",
        """
def gated(packed, kind, block):
    n = packed.shape[1] // 2
    return torch.nn.functional.silu(packed[:, :n]) * packed[:, n:]
def get_inputs():
    return [torch.randn(19, 150), "swiglu", 32]
JUDGE = {"vary": ["sizes", "values", "offsets"], "sizes": {150: [2, 62, 64, 66, 200]}}
""",
        kernels("activations"),
        [
            Change("stride-packed", "(a, b, c, packed.stride(0), n, KIND=kind", "(a, b, c, n, n, KIND=kind", line="tl.store(c_ptr"),
            Change("index-halves", "a, b = packed[:, :n], packed[:, n:]", "b, a = packed[:, :n], packed[:, n:]", line="tl.store(c_ptr"),
            Change("bound-grid", "_gated_fwd[(rows, triton.cdiv(n, block))]", "_gated_fwd[(rows, max(n // block, 1))]", line="tl.store(c_ptr"),
        ],
    ),
    Problem(
        "geglu_packed",
        """
def gated(packed, kind, block):
    n = packed.shape[1] // 2
    return torch.nn.functional.gelu(packed[:, :n], approximate="tanh") * packed[:, n:]
def get_inputs():
    return [torch.randn(19, 150), "geglu", 32]
JUDGE = {"vary": ["sizes"], "sizes": {150: [2, 62, 64, 66, 200]}}
""",
        kernels("activations"),
        [
            Change("formula-cubic", "return 0.5 * x * (1 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))", "return 0.5 * x * (1 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x)))", line="tl.store(c_ptr"),
        ],
    ),
    Problem(
        "gated_backward",
        """
def gated_backward_(dc, packed, kind, block):
    n = dc.shape[1]
    a, b = packed[:, :n].clone(), packed[:, n:].clone()
    sig = torch.sigmoid(a)
    packed[:, :n] = dc * b * (sig * (1 + a * (1 - sig)))
    packed[:, n:] = dc * a * sig
def get_inputs():
    return [torch.randn(12, 75), torch.randn(12, 150), "swiglu", 32]
JUDGE = {"vary": ["values"]}
""",
        kernels("activations"),
        [
            Change("grad-slope", "slope = sig * (1 + a * (1 - sig))", "slope = sig * (1 - sig)", line="tl.store(a_ptr"),
            Change("grad-value", "dc * gate, mask=mask", "dc * sig, mask=mask", line="tl.store(b_ptr"),
            Change("race-order", "    tl.store(a_ptr + row * stride + cols, dc * b * slope, mask=mask)\n    tl.store(b_ptr", "    tl.store(a_ptr + row * stride + cols, dc * b * slope, mask=mask)\n    gate = tl.load(a_ptr + row * stride + cols, mask=mask, other=0.0)\n    tl.store(b_ptr", line="tl.store(b_ptr"),
        ],
    ),
    Problem(
        "adamw",
        """
B1, B2 = (torch.tensor(b, dtype=torch.float32).item() for b in (0.9, 0.999))
def adamw_(p, g, m, v, step):
    m.copy_(B1 * m + (1 - B1) * g)
    v.copy_(B2 * v + (1 - B2) * g * g)
    p.copy_(p * (1.0 - 1e-3 * 0.01) - 1e-3 * (m / (1 - 0.9**step)) / (torch.sqrt(v / (1 - 0.999**step)) + 1e-8))
def get_inputs():
    return [torch.randn(1500), torch.randn(1500), torch.randn(1500) / 10, torch.rand(1500), 3]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("optimisers"),
        [
            Change("formula-decay", "p = p * (1.0 - lr * decay)", "p = p - lr * decay", line="tl.store(p_ptr + offs, p, mask=mask)"),
            Change("scale-correction", "1 - betas[0] ** step, 1 - betas[1] ** step, n, BLOCK=block\n    )\n\n\ndef adam8_", "1 - betas[1] ** step, 1 - betas[0] ** step, n, BLOCK=block\n    )\n\n\ndef adam8_", line="tl.store(p_ptr + offs, p, mask=mask)"),
            Change("cast-moment", "tl.store(v_ptr + offs, v, mask=mask)", "tl.store(v_ptr + offs, v.to(tl.bfloat16), mask=mask)", line="tl.store(v_ptr + offs, v.to"),
            Change("mask-moment", "m = tl.load(m_ptr + offs, mask=mask)\n    v = tl", "m = tl.load(m_ptr + offs)\n    v = tl", line="tl.load(m_ptr + offs)"),
        ],
    ),
    Problem(
        "adam8",
        """
B1, B2 = (torch.tensor(b, dtype=torch.float32).item() for b in (0.9, 0.999))
def adam8_(p, g, m, v, m_scale, v_scale, step):
    m_wide, root = m * m_scale.repeat_interleave(256)[: len(m)], v * v_scale.repeat_interleave(256)[: len(m)]
    m_wide, root = B1 * m_wide + (1 - B1) * g, torch.sqrt(B2 * root * root + (1 - B2) * g * g)
    p.copy_(p - 1e-3 * (m_wide / (1 - 0.9**step)) / (root / (1 - 0.999**step) ** 0.5 + 1e-8))
    pad = -len(m) % 256
    blocks = lambda t: torch.nn.functional.pad(t, (0, pad)).view(-1, 256)
    m_scale.copy_((blocks(m_wide.abs()).amax(1) / 127).clamp(min=1e-20))
    v_scale.copy_((blocks(root).amax(1) / 255).clamp(min=1e-20))
    m.copy_(torch.floor(m_wide / m_scale.repeat_interleave(256)[: len(m)] + 0.5).to(torch.int8))
    v.copy_(torch.floor(root / v_scale.repeat_interleave(256)[: len(m)] + 0.5).to(torch.uint8))
def get_inputs():
    moments = torch.randint(-127, 128, (700,), dtype=torch.int8), torch.randint(0, 256, (700,), dtype=torch.uint8)
    return [torch.randn(700), torch.randn(700), *moments, torch.rand(3) / 100, torch.rand(3) / 100, 5]
JUDGE = {"vary": ["sizes"], "sizes": {700: [513, 768], 3: []}}
""",
        kernels("optimisers"),
        [
            Change("scale-moment", "tl.max(root, axis=0) / 255.0", "tl.max(root, axis=0) / 127.0", line="tl.store(v_"),
            Change("index-scale", "tl.load(v_ptr + offs, mask=mask, other=0).to(tl.float32) * tl.load(v_scale_ptr + pid)", "tl.load(v_ptr + offs, mask=mask, other=0).to(tl.float32) * tl.load(v_scale_ptr)", line="tl.store("),
        ],
    ),
    Problem(
        "lion",
        """
B1, B2 = (torch.tensor(b, dtype=torch.float32).item() for b in (0.9, 0.99))
def lion_(p, g, m):
    update = B1 * m + (1 - B1) * g
    p.copy_(p * (1 - 1e-3 * 0.1) - 1e-3 * torch.sign(update))
    m.copy_(B2 * m + (1 - B2) * g)
def get_inputs():
    return [torch.randn(1300), torch.randn(1300), torch.randn(1300)]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("optimisers"),
        [
            Change("formula-order", "update = beta1 * m + (1 - beta1) * g", "update = beta2 * m + (1 - beta2) * g", line="tl.store(p_ptr + offs, p - step"),
            Change("grad-not-signed", "tl.where(update > 0, lr, tl.where(update < 0, -lr, 0.0))", "lr * update", line="tl.store(p_ptr + offs, p - step"),
        ],
    ),
    Problem(
        "clip_norm",
        """
def clip_norm_(x, max_norm):
    total = (x * x).sum()
    x.mul_((max_norm / (total.sqrt() + 1e-6)).clamp(max=1.0))
    return total.view(1)
def get_inputs():
    return [torch.randn(5000), 3.0]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("optimisers"),
        [
            Change("race-store", "tl.atomic_add(total_ptr, tl.sum(acc, axis=0))", "tl.store(total_ptr, tl.load(total_ptr) + tl.sum(acc, axis=0))", rule="races", line="total_ptr"),
            Change("stride-grid", "step = tl.num_programs(0) * BLOCK", "step = (tl.num_programs(0) + 1) * BLOCK"),
            Change("formula-square", "norm = tl.sqrt(tl.load(total_ptr))", "norm = tl.load(total_ptr)", line="tl.store(x_ptr + offs"),
            Change("race-one-launch", "factor = max_norm / (norm + 1e-6)", "tl.store(total_ptr, norm * norm)\n    factor = max_norm / (norm + 1e-6)", line="total_ptr"),
        ],
    ),
    Problem(
        "quantise_tokens",
        """
def quantise_tokens(x):
    scale = (x.abs().amax(-1) / 127.0).clamp(min=1e-10)
    y = x / scale[:, None]
    return torch.where(y >= 0, torch.floor(y + 0.5), torch.ceil(y - 0.5)).to(torch.int8), scale
def get_inputs():
    return [torch.randn(22, 90)]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("quantising"),
        [
            Change("formula-truncates", "y = tl.where(y >= 0, tl.floor(y + 0.5), tl.ceil(y - 0.5))", "y = y", line="tl.store(q_ptr + row * n_cols + cols, y.to(tl.int8)"),
            Change("scale-128", "tl.max(tl.abs(x)) / 127.0", "tl.max(tl.abs(x)) / 128.0", line="tl.store(scale_ptr + row, scale)"),
            Change("scale-signed", "tl.maximum(tl.max(tl.abs(x)) / 127.0", "tl.maximum(tl.max(x) / 127.0", line="tl.store("),
        ],
    ),
    Problem(
        "dequantise_blocks",
        """
def dequantise_blocks(q, scale, dtype, block):
    m, n = q.shape
    wide = scale.repeat_interleave(block, 0)[:m].repeat_interleave(block, 1)[:, :n]
    return q.to(scale.dtype) * wide
def get_inputs():
    return [torch.randn(50, 90).to(torch.float8_e4m3fn), torch.rand(2, 3) + 0.5, torch.float32, 32]
JUDGE = {"vary": ["sizes"], "sizes": {50: [33, 64], 90: [65, 96], 2: [], 3: []}}
""",
        kernels("quantising"),
        [
            Change("index-scale", "pid_m * tl.cdiv(N, BLOCK) + pid_n)", "pid_m * (N // BLOCK) + pid_n)", line="tl.store(x_ptr"),
            Change("cast-half", "q = tl.load(q_ptr + offs, mask=mask).to(tl.float32)", "q = tl.load(q_ptr + offs, mask=mask).to(tl.float32)\n    q = (q / 3).to(tl.float16).to(tl.float32) * 3", line="tl.store(x_ptr"),
        ],
    ),
    Problem(
        "pack_int4",
        """
def pack_int4(w, group, block_n):
    k, n = w.shape
    grouped = w.reshape(k // group, group, n)
    low, high = grouped.amin(1), grouped.amax(1)
    scale = ((high - low) / 15.0).clamp(min=1e-8)
    zero = torch.floor(-low / scale + 0.5).clamp(0.0, 15.0)
    q = (torch.floor(grouped / scale[:, None] + 0.5) + zero[:, None]).clamp(0.0, 15.0).to(torch.int64)
    q = q.reshape(k // 8, 8, n) << (torch.arange(8) * 4)[None, :, None]
    return q.sum(1).to(torch.int32), scale, zero.to(torch.int8)
def get_inputs():
    return [torch.randint(-60, 68, (64, 40)).float() / 8, 32, 16]
JUDGE = {"vary": ["sizes"], "sizes": {64: [32, 96]}}
""",
        kernels("quantising"),
        [
            Change("formula-order", "(tl.arange(0, 8) * 4)[None, :, None]", "((7 - tl.arange(0, 8)) * 4)[None, :, None]", line="tl.store(packed_ptr"),
            Change("scale-range", "tl.maximum((high - low) / 15.0", "tl.maximum((high - low) / 16.0", line="tl.store(scale_ptr + group"),
            Change("index-columns", "scale_ptr + group * N + cols, scale", "scale_ptr + group * BLOCK_N + cols, scale", line="tl.store(scale_ptr + group"),
        ],
    ),
    Problem(
        "rope_half",
        """
def rope_half_(q, k, cos, sin):
    for x in (q, k):
        a, b = x.clone().chunk(2, -1)
        x.copy_(torch.cat((a * cos[:, None] - b * sin[:, None], b * cos[:, None] + a * sin[:, None]), -1))
def get_inputs():
    return [torch.randn(2, 15, 3, 32), torch.randn(2, 15, 5, 32), torch.randn(15, 16), torch.randn(15, 16)]
JUDGE = {"vary": ["sizes", "values"], "sizes": {32: [], 16: []}}
""",
        kernels("rotary"),
        [
            Change("formula-sign", "q1 * cos - q2 * sin", "q1 * cos + q2 * sin", line="tl.store(q_ptr + q_first,"),
            Change("index-position", "pos = pid % T", "pos = pid // T", line="tl."),
            Change("race-in-place", "tl.store(k_ptr + k_first + half, k2 * cos + k1 * sin, mask=k_mask)", "k1 = tl.load(k_ptr + k_first, mask=k_mask, other=0).to(tl.float32)\n    tl.store(k_ptr + k_first + half, k2 * cos + k1 * sin, mask=k_mask)", line="tl.store(k_ptr + k_first + half"),
            Change("mask-heads", "k_mask = tl.arange(0, PAD_HK)[:, None] < HK", "k_mask = tl.arange(0, PAD_HK)[:, None] <= HK", line="tl."),
        ],
    ),
    Problem(
        "rope_interleaved",
        """
def rope_interleaved(x, positions, rotary_dim):
    angle = positions[:, None].to(x.dtype) * 10000.0 ** (-torch.arange(0, rotary_dim, 2, dtype=x.dtype) / rotary_dim)
    cos, sin, part = torch.cos(angle)[:, None], torch.sin(angle)[:, None], x[..., :rotary_dim]
    even, odd = part[..., 0::2], part[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)
    return torch.cat((turned, x[..., rotary_dim:]), -1)
def get_inputs():
    return [torch.randn(21, 3, 24), torch.arange(21) * 2, 16]
JUDGE = {"vary": ["sizes"], "sizes": {24: [32, 40]}}
""",
        kernels("rotary"),
        [
            Change("formula-pairs", "tl.interleave(even * cos - odd * sin, even * sin + odd * cos)", "tl.interleave(even * cos - odd * sin, odd * cos - even * sin)", line="tl.store(out_ptr + base + both"),
            Change("mask-rest", "keep = live & (rest + start < D)[None, :]", "keep = live & (rest + start < D - 1)[None, :]", line="tl.store(out_ptr + base + start"),
        ],
    ),
    Problem(
        "hash_buckets",
        """
def hash_buckets(x, buckets):
    def product(a, b):
        return (a * (b & 0xFFFF) + ((a * (b >> 16) & 0xFFFF) << 16)) & 0xFFFFFFFF
    h = x.to(torch.int64) & 0xFFFFFFFF
    h = product(h ^ (h >> 16), 0x85EBCA6B)
    h = product(h ^ (h >> 13), 0xC2B2AE35)
    return (((h ^ (h >> 16)) * buckets) >> 32).to(torch.int32)
def get_inputs():
    return [torch.randint(-1000, 1000, (900,), dtype=torch.int32), 97]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("randomness"),
        [
            Change("formula-shift", "h ^= h >> 13", "h ^= h >> 15", line="tl.store(out_ptr + offs, tl.umulhi"),
            Change("cast-signed", "tl.load(x_ptr + offs, mask=offs < n, other=0).to(tl.uint32)", "tl.load(x_ptr + offs, mask=offs < n, other=0)", line="h *= 0x85EBCA6B"),
        ],
    ),
    Problem(
        "dropout_philox",
        _PHILOX
        + """
def dropout(x, p, seed):
    keep = uniform(words(seed, torch.arange(x.numel()))[0]) > p
    return torch.where(keep, x / (1 - p), 0.0)
def get_inputs():
    return [torch.randn(800), 0.3, 1234]
JUDGE = {"reference": "dropout", "vary": ["sizes", "values"]}
""",
        kernels("randomness"),
        [
            Change("scale-kept", "tl.where(keep, x / (1 - p), 0.0), mask=live)", "tl.where(keep, x, 0.0), mask=live)", line="tl.store(y_ptr + offs, tl.where(keep"),
            Change("formula-other-choice", "keep = tl.rand(seed, offs) > p", "keep = tl.rand(seed, offs) < p", line="tl.store(y_ptr + offs, tl.where(keep"),
            Change("index-block", "keep = tl.rand(seed, offs) > p", "keep = tl.rand(seed, tl.arange(0, BLOCK)) > p", line="tl.store(y_ptr + offs, tl.where(keep"),
        ],
    ),
]
