"""NVIDIA's cuda-samples on the virtual GPU, beside what a GPU printed.

    git clone https://github.com/NVIDIA/cuda-samples
    python scripts/cuda_samples.py --at cuda-samples --build built  # compiles, runs on the virtual GPU, compares
    python scripts/cuda_samples.py --at cuda-samples --build built --record  # on a machine with a GPU: what it prints

Here:      which samples there are, how they are compiled and run, what of their output is compared.
Not here:  the samples, which are fetched; the virtual GPU (tiletwin gpu).
Invariant: a sample that is left out has a reason, which stands in the results. Both GPUs run the same binary.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import difflib
import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results" / "cuda_samples.json"
FOLDERS = ("0_Introduction", "2_Concepts_and_Techniques", "3_CUDA_Features", "4_CUDA_Libraries", "5_Domain_Specific",
           "6_Performance")  # fmt: skip
LIBRARIES = re.compile(r"CUDA::(?!cuda_driver|cudart\b|toolkit)(\w+)|find_package\((?!CUDAToolkit|Threads)(\w+)")
LEFT_OUT = {
    "matrixMulDynlinkJIT": "carries PTX of 2012 and loads it by functions of CUDA 2",
    "simpleD3D11": "needs Windows",
    "simpleD3D11Texture": "needs Windows",
    "simpleD3D12": "needs Windows",
    "topologyQuery": "asks about a machine's GPUs",
    "p2pBandwidthLatencyTest": "measures a machine's GPUs",
}
"""Samples that are not compiled, and why."""

MEASURED = re.compile(
    r"time|throughput|bandwidth|GB/s|MB/s|GFlop|TFLOPS|\bTOPS|elapsed|speed|\bms\b|msec|\busec|seconds|clocks?\b"
    r"|latency|options per|fps|samples/s|lookups/sec|iterations while waiting"
    r"|perf|MPixel|Mpixels|per second|pairs/s|GHz|MHz|%\s*of|cycles",
    re.IGNORECASE,
)
"""Lines that say how long something took: each GPU has its own."""
NAMES = re.compile(r"GPU Device|device \d|NVIDIA|compute capability|multi-?processors?|SM Cap|OS_System|global memory"
                   r"|0x[0-9a-f]{6,}|tiletwin|Bus ID|PCI|lshmName", re.IGNORECASE)  # fmt: skip
"""Lines that name the device, or addresses."""


SEEDED = {"fp16ScalarProduct", "cudaGraphsPerfScaling"}
"""Samples whose output differs from run to run: inputs are drawn by the time, or rows of times have no words."""
LINES = 60
"""Lines of a program's end that are compared."""


def sources(folder: Path) -> list[Path]:
    """The files to compile: those beside the CMakeLists.txt, or in its src."""
    found = [f for at in (folder, folder / "src") if at.is_dir() for f in sorted(at.iterdir())]
    return [f for f in found if f.suffix in (".cu", ".cpp", ".c")]


def why_left_out(folder: Path) -> str:
    """Why a sample is not compiled; empty if it is."""
    if folder.name in LEFT_OUT:
        return LEFT_OUT[folder.name]
    text = (folder / "CMakeLists.txt").read_text(errors="replace")
    wants = sorted({a or b for a, b in LIBRARIES.findall(text)})
    if wants:
        return f"needs {', '.join(wants)}"
    if re.search(r"cudadevrt|cdp", text + folder.name):
        return "its kernels launch kernels"
    return "" if sources(folder) else "has no sources"


def kernel_file(folder: Path) -> tuple[str, str] | None:
    """The file of kernels that a sample on the driver's interface loads, and the option that makes it."""
    text = (folder / "CMakeLists.txt").read_text(errors="replace")
    found = re.search(r'CUDA_(FATBIN|PTX)_FILE "\$\{\w+\}/([\w.]+)"', text)
    return (found[2], "-" + found[1].lower()) if found else None


def nvcc(*words: object) -> str:
    """What the compiler said where it failed."""
    ran = subprocess.run(["nvcc", *map(str, words)], capture_output=True, text=True, check=False)
    return "" if ran.returncode == 0 else (ran.stderr or ran.stdout or "nvcc failed")[-400:]


