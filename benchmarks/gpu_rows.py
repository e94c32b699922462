"""Rows of benchmarks/gpu.py: what is launched in which configurations, the result of torch, and the library's own time.

Here:      inputs and references.
Not here:  kernels (gpu_kernels.py, gpu_row_kernels.py, gpu_product_kernels.py), clocks and tables (gpu.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

DEVICE = "cuda"
Configs = list[dict[str, Any]]
PRODUCTS = [
    {"BM": bm, "BN": bn, "num_warps": warps, "num_stages": stages}
    for bm, bn, warps in ((128, 128, 4), (128, 128, 8), (128, 256, 8), (64, 128, 4))
    for stages in (3, 4)
]


@dataclass
class Row:
    """launch(kernels, configuration) gives what starts the kernel; error() is the last result's against torch."""

    configs: Configs
    launch: Callable[[Any, dict[str, Any]], Callable[[], Any]]
    error: Callable[[], float]
    tolerance: float
    library: Callable[[], Any] | None = None


def _largest(out: torch.Tensor, want: torch.Tensor) -> float:
    return (out.double() - want.double()).abs().max().item()


def _relative(out: torch.Tensor, want: torch.Tensor) -> float:
    return ((out.double() - want.double()).norm() / want.double().norm()).item()


def _random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    if dtype == torch.int8:
        return torch.randint(-8, 8, shape, device=DEVICE, dtype=torch.int8)
    return torch.randn(shape, device=DEVICE).to(dtype)


def vadd(n: int) -> Row:
    x, y = _random(n), _random(n)
    out = torch.empty_like(x)
    configs = [{"BLOCK": b, "num_warps": w} for b in (1024, 2048) for w in (4, 8)]

    def launch(kernels: Any, c: dict[str, Any]) -> Callable[[], Any]:
        return lambda: kernels.vadd[(math.ceil(n / c["BLOCK"]),)](x, y, out, n, **c)

    return Row(configs, launch, lambda: _largest(out, x + y), 0.0, lambda: torch.add(x, y, out=out))


def softmax(rows: int, columns: int) -> Row:
    x = _random(rows, columns)
    out = torch.empty_like(x)
    configs = [{"BLOCK": columns, "num_warps": w} for w in (4, 8, 16)]

    def launch(kernels: Any, c: dict[str, Any]) -> Callable[[], Any]:
        return lambda: kernels.softmax[(rows,)](x, out, columns, **c)

    return Row(configs, launch, lambda: _largest(out, torch.softmax(x, 1)), 1e-5, lambda: torch.softmax(x, 1))


def layer_norm(rows: int, columns: int, block: int | None = None) -> Row:
    """block: the kernel loops over blocks of as many columns."""
    x, w, b = (_random(*shape, dtype=torch.float16) for shape in ((rows, columns), (columns,), (columns,)))
    out = torch.empty_like(x)
    configs = [{"BLOCK": block or columns, "num_warps": n} for n in (4, 8, 16)]

    def launch(kernels: Any, c: dict[str, Any]) -> Callable[[], Any]:
        kernel = kernels.layer_norm_loops if block else kernels.layer_norm
        return lambda: kernel[(rows,)](x, w, b, out, columns, 1e-5, **c)

    def error() -> float:
        return _largest(out, F.layer_norm(x.float(), (columns,), w.float(), b.float(), 1e-5))

    return Row(configs, launch, error, 2e-2, lambda: F.layer_norm(x, (columns,), w, b, 1e-5))


