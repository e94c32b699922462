"""Calls of public kernels: norms, activations, losses, positions. Sizes are those of models of seven billion weights.

Here:      cases whose time is that of memory.
Not here:  products and attention (public_rows_products.py).
"""

from __future__ import annotations

from typing import Any

import torch
from public_sources import case, module, script, size

ROWS, COLUMNS, WORDS = size(8192, 64), size(4096, 256), size(32000, 500)
BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32


def normal(*shape: int, dtype: torch.dtype = BF16, scale: float = 1.0, gradient: bool = False) -> torch.Tensor:
    made = (torch.randn(*shape, device="cuda", dtype=F32) * scale).to(dtype)
    return made.requires_grad_(gradient)


def both(function: Any, *inputs: Any) -> Any:
    """A call forward and backward; the gradients are the result."""
    leaves = [item for item in inputs if isinstance(item, torch.Tensor) and item.requires_grad]
    gradients: list[torch.Tensor] = []

    def run() -> Any:
        result = function(*inputs)
        result = result[0] if isinstance(result, tuple) else result
        # Not ones: the gradients of a softmax would be nothing but rounding then.
        gradients.extend([torch.randn_like(result)] if not gradients else [])
        return (result.detach(), *torch.autograd.grad(result, leaves, gradients[0]))

    return run


@case("Liger-Kernel")
def liger_rms_norm() -> Any:
    function = module("liger_kernel.ops.rms_norm").LigerRMSNormFunction.apply
    return both(
        function, normal(ROWS, COLUMNS, gradient=True), normal(COLUMNS, gradient=True), 1e-6, 0.0, "llama", False
    )


@case("Liger-Kernel")
def liger_layer_norm() -> Any:
    function = module("liger_kernel.ops.layer_norm").LigerLayerNormFunction.apply
    weight, bias = normal(COLUMNS, gradient=True), normal(COLUMNS, gradient=True)
    return both(function, normal(ROWS, COLUMNS, gradient=True), weight, bias, 1e-6)


@case("Liger-Kernel")
def liger_swiglu() -> Any:
    function = module("liger_kernel.ops.swiglu").LigerSiLUMulFunction.apply
    return both(function, normal(ROWS, COLUMNS, gradient=True), normal(ROWS, COLUMNS, gradient=True))


@case("Liger-Kernel")
def liger_geglu() -> Any:
    function = module("liger_kernel.ops.geglu").LigerGELUMulFunction.apply
    return both(function, normal(ROWS, COLUMNS, gradient=True), normal(ROWS, COLUMNS, gradient=True))


@case("Liger-Kernel")
def liger_cross_entropy() -> Any:
    forward = module("liger_kernel.ops.cross_entropy").LigerCrossEntropyFunction
    target = torch.randint(0, WORDS, (ROWS,), device="cuda")
    logits = normal(ROWS, WORDS, gradient=True)

    def run() -> Any:
        # The kernel writes the gradient over its input.
        loss = forward.apply(logits.detach().clone().requires_grad_(True), target, None)
        return loss[0].detach() if isinstance(loss, tuple) else loss.detach()

    return run


@case("Liger-Kernel")
def liger_rope() -> Any:
    function = module("liger_kernel.ops.rope").LigerRopeFunction
    tokens = size(4096, 64)
    query, key = normal(1, 32, tokens, 128), normal(1, 8, tokens, 128)
    cos, sin = normal(1, tokens, 128), normal(1, tokens, 128)
    return lambda: function.apply(query.transpose(1, 2).contiguous().transpose(1, 2), key.clone(), cos, sin)


@case("Liger-Kernel")
def liger_kl_div() -> Any:
    function = module("liger_kernel.ops.kl_div").LigerKLDivLossFunction.apply
    rows = size(4096, 16)
    predicted = normal(rows, WORDS, dtype=F32).log_softmax(-1).requires_grad_(True)
    return both(function, predicted, normal(rows, WORDS, dtype=F32).softmax(-1))


