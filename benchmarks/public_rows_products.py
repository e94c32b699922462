"""Calls of public kernels: products, convolutions, attention, linear attention, states.

Here:      cases with tl.dot.
Not here:  cases whose time is that of memory (public_rows.py).
"""

from __future__ import annotations

from typing import Any

import torch
from public_rows import BF16, F16, F32, both, normal
from public_sources import case, module, script, size


@case("attorch")
def attorch_linear() -> Any:
    layer = module("attorch.linear_layer").Linear(size(4096, 128), size(4096, 128), act_func="gelu", dtype=F16)
    data = normal(size(4096, 64), size(4096, 128), dtype=F16)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, device="cuda") * 0.02)
    return lambda: layer(data).detach()


@case("attorch")
def attorch_conv2d() -> Any:
    layer = module("attorch.conv_layer").Conv2d(64, 128, 3, padding=1, dtype=F16)
    side = size(56, 8)
    data = normal(size(32, 1), 64, side, side, dtype=F16)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, device="cuda") * 0.02)
    return lambda: layer(data).detach()


@case("mamba")
def mamba_chunk_scan() -> Any:
    function = module("mamba_ssm.ops.triton.ssd_combined").mamba_chunk_scan_combined
    batch, tokens, heads, width, states = size(4, 1), size(2048, 256), size(32, 2), 64, 128
    x = normal(batch, tokens, heads, width, gradient=True)
    dt = normal(batch, tokens, heads, scale=0.1).abs().float().requires_grad_(True)
    a = (-normal(heads, dtype=F32).abs()).requires_grad_(True)
    b, c = normal(batch, tokens, 1, states, gradient=True), normal(batch, tokens, 1, states, gradient=True)
    return both(lambda *given: function(*given, size(256, 64)), x, dt, a, b, c)


@case("applied-ai")
def applied_split_k_fp8() -> Any:
    function = script("applied-ai/kernels/triton/inference/fp8/splitk_gemm_fp8.py").gemm_split_k
    m, n, k = size(64, 64), size(8192, 128), size(8192, 2048)
    a = normal(m, k, scale=0.1).to(torch.float8_e4m3fn)
    b = normal(n, k, scale=0.1).to(torch.float8_e4m3fn).T
    return lambda: function(a, b)


@case("kernels")
def triton_matmul() -> Any:
    function = module("triton_kernels_of_triton.matmul").matmul
    count = size(4096, 128)
    a, b = normal(count, count, dtype=F16), normal(count, count, dtype=F16)
    return lambda: function(a, b)


@case("kernels")
def triton_flash_attention() -> Any:
    function = module("triton_kernels_of_triton.flash_attention").attention
    shape = (size(4, 1), size(32, 2), size(2048, 128), 64)
    query, key, value = (normal(*shape, dtype=F16, gradient=True) for _ in range(3))
    return both(lambda q, k, v: function(q, k, v, True, 0.125, False), query, key, value)


def block_layout(heads: int, blocks: int) -> torch.Tensor:
    torch.manual_seed(0)
    return (torch.rand(heads, blocks, blocks) < 0.3).long() | torch.eye(blocks).long()


