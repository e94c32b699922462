"""Kernels whose times tools/record_times.py records: of benchmarks and tests/kernels, at sizes that take 5 us to 2 ms.

Here:      `cases()`: what makes the launches of each case; `captured`, launches that a host function would do.
Not here:  clocks (tools/record_times.py), the kernels themselves.
Invariant: nothing runs here. `triton` is what the process has imported under that name.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
F16, BF16, F32, F8, I8 = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn, torch.int8


class Captured(NamedTuple):
    """A launch that has not happened."""

    name: str
    function: Any
    grid: Any
    arguments: tuple[Any, ...]
    named: dict[str, Any]


class _Recorder:
    """Stands for a kernel: keeps what it is launched with."""

    def __init__(self, name: str, function: Any, found: list[Captured]) -> None:
        self.name, self.function, self.found = name, function, found

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*arguments: Any, **named: Any) -> None:
            self.found.append(Captured(self.name, self.function, grid, arguments, named))

        return launch


def _is_kernel(value: Any) -> bool:
    return hasattr(value, "run") and hasattr(type(value), "__getitem__")


@contextlib.contextmanager
def _recording(module: Any) -> Iterator[list[Captured]]:
    """While it is open, the module's functions launch nothing."""
    found: list[Captured] = []
    kernels = {name: value for name, value in vars(module).items() if _is_kernel(value)}
    for name, value in kernels.items():
        setattr(module, name, _Recorder(name, value, found))
    try:
        yield found
    finally:
        for name, value in kernels.items():
            setattr(module, name, value)


def captured(module: str, function: str, *arguments: Any, **named: Any) -> list[Captured]:
    """The launches that a host function of a module of tests/kernels would do."""
    loaded = importlib.import_module(module)
    with _recording(loaded) as found:
        getattr(loaded, function)(*arguments, **named)
    return found


class _Kernels:
    """Kernels of benchmarks/gpu.py by name."""

    def __init__(self, found: list[Captured]) -> None:
        self.found = found

    def __getattr__(self, name: str) -> _Recorder:
        for module in ("gpu_kernels", "gpu_row_kernels", "gpu_product_kernels"):
            loaded = importlib.import_module(module)
            if hasattr(loaded, name):
                return _Recorder(name, getattr(loaded, name), self.found)
        raise AttributeError(name)


def random(*shape: int, dtype: torch.dtype = F32) -> torch.Tensor:
    if DEVICE == "cpu":
        return torch.empty(shape, dtype=dtype)
    if dtype in (I8, torch.uint8):
        return torch.randint(0, 8, shape, device=DEVICE, dtype=dtype)
    return torch.empty(shape, device=DEVICE, dtype=F32 if dtype == F8 else dtype).normal_().to(dtype)


