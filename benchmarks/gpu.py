"""Our code on an NVIDIA GPU beside Triton's for the same kernels: time of Triton / our time, each at its best of the
same configurations.

    python benchmarks/gpu.py [name ...] [--json FILE]

Needs a GPU, torch and Triton. Every result is checked against torch before it is timed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).parent
GATES = {"vadd": 0.95, "softmax": 0.95, "layer_norm": 0.95, "matmul": 0.75, "attention": 0.75}
DEVICE = "cuda"


def load_kernels(which: str) -> Any:
    """benchmarks/gpu_kernels.py with `triton` being Triton or tiletwin."""
    if which == "tiletwin":
        import tiletwin
        import tiletwin.language

        kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "triton"}
        sys.modules["triton"], sys.modules["triton.language"] = tiletwin, tiletwin.language
    spec = importlib.util.spec_from_file_location(f"kernels_of_{which}", HERE / "gpu_kernels.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if which == "tiletwin":
        del sys.modules["triton"], sys.modules["triton.language"]
        sys.modules.update(kept)
    return module


def milliseconds(run: Callable[[], Any], rounds: int = 30) -> float:
    """Median time of a launch on the GPU, by events; the caches are filled with other data in between."""
    import torch

    flush = torch.empty(64 << 20, dtype=torch.int32, device=DEVICE)
    run()
    torch.cuda.synchronize()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(rounds)]
    for start, end in pairs:
        flush.zero_()
        start.record()
        run()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in pairs)


def launches() -> dict[str, tuple[list[dict], Callable[[Any, dict], Callable[[], Any]], Callable[[], float]]]:
    """By row: configurations, (kernels, configuration) -> launch, the error of the last result against torch."""
    import torch

    rows: dict[str, Any] = {}

    def vadd() -> Any:
        n = 1 << 28
        x, y = torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)
        out = torch.empty_like(x)

        def launch(kernels: Any, c: dict) -> Callable[[], Any]:
            grid = (n // c["BLOCK"],)
            return lambda: kernels.vadd[grid](x, y, out, n, **c)

        configs = [{"BLOCK": b, "num_warps": w} for b in (1024, 2048) for w in (4, 8)]
        return configs, launch, lambda: (out - (x + y)).abs().max().item(), 0.0

    def softmax(rows_: int, columns: int) -> Any:
        x = torch.randn(rows_, columns, device=DEVICE)
        out = torch.empty_like(x)

        def launch(kernels: Any, c: dict) -> Callable[[], Any]:
            return lambda: kernels.softmax[(rows_,)](x, out, columns, **c)

        configs = [{"BLOCK": columns, "num_warps": w} for w in (4, 8, 16)]
        return configs, launch, lambda: (out - torch.softmax(x, 1)).abs().max().item(), 1e-5

    def layer_norm() -> Any:
        x = torch.randn(8192, 4096, device=DEVICE, dtype=torch.float16)
        w, b = torch.randn(4096, device=DEVICE).half(), torch.randn(4096, device=DEVICE).half()
        out = torch.empty_like(x)

        def launch(kernels: Any, c: dict) -> Callable[[], Any]:
            return lambda: kernels.layer_norm[(8192,)](x, w, b, out, 4096, 1e-5, **c)

        def error() -> float:
            want = torch.nn.functional.layer_norm(x.float(), (4096,), w.float(), b.float(), 1e-5)
            return (out.float() - want).abs().max().item()

        return [{"BLOCK": 4096, "num_warps": n} for n in (4, 8, 16)], launch, error, 2e-2

    def matmul(size: int, dtype: Any, blocks: int) -> Any:
        a, b = torch.randn(size, size, device=DEVICE), torch.randn(size, size, device=DEVICE)
        a, b = a.to(dtype), b.to(dtype)
        c = torch.empty(size, size, device=DEVICE, dtype=torch.float32 if dtype == torch.float32 else torch.float16)

        def launch(kernels: Any, config: dict) -> Callable[[], Any]:
            grid = (math.ceil(size / config["BM"]) * math.ceil(size / config["BN"]),)
            return lambda: kernels.matmul[grid](a, b, c, size, size, size, GROUP=8, **config)

        def error() -> float:
            want = a.float() @ b.float()
            return ((c.float() - want).norm() / want.norm()).item()

        configs = [
            {"BM": bm, "BN": bn, "BK": blocks, "num_warps": w, "num_stages": s}
            for bm, bn, w in ((128, 128, 4), (128, 128, 8), (128, 256, 8), (64, 128, 4))
            for s in (3, 4)
        ]
        return configs, launch, error, 3e-3 if dtype != torch.float8_e4m3fn else 2e-2

    def attention(width: int) -> Any:
        heads, tokens = 32, 4096
        q, k, v = (torch.randn(heads, tokens, width, device=DEVICE).half() for _ in range(3))
        out = torch.empty_like(q)

        def launch(kernels: Any, config: dict) -> Callable[[], Any]:
            grid = (tokens // config["BM"], heads)
            return lambda: kernels.attention[grid](q, k, v, out, width**-0.5, tokens, D=width, **config)

        def error() -> float:
            want = torch.nn.functional.scaled_dot_product_attention(q[None].float(), k[None].float(), v[None].float())[
                0
            ]
            return ((out.float() - want).norm() / want.norm()).item()

        configs = [
            {"BM": bm, "BN": bn, "num_warps": w, "num_stages": s}
            for bm, bn, w in ((128, 64, 4), (128, 128, 8), (64, 64, 4))
            for s in (2, 3)
        ]
        return configs, launch, error, 1e-2

    rows["vadd f32 2^28"] = vadd
    rows["softmax f32 8192x4096"] = lambda: softmax(8192, 4096)
    rows["softmax f32 4096x16384"] = lambda: softmax(4096, 16384)
    rows["layer_norm f16 8192x4096"] = layer_norm
    rows["matmul f16 2048"] = lambda: matmul(2048, torch.float16, 64)
    rows["matmul f16 4096"] = lambda: matmul(4096, torch.float16, 64)
    rows["matmul tf32 4096"] = lambda: matmul(4096, torch.float32, 32)
    rows["matmul fp8 4096"] = lambda: matmul(4096, torch.float8_e4m3fn, 128)
    rows["attention f16 D64"] = lambda: attention(64)
    rows["attention f16 D128"] = lambda: attention(128)
    return rows


def best(kernels: Any, row: Any) -> dict[str, Any]:
    """The fastest configuration that compiles and is right."""
    import torch

    configs, launch, error, tolerance = row
    found: dict[str, Any] = {"ms": math.inf, "compile_s": 0.0, "failed": []}
    for config in configs:
        run = launch(kernels, config)
        try:
            started = time.perf_counter()
            run()
            torch.cuda.synchronize()
            compiled = time.perf_counter() - started
            wrong = error()
            if not wrong <= tolerance:
                found["failed"].append(f"{config}: error {wrong:.3g}")
                continue
            time_ms = milliseconds(run)
        except Exception as failure:
            found["failed"].append(f"{config}: {type(failure).__name__}: {str(failure)[:300]}")
            continue
        found["compile_s"] = max(found["compile_s"], compiled)
        if time_ms < found["ms"]:
            found |= {"ms": time_ms, "config": config, "error": wrong}
    return found


def launch_microseconds(kernels: Any, count: int = 2000) -> float:
    """Host time of a launch, back to back."""
    import torch

    x = torch.zeros(16, device=DEVICE)
    run = kernels.nothing[(1,)]
    for _ in range(100):
        run(x, 5)
    torch.cuda.synchronize()
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(count):
            run(x, 5)
        rounds.append(time.perf_counter() - started)
        torch.cuda.synchronize()
    return min(rounds) / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of rows")
    parser.add_argument("--json", help="file for the results")
    arguments = parser.parse_args()
    import tiletwin
    import torch
    import triton

    sides = {"triton": load_kernels("triton"), "tiletwin": load_kernels("tiletwin")}
    results: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "tiletwin": tiletwin.TILETWIN_VERSION,
        "date": time.strftime("%Y-%m-%d"),
        "rows": {},
    }
    print({name: value for name, value in results.items() if name != "rows"})
    for name, make in launches().items():
        if arguments.names and not name.startswith(tuple(arguments.names)):
            continue
        row = make()
        measured = {side: best(kernels, row) for side, kernels in sides.items()}
        ratio = measured["triton"]["ms"] / measured["tiletwin"]["ms"]
        gate = GATES[name.split()[0]]
        results["rows"][name] = {"ratio": ratio, "gate": gate, **measured}
        ours = measured["tiletwin"]
        verdict = f"{'met' if ratio >= gate else 'NOT MET'}: {gate}"
        print(
            f"{name:26} {measured['triton']['ms']:9.4f} ms {ours['ms']:9.4f} ms  ratio {ratio:6.3f} "
            f"({verdict})  {ours.get('config')} vs {measured['triton'].get('config')}"
        )
        for side, found in measured.items():
            for line in found["failed"]:
                print(f"    {side}: {line}")
    if not arguments.names:
        overhead = {side: launch_microseconds(kernels) for side, kernels in sides.items()}
        results["launch_us"] = overhead
        print(f"launch back to back: {overhead['tiletwin']:.2f} us (6), Triton {overhead['triton']:.2f} us")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
