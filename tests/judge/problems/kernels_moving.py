"""The kernels of tests/kernels that move, count and scan, as they are: embeddings, prefix sums, sampling, state space
scans, transforms, convolutions; and mistakes in them."""

# ruff: noqa: E501  texts are replaced as they stand
# fmt: off

from problems import Change, Problem, kernels

PROBLEMS: list[Problem] = [
    Problem(
        "embedding_lookup",
        """
def embedding(table, index):
    return table[index]
def get_inputs():
    return [torch.randn(50, 140), torch.randint(0, 50, (3, 11))]
JUDGE = {"vary": ["sizes", "values", "special"]}
""",
        kernels("embeddings"),
        [
            Change("mask-columns", "mask = (i < n)[:, None] & (d < D)[None, :]\n    x = tl.load(table_ptr", "mask = (i < n)[:, None] & (d < BLOCK_D)[None, :]\n    x = tl.load(table_ptr", line="tl."),
            Change("index-first-row", "rows = tl.load(index_ptr + i, mask=i < n, other=0)\n    mask = (i < n)[:, None]", "rows = tl.load(index_ptr + tl.arange(0, BLOCK_N), mask=i < n, other=0)\n    mask = (i < n)[:, None]", line="tl.store(out_ptr + i"),
        ],
    ),
    Problem(
        "embedding_backward",
        """
def embedding_backward(dout, index, rows, padding):
    kept = (index != padding).to(dout.dtype)[:, None]
    return torch.zeros(rows, dout.shape[1], dtype=dout.dtype).index_add_(0, index, dout * kept)
def get_inputs():
    return [torch.randn(90, 20), torch.randint(0, 30, (90,)), 30, 4]
JUDGE = {"vary": ["sizes"], "sizes": {30: []}}
""",
        kernels("embeddings"),
        [
            Change("race-store", "tl.atomic_add(dtable_ptr + rows[:, None] * D + d[None, :], g.to(tl.float32), mask=mask)", "tl.store(dtable_ptr + rows[:, None] * D + d[None, :], g.to(tl.float32), mask=mask)", line="tl.store(dtable_ptr"),
            Change("mask-padding", "((i < n) & (rows != padding))[:, None]", "(i < n)[:, None]", line="tl.atomic_add(dtable_ptr"),
            Change("acc-not-zeroed", "dtable = torch.zeros(rows", "dtable = torch.empty(rows", line="tl.atomic_add(dtable_ptr"),
        ],
    ),
    Problem(
        "embedding_bag",
        """
def embedding_bag(table, index, offsets, mode, weights):
    assert offsets[0] >= 0 and offsets[-1] <= len(index)
    bags = zip(offsets.tolist(), offsets.tolist()[1:])
    return torch.stack([(table[index[a:b]] * weights[a:b, None]).sum(0) for a, b in bags])
def get_inputs():
    return [torch.randn(40, 18), torch.randint(0, 40, (33,)), torch.tensor([0, 5, 5, 6, 20, 33]), "sum", torch.randn(33)]
JUDGE = {"vary": ["values"]}
""",
        kernels("embeddings"),
        [
            Change("bound-last", "while i < end:", "while i <= end:", line="tl."),
            Change("index-weight", "tl.load(weight_ptr + i)", "tl.load(weight_ptr + i - begin)", line="tl.store(out_ptr + bag"),
            Change("bound-end", "end = tl.load(offsets_ptr + bag + 1)", "end = tl.load(offsets_ptr + bag + 1) - 1", line="tl.store(out_ptr + bag"),
        ],
    ),
    Problem(
        "segment_sum",
        """
def segment_sum(x, keys, segments):
    assert bool((keys[1:] >= keys[:-1]).all())
    return torch.zeros(segments, x.shape[1], dtype=x.dtype).index_add_(0, keys.long(), x)
def get_inputs():
    return [torch.randn(150, 3), torch.sort(torch.randint(0, 20, (150,))).values.to(torch.int32), 20]
JUDGE = {"vary": ["values"]}
""",
        kernels("embeddings"),
        [
            Change("bound-block-end", "last = live & ((following != key) | (tl.arange(0, BLOCK) == BLOCK - 1))", "last = live & (following != key)", line="tl.atomic_add(out_ptr + key"),
            Change("formula-combine", "tl.where(left_key == right_key, left_value + right_value, right_value)", "left_value + right_value", line="tl.atomic_add(out_ptr + key"),
            Change("race-store", "tl.atomic_add(out_ptr + key * D + d, total, mask=last)", "tl.store(out_ptr + key * D + d, total, mask=last)", line="tl.store(out_ptr + key"),
        ],
    ),
    Problem(
        "cumsum_rows",
        """
def cumsum_rows(x, exclusive, reverse, rows, block):
    y = torch.cumsum(x.flip(-1), -1)
    return (y - x.flip(-1)).flip(-1)
def get_inputs():
    return [torch.randn(11, 100), True, True, 4, 32]
JUDGE = {"vary": ["sizes", "values"]}
""",
        kernels("prefix_sums"),
        [
            Change("bound-blocks", "start = (blocks - 1 - i) * BLOCK", "start = (blocks - i) * BLOCK", line="tl."),
            Change("formula-inclusive", "if EXCLUSIVE:\n            y -= x", "if not EXCLUSIVE:\n            y -= x", line="tl.store(y_ptr + offs, y"),
            Change("acc-carry", "carry += tl.sum(x, axis=1)", "carry = tl.sum(x, axis=1)", line="tl.store(y_ptr + offs, y"),
        ],
    ),
    Problem(
        "prefix_sum_look_back",
        """
def prefix_sum(x):
    return torch.cumsum(x, 0)
def get_inputs():
    return [torch.randn(1100)]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("prefix_sums"),
        [
            Change("race-relaxed", 'tl.atomic_xchg(status_ptr + block, _PARTIAL, sem="release")', 'tl.atomic_xchg(status_ptr + block, _PARTIAL, sem="relaxed")', line="total_ptr + "),
            Change("bound-first-block", "while at >= 0:", "while at > 0:", line="tl.store(y_ptr + offs, prefix"),
            Change("acc-own-total", "tl.store(prefix_ptr + block, prefix + total)", "tl.store(prefix_ptr + block, prefix)"),
        ],
    ),
    Problem(
        "histogram_bins",
        """
def histogram(x, bins, low, high):
    at = torch.floor((x - low) / ((high - low) / bins)).to(torch.int64)
    live = (at >= 0) & (at < bins)
    return torch.bincount(at[live], minlength=bins).to(torch.int32)
def get_inputs():
    return [torch.rand(1500) * 12 - 2, 16, 0.0, 8.0]
JUDGE = {"vary": ["sizes"]}
""",
        kernels("prefix_sums"),
        [
            Change("bound-clamped", "counts = tl.histogram(tl.where(live, at, 0), BINS, mask=live)", "counts = tl.histogram(tl.clamp(at.to(tl.float32), 0.0, BINS - 1.0).to(tl.int32), BINS, mask=offs < n)", line="tl.atomic_add(counts_ptr"),
            Change("mask-padding", "counts = tl.histogram(tl.where(live, at, 0), BINS, mask=live)", "counts = tl.histogram(tl.where(live, at, 0), BINS)", line="tl.atomic_add(counts_ptr"),
            Change("race-store", 'tl.atomic_add(counts_ptr + bins, counts, mask=counts > 0, sem="relaxed")', "tl.store(counts_ptr + bins, tl.load(counts_ptr + bins) + counts)", rule="races", line="counts_ptr + bins"),
        ],
    ),
    Problem(
        "topk_rows",
        """
def topk_rows(x, k):
    return torch.topk(x, k, -1).values
def get_inputs():
    return [torch.randn(13, 75), 4]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("prefix_sums"),
        [
            Change("other-0", 'mask=cols < n_cols, other=float("-inf"))\n    tl.store(value_ptr', "mask=cols < n_cols, other=0.0)\n    tl.store(value_ptr", line="tl.store(value_ptr"),
            Change("stride-rows", "tl.store(value_ptr + row * K", "tl.store(value_ptr + row * (K - 1)", line="tl.store(value_ptr"),
        ],
    ),
    Problem(
        "argmax_blocks",
        """
def argmax(x, block):
    return x.argmax(-1), x.amax(-1)
def get_inputs():
    return [torch.randn(12, 150), 32]
JUDGE = {"vary": ["sizes", "values", "offsets"]}
""",
        kernels("sampling"),
        [
            Change("index-block", "at = start + index\n    tl.store", "at = index\n    tl.store", line="tl.store(index_ptr + row"),
            Change("other-0", 'other=float("-inf")).to(tl.float32)\n        value, index = tl.max', "other=0.0).to(tl.float32)\n        value, index = tl.max", line="tl.store(", cases=40),
            Change("bound-ties", "if value > best:", "if value >= best:", line="tl.store(index_ptr + row"),
        ],
    ),
    Problem(
        "sample_topk_topp",
        """
def sample_topk_topp(logits, uniform, temperature, top_k, top_p):
    x = logits / temperature
    ordered = torch.sort(x, -1, descending=True).values
    p = torch.softmax(ordered[:, :top_k], -1)
    keep = (torch.cumsum(p, -1) - p < top_p) & (p > 0)
    lowest = ordered[:, :top_k].masked_fill(~keep, float("inf")).amin(-1, keepdim=True)
    weight = torch.where(x >= lowest, torch.exp(x - x.amax(-1, keepdim=True)), 0.0)
    cumulative = torch.cumsum(weight, -1)
    chosen = (cumulative <= uniform[:, None] * weight.sum(-1, keepdim=True)).sum(-1)
    last = torch.where(weight > 0, torch.arange(x.shape[1]), 0).amax(-1)
    return torch.minimum(chosen, last), keep.sum(-1).to(torch.int32)
def get_inputs():
    return [torch.randn(25, 70) * 2, torch.rand(25), 0.8, 12, 0.9]
JUDGE = {"vary": ["sizes"]}
""",
        kernels("sampling"),
        [
            Change("bound-top-k", "p = tl.where(cols < top_k, e, 0.0)", "p = tl.where(cols <= top_k, e, 0.0)", line="tl.store(kept_ptr"),
            Change("scale-temperature", 'other=float("-inf")).to(tl.float32) / temperature', 'other=float("-inf")).to(tl.float32) * temperature', line="tl.store("),
            Change("formula-inclusive", "before = tl.cumsum(p, axis=0) - p", "before = tl.cumsum(p, axis=0)", line="tl.store(kept_ptr"),
        ],
    ),
    Problem(
        "penalties",
        """
def apply_penalties_(logits, counts, repetition, frequency, presence):
    seen = counts > 0
    made = torch.where(seen, torch.where(logits > 0, logits / repetition, logits * repetition), logits)
    logits.copy_(made - frequency * counts - presence * seen)
def get_inputs():
    return [torch.randn(6, 700), torch.randint(0, 3, (6, 700), dtype=torch.int32), 1.3, 0.2, 0.1]
JUDGE = {"vary": ["sizes", "offsets", "special"]}
""",
        kernels("sampling"),
        [
            Change("formula-sign", "tl.where(x > 0, x / repetition, x * repetition)", "x / repetition", line="tl.store(logits_ptr + base"),
            Change("formula-presence", "x -= presence * seen.to(tl.float32)", "x -= presence", line="tl.store(logits_ptr + base"),
            Change("index-counts", "count = tl.load(counts_ptr + base + offs", "count = tl.load(counts_ptr + offs", line="tl.store(logits_ptr + base"),
        ],
    ),
    Problem(
        "selective_scan",
        """
def selective_scan(u, delta, a, b, c, d, z):
    delta = torch.nn.functional.softplus(delta)
    h, ys = torch.zeros(u.shape[0], *a.shape, dtype=u.dtype), []
    for t in range(u.shape[1]):
        h = h * torch.exp(delta[:, t, :, None] * a) + (delta[:, t] * u[:, t])[..., None] * b[:, t, None]
        ys.append((h * c[:, t, None]).sum(-1) + u[:, t] * d)
    return torch.stack(ys, 1) * torch.nn.functional.silu(z), h
def get_inputs():
    wide = [torch.randn(2, 13, 40) for _ in range(3)]
    return [wide[0], wide[1], -torch.rand(40, 8), torch.randn(2, 13, 8), torch.randn(2, 13, 8), torch.randn(40), wide[2]]
JUDGE = {"vary": ["sizes"], "sizes": {8: [4, 16]}}
""",
        kernels("selective_scan"),
        [
            Change("formula-softplus", "tl.log(1 + tl.exp(tl.minimum(x, 20.0)))", "tl.exp(tl.minimum(x, 20.0))", line="tl.store("),
            Change("stride-state", "c_ptrs += N", "c_ptrs += 0", line="tl.store(y_ptrs"),
            Change("acc-decay", "h = h * tl.exp(delta[:, None] * a) +", "h = h +", line="tl.store("),
            Change("index-batch", "b_ptrs = b_ptr + batch * T * N + n", "b_ptrs = b_ptr + n", line="tl.store("),
        ],
    ),
    Problem(
        "gated_recurrence",
        """
def gated_recurrence(x, gate):
    y, made = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        y = gate[:, t] * y + x[:, t]
        made.append(y)
    return torch.stack(made, 1)
def get_inputs():
    return [torch.randn(2, 75, 21), torch.rand(2, 75, 21)]
JUDGE = {"vary": ["sizes"]}
""",
        kernels("selective_scan"),
        [
            Change("acc-carry", "y += a * carry[None, :]", "y += carry[None, :]", line="tl.store(y_ptr + offs"),
            Change("bound-carry", "tl.where(t[:, None] == BLOCK_T - 1, y, 0.0)", "tl.where(t[:, None] == BLOCK_T - 2, y, 0.0)", line="tl.store(y_ptr + offs"),
            Change("formula-combine", "return a_left * a_right, b_left * a_right + b_right", "return a_left * a_right, b_left * a_left + b_right", line="tl.store(y_ptr + offs"),
        ],
    ),
    Problem(
        "transpose_batched",
        """
def transpose(x):
    return x.transpose(1, 2).contiguous()
def get_inputs():
    return [torch.randn(3, 45, 70)]
JUDGE = {"vary": ["sizes", "values", "offsets", "special", "dtypes"], "dtypes": ["float16"]}
""",
        kernels("transforms"),
        [
            Change("mask-swapped", "mask=(n[:, None] < N) & (m[None, :] < M))", "mask=(n[:, None] < M) & (m[None, :] < N))", line="tl.store(y_ptr + base"),
            Change("stride-batch", "base = tl.program_id(2).to(tl.int64) * M * N", "base = tl.program_id(2).to(tl.int64) * M * M", line="tl."),
        ],
    ),
    Problem(
        "heads_first",
        """
def heads_first(x):
    return x.permute(0, 2, 1, 3).contiguous()
def get_inputs():
    return [torch.randn(2, 35, 4, 8)]
JUDGE = {"vary": ["sizes", "values"], "sizes": {4: [2, 8], 8: [16]}}
""",
        kernels("transforms"),
        [
            Change("formula-permute", "y = tl.permute(x, (1, 0, 2))", "y = tl.reshape(x, (H, BLOCK_T, D))", line="tl.store("),
            Change("mask-time", "d[None, None, :], y, mask=t[None, :, None] < T", "d[None, None, :], y, mask=t[None, :, None] <= T", line="tl.store("),
        ],
    ),
    Problem(
        "hadamard",
        """
def hadamard(x):
    h = torch.ones(1, 1, dtype=x.dtype)
    while h.shape[0] < x.shape[1]:
        h = torch.cat((torch.cat((h, h), 1), torch.cat((h, -h), 1)))
    return x @ h * x.shape[1] ** -0.5
def get_inputs():
    return [torch.randn(9, 64)]
JUDGE = {"vary": ["sizes", "values"], "sizes": {64: [2, 16, 128]}, "tf32": False}
""",
        kernels("transforms"),
        [
            Change("scale-missing", "tl.reshape(x, (N,)) * scale)", "tl.reshape(x, (N,)))", line="tl.store(y_ptr + row * N"),
            Change("bound-steps", "for step in tl.static_range(LOG2_N):\n        x = tl.reshape", "for step in tl.static_range(LOG2_N - 1):\n        x = tl.reshape", line="tl.store(y_ptr + row * N"),
        ],
    ),
    Problem(
        "fft",
        """
def fft(re, im):
    n = torch.arange(re.shape[1], dtype=re.dtype)
    angle = -2 * torch.pi * ((n[:, None] * n) % re.shape[1]) / re.shape[1]
    c, s = torch.cos(angle), torch.sin(angle)
    return re @ c - im @ s, re @ s + im @ c
def get_inputs():
    return [torch.randn(7, 32), torch.randn(7, 32)]
JUDGE = {"vary": ["sizes", "aliases"], "sizes": {32: [4, 64]}, "atol": 1e-4}
""",
        kernels("transforms"),
        [
            Change("formula-sign", "1.0 if inverse else -1.0", "-1.0 if inverse else 1.0", line="tl.store(out_"),
            Change("index-bits", "(LOG2_N - 1 - bit)\n    re", "bit\n    re", line="tl.store(out_"),
        ],
    ),
    Problem(
        "pack_lower",
        """
def pack_lower(x):
    return x[torch.ones(x.shape, dtype=torch.bool).tril()]
def get_inputs():
    return [torch.randn(45, 45)]
JUDGE = {"vary": ["sizes", "offsets", "special"]}
""",
        kernels("transforms"),
        [
            Change("index-row", "r * (r + 1) // 2 + c", "r * (r - 1) // 2 + c", line="tl.store(packed_ptr"),
            Change("mask-strictly", "(c <= r)", "(c < r)", line="tl.store(packed_ptr"),
        ],
    ),
    Problem(
        "conv2d",
        """
def conv2d(x, w, b, stride, pad, dilation):
    return torch.nn.functional.conv2d(x, w, b, stride, pad, dilation)
def get_inputs():
    return [torch.randn(2, 5, 11, 13), torch.randn(7, 5, 3, 3), torch.randn(7), 2, 1, 1]
JUDGE = {"vary": ["sizes"], "sizes": {5: [1, 8, 33], 3: [1, 2]}, "tf32": False}
""",
        kernels("convolutions"),
        [
            Change("bound-padding", "inside = (h >= 0) & (h < H) & (w >= 0) & (w < W)", "inside = (h >= 0) & (h < H) & (w < W)", line="tl."),
            Change("index-filter", "r = (kk // S) % R", "r = (kk // R) % S", "right"),
            Change("index-image", "n = m // (Q * P)", "n = m // (P * P)", line="tl."),
            Change("mask-depth", "mask=inside & (n[:, None] < batch) & (kk[None, :] < depth)", "mask=inside & (n[:, None] < batch)", line="tl.load("),
        ],
    ),
    Problem(
        "causal_conv1d",
        """
def causal_conv1d(x, w, b, state, silu):
    k = w.shape[1]
    padded = torch.cat((state, x), 1)
    y = sum(padded[:, j : j + x.shape[1]] * w[:, j] for j in range(k)) + b
    return torch.nn.functional.silu(y)
def get_inputs():
    return [torch.randn(2, 45, 40), torch.randn(40, 4), torch.randn(40), torch.randn(2, 3, 40), True]
JUDGE = {"vary": ["sizes", "offsets"], "sizes": {4: [], 3: []}}
""",
        kernels("convolutions"),
        [
            Change("bound-state", "x = tl.where((at < 0)[:, None], old, x)", "x = tl.where((at <= 0)[:, None], old, x)", line="tl.store(y_ptr + (batch"),
            Change("index-tap", "at = t - (K - 1) + j", "at = t - j", line="tl."),
            Change("mask-before", "mask=((at >= 0) & (at < T))[:, None] & live_c[None, :]", "mask=(at < T)[:, None] & live_c[None, :]", line="tl.load("),
        ],
    ),
    Problem(
        "causal_conv1d_backward",
        """
def causal_conv1d_backward(dy, x, w):
    k, t = w.shape[1], x.shape[1]
    later = torch.nn.functional.pad(dy, (0, 0, 0, k - 1))
    earlier = torch.nn.functional.pad(x, (0, 0, k - 1, 0))
    dx = sum(later[:, k - 1 - j : k - 1 - j + t] * w[:, j] for j in range(k))
    return dx, torch.stack([(dy * earlier[:, j : j + t]).sum((0, 1)) for j in range(k)], -1)
def get_inputs():
    return [torch.randn(2, 45, 40), torch.randn(2, 45, 40), torch.randn(40, 4)]
JUDGE = {"vary": ["sizes"], "sizes": {4: []}}
""",
        kernels("convolutions"),
        [
            Change("grad-direction", "later = t + back", "later = t + j", line="tl.store(dx_ptr"),
            Change("race-partial", "row = tl.program_id(0) * tl.num_programs(2) + batch", "row = tl.program_id(0) * tl.num_programs(2)", line="tl.store(dw_ptr"),
            Change("mask-time", "mask = ((earlier >= 0) & (t < T))[:, None]", "mask = (earlier >= 0)[:, None]", line="tl.load(x_ptr + (base"),
        ],
    ),
    Problem(
        "max_pool2d",
        """
def max_pool2d(x, size, stride):
    return torch.nn.functional.max_pool2d(x, size, stride, return_indices=True)
def get_inputs():
    return [torch.randn(2, 3, 21, 17), 3, 2]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("convolutions"),
        [
            Change("index-flat", "here = (h0 + i) * W + w0 + j", "here = (h0 + i) * H + w0 + j", line="tl."),
            Change("stride-window", "w0 = o % Q * STRIDE", "w0 = o % Q", line="tl.store("),
            Change("other-initial", 'best = tl.full([BLOCK], float("-inf"), tl.float32)', "best = tl.zeros([BLOCK], tl.float32)", line="tl.store(", cases=40),
        ],
    ),
]