def numbers(below: int, *shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.randint(0, below, shape, device=DEVICE, dtype=dtype)


def empty(*shape: int, dtype: torch.dtype = F32) -> torch.Tensor:
    return torch.empty(shape, device=DEVICE, dtype=dtype)


def _up(a: int, b: int) -> int:
    return -(-a // b)


Make = Callable[[], list[Captured]]
_CASES: dict[str, Make] = {}


def _row(name: str, launch: Callable[[Any], None]) -> None:
    def make() -> list[Captured]:
        found: list[Captured] = []
        launch(_Kernels(found))
        return found

    _CASES[name] = make


def _vadd(n: int, block: int, warps: int) -> None:
    def launch(kernels: Any) -> None:
        x, y = random(n), random(n)
        kernels.vadd[(_up(n, block),)](x, y, empty(n), n, BLOCK=block, num_warps=warps)

    _row(f"vadd {n} {block}w{warps}", launch)


def _rows(kind: str, rows: int, columns: int, warps: int, block: int = 0) -> None:
    def launch(kernels: Any) -> None:
        size = block or columns
        if kind == "softmax":
            kernels.softmax[(rows,)](random(rows, columns), empty(rows, columns), columns, BLOCK=size, num_warps=warps)
        elif kind == "cross_entropy":
            labels = numbers(columns, rows, dtype=torch.int64)
            x = random(rows, columns, dtype=BF16)
            kernels.cross_entropy[(rows,)](x, labels, empty(rows), columns, BLOCK=size, num_warps=warps)
        elif kind == "rms_norm":
            x, w = random(rows, columns, dtype=BF16), random(columns, dtype=BF16)
            kernels.rms_norm[(rows,)](x, w, empty(rows, columns, dtype=BF16), columns, 1e-5, BLOCK=size,
                                      num_warps=warps)  # fmt: skip
        else:
            x, w, b = (random(*shape, dtype=F16) for shape in ((rows, columns), (columns,), (columns,)))
            kernel = kernels.layer_norm_loops if block else kernels.layer_norm
            kernel[(rows,)](x, w, b, empty(rows, columns, dtype=F16), columns, 1e-5, BLOCK=size, num_warps=warps)

    _row(f"{kind} {rows}x{columns} {block or ''}w{warps}", launch)


def _matmul(m: int, n: int, k: int, dtype: torch.dtype, bm: int, bn: int, bk: int, warps: int, stages: int) -> None:
    def launch(kernels: Any) -> None:
        a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)
        c = empty(m, n, dtype={F32: F32, I8: torch.int32}.get(dtype, F16))
        kernel = kernels.matmul_integers if dtype == I8 else kernels.matmul
        kernel[(_up(m, bm) * _up(n, bn),)](a, b, c, m, n, k, BM=bm, BN=bn, BK=bk, GROUP=8, num_warps=warps,
                                           num_stages=stages)  # fmt: skip

    _row(f"matmul {str(dtype)[6:]} {m}x{n}x{k} {bm}x{bn}x{bk}w{warps}s{stages}", launch)


def _attention(heads: int, tokens: int, width: int, dtype: torch.dtype, causal: bool, bm: int, bn: int, warps: int,
               stages: int) -> None:  # fmt: skip
    def launch(kernels: Any) -> None:
        q, k, v = (random(heads, tokens, width, dtype=dtype) for _ in range(3))
        out = empty(heads, tokens, width, dtype=dtype)
        kernel = kernels.attention_causal if causal else kernels.attention
        kernel[(tokens // bm, heads)](q, k, v, out, width**-0.5, tokens, D=width, BM=bm, BN=bn, num_warps=warps,
                                      num_stages=stages)  # fmt: skip

    form = "causal " if causal else ""
    _row(f"attention {form}{str(dtype)[6:]} H{heads} T{tokens} D{width} {bm}x{bn}w{warps}s{stages}", launch)


def _attention_backward(heads: int, tokens: int, width: int, warps: int, stages: int) -> None:
    def launch(kernels: Any) -> None:
        q, k, v, do = (random(heads, tokens, width, dtype=F16) for _ in range(4))
        dq, dk, dv = (empty(heads, tokens, width, dtype=F16) for _ in range(3))
        lse, delta = random(heads, tokens), random(heads, tokens)
        shared, scale, grid = (q, k, v, do, lse, delta), width**-0.5, (tokens // 128, heads)
        config = {"num_warps": warps, "num_stages": stages}
        kernels.attention_gradient_kv[grid](*shared, dk, dv, scale, tokens, D=width, BM=64, BN=128, **config)
        kernels.attention_gradient_q[grid](*shared, dq, scale, tokens, D=width, BM=128, BN=64, **config)

    _row(f"attention backward H{heads} T{tokens} D{width} w{warps}s{stages}", launch)


def _epilogue(size: int, bm: int, bn: int, warps: int, stages: int) -> None:
    def launch(kernels: Any) -> None:
        a, b, bias = (random(*s, dtype=F16) for s in ((size, size), (size, size), (size,)))
        kernels.matmul_bias_gelu[(_up(size, bm), _up(size, bn))](
            a, b, bias, empty(size, size, dtype=F16), size, size, size, BM=bm, BN=bn, BK=64, num_warps=warps,
            num_stages=stages,
        )  # fmt: skip

    _row(f"matmul epilogue {size} {bm}x{bn}w{warps}s{stages}", launch)


def _int4(m: int, n: int, k: int, bm: int, bn: int, bk: int, warps: int, stages: int) -> None:
    def launch(kernels: Any) -> None:
        a, packed = random(m, k, dtype=F16), numbers(2**31 - 1, k // 8, n)
        scales, c = random(k // 128, n, dtype=F16), empty(m, n, dtype=F16)
        kernels.int4_matmul[(_up(m, bm), _up(n, bn))](a, packed, scales, c, m, n, k, SIZE=128, BM=bm, BN=bn, BK=bk,
                                                      num_warps=warps, num_stages=stages)  # fmt: skip

    _row(f"matmul int4 {m}x{n}x{k} {bm}x{bn}x{bk}w{warps}s{stages}", launch)


def _call(name: str, module: str, function: str, arguments: Callable[[], tuple[Any, ...]], **named: Any) -> None:
    _CASES[name] = lambda: captured(module, function, *arguments(), **named)


def _benchmark_rows() -> None:
    for n, block, warps in ((1 << 18, 1024, 4), (1 << 20, 1024, 8), (1 << 22, 2048, 4), (1 << 24, 1024, 4),
                            (1 << 26, 2048, 8), (1 << 23, 256, 2)):  # fmt: skip
        _vadd(n, block, warps)
    for rows, columns, warps in ((512, 1024, 4), (4096, 1024, 4), (2048, 4096, 8), (4096, 8192, 16)):
        _rows("softmax", rows, columns, warps)
    for rows, columns, warps, block in ((2048, 1024, 4, 0), (4096, 4096, 8, 0), (8192, 2048, 4, 0),
                                        (4096, 4096, 4, 1024), (1024, 16384, 8, 2048)):  # fmt: skip
        _rows("layer_norm", rows, columns, warps, block)
    _rows("rms_norm", 4096, 2048, 4)
    _rows("rms_norm", 8192, 4096, 8)
    _rows("cross_entropy", 2048, 32000, 8, 4096)
    _rows("cross_entropy", 1024, 16384, 4, 2048)


def _products() -> None:
    for m, n, k, dtype, *blocks in (
        (512, 512, 512, F16, 64, 64, 64, 4, 3), (1024, 1024, 1024, F16, 128, 128, 64, 4, 3),
        (1024, 1024, 1024, F16, 64, 64, 64, 4, 4), (2048, 2048, 2048, F16, 128, 128, 64, 8, 3),
        (2048, 2048, 2048, BF16, 128, 256, 64, 8, 3), (4096, 4096, 4096, F16, 128, 128, 64, 4, 4),
        (4096, 4096, 4096, F16, 128, 256, 64, 8, 3), (4096, 4096, 4096, BF16, 128, 128, 64, 8, 3),
        (4096, 4096, 4096, F16, 64, 128, 64, 4, 3), (8192, 8192, 1024, F16, 128, 256, 64, 8, 4),
        (4096, 4096, 512, BF16, 128, 128, 64, 8, 4), (256, 4096, 4096, F16, 64, 128, 64, 4, 4),
        (8192, 1024, 4096, F16, 128, 128, 32, 4, 4), (1000, 3000, 2048, F16, 128, 128, 64, 4, 3),
        (2048, 2048, 2048, F32, 128, 128, 32, 8, 3), (4096, 4096, 2048, F32, 128, 64, 32, 4, 3),
        (2048, 2048, 2048, F8, 128, 128, 128, 8, 3), (4096, 4096, 4096, F8, 128, 256, 128, 8, 3),
        (2048, 2048, 2048, I8, 128, 128, 128, 8, 3), (4096, 4096, 4096, I8, 128, 128, 128, 4, 3),
    ):  # fmt: skip
        _matmul(m, n, k, dtype, *blocks)
    for heads, tokens, width, dtype, causal, *blocks in (
        (32, 1024, 64, F16, False, 128, 64, 4, 2), (32, 2048, 64, BF16, False, 128, 128, 8, 2),
        (16, 4096, 64, F16, False, 128, 64, 8, 3), (32, 2048, 64, F16, True, 128, 64, 4, 3),
        (64, 512, 64, F16, False, 64, 64, 4, 2), (32, 1024, 128, F16, False, 128, 64, 4, 2),
        (32, 2048, 128, BF16, False, 128, 128, 8, 2), (16, 4096, 128, F16, False, 128, 64, 8, 2),
        (32, 2048, 128, F16, True, 128, 64, 8, 2), (64, 1024, 128, BF16, True, 64, 64, 4, 2),
        (8, 8192, 128, F16, False, 128, 128, 8, 2), (48, 1024, 64, F16, True, 128, 128, 8, 2),
    ):  # fmt: skip
        _attention(heads, tokens, width, dtype, causal, *blocks)
    _attention_backward(16, 2048, 64, 8, 2)
    _attention_backward(16, 1024, 128, 8, 2)
    _epilogue(2048, 128, 128, 8, 3)
    _epilogue(4096, 128, 256, 8, 3)
    _int4(16, 8192, 4096, 16, 128, 64, 4, 3)
    _int4(1024, 4096, 4096, 64, 128, 64, 4, 3)
    _int4(2048, 4096, 4096, 128, 128, 64, 8, 2)


def _elementwise() -> None:
    activations = importlib.import_module("activations")
    _call("gelu f32", "activations", "gelu", lambda: (random(1 << 23),))
    _call("gelu tanh f16", "activations", "gelu", lambda: (random(1 << 23, dtype=F16), activations.gelu_tanh))
    _call("gelu backward", "activations", "gelu_backward", lambda: (random(1 << 21), random(1 << 21)))
    _call("swiglu", "activations", "gated", lambda: (random(4096, 8192, dtype=F16), "swiglu"))
    _call("geglu backward", "activations", "gated_backward_",
          lambda: (random(2048, 4096), random(2048, 8192), "geglu"))  # fmt: skip
    _call("adamw", "optimisers", "adamw_", lambda: (*(random(1 << 22) for _ in range(4)), 3))
    _call("adam8", "optimisers", "adam8_", lambda: (
        random(1 << 22), random(1 << 22), random(1 << 22, dtype=I8), random(1 << 22, dtype=torch.uint8),
        random(1 << 14), random(1 << 14), 3))  # fmt: skip
    _call("lion", "optimisers", "lion_", lambda: tuple(random(1 << 23) for _ in range(3)))
    _call("clip", "optimisers", "clip_norm_", lambda: (random(1 << 22), 1.0), programs=264)
    _call("dropout", "randomness", "dropout", lambda: (random(1 << 23), 0.3, 7))
    _call("normal numbers", "randomness", "initialise", lambda: (1 << 22, "normal", 0.0, 1.0, 3))
    _call("stochastic bf16", "randomness", "stochastic_bf16", lambda: (random(1 << 22), 7))
    _call("hash", "randomness", "hash_buckets", lambda: (numbers(1 << 30, 1 << 23), 1000))
    _call("embedding", "embeddings", "embedding",
          lambda: (random(32000, 1024, dtype=F16), numbers(32000, 16384)), block_d=256)  # fmt: skip
    _call("embedding backward", "embeddings", "embedding_backward",
          lambda: (random(8192, 512), numbers(32000, 8192), 32000))  # fmt: skip
    _call("transpose", "transforms", "transpose", lambda: (random(4, 2048, 2048),))
    _call("transpose f16", "transforms", "transpose", lambda: (random(4, 2048, 2048, dtype=F16), 64, 64))
    _call("heads first", "transforms", "heads_first", lambda: (random(4, 2048, 16, 64, dtype=F16),))
    _call("hadamard", "transforms", "hadamard", lambda: (random(8192, 1024),))
    _call("fft", "transforms", "fft", lambda: (random(2048, 512), random(2048, 512)))
    _call("rope", "rotary", "rope_half_", lambda: (
        *(random(4, 2048, n, 64, dtype=F16) for n in (32, 8)), *(random(2048, 32) for _ in range(2))))  # fmt: skip


def _reductions() -> None:
    _call("layer norm", "layer_norms", "layer_norm",
          lambda: (random(4096, 4096), random(4096), random(4096)))  # fmt: skip
    _call("layer norm backward", "layer_norms", "layer_norm_backward",
          lambda: (random(4096, 1024), random(4096, 1024), random(1024), random(4096), random(4096)),
          programs=264)  # fmt: skip
    _call("rms norm backward", "norms", "rms_norm_backward",
          lambda: (random(4096, 2048), random(4096, 2048), random(2048), random(4096)), programs=256)  # fmt: skip
    _call("add rms norm", "norms", "add_rms_norm_",
          lambda: (random(8192, 2048, dtype=F16), random(8192, 2048, dtype=F16), random(2048, dtype=F16)))  # fmt: skip
    _call("group norm", "norms", "group_norm",
          lambda: (random(16, 128, 64, 64), 32, random(128), random(128)), block=1024)  # fmt: skip
    _call("l2 norm", "norms", "l2_norm", lambda: (random(65536, 128),))
    _call("softmax rows", "softmaxes", "softmax", lambda: (random(8192, 2048),), programs=528)
    _call("softmax online", "softmaxes", "softmax_online", lambda: (random(4096, 10000),))
    _call("softmax backward", "softmaxes", "softmax_backward", lambda: (random(8192, 1024), random(8192, 1024)))
    _call("kl", "losses", "kl_div", lambda: (random(2048, 8192), random(2048, 8192)))
    _call("jsd", "losses", "jsd", lambda: (random(1024, 8192), random(1024, 8192)))
    _call("cross entropy gradient", "losses", "cross_entropy",
          lambda: (random(2048, 16384), numbers(16384, 2048, dtype=torch.int64)), grad=True)  # fmt: skip
    _call("cumsum", "prefix_sums", "cumsum_rows", lambda: (random(4096, 2048),))
    _call("histogram", "prefix_sums", "histogram", lambda: (random(1 << 22), 256, -4.0, 4.0))
    _call("topk", "prefix_sums", "topk_rows", lambda: (random(2048, 1024), 16))
    _call("quantise int8", "quantising", "quantise_tokens", lambda: (random(8192, 4096, dtype=F16),))
    _call("quantise blocks", "quantising", "quantise_blocks", lambda: (random(4096, 4096),))
    _call("scan", "selective_scan", "gated_recurrence", lambda: (random(16, 1024, 512), random(16, 1024, 512)))
    _call("max pool", "convolutions", "max_pool2d", lambda: (random(16, 64, 112, 112), 3, 2))
    _call("causal conv1d", "convolutions", "causal_conv1d",
          lambda: (random(4, 2048, 2048), random(2048, 4)), silu=True)  # fmt: skip


def _other_products() -> None:
    _call("conv2d", "convolutions", "conv2d",
          lambda: (random(16, 64, 56, 56, dtype=F16), random(64, 64, 3, 3, dtype=F16)), pad=1)  # fmt: skip
    heads = ((4, 16, 1024, 64),) * 3
    _call("flash", "flash_attention", "flash_attention", lambda: tuple(random(*s, dtype=F16) for s in heads))
    _call("flash causal", "flash_attention", "flash_attention", lambda: tuple(random(*s, dtype=F16) for s in heads),
          causal=True, block_m=128, block_n=64)  # fmt: skip
    _call("flash backward", "flash_attention", "flash_attention_backward",
          lambda: (*(random(2, 16, 1024, 64, dtype=F16) for _ in range(5)), random(2, 16, 1024)),
          block_m=64, block_n=64)  # fmt: skip
    _call("window attention", "sliding_window", "window_attention",
          lambda: (*(random(4, 16, 2048, 64, dtype=F16) for _ in range(3)), 256), block_m=64, block_n=64)  # fmt: skip
    square = ((2048, 2048), (2048, 2048))
    _call("matmul split k", "matmuls", "matmul_split_k", lambda: tuple(random(512, 4096, dtype=F16).T if i else
          random(512, 4096, dtype=F16) for i in range(2)), bm=64, bn=64, bk=64)  # fmt: skip
    _call("matmul persistent", "matmuls", "matmul_persistent", lambda: tuple(random(*s, dtype=F16) for s in square),
          programs=132, bm=128, bn=128, bk=64)  # fmt: skip
    _call("matmul block pointers", "matmuls", "matmul_block_pointers",
          lambda: tuple(random(*s, dtype=F16) for s in square), bm=64, bn=128, bk=32)  # fmt: skip
    _call("batched matmul", "grouped_matmul", "batched_matmul",
          lambda: tuple(random(64, 256, 256, dtype=F16) for _ in range(2)), bb=1, bm=64, bn=64, bk=32)  # fmt: skip
    _call("lora", "grouped_matmul", "lora_matmul", lambda: (
        random(2048, 1024, dtype=F16), random(1024, 1024, dtype=F16), random(1024, 16, dtype=F16),
        random(16, 1024, dtype=F16), 0.5), bm=64, bn=64, bk=64)  # fmt: skip
    _call("int8 matmul", "quantised_matmul", "int8_matmul", lambda: (
        *(random(n, 2048, dtype=I8) for n in (1024, 2048)), random(1024), random(2048)), bm=64, bn=128)  # fmt: skip
    _call("fp8 block matmul", "quantised_matmul", "fp8_block_matmul", lambda: (
        *(random(rows, 2048, dtype=F8) for rows in (1024, 2048)), random(1024, 16), random(16, 16)), bm=64)  # fmt: skip
    _call("gated linear attention", "linear_attention", "gated_linear_attention", lambda: (
        *(random(4, 16, 1024, 64, dtype=F16) for _ in range(3)), random(4, 16, 1024)), chunk=64)  # fmt: skip
    _call("decoding", "decoding", "split_kv_attention", lambda: (
        random(16, 32, 128, dtype=F16), random(16, 2048, 8, 128, dtype=F16), random(16, 2048, 8, 128, dtype=F16),
        torch.full((16,), 2048, device=DEVICE, dtype=torch.int32)), splits=8, block_n=64)  # fmt: skip


def cases() -> dict[str, Make]:
    """What makes the launches of each case, by name."""
    if not _CASES:
        _benchmark_rows()
        _products()
        _elementwise()
        _reductions()
        _other_products()
    return _CASES
