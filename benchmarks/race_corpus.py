"""Recall and false alarms of the simulator's check of races, over a public corpus of racy and clean CUDA kernels.

    git clone https://github.com/JohnJacobsonIII/HiRace-Artifact-SC24 FOLDER
    python benchmarks/race_corpus.py --at FOLDER --build BUILT [--json FILE]        # needs nvcc
    python benchmarks/race_corpus.py --at FOLDER --build BUILT --sanitizer [...]    # compute-sanitizer's, needs a GPU

The corpus is the Indigo suite's graph kernels as HiRace's artifact has them. A kernel's name says which mistake was
planted in it: atomicBug (a load and a store in the place of an atomic operation), guardBug (a test outside of the
atomic operation), syncBug (no barrier), raceBug. boundsBug reads outside of an array and is no race. Launches are the
artifact's: 1,024 blocks of 256 threads over each of its graphs. Some graphs are too small to bring a race about, so a
kernel counts as found if one of the graphs shows it.
Output: per mistake, kernels found and missed; clean kernels reported; seconds; and the names of both kinds of error.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

RACES = ("atomicBug", "guardBug", "syncBug", "raceBug")
BLOCKS, THREADS = 1024, 256
TYPES = {
    "char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "int": "int32",
    "unsigned int": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "float": "float32",
    "double": "float64",
}


def sources(at: Path) -> dict[str, Path]:
    found = {path.stem: path for path in sorted((at / "indigo/indigo_sources").glob("*/*.cu"))}
    if not found:
        sys.exit(f"{at} has no indigo/indigo_sources: give --at a clone of the artifact")
    return found


def graphs(at: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted((at / "indigo/input").rglob("*.egr")) if path.is_file()}


def planted(name: str) -> str:
    """The races that the name of a kernel tells of, joined by +; empty for a clean one."""
    return "+".join(word for word in RACES if word in name)


def build(at: Path, built: Path, processes: int, program: bool) -> None:
    """Compiles what `built` lacks: PTX, or a program for this GPU."""
    built.mkdir(parents=True, exist_ok=True)
    shared = ["-w", "-lineinfo", "-cudart", "shared", f"-I{at / 'indigo/indigo_include'}"]
    kind = ["-arch=native"] if program else ["-ptx", "-arch=compute_90"]

    def one(item: tuple[str, Path]) -> str | None:
        name, path = item
        output = built / (name if program else f"{name}.ptx")
        if output.exists():
            return None
        done = subprocess.run(["nvcc", *shared, *kind, str(path), "-o", str(output)], capture_output=True, text=True)
        return f"{name}: {done.stderr[-300:]}" if done.returncode else None

    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        failed = [text for text in pool.map(one, sources(at).items()) if text]
    if failed:
        sys.exit("nvcc failed:\n" + "\n".join(failed))


def launches_of_simulator(path: Path, ptx: Path, inputs: dict[str, Path]) -> dict[str, dict]:
    """What the simulator's checks say about one kernel, per graph."""
    import numpy as np
    from tiletwin import checks, sim

    checks.set_printing(False)
    declared = re.search(r"typedef ([\w ]+?) data_t;", path.read_text())
    assert declared, path
    dtype = TYPES[declared.group(1)]
    text = ptx.read_text()
    entry = re.search(r"\.entry (\w+)", text)
    assert entry, ptx
    kernel = sim.load(text, file=str(ptx))[entry.group(1)]
    results = {}
    for graph, file in inputs.items():
        words = np.fromfile(file, np.int32)
        nodes, edges = int(words[0]), int(words[1])
        index, neighbours = words[2 : 3 + nodes].copy(), words[3 + nodes : 3 + nodes + edges].copy()
        random = np.random.default_rng(0)
        first, second = (
            random.integers(0, high, max(nodes, edges, 1)).astype(dtype) for high in (nodes, max(edges, 1))
        )
        first[0] = second[0] = 0
        checks.clear()
        begin, error = time.perf_counter(), ""
        try:
            kernel(
                index,
                neighbours,
                first,
                second,
                np.int32(nodes),
                grid=BLOCKS,
                block=THREADS,
                checks="barriers,bounds,races",
            )
        except Exception as raised:
            error = str(raised)
        results[graph] = {
            "seconds": round(time.perf_counter() - begin, 4),
            "found": sorted({finding.check for finding in checks.findings()}),
            "error": error.splitlines()[0][:200] if error else "",
        }
    return results