@case("Liger-Kernel")
def liger_jsd() -> Any:
    function = module("liger_kernel.ops.jsd").LigerJSDFunction.apply
    rows = size(4096, 16)
    predicted = normal(rows, WORDS, dtype=F32).log_softmax(-1).requires_grad_(True)
    return both(function, predicted, normal(rows, WORDS, dtype=F32).log_softmax(-1))


@case("Liger-Kernel")
def liger_tvd() -> Any:
    function = module("liger_kernel.ops.tvd").LigerTVDLossFunction.apply
    rows = size(4096, 16)
    predicted = normal(rows, WORDS, dtype=F32).softmax(-1).requires_grad_(True)
    return both(function, predicted, normal(rows, WORDS, dtype=F32).softmax(-1))


@case("Liger-Kernel")
def liger_group_norm() -> Any:
    function = module("liger_kernel.ops.group_norm").LigerGroupNormFunction.apply
    data = normal(size(32, 2), 256, size(4096, 64), dtype=F32, gradient=True)
    weight, bias = normal(256, dtype=F32, gradient=True), normal(256, dtype=F32, gradient=True)
    return both(function, data, weight, bias, 256, 32, 1e-6)


@case("Liger-Kernel")
def liger_dyt() -> Any:
    function = module("liger_kernel.ops.dyt").LigerDyTFunction.apply
    alpha, gamma, beta = normal(1, gradient=True), normal(COLUMNS, gradient=True), normal(COLUMNS, gradient=True)
    return both(function, normal(ROWS, COLUMNS, gradient=True), alpha, gamma, beta)


@case("Liger-Kernel")
def liger_softmax() -> Any:
    function = module("liger_kernel.ops.softmax").LigerSoftmaxFunction.apply
    return both(function, normal(ROWS, COLUMNS, gradient=True))


@case("Liger-Kernel")
def liger_sparsemax() -> Any:
    function = module("liger_kernel.ops.sparsemax").LigerSparsemaxFunction.apply
    return both(function, normal(size(2048, 16), size(1024, 64), dtype=F32, gradient=True), -1)


@case("Liger-Kernel")
def liger_fused_add_rms_norm() -> Any:
    function = module("liger_kernel.ops.fused_add_rms_norm").LigerFusedAddRMSNormFunction.apply
    data, residual = normal(ROWS, COLUMNS, gradient=True), normal(ROWS, COLUMNS, gradient=True)
    return lambda: function(data, residual, normal(COLUMNS, gradient=True), 1e-6)


@case("Liger-Kernel")
def liger_poly_norm() -> Any:
    function = module("liger_kernel.ops.poly_norm").LigerPolyNormFunction.apply
    weight, bias = normal(3, gradient=True), normal(1).squeeze().requires_grad_(True)
    return both(function, normal(ROWS, COLUMNS, gradient=True), weight, bias, 1e-6, False)


@case("Liger-Kernel")
def liger_relu_squared() -> Any:
    function = module("liger_kernel.ops.relu_squared").LigerReLUSquaredFunction.apply
    return both(function, normal(ROWS, COLUMNS, gradient=True))


@case("attorch")
def attorch_softmax() -> Any:
    layer = module("attorch.softmax_layers").Softmax(dim=-1)
    return both(layer, normal(ROWS, COLUMNS, dtype=F32, gradient=True))


@case("attorch")
def attorch_layer_norm() -> Any:
    layer = module("attorch.layer_norm_layer").LayerNorm(COLUMNS)
    return both(layer, normal(ROWS, COLUMNS, dtype=F32, gradient=True))


@case("attorch")
def attorch_gelu() -> Any:
    layer = module("attorch.act_layers").GELU()
    return both(layer, normal(ROWS, COLUMNS, dtype=F32, gradient=True))


