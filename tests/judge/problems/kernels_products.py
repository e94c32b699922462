"""The matrix products of tests/kernels, as they are: dense, grouped, quantised, by experts; and mistakes in them."""

# ruff: noqa: E501  texts are replaced as they stand
# fmt: off

from problems import Change, Problem, kernels

_IEEE = 'input_precision="ieee"'
_AB = "def get_inputs():\n    return [torch.randn(70, 50), torch.randn(50, 90)"

PROBLEMS: list[Problem] = [
    Problem(
        "matmul_swizzled",
        f"""
def matmul(a, b):
    return a @ b
{_AB}]
JUDGE = {{"vary": ["sizes", "strides", "offsets", "special"], "tf32": False}}
""",
        kernels("matmuls"),
        [
            Change("stride-swapped", "rk[:, None] * stride_bk + rn[None, :] * stride_bn)", "rk[:, None] * stride_bn + rn[None, :] * stride_bk)", line="tl."),
            Change("stride-step", "a_ptrs += BK * stride_ak", "a_ptrs += BK", line="tl."),
            Change("mask-k", "mask=rk[None, :] < K - k * BK", "mask=rk[None, :] < K", line="tl."),
            Change("index-group", "group_size = min(num_pid_m - group_id * GROUP_M, GROUP_M)", "group_size = GROUP_M", line="tl."),
            Change("shape-even", 'args["K"] % args["BK"] == 0', 'args["K"] % 16 == 0', line="tl."),
        ],
    ),
    Problem(
        "matmul_split_k",
        f"""
def matmul_split_k(a, b):
    return a @ b
{_AB}]
JUDGE = {{"vary": ["sizes", "offsets"], "tf32": False}}
""",
        kernels("matmuls"),
        [
            Change("race-store", "if SPLIT_K == 1:", "if SPLIT_K >= 1:", line="tl.store(c, acc, mask=mask)"),
            Change("race-load-and-store", "        tl.atomic_add(c, acc, mask=mask, sem=", "        tl.store(c, acc + tl.load(c, mask=mask), mask=mask)\n        tl.atomic_add(c, acc, mask=mask & False, sem=", line="tl.load(c, mask"),
            Change("bound-first", "range(pid_k * BK, K, BK * SPLIT_K)", "range((pid_k + 1) * BK, K, BK * SPLIT_K)", line="tl.atomic_add(c"),
            Change("acc-not-zeroed", "torch.zeros(m, n, dtype=torch.float32", "torch.empty(m, n, dtype=torch.float32", line="tl.atomic_add(c"),
        ],
    ),
    Problem(
        "matmul_persistent",
        f"""
def matmul_persistent(a, b):
    return a @ b
{_AB}]
JUDGE = {{"vary": ["sizes", "offsets"], "tf32": False, "dtypes": ["float16"]}}
""",
        kernels("matmuls"),
        [
            Change("bound-tiles", "num_m * num_n, PROGRAMS, flatten", "num_m * num_n - 1, PROGRAMS, flatten", line="tl.store(c_ptr + cm"),
            Change("index-tile", "size = tl.minimum(num_m - first, GROUP_M)", "size = GROUP_M", line="tl.store(c_ptr + cm"),
        ],
    ),
    Problem(
        "matmul_block_pointers",
        f"""
def matmul_block_pointers(a, b):
    return a @ b
{_AB}]
JUDGE = {{"vary": ["sizes", "strides", "offsets"], "tf32": False}}
""",
        kernels("matmuls"),
        [
            Change("stride-advance", "b_block = tl.advance(b_block, (BK, 0))", "b_block = tl.advance(b_block, (BK // 2, 0))", line="tl.store(c_block"),
            Change("bound-no-check", "tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))", "tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0,))", line="tl.store(c_block"),
            Change("bound-unpadded", 'b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")', "b = tl.load(b_block, boundary_check=(1,))", line="tl."),
        ],
    ),
    Problem(
        "matmul_host_descriptors",
        """
def matmul_host_descriptors(a, b):
    return a @ b.t()
def get_inputs():
    return [torch.randn(40, 64).half(), torch.randn(72, 64).half()]
JUDGE = {"vary": ["sizes", "values"], "sizes": {64: [16, 128], 72: [8, 64, 136]}}
""",
        kernels("matmuls"),
        [
            Change("bound-k", "_host_descriptors[(triton.cdiv(m, bm), triton.cdiv(n, bn))](*descriptors, k,", "_host_descriptors[(triton.cdiv(m, bm), triton.cdiv(n, bn))](*descriptors, k - 16,", line="c_desc.store([off_m, off_n], acc"),
            Change("cast-accumulator", 'acc = tl.dot(a, b.T, acc, input_precision="ieee")', 'acc = tl.dot(a, b.T, acc, input_precision="ieee").to(tl.float16).to(tl.float32)', line="c_desc.store([off_m, off_n], acc"),
        ],
    ),
    Problem(
        "matmul_device_descriptors",
        """
def matmul_device_descriptors(a, b):
    return a @ b.t()
def get_inputs():
    return [torch.randn(40, 64).half(), torch.randn(136, 64).half()]
JUDGE = {"vary": ["sizes"], "sizes": {64: [16, 128], 136: [8, 64, 72]}}
""",
        kernels("matmuls"),
        [
            Change("index-halves", "c_desc.store([off_m, off_n + BN // 2], right", "c_desc.store([off_m, off_n + BN // 2], left", line="c_desc.store([off_m, off_n + BN // 2]"),
            Change("stride-rows", "shape=[M, N], strides=[N, 1]", "shape=[M, N], strides=[N + 8, 1]", line="c_desc.store"),
        ],
    ),
    Problem(
        "stream_k",
        f"""
def stream_k_matmul(a, b):
    return a @ b
{_AB}]
JUDGE = {{"vary": ["sizes"], "sizes": {{50: [1, 7, 32, 33, 130]}}, "tf32": False}}
""",
        kernels("grouped_matmul"),
        [
            Change("race-no-wait", '                while tl.atomic_add(flag_ptr + helper, 0, sem="acquire") == 0:\n                    pass\n', "", rule="races", line="partial_ptr"),
            Change("barrier-before-flag", "            tl.debug_barrier()\n            tl.atomic_xchg(flag_ptr", "            tl.atomic_xchg(flag_ptr", line="partial_ptr + "),
            Change("race-relaxed", 'tl.atomic_xchg(flag_ptr + pid, 1, sem="release")', 'tl.atomic_xchg(flag_ptr + pid, 1, sem="relaxed")', rule="races", line="partial_ptr"),
        ],
    ),
    Problem(
        "lora",
        """
def lora_matmul(x, w, a, b, scale):
    return x @ w.t() + scale * (x @ a.t()) @ b.t()
def get_inputs():
    return [torch.randn(33, 40), torch.randn(50, 40), torch.randn(16, 40), torch.randn(50, 16), 0.5]
JUDGE = {"vary": ["sizes", "offsets"], "sizes": {16: [32]}, "tf32": False}
""",
        kernels("grouped_matmul"),
        [
            Change("scale-missing", 'tl.dot(low.to(b.dtype), b, input_precision="ieee") * scale', 'tl.dot(low.to(b.dtype), b, input_precision="ieee")', line="tl.store(y_ptr"),
            Change("acc-low", 'low = tl.dot(x, a, low, input_precision="ieee")', 'low = tl.dot(x, a, input_precision="ieee")', line="tl.store(y_ptr"),
            Change("mask-rank", "a = tl.load(a_ptr + rr[None, :] * K + rk[:, None], mask=in_k[:, None], other=0.0)", "a = tl.load(a_ptr + rr[None, :] * K + rk[:, None])", line="tl."),
        ],
    ),
    Problem(
        "batched",
        """
def batched_matmul(a, b):
    return a @ b
def get_inputs():
    return [torch.randn(3, 20, 25), torch.randn(3, 25, 35)]
JUDGE = {"vary": ["sizes", "values"], "tf32": False}
""",
        kernels("grouped_matmul"),
        [
            Change("mask-batch", "(rb < B) & (rm < M) & (rn < N))", "(rm < M) & (rn < N))", line="tl.store(c_ptr + (rb"),
            Change("stride-batch", "b_ptr + (rb * K + rk[None, :, None]) * N + rn", "b_ptr + (rb * M + rk[None, :, None]) * N + rn", line="tl."),
        ],
    ),
    Problem(
        "grouped",
        """
def grouped_matmul(pairs):
    return [a @ b for a, b in pairs]
def get_inputs():
    return [[(torch.randn(17, 33).half(), torch.randn(33, 100).half()), (torch.randn(5, 200).half(), torch.randn(200, 8).half())]]
JUDGE = {"vary": ["sizes"]}
""",
        kernels("grouped_matmul"),
        [
            Change("index-group", "here = tile - last_end", "here = tile", line="tl.store(c_ptr + rm[:, None] * ldc"),
            Change("bound-k", "a_ptr + rm[:, None] * lda + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k)", "a_ptr + rm[:, None] * lda + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k - 1)", line="tl.store(c_ptr + rm[:, None] * ldc"),
        ],
    ),
    Problem(
        "int8_matmul",
        """
def int8_matmul(a, b, a_scale, b_scale, bias):
    return (a.to(a_scale.dtype) @ b.to(a_scale.dtype).t()) * a_scale[:, None] * b_scale + bias
def get_inputs():
    sizes = [torch.randint(-127, 128, s, dtype=torch.int8) for s in ((30, 80), (70, 80))]
    return [*sizes, torch.rand(30) / 50, torch.rand(70) / 50, torch.randn(70)]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("quantised_matmul"),
        [
            Change("cast-accumulator", "acc = tl.dot(a, b, acc)", "acc = tl.dot(a, b, acc).to(tl.int16).to(tl.int32)", line="tl.store(c_ptr"),
            Change("scale-swapped", "a_scale[:, None] * b_scale[None, :]", "a_scale[:, None] * a_scale[:, None]", line="tl.store(c_ptr"),
            Change("index-scale", "tl.load(b_scale_ptr + rn, mask=rn < N", "tl.load(b_scale_ptr + rn - tl.program_id(1) * BN, mask=rn < N", line="tl.store(c_ptr"),
        ],
    ),
    Problem(
        "int4_matmul",
        """
def int4_matmul(a, packed, scale, zero, group):
    nibbles = torch.stack([(packed >> (4 * i)) & 15 for i in range(8)], 1).flatten(0, 1)
    wide, offset = scale.repeat_interleave(group, 0), zero.repeat_interleave(group, 0)
    return a @ ((nibbles - offset).to(a.dtype) * wide)
def get_inputs():
    words = torch.randint(-(2**31), 2**31, (12, 50), dtype=torch.int64).to(torch.int32)
    return [torch.randn(20, 96), words, torch.rand(3, 50) + 0.5, torch.randint(0, 16, (3, 50), dtype=torch.int8), 32]
JUDGE = {"vary": ["sizes", "offsets"], "sizes": {96: [], 12: [], 3: [], 32: []}, "tf32": False}
""",
        kernels("quantised_matmul"),
        [
            Change("formula-nibble", "shift = (rk[:, None] % 8) * 4", "shift = (7 - rk[:, None] % 8) * 4", line="tl.store(c_ptr"),
            Change("index-group", "group = k // GROUP", "group = 0", line="tl.store(c_ptr"),
            Change("scale-zero-point", "(nibbles - zero[None, :]).to(tl.float32)", "(nibbles - 8).to(tl.float32)", line="tl.store(c_ptr"),
            Change("stride-words", "w_ptrs += (BK // 8) * N", "w_ptrs += BK * N", line="tl."),
        ],
    ),
    Problem(
        "fp8_block_matmul",
        """
def fp8_block_matmul(a, b, a_scale, b_scale, block):
    wide = b_scale.repeat_interleave(block, 0)[: b.shape[0]].repeat_interleave(block, 1)[:, : b.shape[1]]
    kind = a_scale.dtype
    return (a.to(kind) * a_scale.repeat_interleave(block, 1)[:, : a.shape[1]]) @ (b.to(kind) * wide).t()
def get_inputs():
    a, b = (torch.randn(*s).to(torch.float8_e4m3fn) for s in ((20, 100), (40, 100)))
    return [a, b, torch.rand(20, 4) + 0.5, torch.rand(2, 4) + 0.5, 32]
JUDGE = {"vary": ["sizes"], "sizes": {100: [], 40: [33, 64], 4: [], 2: []}}
""",
        kernels("quantised_matmul"),
        [
            Change("scale-rows", "tl.load(a_scale_ptr + rm * k_blocks + i, mask", "tl.load(a_scale_ptr + rm * k_blocks, mask", line="tl.store(c_ptr"),
            Change("scale-blocks", "tl.load(b_scale_ptr + pid_n * k_blocks + i)", "tl.load(b_scale_ptr + i)", line="tl.store(c_ptr"),
        ],
    ),
    Problem(
        "topk_gate",
        """
def topk_gate(logits, k):
    found = torch.topk(torch.softmax(logits.float() if logits.dtype != torch.float64 else logits, -1), k, -1)
    return found.values / found.values.sum(-1, keepdim=True), found.indices.to(torch.int32)
def get_inputs():
    return [torch.randn(37, 11), 3]
JUDGE = {"vary": ["sizes", "offsets"]}
""",
        kernels("moe"),
        [
            Change("other-padding", "left = tl.where(e[None, :] < E, p, -1.0)", "left = p", "right"),
            Change("scale-not-renormalised", "w / total, mask=live)", "w / tl.sum(p, axis=1), mask=live)", line="tl.store(weight_ptr + t * TOPK + i, w"),
            Change("index-same-expert", "left = tl.where(e[None, :] == at[:, None], -1.0, left)", "left = tl.where(e[None, :] > at[:, None], -1.0, left)", line="tl.store("),
        ],
    ),
    Problem(
        "moe_layer",
        """
def moe_layer(x, w, logits, k):
    found = torch.topk(torch.softmax(logits, -1), k, -1)
    weights = found.values / found.values.sum(-1, keepdim=True)
    return sum(torch.bmm(w[found.indices[:, i]], x[:, :, None])[:, :, 0] * weights[:, i : i + 1] for i in range(k))
def get_inputs():
    return [torch.randn(29, 40), torch.randn(4, 50, 40), torch.randn(29, 4), 2]
JUDGE = {"vary": ["sizes"], "sizes": {4: [8]}, "tf32": False}
""",
        kernels("moe"),
        [
            Change("index-expert", "expert = tl.load(block_expert_ptr + pid_m).to(tl.int64)", "expert = tl.load(block_expert_ptr).to(tl.int64)"),
            Change("index-rank", "(i[None, :] < i[:, None])", "(i[None, :] <= i[:, None])"),
            Change("barrier-starts", "    tl.debug_barrier()\n    for expert in range(E):", "    for expert in range(E):", line="tl.load(starts_ptr + expert", rule="barriers"),
            Change("index-token", "(assigned[:, None] // TOPK) * K", "assigned[:, None] * K", line="tl."),
            Change("acc-topk", "acc += tl.load(y_ptr + (token * TOPK + i) * N", "acc = tl.load(y_ptr + (token * TOPK + i) * N", line="tl.store(out_ptr + token"),
        ],
    ),
]
