"""What torch_compile.py compiles: functions of a GPU's everyday work. Without an argument: the names of all cases.

A case gives (function, arguments, options of torch.compile, tolerance); arguments may be a list of several tuples, of
which each is compared and the last one is timed. Where an argument asks for gradients, the backward pass is part of it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._pytree import tree_leaves

HALF = torch.float16
CASES: dict[str, Callable[[], tuple]] = {}
TRITON_ONLY = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON", "max_autotune_conv_backends": "TRITON"}
"""The kernels are Triton's templates, and no library's."""


def case(make: Callable[[], tuple]) -> Callable[[], tuple]:
    CASES[make.__name__] = make
    return make


def random(length: int, *more: int, **options: Any) -> torch.Tensor:
    return torch.randn(length, *more, device="cuda", **options)


@case
def elementwise() -> tuple:
    x, y = random(4096, 4096, dtype=HALF), random(4096, 4096, dtype=HALF)
    return lambda x, y: F.gelu(x * y + 1).sigmoid() * y, (x, y), {}, 1e-2


@case
def row_sums() -> tuple:
    return lambda x: (x * 2).sum(-1), (random(8192, 8192),), {}, 1e-3


@case
def column_sums() -> tuple:
    return lambda x: (x * 2).sum(0), (random(8192, 4096),), {}, 1e-3


@case
def softmax() -> tuple:
    return lambda x: torch.softmax(x * 0.5, -1), (random(8192, 4096, dtype=HALF),), {}, 1e-2


@case
def layer_norm() -> tuple:
    x, w, b = random(8192, 4096, dtype=HALF), random(4096, dtype=HALF), random(4096, dtype=HALF)
    return lambda x, w, b: F.layer_norm(x, (4096,), w, b), (x, w, b), {}, 1e-2


@case
def cross_entropy() -> tuple:
    x, target = random(4096, 32000, requires_grad=True), torch.randint(32000, (4096,), device="cuda")
    return lambda x, target: F.cross_entropy(x, target), (x, target), {}, 1e-3


@case
def embedding_backward() -> tuple:
    table, index = random(50000, 512, requires_grad=True), torch.randint(50000, (8192,), device="cuda")
    return lambda table, index: (F.embedding(index, table) ** 2).sum(-1), (table, index), {}, 1e-3


@case
def cumulative_sum() -> tuple:
    return lambda x: (x.cumsum(-1), x.sigmoid().cumsum(0)), (random(1024, 4096),), {}, 1e-2


@case
def sort() -> tuple:
    return lambda x: torch.sort(x * 2, -1), (random(8192, 128),), {}, 0.0


@case
def integers() -> tuple:
    x, y = torch.randint(-999, 999, (1 << 22,), device="cuda"), torch.randint(1, 99, (1 << 22,), device="cuda")
    return lambda x, y: (x // y + x % y, (x ^ y) & 0xFF, x << (y & 7)), (x, y), {}, 0.0


@case
def matmul_max_autotune() -> tuple:
    a, b, c = random(4096, 4096, dtype=HALF), random(4096, 4096, dtype=HALF), random(4096, dtype=HALF)
    return lambda a, b, c: (a @ b + c).relu(), (a, b, c), {"options": TRITON_ONLY}, 2e-1


@case
def matmul_float32() -> tuple:
    return lambda a, b: a @ b, (random(1024, 1024), random(1024, 1024)), {"options": TRITON_ONLY}, 1e-2


@case
def batched_matmul() -> tuple:
    a, b = random(64, 512, 512, dtype=HALF), random(64, 512, 512, dtype=HALF)
    return lambda a, b: torch.bmm(a, b) * 2, (a, b), {"options": TRITON_ONLY}, 2e-1


@case
def convolution() -> tuple:
    x, w = random(32, 64, 56, 56, dtype=HALF), random(128, 64, 3, 3, dtype=HALF)
    return lambda x, w: F.conv2d(x, w, padding=1).relu(), (x, w), {"options": TRITON_ONLY}, 2e-1


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norms[0](x)).chunk(3, -1)
        )
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


def model(layers: int = 4, width: int = 512) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(*(Block(width, 8) for _ in range(layers))).cuda().to(torch.bfloat16)


@case
def transformer_training() -> tuple:
    return model(), (random(8, 512, 512, dtype=torch.bfloat16, requires_grad=True),), {}, 1e-1


@case
def transformer_max_autotune() -> tuple:
    return (
        model(2).eval().requires_grad_(False),
        (random(8, 512, 512, dtype=torch.bfloat16),),
        {"mode": "max-autotune"},
        1e-1,
    )


@case
def reduce_overhead() -> tuple:
    layers = nn.Sequential(*(m for _ in range(8) for m in (nn.LayerNorm(256), nn.Linear(256, 256), nn.GELU()))).cuda()
    return layers.requires_grad_(False), (random(64, 256),), {"mode": "reduce-overhead"}, 1e-2


@case
def dynamic_shapes() -> tuple:
    shapes = [(31, 1000), (64, 512), (100, 777), (4096, 2048)]
    given = [(random(*shape), random(shape[1])) for shape in shapes]
    return lambda x, w: torch.softmax(x * w, -1) + x.mean(-1, keepdim=True), given, {"dynamic": True}, 1e-4


@case
def coordinate_descent() -> tuple:
    options = {"coordinate_descent_tuning": True}
    return lambda x: (x - x.mean(-1, keepdim=True)).exp(), (random(2048, 4096),), {"options": options}, 1e-3


@case
def cooperative_reduction() -> tuple:
    options = {"triton.cooperative_reductions": True}
    return lambda x: (x.sum(-1), x.amax(-1)), (random(4, 1 << 20),), {"options": options}, 1e-1


@case
def foreach() -> tuple:
    tensors = [random(999 + i) for i in range(40)]
    return lambda *x: torch._foreach_add(torch._foreach_mul(x, 2.0), 1.0), tuple(tensors), {}, 1e-5


@case
def own_kernel() -> tuple:
    import triton
    import triton.language as tl

    @triton.autotune([triton.Config({"BLOCK": size}) for size in (256, 1024)], key=["n"])
    @triton.jit
    def scaled(x, out, n, factor, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

    @triton.jit
    def added(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    def function(x, y):
        out = torch.empty_like(x)
        scaled[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), 2.5)
        total = torch.empty_like(x)
        added[(triton.cdiv(x.numel(), 512),)](out, y, total, x.numel(), BLOCK=512)
        return total.relu() + 1

    return function, (random(1 << 22), random(1 << 22)), {}, 1e-5


@case
def flex_attention() -> tuple:
    from torch.nn.attention.flex_attention import flex_attention

    def causal(score, batch, head, q, k):
        return torch.where(q >= k, score, -float("inf"))

    q, k, v = (random(4, 8, 1024, 64, dtype=HALF, requires_grad=True) for _ in range(3))
    return lambda q, k, v: flex_attention(q, k, v, score_mod=causal), (q, k, v), {}, 5e-2


def with_gradients(function: Callable, arguments: tuple) -> Callable[[], list]:
    """What runs a case once, and gives all that it computes."""
    wanted = [x for x in arguments if isinstance(x, torch.Tensor) and x.requires_grad]
    parameters = [p for p in function.parameters() if p.requires_grad] if isinstance(function, nn.Module) else []

    def run() -> list:
        results = tree_leaves(function(*arguments))
        if not (wanted or parameters):
            return results
        total = sum(r.float().sum() if i else (r.float() ** 2).sum() for i, r in enumerate(results))
        return [*results, *torch.autograd.grad(total, [*wanted, *parameters])]

    return run


def microseconds(run: Callable[[], Any], calls: int = 20, seconds: float = 0.4) -> float:
    """Of one call among several that are waiting for the GPU, the median of many such groups."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    began, times = time.perf_counter(), []
    while len(times) < 5 or time.perf_counter() - began < seconds:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


