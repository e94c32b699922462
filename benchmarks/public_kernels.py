"""Kernels of public repositories, unchanged and with their own configurations: our GPU code beside Triton's.

    python benchmarks/public_kernels.py --at FOLDER [name ...] [--json FILE]     # FOLDER has the clones
    python benchmarks/public_kernels.py --clone FOLDER                           # makes them
    TILETWIN_INTERPRET=1 python benchmarks/public_kernels.py --at FOLDER --small # tries the cases without a GPU

Each side is a process of its own: with TILETWIN=1 `import triton` is tiletwin. A first pass compiles in several
processes. The second one is alone on the GPU, tunes, and takes each kernel's time from torch's profiler. A kernel is a
function with @triton.jit of the repository; its time is the sum over one call of the case, the median of many calls.
Results of both sides are compared by samples and moments.

Needs a GPU, torch, Triton, einops and packaging.
Here:      the processes, the clock, the comparison, the table.
Not here:  what is called (public_rows*.py), where it comes from (public_sources.py).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections import defaultdict
from pathlib import Path
from typing import Any

ROUNDS = 12
TOLERANCE = 0.02
WHAT = (
    "benchmarks/public_kernels.py: microseconds of each kernel in one call of the case, median of 12, caches cleared; "
    "ratio: Triton / tiletwin; same: results of both sides agree by samples"
)
SIDES = {"tiletwin": {"TILETWIN": "1"}, "triton": {"TILETWIN": "0"}}


def load_cases() -> dict[str, Any]:
    import public_rows
    import public_rows_products
    from public_sources import CASES

    assert public_rows and public_rows_products
    return CASES


def tensors_of(result: Any) -> list[Any]:
    import torch

    items = result if isinstance(result, (tuple, list)) else (result,)
    return [item.detach() for item in items if isinstance(item, torch.Tensor)]


def fingerprint(result: Any) -> list[list[float]]:
    """Mean, root of the mean square and 61 samples of each tensor."""
    import torch

    found = []
    for tensor in tensors_of(result):
        flat = tensor.reshape(-1).to(torch.float64)
        places = torch.arange(61, device=flat.device) * (flat.numel() - 1) // 60
        found.append([float(flat.mean()), float(flat.square().mean().sqrt()), *flat[places].tolist()])
    return found


def same(one: list[list[float]], two: list[list[float]]) -> bool:
    """Whether results agree. Samples near zero are compared with the tensor's own size."""
    if len(one) != len(two):
        return False
    for left, right in zip(one, two, strict=True):
        size = max(abs(left[1]), abs(right[1]), 1e-20)
        for a, b in zip(left, right, strict=True):
            if math.isnan(a) != math.isnan(b) or abs(a - b) > TOLERANCE * max(size, abs(a), abs(b)):
                return False
    return True


def kernel_times(run: Any) -> dict[str, float]:
    """Microseconds of each kernel in one call; the caches hold other data before each call."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    flush = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    calls: list[dict[str, float]] = []
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(ROUNDS):
            flush.zero_()
            torch.cuda.synchronize()
            run()
            torch.cuda.synchronize()
    # Clearing begins a call: it is the only fill of that size.
    events = sorted(
        (event for event in profiler.events() if event.device_type.name == "CUDA"),
        key=lambda event: event.time_range.start,
    )
    for event in events:
        duration = event.time_range.end - event.time_range.start
        if ("FillFunctor" in event.name or "Memset" in event.name) and duration > 30:
            calls.append(defaultdict(float))
        elif calls:
            calls[-1][event.name] += duration
    names = {name for call in calls for name in call}
    return {name: statistics.median(call.get(name, 0.0) for call in calls) for name in names}


def side(names: list[str], warm: bool, out: Path) -> None:
    """Runs cases in this process and writes what they took."""
    import torch
    import triton

    on_gpu = os.environ.get("TILETWIN_INTERPRET") != "1"
    found: dict[str, Any] = {}
    device = torch.cuda.get_device_name() if on_gpu else "none"
    about = {"device": device, "triton": triton.__version__, "torch": torch.__version__}
    print(f"triton {triton.__version__} is {Path(triton.__file__).parent.name}", flush=True)
    for name in names:
        started = time.perf_counter()
        torch.manual_seed(0)
        try:
            run = load_cases()[name].make()
            found[name] = {"result": fingerprint(run()), "first_s": round(time.perf_counter() - started, 2)}
            if on_gpu and not warm:
                run()
                found[name]["us"] = kernel_times(run)
        except Exception as failure:
            text = "".join(traceback.format_exception(failure)[-4:])[-1500:]
            found[name] = {"error": f"{type(failure).__name__}: {str(failure)[:400]}", "where": text}
        print(f"{name} {time.perf_counter() - started:.1f} s {found[name].get('error', '')}", flush=True)
        out.write_text(json.dumps({**about, "cases": found}))


def start(which: str, names: list[str], at: Path, out: Path, *words: str) -> subprocess.Popen[bytes]:
    cache = str(out.parent.resolve() / f"cache_{which}")
    environment = {**os.environ, **SIDES[which], "PUBLIC_KERNELS_AT": str(at.resolve()), "TRITON_CACHE_DIR": cache}
    command = [sys.executable, __file__, "--at", str(at), "--side", which, "--out", str(out), *words, *names]
    return subprocess.Popen(command, env=environment)


def table(ours: dict[str, Any], theirs: dict[str, Any], cases: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each kernel that both sides launched, slowest ratio first."""
    rows = []
    for name, mine in ours.items():
        other = theirs.get(name, {})
        if "us" not in mine or "us" not in other:
            continue
        agree = same(mine["result"], other["result"])
        for kernel in sorted(mine["us"].keys() & other["us"].keys()):
            # Kernels of torch itself are C++ templates or libraries.
            if (
                "::" in kernel
                or "<" in kernel
                or kernel.startswith(("Mem", "void", "nvjet", "sm90", "sm80", "cutlass"))
            ):
                continue
            one, two = mine["us"][kernel], other["us"][kernel]
            if one > 0 and two > 0:
                row = {"case": name, "repository": cases[name].repository, "kernel": kernel}
                rows.append(
                    {
                        **row,
                        "us": round(one, 2),
                        "triton_us": round(two, 2),
                        "ratio": round(two / one, 3),
                        "same": agree,
                    }
                )
    return sorted(rows, key=lambda row: row["ratio"])