def rms_norm(rows: int, columns: int) -> Row:
    x, w = _random(rows, columns, dtype=torch.bfloat16), _random(columns, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    configs = [{"BLOCK": columns, "num_warps": n} for n in (4, 8, 16)]

    def launch(kernels: Any, c: dict[str, Any]) -> Callable[[], Any]:
        return lambda: kernels.rms_norm[(rows,)](x, w, out, columns, 1e-5, **c)

    def error() -> float:
        return _relative(out, F.rms_norm(x.float(), (columns,), w.float(), 1e-5))

    return Row(configs, launch, error, 1e-2, lambda: F.rms_norm(x, (columns,), w, 1e-5))


def cross_entropy(rows: int, columns: int) -> Row:
    x = _random(rows, columns, dtype=torch.bfloat16)
    labels = torch.randint(0, columns, (rows,), device=DEVICE)
    out = torch.empty(rows, device=DEVICE)
    configs = [{"BLOCK": b, "num_warps": n} for b in (2048, 4096, 8192) for n in (4, 8, 16)]

    def launch(kernels: Any, c: dict[str, Any]) -> Callable[[], Any]:
        return lambda: kernels.cross_entropy[(rows,)](x, labels, out, columns, **c)

    def error() -> float:
        return _largest(out, F.cross_entropy(x.float(), labels, reduction="none"))

    return Row(configs, launch, error, 1e-3, lambda: F.cross_entropy(x, labels, reduction="none"))


def _library_product(a: torch.Tensor, b: torch.Tensor) -> Callable[[], Any] | None:
    if a.dtype in (torch.float16, torch.bfloat16):
        return lambda: torch.matmul(a, b)
    if a.dtype != torch.float32:
        return None

    def tf32() -> None:
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.matmul(a, b)
        torch.backends.cuda.matmul.allow_tf32 = False

    return tf32


def matmul(size: int, dtype: torch.dtype, depth: int) -> Row:
    """depth: of a step along K."""
    a, b = _random(size, size, dtype=dtype), _random(size, size, dtype=dtype)
    kinds = {torch.float32: torch.float32, torch.int8: torch.int32}
    c = torch.empty(size, size, device=DEVICE, dtype=kinds.get(dtype, torch.float16))

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        grid = (math.ceil(size / config["BM"]) * math.ceil(size / config["BN"]),)
        kernel = kernels.matmul_integers if dtype == torch.int8 else kernels.matmul
        return lambda: kernel[grid](a, b, c, size, size, size, GROUP=8, **config)

    tolerance = {torch.float8_e4m3fn: 2e-2, torch.int8: 0.0}.get(dtype, 3e-3)
    configs = [{**config, "BK": depth} for config in PRODUCTS]
    if size <= 512:
        configs += [{"BM": 64, "BN": 64, "BK": depth, "num_warps": 4, "num_stages": s} for s in (3, 4)]
    exact = torch.float64 if dtype == torch.int8 else torch.float32
    return Row(configs, launch, lambda: _relative(c, a.to(exact) @ b.to(exact)), tolerance, _library_product(a, b))


def attention(width: int, dtype: torch.dtype, causal: bool = False, tokens: int = 4096) -> Row:
    """4 times 32 heads of 4,096 tokens, or as many tokens in all."""
    heads = 4 * 32 * 4096 // tokens
    q, k, v = (_random(heads, tokens, width, dtype=dtype) for _ in range(3))
    out = torch.empty_like(q)

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        kernel = kernels.attention_causal if causal else kernels.attention
        return lambda: kernel[(tokens // config["BM"], heads)](q, k, v, out, width**-0.5, tokens, D=width, **config)

    def library() -> torch.Tensor:
        return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]

    configs = [
        {"BM": bm, "BN": bn, "num_warps": w, "num_stages": s}
        for bm, bn, w in ((128, 64, 4), (128, 128, 8), (64, 64, 4), (128, 64, 8))
        for s in (2, 3)
    ]
    return Row(configs, launch, lambda: _relative(out, library()), 2e-2, library)


def attention_backward(width: int) -> Row:
    heads, tokens = 32, 4096
    q, k, v, do = (_random(heads, tokens, width, dtype=torch.float16) for _ in range(4))
    dq, dk, dv = (torch.empty_like(q) for _ in range(3))
    given = [x.clone().requires_grad_() for x in (q, k, v)]
    out = F.scaled_dot_product_attention(given[0][None], given[1][None], given[2][None])[0]
    wanted = torch.autograd.grad(out, given, do, retain_graph=True)
    scale = width**-0.5
    lse = torch.cat(
        [torch.logsumexp(q[h].float() @ k[h].float().T * scale, -1)[None] for h in range(heads)]
    ) / math.log(2)
    delta = (out.float() * do.float()).sum(-1).detach()

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        def both() -> None:
            grid = (tokens // 128, heads)
            shared = (q, k, v, do, lse, delta)
            kernels.attention_gradient_kv[grid](*shared, dk, dv, scale, tokens, D=width, BM=64, BN=128, **config)
            kernels.attention_gradient_q[grid](*shared, dq, scale, tokens, D=width, BM=128, BN=64, **config)

        return both

    def error() -> float:
        return max(_relative(mine, other) for mine, other in zip((dq, dk, dv), wanted, strict=True))

    configs = [{"num_warps": w, "num_stages": s} for w in (4, 8) for s in (1, 2, 3)]
    return Row(configs, launch, error, 2e-2, lambda: torch.autograd.grad(out, given, do, retain_graph=True))


def grouped_matmul() -> Row:
    sizes = [1000, 24, 2048, 512, 77, 1500, 640, 2391]
    n, k = 4096, 2048
    table = torch.tensor([0, *sizes], device=DEVICE).cumsum(0).int()
    a, b = _random(sum(sizes), k, dtype=torch.float16), _random(len(sizes), k, n, dtype=torch.float16)
    c = torch.empty(sum(sizes), n, device=DEVICE, dtype=torch.float16)
    programs = torch.cuda.get_device_properties(0).multi_processor_count

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        return lambda: kernels.grouped_matmul[(programs,)](
            table, a, b, c, len(sizes), n, k, BK=64, PROGRAMS=programs, **config
        )

    def library() -> torch.Tensor:
        return torch.cat([part @ b[g] for g, part in enumerate(a.split(sizes))])

    return Row(PRODUCTS, launch, lambda: _relative(c, library()), 3e-3)


def matmul_epilogue(size: int) -> Row:
    a, b, bias = (_random(*s, dtype=torch.float16) for s in ((size, size), (size, size), (size,)))
    b *= size**-0.5
    c = torch.empty_like(a)

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        grid = (math.ceil(size / config["BM"]), math.ceil(size / config["BN"]))
        return lambda: kernels.matmul_bias_gelu[grid](a, b, bias, c, size, size, size, BK=64, **config)

    def error() -> float:
        linear = a.float() @ b.float() + bias.float()
        return _relative(c, linear * torch.sigmoid(1.702 * linear))

    return Row(PRODUCTS, launch, error, 3e-3)


def int4_matmul(m: int, n: int, k: int) -> Row:
    size = 128
    a = _random(m, k, dtype=torch.float16)
    packed = torch.randint(-(2**31), 2**31, (k // 8, n), device=DEVICE, dtype=torch.int32)
    scales = torch.rand(k // size, n, device=DEVICE).half()
    c = torch.empty(m, n, device=DEVICE, dtype=torch.float16)
    shifts = torch.arange(8, device=DEVICE, dtype=torch.int32)[None, :, None] * 4
    weights = (((packed[:, None] >> shifts) & 15) - 8).reshape(k, n).float() * scales.float().repeat_interleave(size, 0)

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        grid = (math.ceil(m / config["BM"]), math.ceil(n / config["BN"]))
        return lambda: kernels.int4_matmul[grid](a, packed, scales, c, m, n, k, SIZE=size, **config)

    configs = [
        {"BM": bm, "BN": bn, "BK": bk, "num_warps": w, "num_stages": s}
        for bm, bn, w in ((16, 128, 4), (64, 128, 4), (128, 128, 8), (128, 64, 4))
        for bk in (64, 128)
        for s in (2, 3)
        if bm <= max(m, 16)
    ]
    return Row(configs, launch, lambda: _relative(c, a.float() @ weights), 3e-3)


def stream_k(size: int) -> Row:
    a, b = (_random(size, size, dtype=torch.float16) for _ in range(2))
    c = torch.empty(size, size, device=DEVICE)
    programs = torch.cuda.get_device_properties(0).multi_processor_count

    def launch(kernels: Any, config: dict[str, Any]) -> Callable[[], Any]:
        def run() -> None:
            c.zero_()
            kernels.stream_k[(programs,)](a, b, c, size, size, size, BK=64, PROGRAMS=programs, **config)

        return run

    return Row(PRODUCTS, launch, lambda: _relative(c, a.float() @ b.float()), 3e-3)


def rows() -> dict[str, Callable[[], Row]]:
    """What makes each row, by name."""
    f16, bf16 = torch.float16, torch.bfloat16
    found: dict[str, Callable[[], Row]] = {
        "vadd f32 2^28": lambda: vadd(1 << 28),
        "softmax f32 8192x4096": lambda: softmax(8192, 4096),
        "softmax f32 4096x16384": lambda: softmax(4096, 16384),
        "layer_norm f16 8192x4096": lambda: layer_norm(8192, 4096),
        "layer_norm f16 8192x4096 loops": lambda: layer_norm(8192, 4096, 1024),
        "rms_norm bf16 8192x4096": lambda: rms_norm(8192, 4096),
        "cross_entropy bf16 4096x32000": lambda: cross_entropy(4096, 32000),
        "matmul tf32 4096": lambda: matmul(4096, torch.float32, 32),
        "matmul fp8 4096": lambda: matmul(4096, torch.float8_e4m3fn, 128),
        "matmul int8 4096": lambda: matmul(4096, torch.int8, 128),
        "attention backward f16 D64": lambda: attention_backward(64),
        "attention backward f16 D128": lambda: attention_backward(128),
        "grouped matmul f16": grouped_matmul,
        "epilogue matmul f16 4096": lambda: matmul_epilogue(4096),
        "int4 matmul 16x8192x8192": lambda: int4_matmul(16, 8192, 8192),
        "int4 matmul 2048x4096x4096": lambda: int4_matmul(2048, 4096, 4096),
        "stream_k matmul f16 4096": lambda: stream_k(4096),
    }
    for size in (512, 2048, 4096, 8192):
        found[f"matmul f16 {size}"] = lambda size=size: matmul(size, f16, 64)
    for width in (64, 128):
        for causal in (False, True):
            for dtype, name in ((f16, "f16"), (bf16, "bf16")):
                form = f"attention {name} D{width}{' causal' if causal else ''}"
                found[form] = lambda w=width, d=dtype, c=causal: attention(w, d, c)
        for tokens in (512, 1024, 2048, 8192, 16384):
            found[f"attention f16 D{width} T{tokens}"] = lambda w=width, t=tokens: attention(w, f16, tokens=t)
    return found
