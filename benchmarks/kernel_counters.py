"""The simulator's counters beside ncu's, of whole kernels: of Triton's launches in
tests/data/sim/timed_launches_h200.xz, a few CTAs of each.

    python benchmarks/kernel_counters.py metrics        # what to count: every counter that the simulator has
    ncu --replay-mode kernel --csv --page raw --print-units base --cache-control none --clock-control none \\
        --metrics ... --log-file CSV python benchmarks/kernel_counters.py launch ORDER FIRST END
    python benchmarks/kernel_counters.py record FILE ORDER CSV  # the counters of these launches go into FILE
    python benchmarks/kernel_counters.py compare FILE           # without a GPU: which ones differ
    python benchmarks/kernel_counters.py compare FILE machine_code  # the same of what ptxas makes; needs nvdisasm, too

Needs the CUDA driver and ncu (2025.3), but for the last one. A launch takes ncu a second or two, so several calls take
parts of the launches. This compiler's own code is not launched: its arguments are tensor maps.
Here:      the launches, their counters, the comparison.
Not here:  arguments and memory like those of the recording (timed_launches.py), ncu's table
           (tools/record_counters.py).
"""

from __future__ import annotations

import collections
import json
import lzma
import pathlib
import sys
from typing import Any

import timed_launches
from tiletwin import counters
from tiletwin.counters import metrics

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from cuda_driver import Gpu  # noqa: E402
from record_counters import counters_of  # noqa: E402

LAUNCHES = ROOT / "tests" / "data" / "sim" / "timed_launches_h200.xz"
CTAS = 4


def rows() -> list[dict[str, Any]]:
    """The launches, each with a grid of a few CTAs side by side."""
    made = json.loads(lzma.decompress(LAUNCHES.read_bytes()))["rows"]
    return [row | {"grid": [min(row["grid"][0], CTAS), 1, 1]} for row in made if "facts" not in row]


def launch(order: str, first: int, end: int) -> None:
    """Runs launches first to end - 1, and writes down which is which."""
    gpu = Gpu()
    with open(order, "w") as written:
        print(gpu.name, file=written)
        for number, row in list(enumerate(rows()))[first:end]:
            memory = timed_launches.Memory(row)
            places = {storage: gpu.upload(view) for storage, view in memory.views.items()}
            ready = timed_launches.ready(row, lambda value, at=places: at[value["storage"]] + value["offset"])
            function = gpu.function(row["ptx"].encode(), ready.entry.name, row["shared"])
            sizes = tuple(row["grid"]), (ready.threads, 1, 1), (1, 1, 1)
            gpu.launch(function, *sizes, row["shared"], False, ready.parameters)
            for place in places.values():
                gpu.free(place)
            print(number, ready.entry.name, file=written, flush=True)


def record(file: str, order: str, table: str) -> None:
    """Puts the counters of launches behind those that the file has."""
    path = pathlib.Path(file)
    made: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes())) if path.exists() else {"launches": {}}
    made["device"], *launched = pathlib.Path(order).read_text().splitlines()
    for (kernel, counted), line in zip(counters_of(pathlib.Path(table).read_text()), launched, strict=True):
        number, name = line.split()
        if name != kernel:
            raise SystemExit(f"launch {line} is {kernel} to ncu")
        made["launches"][number] = counted
    path.write_bytes(lzma.compress(json.dumps(made).encode(), preset=9))


def compared(made: dict[str, Any], machine_code: bool = False) -> list[tuple[str, str, str, int, int]]:
    """(case and kernel, counter, accuracy, the simulator's, ncu's) of counters that are not 0 for both. machine_code:
    counters of what ptxas makes of the PTX."""
    found = []
    all_rows = rows()
    for number, ncus in made["launches"].items():
        row = all_rows[int(number)]
        with counters.collect(machine_code) as launches:
            timed_launches.starts(row)[0]([])
        if (ran := launches[0].machine) and ran.note:
            print(f"{row['case']}: {row['kernel']}: {ran.note}")
        ours = counters.metrics_of(launches[0])
        for name, wanted in ncus.items():
            one = ours.get(f"{name}.sum")
            if one is not None and (one.value or wanted):
                found.append((f"{row['case']}: {row['kernel']}", name, one.accuracy, one.value, wanted))
    return found


def compare(file: str, machine_code: str = "") -> None:
    """Prints, by counter, how many kernels agree, and each pair that does not."""
    pairs = compared(json.loads(lzma.decompress(pathlib.Path(file).read_bytes())), machine_code == "machine_code")
    for accuracy in (metrics.EXACT, metrics.ESTIMATE):
        some = [pair for pair in pairs if pair[2] == accuracy]
        off = [pair for pair in some if pair[3] != pair[4]]
        print(f"{accuracy}: {len(some) - len(off)} of {len(some)} pairs of kernel and counter agree")
        for name, number in collections.Counter(pair[1] for pair in off).most_common():
            print(f"   {name}: {number} of {sum(pair[1] == name for pair in some)} differ")
            for kernel, _, _, ours, ncus in (pair for pair in off if pair[1] == name):
                print(f"      {kernel}: {ours}, ncu {ncus} ({100 * (ours / ncus - 1) if ncus else 100:+.1f} %)")


def main() -> None:
    command, *words = sys.argv[1:]
    if command == "metrics":
        print(",".join(one.name for one in metrics.DEFINITIONS))
    elif command == "launch":
        launch(words[0], int(words[1]), int(words[2]))
    else:
        {"record": record, "compare": compare}[command](*words)


if __name__ == "__main__":
    main()