def show(rows: list[dict[str, Any]], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for row in rows:
        mark = "" if row["same"] else "  results differ"
        times = f"{row['ratio']:6.3f} {row['us']:9.1f} {row['triton_us']:9.1f} us"
        print(f"{times}  {row['repository']}: {row['kernel']} ({row['case']}){mark}")
    for name in sorted(ours.keys() | theirs.keys()):
        for which, found in (("tiletwin", ours), ("Triton", theirs)):
            if "error" in found.get(name, {}):
                print(f"{name} with {which}: {found[name]['error']}")
    if rows:
        mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))
        slow, fast = sum(row["ratio"] < 0.95 for row in rows), sum(row["ratio"] > 1.05 for row in rows)
        count = len({row["repository"] for row in rows})
        print(f"{len(rows)} kernels of {count} repositories: geometric mean {mean:.3f} x Triton's speed")
        print(f"{slow} below 0.95, {fast} above 1.05, the least {rows[0]['ratio']:.3f}")


def compare(folder: Path, cases: dict[str, Any], out: Path | None) -> None:
    """The table of what both sides wrote, which may be less than all. Fails if they ran on different devices."""
    sides = {which: json.loads((folder / f"{which}.json").read_text()) for which in SIDES}
    ours, theirs = sides["tiletwin"], sides["triton"]
    if ours["device"] != theirs["device"]:
        raise SystemExit(f"tiletwin ran on {ours['device']}, Triton on {theirs['device']}: their times do not compare")
    rows = table(ours["cases"], theirs["cases"], cases)
    show(rows, ours["cases"], theirs["cases"])
    if out:
        day = time.strftime("%Y-%m-%d", time.gmtime((folder / "triton.json").stat().st_mtime))
        missing = sorted(cases.keys() - {row["case"] for row in rows})
        about = {key: theirs[key] for key in ("device", "triton", "torch")}
        out.write_text(
            json.dumps({**about, "date": day, "what": WHAT, "not_timed": missing, "rows": rows}, indent=1) + "\n"
        )


def clone(at: Path) -> None:
    from public_sources import REPOSITORIES

    for folder, source in REPOSITORIES.items():
        address, commit = source.split()
        if not (at / folder).exists():
            subprocess.run(["git", "clone", "-q", address, str(at / folder)], check=True)
        subprocess.run(["git", "-C", str(at / folder), "checkout", "-q", commit], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases, or beginnings of their names")
    parser.add_argument("--at", type=Path, help="the folder with the clones")
    parser.add_argument("--clone", type=Path, metavar="FOLDER", help="clones the repositories into FOLDER")
    parser.add_argument("--json", type=Path, help="writes the table")
    parser.add_argument("--timed", type=Path, metavar="FOLDER", help="the table of tiletwin.json and triton.json there")
    parser.add_argument("--processes", type=int, default=8, help="processes of a side that compile (8)")
    parser.add_argument("--small", action="store_true", help="small sizes, this process's triton, no times")
    parser.add_argument("--side", choices=tuple(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--warm", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("public_kernels.out.json"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.clone:
        clone(given.clone)
        return
    if not given.at:
        parser.error("--at FOLDER is missing: the clones' folder; --clone FOLDER makes it")
    os.environ["PUBLIC_KERNELS_AT"] = str(given.at.resolve())
    if given.small:
        os.environ["PUBLIC_KERNELS_SMALL"] = "1"
    if given.side:
        side(given.names, given.warm, given.out)
        return
    cases = load_cases()
    if given.timed:
        compare(given.timed, cases, given.json)
        return
    names = [name for name in cases if not given.names or any(name.startswith(word) for word in given.names)]
    if given.small:
        side(names, True, given.out)
        return
    work = Path(str(given.out) + ".d")
    work.mkdir(exist_ok=True)
    parts = [names[index :: given.processes] for index in range(given.processes)]
    for which in SIDES:
        started = [
            start(which, part, given.at, work / f"warm_{which}_{i}.json", "--warm")
            for i, part in enumerate(parts)
            if part
        ]
        for process in started:
            process.wait()
    for which in SIDES:
        start(which, names, given.at, work / f"{which}.json").wait()
    compare(work, cases, given.json)


if __name__ == "__main__":
    main()
