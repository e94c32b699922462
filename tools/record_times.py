"""Times of kernels on a GPU, with their PTX and what they were launched with.

    python tools/record_times.py compile PART PARTS   # fills the compiler's cache
    python tools/record_times.py record FILE          # rows of all cases, behind those that the file has

With TILETWIN=1 `import triton` is tiletwin. The folders benchmarks and tests/kernels must be importable (PYTHONPATH).
Needs a GPU, torch and Triton.
Here:      the clock, and what is kept of a launch.
Not here:  what is launched (benchmarks/time_cases.py).
"""

from __future__ import annotations

import collections
import json
import lzma
import os
import statistics
import sys
import traceback
from typing import Any

COLD, WARM = 12, 12
"""Launches of a case behind cleared caches, and one behind the other."""


def launched(one: Any) -> Any:
    """Launches; gives the compiled kernel."""
    return one.function[one.grid](*one.arguments, **one.named)


_storages: dict[int, int] = {}
"""Numbers of a launch's tensors, by their addresses."""


def _argument(value: Any) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value if isinstance(value, (int, float, bool, type(None))) else str(value)
    storage = value.untyped_storage()
    row = {
        "storage": _storages.setdefault(storage.data_ptr(), len(_storages)), "bytes": storage.nbytes(),
        "offset": value.data_ptr() - storage.data_ptr(),
        "dtype": str(value.dtype)[6:], "shape": list(value.shape),
    }  # fmt: skip
    if value.dtype in (torch.int32, torch.int64) and value.numel():
        row["range"] = [int(value.min()), int(value.max())]
        if value.numel() <= 64:
            row["values"] = value.flatten().tolist()
    return row


def facts(one: Any, kernel: Any) -> dict[str, Any]:
    """All that a simulation of the launch needs."""
    import triton

    grid: Any = one.grid({**one.named}) if callable(one.grid) else one.grid
    _storages.clear()
    row: dict[str, Any] = {
        "kernel": one.name, "grid": list((*grid, 1, 1)[:3]), "arguments": [_argument(v) for v in one.arguments],
        "named": {k: _argument(v) for k, v in one.named.items()}, "signature": dict(kernel.src.signature),
        "warps": kernel.metadata.num_warps, "shared": kernel.metadata.shared,
        "names": list(one.function.arg_names), "compiler": triton.__name__ + " " + triton.__version__,
    }  # fmt: skip
    asm = getattr(kernel.asm, "launched", kernel.asm)
    row["ptx"] = asm["ptx"]
    if hasattr(asm, "facts"):
        row["facts"] = dict(asm.facts)
    row["registers"] = getattr(kernel, "n_regs", None)
    return row


def _times(launches: list[Any]) -> list[tuple[float, float]]:
    """(cold, warm) microseconds of each launch by the profiler: medians."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    flush = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    expected: list[int] = []
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for number, one in enumerate(launches):
            run = one.function[one.grid]
            for _ in range(COLD):
                flush.zero_()
                run(*one.arguments, **one.named)
                expected.append(number)
            for _ in range(WARM):
                run(*one.arguments, **one.named)
                expected.append(number)
        torch.cuda.synchronize()
    events = sorted(
        (e for e in profiler.events() or () if e.device_type.name == "CUDA" and "FillFunctor" not in e.name
         and not e.name.startswith(("Memset", "Memcpy"))),
        key=lambda e: e.time_range.start,
    )  # fmt: skip
    if len(events) != len(expected):
        names = collections.Counter(e.name for e in events)
        raise RuntimeError(f"{len(events)} kernels for {len(expected)} launches: {names.most_common(5)}")
    found: dict[int, list[float]] = {}
    for number, event in zip(expected, events, strict=True):
        found.setdefault(number, []).append(event.time_range.end - event.time_range.start)
    return [
        (statistics.median(found[i][2:COLD]), statistics.median(found[i][COLD + 2 :])) for i in range(len(launches))
    ]


def record(file: str) -> None:
    """A row for each launch of each case."""
    import torch
    from time_cases import cases

    made = {"device": torch.cuda.get_device_name(), "rows": []}
    if os.path.exists(file):
        with lzma.open(file) as before:
            made = json.load(before)
    rows = made["rows"]
    for name, make in cases().items():
        try:
            launches = make()
            kernels = [launched(one) for one in launches]
            torch.cuda.synchronize()
            described = [facts(one, kernel) for one, kernel in zip(launches, kernels, strict=True)]
            times = _times(launches)
            for row, (cold, warm) in zip(described, times, strict=True):
                rows.append({"case": name, "cold_us": round(cold, 3), "warm_us": round(warm, 3), **row})
                print(f"{name}: {row['kernel']} {cold:.1f} {warm:.1f} us", flush=True)
        except Exception:
            print(f"{name}: failed", traceback.format_exc(limit=-3)[-700:], flush=True)
        torch.cuda.empty_cache()
    with lzma.open(file, "wt", preset=9) as out:
        json.dump(made, out)


def compile_part(part: int, parts: int) -> None:
    from time_cases import cases

    for name, make in list(cases().items())[part::parts]:
        try:
            for one in make():
                launched(one)
        except Exception:
            print(f"{name}: failed", traceback.format_exc(limit=-2)[-300:], flush=True)


def main() -> None:
    command, *words = sys.argv[1:]
    if command == "record":
        record(words[0])
    else:
        compile_part(int(words[0]), int(words[1]))


if __name__ == "__main__":
    main()
