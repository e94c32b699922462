"""Our code on an NVIDIA GPU beside Triton's for the same kernels, each at its best of the same configurations.

    python benchmarks/gpu.py [name ...] [--runs N] [--json FILE]

Prints time of Triton / our time, the median over runs, the smallest and the largest, and the time of the library that
torch calls. Needs a GPU, torch and Triton. Every result is checked against torch before it is timed.

Here:      the clock, the table, the time of a launch.
Not here:  what is launched (gpu_rows.py), kernels (gpu_kernels.py, gpu_row_kernels.py, gpu_product_kernels.py).
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
from types import SimpleNamespace
from typing import Any

HERE = pathlib.Path(__file__).parent
DEVICE = "cuda"
KERNELS = ("gpu_kernels", "gpu_row_kernels", "gpu_product_kernels")
# The least ratio that a row must have, by the beginning of its name; the longest one counts.
GATES = {
    "vadd": 1.0,
    "softmax": 1.02,
    "layer_norm": 1.02,
    "rms_norm": 1.02,
    "cross_entropy": 1.02,
    "matmul f16": 1.05,
    "matmul f16 512": 1.0,
    "matmul tf32": 3.5,
    "matmul fp8": 1.5,
    "matmul int8": 1.2,
    "attention f16 D64": 1.2,
    "attention bf16 D64": 1.2,
    "attention f16 D128": 1.25,
    "attention bf16 D128": 1.25,
    "attention backward": 1.15,
    "grouped": 1.1,
    "epilogue": 1.1,
    "int4": 1.1,
    "stream_k": 1.1,
}


def load_kernels(which: str) -> Any:
    """All kernels with `triton` being Triton or tiletwin."""
    if which == "tiletwin":
        import tiletwin
        import tiletwin.language

        kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "triton"}
        sys.modules["triton"], sys.modules["triton.language"] = tiletwin, tiletwin.language
    found: dict[str, Any] = {}
    for name in KERNELS:
        spec = importlib.util.spec_from_file_location(f"{name}_of_{which}", HERE / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        found |= vars(module)
    if which == "tiletwin":
        del sys.modules["triton"], sys.modules["triton.language"]
        sys.modules.update(kept)
    return SimpleNamespace(**found)


def milliseconds(run: Callable[[], Any], rounds: int = 20) -> float:
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


def right_ones(kernels: Any, row: Any) -> tuple[list[tuple[dict[str, Any], Callable[[], Any]]], dict[str, Any]]:
    """The configurations that compile and are right, with what starts them."""
    import torch

    facts: dict[str, Any] = {"compile_s": 0.0, "failed": []}
    found = []
    for config in row.configs:
        run = row.launch(kernels, config)
        try:
            started = time.perf_counter()
            run()
            torch.cuda.synchronize()
            facts["compile_s"] = max(facts["compile_s"], time.perf_counter() - started)
            wrong = row.error()
        except Exception as failure:
            facts["failed"].append(f"{config}: {type(failure).__name__}: {str(failure)[:300]}")
            continue
        if wrong <= row.tolerance:
            found.append((config, run))
        else:
            facts["failed"].append(f"{config}: error {wrong:.3g}")
    return found, facts


def measure(sides: dict[str, Any], row: Any, runs: int) -> dict[str, Any]:
    """Each side's fastest configuration: all of them are timed once, the best two again as often as there are runs."""
    found: dict[str, Any] = {side: {"ms": math.inf, "runs": []} for side in sides}
    fastest = {}
    for side, kernels in sides.items():
        right, facts = right_ones(kernels, row)
        found[side] |= facts
        fastest[side] = sorted(right, key=lambda one: milliseconds(one[1], 9))[:2]
    for _ in range(runs):
        for side, best in fastest.items():
            if best:
                found[side]["runs"].append([milliseconds(run) for _, run in best])
    for side, best in fastest.items():
        if best:
            medians = [statistics.median(times) for times in zip(*found[side]["runs"], strict=True)]
            chosen = medians.index(min(medians))
            found[side] |= {"ms": medians[chosen], "config": best[chosen][0]}
            found[side]["runs"] = [times[chosen] for times in found[side]["runs"]]
    if row.library is not None:
        found["library"] = {"ms": statistics.median(milliseconds(row.library) for _ in range(runs))}
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


def show(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Prints a row; gives what the file keeps of it."""
    ours, theirs = found["tiletwin"], found["triton"]
    ratio = theirs["ms"] / ours["ms"] if ours["ms"] < math.inf else 0.0
    ratios = [a / b for a, b in zip(theirs["runs"], ours["runs"], strict=False)] or [0.0]
    gate = GATES[max((start for start in GATES if name.startswith(start)), key=len)]
    library = f"{found['library']['ms']:9.4f}" if "library" in found else " " * 9
    times = f"{name:31} {ours['ms']:9.4f} {theirs['ms']:9.4f} {library}"
    verdict = f"{'met' if ratio >= gate else 'NOT MET'}: {gate}"
    spread = f"({min(ratios):.3f} to {max(ratios):.3f})"
    print(times, f"{ratio:6.3f} {spread} {verdict}  {ours.get('config')} vs {theirs.get('config')}", flush=True)
    for side in ("tiletwin", "triton"):
        for line in found[side]["failed"]:
            print(f"    {side}: {line}")
    return {"ratio": ratio, "gate": gate, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of rows")
    parser.add_argument("--runs", type=int, default=3, help="times that each row is measured")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--skip", nargs="*", default=[], help="beginnings of rows that are left out")
    arguments = parser.parse_args()
    import gpu_rows
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
    print(f"{'ms':31} {'tiletwin':>9} {'Triton':>9} {'library':>9}  Triton / tiletwin (of single runs)")
    for name, make in gpu_rows.rows().items():
        wanted = not arguments.names or name.startswith(tuple(arguments.names))
        if wanted and not name.startswith(tuple(arguments.skip)):
            results["rows"][name] = show(name, measure(sides, make(), arguments.runs))
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    if not arguments.names:
        overhead = {side: launch_microseconds(kernels) for side, kernels in sides.items()}
        results["launch_us"] = overhead
        print(f"launch back to back: {overhead['tiletwin']:.2f} us, Triton {overhead['triton']:.2f} us")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