@case("kernels")
def triton_blocksparse_sdd() -> Any:
    kernels = module("triton_kernels_of_triton.blocksparse.matmul")
    heads, tokens = size(16, 1), size(2048, 128)
    product = kernels.matmul(block_layout(heads, tokens // 64), 64, "sdd", "cuda", trans_b=True)
    a, b = normal(2, heads, tokens, 64, dtype=F16), normal(2, heads, tokens, 64, dtype=F16)
    return lambda: product(a, b)


@case("kernels")
def triton_blocksparse_dsd() -> Any:
    kernels = module("triton_kernels_of_triton.blocksparse.matmul")
    heads, tokens = size(16, 1), size(2048, 128)
    layout = block_layout(heads, tokens // 64)
    product = kernels.matmul(layout, 64, "dsd", "cuda")
    a = normal(2, int(layout.sum()), 64, 64, dtype=F16)
    b = normal(2, heads, tokens, 64, dtype=F16)
    return lambda: product(a, b)


@case("kernels")
def triton_blocksparse_softmax() -> Any:
    kernels = module("triton_kernels_of_triton.blocksparse.softmax")
    heads, tokens = size(16, 1), size(2048, 128)
    layout = block_layout(heads, tokens // 64)
    function = kernels.softmax(layout, 64, "cuda")
    data = normal(2, int(layout.sum()), 64, 64, dtype=F16)
    return lambda: function(data, scale=0.125)


@case("kernl")
def kernl_batched_matmul() -> Any:
    function = script("kernl/src/kernl/implementations/batched_matmul.py").batched_matmul
    count = size(1024, 64)
    a, b = normal(16, count, count, dtype=F16), normal(16, count, count, dtype=F16)
    return lambda: function(a, b)


@case("lightllm")
def lightllm_int8_matmul() -> Any:
    kernels = script("lightllm/lightllm/common/basemodel/triton_kernel/quantize_gemm_int8.py")
    m, count = size(2048, 64), size(4096, 256)
    data = normal(m, count, dtype=F16)
    weight, scale = kernels.quantize_int8(normal(count, count, dtype=F16), axis=0)
    return lambda: kernels.matmul_quantize_int8(data, weight, scale)


@case("lightllm")
def lightllm_int4_matmul() -> Any:
    kernels = script("lightllm/lightllm/common/basemodel/triton_kernel/dequantize_gemm_int4.py")
    k, n = size(4096, 256), size(4096, 256)
    data = normal(16, k, dtype=F16)
    weight, scale, zero, _ = kernels.quantize_int4(normal(k, n, dtype=F16), group_size=128)
    return lambda: kernels.matmul_dequantize_int4_s2(data, weight, scale, zero, 128)


@case("lightllm")
def lightllm_int4_dequantize() -> Any:
    kernels = script("lightllm/lightllm/common/basemodel/triton_kernel/dequantize_gemm_int4.py")
    k, n = size(4096, 256), size(4096, 256)
    weight, scale, zero, _ = kernels.quantize_int4(normal(k, n, dtype=F16), group_size=128)
    return lambda: kernels.dequantize_int4(weight, scale, zero, "cuda", F16, 128)


def linear_attention_inputs(gate: bool = False) -> list[torch.Tensor]:
    shape = (size(4, 1), size(4096, 128), size(16, 2), 128)
    made = [normal(*shape, scale=0.1, gradient=True) for _ in range(3)]
    if gate:
        made.append(torch.nn.functional.logsigmoid(normal(*shape, dtype=F32)).to(BF16).requires_grad_(True))
    return made


@case("flash-linear-attention")
def fla_gla() -> Any:
    function = module("fla.ops.gla.chunk").chunk_gla
    return both(function, *linear_attention_inputs(gate=True))


@case("flash-linear-attention")
def fla_delta_rule() -> Any:
    function = module("fla.ops.delta_rule.chunk").chunk_delta_rule
    query, key, value = linear_attention_inputs()
    beta = torch.rand(query.shape[:3], device="cuda", dtype=F32).to(BF16).requires_grad_(True)
    return both(lambda q, k, v, b: function(q, k, v, b, use_qk_l2norm_in_kernel=True), query, key, value, beta)


@case("flash-linear-attention")
def fla_hgrn() -> Any:
    function = module("fla.ops.hgrn.fused_recurrent").fused_recurrent_hgrn
    shape = (size(8, 1), size(1024, 64), size(2048, 128))
    gate = torch.nn.functional.logsigmoid(normal(*shape, dtype=F32)).requires_grad_(True)
    return both(function, normal(*shape, dtype=F32, gradient=True), gate)


@case("flash-linear-attention")
def fla_parallel_attention() -> Any:
    function = module("fla.ops.attn.parallel").parallel_attn
    return both(function, *linear_attention_inputs())


@case("TritonBench")
def bench_lightning_attention() -> Any:
    function = script("TritonBench/data/TritonBench_G_v1/lightning_attention.py").lightning_attn2_no_decay
    shape = (size(4, 1), 8, size(2048, 128))
    query, key = normal(*shape, 64, scale=0.1, gradient=True), normal(*shape, 64, scale=0.1, gradient=True)
    return both(function, query, key, normal(*shape, 128, scale=0.1, gradient=True))


@case("TritonBench")
def bench_conv2d() -> Any:
    function = script("TritonBench/data/TritonBench_G_v1/triton_conv2d_fwd.py").conv2d_forward
    side = size(56, 8)
    data, weight = normal(size(16, 1), 64, side, side, dtype=F16), normal(128, 64, 3, 3, dtype=F16, scale=0.05)
    return lambda: function(data, weight, 3, 3, 1, 1, 1, 1, 1, fp16=True)
