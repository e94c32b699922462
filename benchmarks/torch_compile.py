"""torch.compile on a GPU: compiled functions beside the same uncompiled, with whatever is Triton in this process.

    python benchmarks/torch_compile.py --out triton.json
    TILETWIN=1 python benchmarks/torch_compile.py --out tiletwin.json
    python benchmarks/torch_compile.py --beside tiletwin.json triton.json

Each case runs in a process of its own with caches of its own: a fault is that case's, and compile times are those of a
first time. Times are microseconds of a call among others that wait for the GPU; backward passes are part of them.
"kernels us" is what each kernel takes of a call on the GPU, "choices" what tuning measured of a template's
configurations.

Here:      the runs, their files and the table.
Not here:  the cases (torch_compile_cases.py).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CASES = Path(__file__).with_name("torch_compile_cases.py")


def run(options: argparse.Namespace) -> None:
    names = subprocess.run([sys.executable, CASES], capture_output=True, text=True, check=True).stdout.split()
    chosen = [name for name in names if not options.only or name in options.only.split(",")]
    rows, facts = {}, {}
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="torch-compile-") as folder:
            caches = {"TORCHINDUCTOR_CACHE_DIR": folder, "TILETWIN_CACHE_DIR": f"{folder}/stages"}
            words = [sys.executable, str(CASES), name]
            row: dict[str, Any]
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=options.seconds,
                                      env={**os.environ, **caches})  # fmt: skip
                last = [line for line in done.stdout.splitlines() if line.startswith("{")]
                row = json.loads(last[-1]) if last else {"error": f"status {done.returncode}: {done.stderr[-800:]}"}
                row |= choices_in(done.stderr)
            except subprocess.TimeoutExpired:
                row = {"error": f"no end within {options.seconds:g} seconds"}
            row["kernels"] = sorted(kernels_below(Path(folder)))
        facts = row.pop("environment", facts)
        row.pop("case", None)
        rows[name] = row
        print(name, json.dumps(row)[:600], flush=True)
        Path(options.out).write_text(json.dumps({"environment": facts, "cases": rows}, indent=1) + "\n")


def choices_in(text: str) -> dict[str, dict[str, float]]:
    """The tables that tuning prints: microseconds by configuration, the fastest first."""
    lines = re.findall(r"^  (?:\w+) ([0-9.]+) ms +[0-9.]+% (.+)", text, re.MULTILINE)
    shown = {" ".join(re.findall(r"(?:BLOCK_\w|num_\w+)=\d+", words)) or words: ms for ms, words in lines}
    return {"choices": {words: round(float(ms) * 1e3, 1) for words, ms in shown.items()}} if shown else {}


def kernels_below(folder: Path) -> set[str]:
    """Names of the Triton kernels that graphs in Inductor's caches call."""
    texts = [file.read_text() for file in folder.rglob("*.py")]
    calls = [re.findall(r"(triton_\w+?)(?:_\d+)?\.run\(", text) for text in texts if "async_compile.wait" in text]
    return {name for names in calls for name in names}


def beside(first: str, second: str) -> None:
    files = [json.loads(Path(name).read_text()) for name in (first, second)]
    for name, file in zip((first, second), files):
        print(f"{name}: {json.dumps(file['environment'])}")
    one, other = (file["cases"] for file in files)
    print(f"\n{'':26}{'eager us':>10}{first[:14]:>16}{second[:14]:>16}{'ratio':>7}   seconds to compile")
    for name in one:
        mine, theirs = one[name], other.get(name, {"error": "not run"})
        cells = [f"{row['us']:.1f}" if "us" in row else "fails" for row in (mine, theirs)]
        both = "us" in mine and "us" in theirs
        ratio = f"{mine['us'] / theirs['us']:.2f}" if both else ""
        seconds = "   ".join(f"{row['compile s']:.1f}" if "compile s" in row else "-" for row in (mine, theirs))
        eager = mine.get("eager us", theirs.get("eager us", float("nan")))
        print(f"{name:26}{eager:10.1f}{cells[0]:>16}{cells[1]:>16}{ratio:>7}   {seconds}")
        for key in ("kernels us", "choices"):
            for words in list(dict.fromkeys([*mine.get(key, {}), *theirs.get(key, {})]))[:12]:
                times = [f"{row[key][words]:.1f}" if words in row.get(key, {}) else "-" for row in (mine, theirs)]
                print(f"    {words[:62]:62}{times[0]:>10}{times[1]:>10}")
    for row, file in ((one, first), (other, second)):
        for name, case in row.items():
            if "error" in case:
                print(f"\n{file}: {name}: {case['error'][-700:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="file for the results")
    parser.add_argument("--only", help="cases, joined by commas")
    parser.add_argument("--seconds", type=float, default=240, help="for one case")
    parser.add_argument("--beside", nargs=2, metavar="FILE", help="prints two files of results beside each other")
    options = parser.parse_args()
    if options.beside:
        beside(*options.beside)
    elif options.out:
        run(options)
    else:
        parser.error("--out or --beside is needed")


if __name__ == "__main__":
    main()