@case("attorch")
def attorch_mish() -> Any:
    layer = module("attorch.act_layers").Mish()
    return both(layer, normal(ROWS, COLUMNS, dtype=F16, gradient=True))


@case("attorch")
def attorch_glu() -> Any:
    layer = module("attorch.glu_layer").GLU(dim=-1)
    return both(layer, normal(ROWS, COLUMNS, dtype=F32, gradient=True))


@case("attorch")
def attorch_cross_entropy() -> Any:
    layer = module("attorch.cross_entropy_loss_layer").CrossEntropyLoss()
    classes = size(1000, 100)
    target = torch.randint(0, classes, (ROWS,), device="cuda")
    return both(lambda data: layer(data, target), normal(ROWS, classes, dtype=F32, gradient=True))


@case("attorch")
def attorch_batch_norm() -> Any:
    layer = module("attorch.batch_norm_layer").BatchNorm2d(64)
    side = size(56, 8)
    return both(layer, normal(size(32, 2), 64, side, side, dtype=F32, gradient=True))


@case("attorch")
def attorch_huber_loss() -> Any:
    layer = module("attorch.p_loss_layers").HuberLoss()
    target = normal(ROWS, COLUMNS, dtype=F32)
    return both(lambda data: layer(data, target), normal(ROWS, COLUMNS, dtype=F32, gradient=True))


@case("mamba")
def mamba_gated_rms_norm() -> Any:
    function = module("mamba_ssm.ops.triton.layernorm_gated").rmsnorm_fn
    data, gate = normal(ROWS, COLUMNS, gradient=True), normal(ROWS, COLUMNS, gradient=True)
    return both(lambda x, w, z: function(x, w, None, z=z), data, normal(COLUMNS, gradient=True), gate)


@case("mamba")
def mamba_layer_norm() -> Any:
    function = module("mamba_ssm.ops.triton.layer_norm").layer_norm_fn
    weight, bias = normal(COLUMNS, gradient=True), normal(COLUMNS, gradient=True)
    return both(function, normal(ROWS, COLUMNS, gradient=True), weight, bias)


@case("mamba")
def mamba_state_update() -> Any:
    function = module("mamba_ssm.ops.triton.selective_state_update").selective_state_update
    batch, heads, width, states = size(64, 2), size(64, 2), 64, 128
    state = normal(batch, heads, width, states, dtype=F32)
    x, dt, bias = normal(batch, heads, width), normal(batch, heads, width), normal(heads, width)
    a, d = -normal(heads, width, states, dtype=F32).abs(), normal(heads, width)
    b, c = normal(batch, 1, states), normal(batch, 1, states)
    return lambda: function(state.clone(), x, dt, a, b, c, D=d, dt_bias=bias, dt_softplus=True)


@case("flash-attention")
def flash_attn_rotary() -> Any:
    function = module("flash_attn.ops.triton.rotary").apply_rotary
    tokens = size(4096, 64)
    cos, sin = normal(tokens, 64), normal(tokens, 64)
    data = normal(2, tokens, 32, 128)
    return lambda: function(data, cos, sin)


@case("flash-attention")
def flash_attn_cross_entropy() -> Any:
    function = module("flash_attn.ops.triton.cross_entropy").cross_entropy_loss
    target = torch.randint(0, WORDS, (ROWS,), device="cuda")
    return both(lambda data: function(data, target)[0], normal(ROWS, WORDS, gradient=True))


@case("flash-attention")
def flash_attn_layer_norm() -> Any:
    function = module("flash_attn.ops.triton.layer_norm").layer_norm_fn
    weight, bias = normal(COLUMNS, gradient=True), normal(COLUMNS, gradient=True)
    residual = normal(ROWS, COLUMNS, gradient=True)
    return both(
        lambda x, w, b, r: function(x, w, b, residual=r), normal(ROWS, COLUMNS, gradient=True), weight, bias, residual
    )