def compiled(folder: Path, clone: Path, build: Path) -> str:
    """Compiles a sample for both GPUs, into a folder in which it runs. Returns what the compiler said of a mistake."""
    target = build / folder.name / folder.name
    if target.exists():
        return ""
    from tiletwin import gpu

    target.parent.mkdir(parents=True, exist_ok=True)
    if (folder / "data").is_dir() and not (target.parent / "data").exists():
        (target.parent / "data").symlink_to((folder / "data").resolve())
    kernels, files = kernel_file(folder), sources(folder)
    common = ("-arch=sm_90", "-std=c++17", "--extended-lambda", "-w", f"-I{clone / 'Common'}", f"-I{folder}",
              f"-I{folder / 'inc'}")  # fmt: skip
    if kernels:
        source = next(f for f in files if f.name.endswith("kernel.cu"))
        if said := nvcc(*common, kernels[1], "-o", target.parent / kernels[0], source):
            return said
        files = [f for f in files if f != source]
    if any("helper_multiprocess" in f.read_text(errors="replace") for f in files):
        files.append(clone / "Common" / "helper_multiprocess.cpp")
    return nvcc(*common, "-cudart", "shared", *files, f"-L{gpu.FOLDER}", "-l:libcuda.so.1", "-o", target)


def compared(text: str) -> list[str]:
    """The lines that both GPUs are to print alike: without times, names and addresses, blanks as one."""
    lines = (" ".join(line.split()) for line in text.replace("\r", "\n").splitlines())
    kept = [line for line in lines if line and not MEASURED.search(line) and not NAMES.search(line)]
    return kept[-LINES:]


def run(build: Path, name: str, virtual: bool, limit: float) -> dict[str, Any]:
    """A sample's exit status, seconds, and lines to compare."""
    from tiletwin import gpu

    begin = time.monotonic()
    try:
        ran = subprocess.run([f"./{name}"], cwd=build / name, capture_output=True, text=True, errors="replace",
                             timeout=limit, check=False, stdin=subprocess.DEVNULL,
                             env=gpu.environment({"bounds": "pages"}) if virtual else None)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"status": "longer than the limit", "seconds": limit, "lines": []}
    found = {"status": ran.returncode, "seconds": round(time.monotonic() - begin, 1), "lines": compared(ran.stdout)}
    return found | ({"said": ran.stderr[-400:]} if ran.returncode and virtual else {})


def verdict(name: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """What two runs of a sample have in common."""
    if "longer than the limit" in (ours["status"], theirs["status"]):
        return "too long"
    if ours["status"] != theirs["status"]:
        return "another status"
    if name in SEEDED:
        return "same"
    # Blocks print in an order of their own.
    return "same" if sorted(ours["lines"]) == sorted(theirs["lines"]) else "other lines"


def differing(ours: list[str], theirs: list[str]) -> list[str]:
    """The first lines that only one of the two has."""
    lines = difflib.unified_diff(sorted(theirs), sorted(ours), "GPU", "virtual", lineterm="", n=0)
    return [line[:160] for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")][:8]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", type=Path, required=True, help="the clone of cuda-samples")
    parser.add_argument(
        "--build", type=Path, required=True, help="where programs are compiled; those that are there stay"
    )
    parser.add_argument("--record", action="store_true", help="run on this machine's GPU and keep what is printed")
    parser.add_argument("--only", nargs="*", default=[], help="names of samples; default: all")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="samples at the same time")
    given = parser.parse_args()
    clone, build = given.at.resolve(), given.build.resolve()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"samples": {}}
    folders = [d for f in FOLDERS for d in sorted((clone / "Samples" / f).iterdir()) if (d / "CMakeLists.txt").exists()]
    chosen = [d for d in folders if not given.only or d.name in given.only]

    def one(folder: Path) -> tuple[str, dict[str, Any]]:
        if why := why_left_out(folder):
            return folder.name, {"left out": why}
        if said := compiled(folder, clone, build):
            return folder.name, {"left out": f"is not compiled: {said}"}
        row = kept["samples"].get(folder.name, {})
        result = run(build, folder.name, not given.record, given.limit)
        if given.record:
            return folder.name, {"gpu": result}
        theirs = row.get("gpu")
        row = {"gpu": theirs} if theirs else {}
        lines = result.pop("lines")
        row["virtual"] = result | (
            {"verdict": verdict(folder.name, result | {"lines": lines}, theirs)} if theirs else {"lines": lines}
        )
        if theirs and row["virtual"]["verdict"] == "other lines":
            row["virtual"]["differs"] = differing(lines, theirs["lines"])
        return folder.name, row

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for name, row in pool.map(one, chosen):
            kept["samples"][name] = row
            print(name, row.get("left out") or row.get("virtual", row.get("gpu")), flush=True)
    verdicts = [row["virtual"].get("verdict", "not recorded") for row in kept["samples"].values() if "virtual" in row]
    kept["counts"] = {word: verdicts.count(word) for word in sorted(set(verdicts))}
    RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(kept["counts"])


if __name__ == "__main__":
    main()
