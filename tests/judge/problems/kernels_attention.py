"""The attention kernels of tests/kernels, as they are: flash, decoding, windows, linear; and mistakes in them."""

# ruff: noqa: E501  texts are replaced as they stand
# fmt: off

from problems import Change, Problem, kernels

_QKV = "def get_inputs():\n    return [torch.randn(2, 4, 45, 16), torch.randn(2, 2, 53, 16), torch.randn(2, 2, 53, 16), True]"
_ATTEND = """
def scores(q, k, causal):
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    live = torch.arange(k.shape[2])[None, :] <= torch.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2]
    return s.masked_fill(~live, float("-inf")) if causal else s
"""

PROBLEMS: list[Problem] = [
    Problem(
        "flash_attention",
        f"""{_ATTEND}
def flash_attention(q, k, v, causal):
    s, v = scores(q, k, causal), v.repeat_interleave(q.shape[1] // k.shape[1], 1)
    return torch.softmax(s, -1).nan_to_num(0.0) @ v, torch.logsumexp(s, -1) * 1.4426950408889634
{_QKV}
JUDGE = {{"reference": "flash_attention", "vary": ["sizes", "aliases"], "sizes": {{16: [32], 2: [], 4: [2]}}, "tf32": False, "dtypes": ["float16"]}}
""",
        kernels("flash_attention"),
        [
            Change("mask-shift", "(cols[None, :] <= rows[:, None] + shift) & (cols[None, :] < t_k)", "(cols[None, :] <= rows[:, None]) & (cols[None, :] < t_k)", line="tl.store("),
            Change("index-heads", "kv = h // group\n    rows", "kv = h % (heads // group)\n    rows", line="tl.store("),
            Change("acc-rescale", 'acc * alpha[:, None], input_precision="ieee")\n        m_i', 'acc, input_precision="ieee")\n        m_i', line="tl.store(o_ptrs"),
            Change("scale-log2", "scale = sm_scale * 1.44269504089\n    shift = t_k - t_q if", "scale = sm_scale\n    shift = t_k - t_q if", line="tl.store("),
            Change("bound-full-blocks", "full = tl.maximum(tl.minimum(full, (pid_m * BLOCK_M + shift + 1) // BLOCK_N * BLOCK_N), 0)", "full = tl.maximum(tl.minimum(full, (pid_m * BLOCK_M + shift + BLOCK_N) // BLOCK_N * BLOCK_N), 0)", line="tl.store("),
        ],
    ),
    Problem(
        "flash_attention_backward",
        f"""{_ATTEND}
def flash_attention_backward(do, q, k, v, o, lse, causal):
    n, (b, h, t, d) = q.shape[1] // k.shape[1], k.shape
    p = torch.exp2(scores(q, k, causal) * 1.4426950408889634 - lse[..., None])
    dp = do @ v.repeat_interleave(n, 1).transpose(-1, -2)
    ds = p * (dp - (o * do).sum(-1, keepdim=True)) * q.shape[-1] ** -0.5
    dk, dv = ds.transpose(-1, -2) @ q, p.transpose(-1, -2) @ do
    return ds @ k.repeat_interleave(n, 1), dk.view(b, h, n, t, d).sum(2), dv.view(b, h, n, t, d).sum(2)
def get_inputs():
    q, k, v = torch.randn(2, 4, 37, 16), torch.randn(2, 2, 45, 16), torch.randn(2, 2, 45, 16)
    s = scores(q, k, True)
    o = torch.softmax(s, -1) @ v.repeat_interleave(2, 1)
    return [torch.randn(2, 4, 37, 16), q, k, v, o, torch.logsumexp(s, -1) * 1.4426950408889634, True]
JUDGE = {{"reference": "flash_attention_backward", "vary": ["sizes"], "sizes": {{16: [32], 2: [], 4: [2]}}, "tf32": False}}
""",
        kernels("flash_attention"),
        [
            Change("grad-delta", "dst = pt * (dpt - delta[None, :])", "dst = pt * dpt", line="tl.store(dk_ptr"),
            Change("scale-dk", "dk * sm_scale", "dk", line="tl.store(dk_ptr"),
            Change("acc-dv", 'dv = tl.dot(pt.to(do.dtype), do, dv, input_precision="ieee")', 'dv = tl.dot(pt.to(do.dtype), do, input_precision="ieee")', line="tl.store(dv_ptr"),
            Change("mask-dq", "live_cols = live_cols & (cols[None, :] <= rows[:, None] + shift)", "live_cols = live_cols & (cols[None, :] < rows[:, None] + shift)", line="tl.store(dq_ptr"),
            Change("index-group", "head = kv * group + g", "head = kv * group", line="tl.store(d"),
        ],
    ),
    Problem(
        "paged_attention",
        """
def paged_attention(q, k_cache, v_cache, block_tables, seq_lens):
    out, n = [], q.shape[1] // k_cache.shape[1]
    for i, length in enumerate(seq_lens.tolist()):
        k, v = (c[block_tables[i].long()].transpose(0, 1).flatten(1, 2)[:, :length] for c in (k_cache, v_cache))
        k, v = k.repeat_interleave(n, 0), v.repeat_interleave(n, 0)
        s = (q[i][:, None] * k).sum(-1) * q.shape[-1] ** -0.5
        out.append((torch.softmax(s, -1)[..., None] * v).sum(1))
    return torch.stack(out)
def get_inputs():
    tables = torch.randperm(9)[:6].reshape(3, 2).to(torch.int32)
    return [torch.randn(3, 4, 32), torch.randn(9, 2, 16, 32), torch.randn(9, 2, 16, 32), tables, torch.tensor([1, 32, 19], dtype=torch.int32)]
JUDGE = {"vary": ["sizes"], "sizes": {32: [16, 64], 16: [], 2: [], 9: [], 3: [], 4: [2]}, "tf32": False}
""",
        kernels("decoding"),
        [
            Change("mask-length", "live = page * PAGE + slot < seq_len", "live = page * PAGE + slot <= seq_len", line="tl.store(out_ptr + q_offs"),
            Change("index-table", "tl.load(block_tables_ptr + seq * max_blocks + page)", "tl.load(block_tables_ptr + seq + page)", line="tl.store(out_ptr + q_offs"),
            Change("bound-pages", "range(0, tl.cdiv(seq_len, PAGE))", "range(0, seq_len // PAGE)", line="tl.store(out_ptr + q_offs"),
            Change("index-heads", "(kv_head * GROUP + g)[:, None] * D + d[None, :]\n    q =", "(kv_head + g * tl.num_programs(1))[:, None] * D + d[None, :]\n    q ="),
        ],
    ),
    Problem(
        "split_kv_attention",
        """
def split_kv_attention(q, k, v, seq_lens):
    out, n = [], q.shape[1] // k.shape[2]
    for i, length in enumerate(seq_lens.tolist()):
        a, b = (c[i, :length].transpose(0, 1).repeat_interleave(n, 0) for c in (k, v))
        s = (q[i][:, None] * a).sum(-1) * q.shape[-1] ** -0.5
        out.append((torch.softmax(s, -1)[..., None] * b).sum(1))
    return torch.stack(out)
def get_inputs():
    return [torch.randn(3, 4, 32), torch.randn(3, 150, 2, 32), torch.randn(3, 150, 2, 32), torch.tensor([150, 3, 77], dtype=torch.int32)]
JUDGE = {"vary": ["sizes"], "sizes": {32: [16, 64], 150: [151, 200], 2: [], 4: [2, 6], 3: []}}
""",
        kernels("decoding"),
        [
            Change("bound-splits", "per_split = tl.cdiv(seq_len, SPLITS)", "per_split = seq_len // SPLITS", line="tl.store(out_ptr + at"),
            Change("scale-lse", "tl.store(lse_ptr + at, m + tl.log(total))", "tl.store(lse_ptr + at, m)", line="tl.store(out_ptr + at"),
            Change("race-lse-missing", 'else:\n        tl.store(lse_ptr + at, float("-inf"))', 'else:\n        tl.store(lse_ptr + at, float("-inf"), mask=seq_len < 0)', line="tl."),
            Change("mask-block", 's = tl.where(cols < end, s, float("-inf"))', "s = s", line="tl.store(out_ptr + at"),
        ],
    ),
    Problem(
        "reshape_and_cache",
        """
def reshape_and_cache_(k, v, k_cache, v_cache, slots):
    page, used = k_cache.shape[2], slots[slots >= 0]
    assert len(used.unique()) == len(used)
    for token, slot in enumerate(slots.tolist()):
        if slot >= 0:
            k_cache[slot // page, :, slot % page] = k[token]
            v_cache[slot // page, :, slot % page] = v[token]
def get_inputs():
    caches = [torch.zeros(4, 3, 16, 32) for _ in range(2)]
    return [torch.randn(10, 3, 32), torch.randn(10, 3, 32), *caches, torch.tensor([5, -1, 0, 63, 17, 16, -1, 8, 40, 2])]
JUDGE = {"vary": ["values", "special"]}
""",
        kernels("decoding"),
        [
            Change("index-page", "page = slot // PAGE", "page = slot // (PAGE - 1)", line="tl.store("),
            Change("mask-no-slot", "if slot < 0:", "if slot < -1:", line="tl.store("),
            Change("index-values", "tl.store(v_cache_ptr + to, tl.load(v_ptr +", "tl.store(v_cache_ptr + to, tl.load(k_ptr +", line="tl.store(v_cache"),
        ],
    ),
    Problem(
        "window_attention",
        """
def window_attention(q, k, v, window, sink):
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    live = (distance >= 0) & ((distance < window) | (torch.arange(q.shape[2]) < sink))
    s = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill(~live, float("-inf"))
    return torch.softmax(s, -1) @ v
def get_inputs():
    return [torch.randn(1, 2, 110, 16) for _ in range(3)] + [20, 3]
JUDGE = {"vary": ["sizes", "aliases", "offsets"], "sizes": {16: [32], 20: []}, "tf32": False}
""",
        kernels("sliding_window"),
        [
            Change("bound-window", "(distance < WINDOW)", "(distance <= WINDOW)", line="tl.store(o_ptr + base"),
            Change("bound-sink", "for n in range(0, tl.minimum(first, SINK), BLOCK_N):", "for n in range(0, tl.minimum(first, SINK) - 1, 2 * BLOCK_N):", "right"),
            Change("mask-sink", "live = (cols[None, :] < SINK) & (cols[None, :] <= rows[:, None])", "live = (cols[None, :] <= SINK) & (cols[None, :] <= rows[:, None])", line="tl.store(o_ptr + base"),
            Change("bound-first-block", "tl.maximum(start_m - WINDOW + 1, 0) // BLOCK_N * BLOCK_N", "tl.maximum(start_m - WINDOW + BLOCK_N, 0) // BLOCK_N * BLOCK_N", line="tl.store(o_ptr + base"),
        ],
    ),
    Problem(
        "varlen_attention",
        """
def varlen_attention(q, k, v, cu_seqlens, max_len, softcap):
    out = torch.empty_like(q)
    assert cu_seqlens[0] == 0 and cu_seqlens[-1] == len(q) and cu_seqlens.diff().max() <= max_len
    for begin, end in zip(cu_seqlens.tolist(), cu_seqlens.tolist()[1:]):
        a, b, c = (t[begin:end].transpose(0, 1) for t in (q, k, v))
        s = softcap * torch.tanh(a @ b.transpose(-1, -2) * q.shape[-1] ** -0.5 / softcap)
        live = torch.ones(end - begin, end - begin, dtype=torch.bool).tril()
        out[begin:end] = (torch.softmax(s.masked_fill(~live, float("-inf")), -1) @ c).transpose(0, 1)
    return out
def get_inputs():
    return [torch.randn(83, 2, 16) for _ in range(3)] + [torch.tensor([0, 40, 41, 83], dtype=torch.int32), 42, 5.0]
JUDGE = {"vary": ["values", "aliases", "offsets"], "tf32": False}
""",
        kernels("sliding_window"),
        [
            Change("index-begin", "offs = ((begin + cols)[:, None] * heads + head)", "offs = (cols[:, None] * heads + head)", line="tl.store(o_ptr + q_offs"),
            Change("formula-softcap", "(2 * tl.sigmoid(2 * s / SOFTCAP) - 1)", "(2 * tl.sigmoid(s / SOFTCAP) - 1)", line="tl.store(o_ptr + q_offs"),
            Change("mask-output", "acc / total[:, None], mask=rows[:, None] < length)", "acc / total[:, None], mask=rows[:, None] <= length)", line="tl.store(o_ptr + q_offs"),
        ],
    ),
    Problem(
        "retention",
        """
def retention(q, k, v, log_decay):
    t = torch.arange(q.shape[2], dtype=q.dtype)
    lag = t[:, None] - t
    decay = torch.where(lag >= 0, torch.exp(lag.clamp(min=0) * log_decay[:, None, None]), 0.0)
    return (q @ k.transpose(-1, -2) * decay) @ v * q.shape[-1] ** -0.5
def get_inputs():
    return [torch.randn(1, 2, 75, 16), torch.randn(1, 2, 75, 16), torch.randn(1, 2, 75, 32), torch.tensor([-0.1, -0.02])]
JUDGE = {"vary": ["sizes"], "sizes": {16: [32], 32: [64], 2: []}, "tf32": False}
""",
        kernels("linear_attention"),
        [
            Change("bound-from-state", "from_state = tl.exp((t + 1)", "from_state = tl.exp((t + 0)", line="tl.store(o_ptr + rows"),
            Change("acc-state", "state = state * whole + tl.dot", "state = state + tl.dot", line="tl.store(o_ptr + rows"),
            Change("index-head", "tl.load(decay_ptr + bh % heads)", "tl.load(decay_ptr)", line="tl.store(o_ptr + rows"),
        ],
    ),
    Problem(
        "gated_linear_attention",
        """
def gated_linear_attention(q, k, v, log_gates):
    cum = torch.cumsum(log_gates, -1)
    lag = cum[..., :, None] - cum[..., None, :]
    live = torch.ones(lag.shape[-2:], dtype=torch.bool).tril()
    decay = torch.where(live, torch.exp(torch.where(live, lag, 0.0)), 0.0)
    return (q @ k.transpose(-1, -2) * decay) @ v * q.shape[-1] ** -0.5
def get_inputs():
    return [torch.randn(1, 2, 75, 16), torch.randn(1, 2, 75, 16), torch.randn(1, 2, 75, 32), -torch.rand(1, 2, 75) / 4]
JUDGE = {"vary": ["sizes"], "sizes": {16: [32], 32: [16]}, "tf32": False}
""",
        kernels("linear_attention"),
        [
            Change("bound-last", "last = tl.minimum(i * C + C, T) - 1", "last = i * C + C - 1", line="tl.load(cum_ptr"),
            Change("scale-state", "state *= tl.exp(total)", "state *= tl.exp(total / 2)", line="tl.store(o_ptr"),
            Change("mask-causal", "causal = t[:, None] >= t[None, :]", "causal = t[:, None] > t[None, :]", line="tl.store(o_ptr"),
        ],
    ),
]