def launches_of_sanitizer(program: Path, inputs: dict[str, Path]) -> dict[str, dict]:
    """What compute-sanitizer's racecheck says about one kernel, per graph."""
    results = {}
    for graph, file in inputs.items():
        begin = time.perf_counter()
        command = ["compute-sanitizer", "--tool", "racecheck", str(program), str(file), str(THREADS), str(BLOCKS)]
        done = subprocess.run(command, capture_output=True, text=True)
        hazards = re.search(r"RACECHECK SUMMARY: (\d+) hazard", done.stdout)
        results[graph] = {
            "seconds": round(time.perf_counter() - begin, 4),
            "found": ["races"] if hazards and int(hazards.group(1)) else [],
            "error": "" if hazards else done.stdout[-200:],
        }
    return results


def summary(results: dict[str, dict[str, dict]]) -> dict:
    """Counts over all kernels. results: kernel, graph, what was found."""
    found = {
        name for name, launches in results.items() if any("races" in launch["found"] for launch in launches.values())
    }
    racy = {name for name in results if planted(name)}
    total, hits = Counter(map(planted, racy)), Counter(map(planted, racy & found))
    return {
        "kernels": len(results),
        "racy": len(racy),
        "found": len(racy & found),
        "clean": len(results) - len(racy),
        "false_alarms": len(found - racy),
        "per_mistake": {kind: [hits[kind], total[kind]] for kind in sorted(total)},
        "missed": sorted(racy - found),
        "reported_clean": sorted(found - racy),
        "per_graph": dict(
            Counter(graph for launches in results.values() for graph in launches if "races" in launches[graph]["found"])
        ),
        "out_of_bounds": sum(any(launch["error"] for launch in launches.values()) for launches in results.values()),
        "seconds": round(sum(launch["seconds"] for launches in results.values() for launch in launches.values()), 1),
    }


def show(said: dict) -> None:
    found, clean = f"{said['found']} of {said['racy']}", f"{said['false_alarms']} of {said['clean']}"
    print(f"{said['kernels']} kernels: {found} racy ones found, {clean} clean ones reported")
    for kind, (hits, total) in said["per_mistake"].items():
        print(f"  {kind:28} {hits:4} of {total}")
    for key in ("missed", "reported_clean"):
        for name in said[key]:
            print(f"  {key.replace('_', ' ')}: {name}")
    print(f"{said['out_of_bounds']} kernels ended with an error; {said['seconds']} s of launches")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="prefixes of kernels; default: all")
    parser.add_argument("--at", type=Path, required=True, help="a clone of the artifact")
    parser.add_argument("--build", type=Path, required=True, help="a folder for what is compiled; kept")
    parser.add_argument("--sanitizer", action="store_true", help="compute-sanitizer's racecheck on this GPU")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="writes the counts")
    options = parser.parse_args()
    build(options.at, options.build, options.processes, options.sanitizer)
    inputs, results = graphs(options.at), {}
    chosen = {
        name: path
        for name, path in sources(options.at).items()
        if not options.names or name.startswith(tuple(options.names))
    }
    if options.sanitizer:
        with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
            every = pool.map(lambda name: launches_of_sanitizer(options.build / name, inputs), chosen)
            results = dict(zip(chosen, every, strict=True))
    else:
        for name, path in chosen.items():
            results[name] = launches_of_simulator(path, options.build / f"{name}.ptx", inputs)
    said = summary(results)
    show(said)
    if options.json:
        tool = "compute-sanitizer --tool racecheck" if options.sanitizer else "tiletwin's simulator"
        options.json.write_text(
            json.dumps({"tool": tool, "blocks": BLOCKS, "threads": THREADS, **said}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