def microseconds_of_kernels(run: Callable[[], Any], calls: int = 10) -> dict[str, float]:
    """What each kernel takes on the GPU in one call: without launches, and without what lies between kernels."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for _ in range(calls):
            run()
        torch.cuda.synchronize()
    times = {event.key[:100]: event.self_device_time_total / calls for event in recorded.key_averages()
             if event.device_type == torch.autograd.DeviceType.CUDA}  # fmt: skip
    return {name: round(time, 2) for name, time in sorted(times.items(), key=lambda item: -item[1])}


def worst(given: list, expected: list) -> float:
    """The largest difference relative to the largest value of a result; infinite: other types, or no numbers."""
    most = 0.0
    for one, other in zip(given, expected, strict=True):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return float("inf")
        one, other = one.double(), other.double()
        if not torch.equal(one.isnan(), other.isnan()):
            return float("inf")
        scale = max(other.nan_to_num().abs().max().item(), 1.0)
        most = max(most, (one - other).nan_to_num().abs().max().item() / scale)
    return most


def run_case(name: str) -> dict[str, Any]:
    torch.manual_seed(0)
    function, arguments, options, tolerance = CASES[name]()
    compiled = torch.compile(function, **options)
    began, row = time.perf_counter(), {}
    for given in arguments if isinstance(arguments, list) else [arguments]:
        ours, eager = with_gradients(compiled, given), with_gradients(function, given)
        results = [x.clone() for x in ours()]
        torch.cuda.synchronize()
        row.setdefault("compile s", round(time.perf_counter() - began, 2))
        error = max(row.get("difference", 0.0), worst(results, eager()))
        row["difference"] = error
    if not row["difference"] <= tolerance:
        return {**row, "error": f"differs from eager by {row['difference']:.3g}, allowed are {tolerance:g}"}
    row["difference"] = float(f"{row['difference']:.2g}")
    row["us"], row["eager us"] = round(microseconds(ours), 1), round(microseconds(eager), 1)
    row["kernels us"] = microseconds_of_kernels(ours)
    counters = torch._dynamo.utils.counters["inductor"]
    row["counters"] = {k: v for k, v in counters.items() if "cudagraph" in k or "static" in k or "cache_hit" in k}
    return row


def main() -> None:
    if len(sys.argv) < 2:
        print("\n".join(CASES))
        return
    import triton

    facts = {"triton": f"{triton.__name__} {triton.__version__}", "torch": torch.__version__,
             "device": torch.cuda.get_device_name(), "date": time.strftime("%Y-%m-%d")}  # fmt: skip
    for name in sys.argv[1:]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        try:
            row = run_case(name)
        except Exception as error:
            row = {"error": f"{type(error).__name__}: {str(error)[:1500]}\n{traceback.format_exc()[-1500:]}"}
        print(json.dumps({"case": name, "environment": facts, **row}), flush=True)


if __name__ == "__main__":
    main()