@case("applied-ai")
def applied_rms_norm() -> Any:
    function = script("applied-ai/kernels/triton/training/rms_norm/fused_rms_norm.py").fused_rms_norm_fn
    return both(function, normal(ROWS, COLUMNS, gradient=True), normal(COLUMNS, gradient=True))


@case("applied-ai")
def applied_softmax() -> Any:
    function = script("applied-ai/kernels/triton/training/fused_softmax/softmax.py").triton_softmax.apply
    return both(function, normal(ROWS, COLUMNS, dtype=F32, gradient=True))


@case("bitsandbytes")
def bnb_quantize_nf4() -> Any:
    return bnb_quantize("nf4")


@case("bitsandbytes")
def bnb_quantize_fp4() -> Any:
    return bnb_quantize("fp4")


def bnb_quantize(kind: str) -> Any:
    function = module("bnb_triton.kernels_4bit").quantize_4bit_blockwise_triton
    data, blocksize = normal(size(4096, 64), COLUMNS), 64
    count = data.numel()
    blocks = -(count // -blocksize)
    scales = torch.empty(blocks, device="cuda", dtype=BF16)
    packed = torch.empty((count + 1) // 2, 1, device="cuda", dtype=torch.uint8)

    def run() -> Any:
        function(data, blocksize, kind, blocks, scales, count, packed)
        return packed, scales

    return run


@case("bitsandbytes")
def bnb_dequantize_nf4() -> Any:
    kernels = module("bnb_triton.kernels_4bit")
    function = kernels.dequantize_4bit_impl
    packed = torch.randint(0, 256, (size(4096, 64) * COLUMNS // 2, 1), device="cuda", dtype=torch.uint8)
    scales = normal(packed.numel() * 2 // 64, dtype=F32).abs()
    out = torch.empty(size(4096, 64), COLUMNS, device="cuda", dtype=BF16)

    def run() -> Any:
        function(packed, scales, 64, "nf4", BF16, out)
        return out

    return run


@case("bitsandbytes")
def bnb_quantize_8bit() -> Any:
    kernels = module("bnb_triton.kernels_8bit_quant")
    data = normal(size(4096, 64), COLUMNS, dtype=F32)
    code = torch.linspace(-1, 1, 256, device="cuda")

    def run() -> Any:
        quantized, scales = kernels.quantize_blockwise_triton(data, code, 256)
        return quantized, scales, kernels.dequant_8bit_blockwise(quantized, scales, code, 256, dtype=F32)

    return run


@case("LeetCUDA")
def leetcuda_merge_states() -> Any:
    function = script(
        "LeetCUDA/kernels/openai-triton/merge-attn-states/triton_merge_attn_states.py"
    ).merge_attn_states_triton
    tokens, heads, width = size(4096, 32), 32, 128
    one, two, out = (normal(tokens, heads, width, dtype=F16) for _ in range(3))
    first, second = normal(heads, tokens, dtype=F32), normal(heads, tokens, dtype=F32)

    def run() -> Any:
        function(out, one, first, two, second)
        return out

    return run


@case("lightllm")
def lightllm_rms_norm() -> Any:
    function = script("lightllm/lightllm/models/llama/triton_kernel/rmsnorm.py").rmsnorm_forward
    data, weight = normal(ROWS, COLUMNS), normal(COLUMNS)
    return lambda: function(data, weight, 1e-6)


@case("lightllm")
def lightllm_rotary() -> Any:
    function = script("lightllm/lightllm/models/llama/triton_kernel/rotary_emb.py").rotary_emb_fwd
    tokens = size(8192, 64)
    query, key = normal(tokens, 32, 128), normal(tokens, 8, 128)
    cos, sin = normal(tokens, 64), normal(tokens, 64)

    def run() -> Any:
        one, two = query.clone(), key.clone()
        function(one, two, cos, sin)
        return one, two

    return run


@case("lightllm")
def lightllm_silu_and_mul() -> Any:
    function = script("lightllm/lightllm/models/llama/triton_kernel/silu_and_mul.py").silu_and_mul_fwd
    data, out = normal(ROWS, 2 * COLUMNS), normal(ROWS, COLUMNS)

    def run() -> Any:
        function(data, out)
        return out

    return run


@case("lightllm")
def lightllm_copy_kv() -> Any:
    function = script("lightllm/lightllm/common/basemodel/triton_kernel/destindex_copy_kv.py").destindex_copy_kv
    tokens = size(8192, 64)
    keys, out = normal(tokens, 32, 128), normal(2 * tokens, 32, 128)
    places = torch.randperm(2 * tokens, device="cuda")[:tokens]

    def run() -> Any:
        function(keys, places, out)
        return out

    return run


@case("kernels")
def triton_cross_entropy() -> Any:
    function = module("triton_kernels_of_triton.cross_entropy").cross_entropy
    target = torch.randint(0, WORDS, (size(4096, 16),), device="cuda")
    return both(lambda data: function(data, target), normal(size(4096, 16), WORDS, dtype=F16, gradient=True))


@case("flash-linear-attention")
def fla_rms_norm_gated() -> Any:
    function = module("fla.modules.fused_norm_gate").rms_norm_gated
    data, gate = normal(ROWS, COLUMNS, gradient=True), normal(ROWS, COLUMNS, gradient=True)
    return both(lambda x, g, w: function(x, g, w, None), data, gate, normal(COLUMNS, gradient=True))


@case("flash-linear-attention")
def fla_layer_norm() -> Any:
    function = module("fla.modules.layernorm").layer_norm
    weight, bias = normal(COLUMNS, gradient=True), normal(COLUMNS, gradient=True)
    return both(function, normal(ROWS, COLUMNS, gradient=True), weight, bias)


@case("flash-linear-attention")
def fla_l2_norm() -> Any:
    function = module("fla.modules.l2norm").l2norm
    return both(function, normal(2, size(4096, 64), 16, 128, gradient=True))


@case("flash-linear-attention")
def fla_rotary() -> Any:
    function = module("fla.modules.rotary").rotary_embedding
    tokens = size(4096, 64)
    cos, sin = normal(tokens, 64), normal(tokens, 64)
    return both(lambda x: function(x, cos, sin), normal(2, tokens, 32, 128, gradient=True))


@case("flash-linear-attention")
def fla_cumsum() -> Any:
    function = module("fla.ops.utils.cumsum").chunk_local_cumsum
    data = normal(2, size(4096, 128), 16, 128, dtype=F32)
    return lambda: function(data, chunk_size=64)


@case("TritonBench")
def bench_dequantize_rowwise() -> Any:
    function = script("TritonBench/data/TritonBench_G_v1/dequantize_rowwise.py").dequantize_rowwise
    data = torch.randint(-128, 127, (ROWS, COLUMNS), device="cuda", dtype=torch.int8)
    scales = normal(ROWS, dtype=F32)
    return lambda: function(data, scales)


@case("TritonBench")
def bench_layer_norm() -> Any:
    function = script("TritonBench/data/TritonBench_G_v1/layer_norm_welfold.py").fused_native_layer_norm_no_welford
    weight, bias, data = normal(COLUMNS), normal(COLUMNS), normal(ROWS, COLUMNS)
    return lambda: function(weight, bias, data)[0]


@case("TritonBench")
def bench_swiglu() -> Any:
    kernels = script("TritonBench/data/TritonBench_G_v1/swiglu_triton.py")
    gate, up, gradient = normal(ROWS, COLUMNS), normal(ROWS, COLUMNS), normal(ROWS, COLUMNS)
    return lambda: (kernels.swiglu_forward(gate, up)[2], *kernels.swiglu_backward(gate.clone(), up.clone(), gradient))
