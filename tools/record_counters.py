"""What ncu counts for the cases of tests/data/sim/counters_h200.xz, written into that file.

    python tools/record_counters.py new CASES        # a file of cases as tests/counters/counter_cases.py draws them
    python tools/record_counters.py metrics LISTING  # what to count, of what `ncu --query-metrics` has printed
    ncu --replay-mode application --csv --page raw --print-units base --cache-control none --clock-control none \\
        --metrics ... --log-file CSV python tools/record_counters.py launch CASES ORDER FIRST END
    python tools/record_counters.py record CASES ORDER CSV  # the counters of these launches go into CASES

Needs the CUDA driver and ncu (2025.3). A launch takes ncu about 0.2 s, so several calls take parts of the cases. CASES
is the file above, or a new one.
"""

from __future__ import annotations

import csv
import ctypes
import json
import lzma
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from record_forms import Driver

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "counters"))

from counter_cases import BUFFER_BYTES, MOST_THREADS, cases, ptx_text

WANTED = (
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_(global|local)_op_(ld|st|red|atom)|"
    r"l1tex__data_(pipe_lsu_wavefronts|bank_conflicts_pipe_lsu)_mem_shared_op_(ld|st|atom|ldgsts)"
)


def read(file: str) -> dict[str, Any]:
    return json.loads(lzma.decompress(pathlib.Path(file).read_bytes()))


def write(file: str, made: dict[str, Any]) -> None:
    """A line for each case."""
    lines = [json.dumps(case, separators=(",", ":")) for case in made["cases"]]
    head = json.dumps({key: value for key, value in made.items() if key != "cases"})
    text = head[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    pathlib.Path(file).write_bytes(lzma.compress(text.encode(), preset=9))


def metrics(listing: str) -> str:
    """Names of metrics that are wanted, as ncu lists them (a name in the first column)."""
    names = [line.split()[0] for line in pathlib.Path(listing).read_text().splitlines() if line[:1].isalpha()]
    return ",".join(f"{name}.sum" for name in sorted(set(names)) if re.fullmatch(WANTED, name))


def launch(file: str, order: str, first: int, end: int) -> None:
    """Runs cases first to end - 1, and writes down which launch is which case."""
    driver = Driver()
    module = driver.module(ptx_text().encode() + b"\0")
    buffer = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(buffer), ctypes.c_size_t(BUFFER_BYTES))
    driver.call("cuMemsetD8_v2", buffer, ctypes.c_ubyte(0), ctypes.c_size_t(BUFFER_BYTES))
    with open(order, "w") as written:
        print(driver.name, file=written)
        for number, case in list(enumerate(read(file)["cases"]))[first:end]:
            function = ctypes.c_void_p()
            driver.call("cuModuleGetFunction", ctypes.byref(function), module, case["form"].encode())
            lists = [(ctypes.c_uint32 * MOST_THREADS)(*offsets) for offsets in (case["a"], case["b"])]
            arguments = (ctypes.c_void_p * 3)(ctypes.addressof(buffer), *map(ctypes.addressof, lists))
            driver.call("cuLaunchKernel", function, 1, 1, 1, len(case["a"]), 1, 1, 0, None, arguments, None)
            driver.call("cuCtxSynchronize")
            print(number, case["form"], file=written, flush=True)


def counters_of(table: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Of each launch in what ncu has written: the kernel's name, and its sums."""
    rows = csv.DictReader(table[table.index('"ID"') :].splitlines())
    for row in rows:
        if row["ID"]:  # a line has units
            sums = {key.removesuffix(".sum"): value for key, value in row.items() if key.endswith(".sum")}
            yield row["Kernel Name"], {key: int(float(value.replace(",", ""))) for key, value in sums.items()}


def record(file: str, order: str, table: str) -> None:
    """Puts the counters of launches beside their cases."""
    made = read(file)
    made["device"], *launched = pathlib.Path(order).read_text().splitlines()
    for (kernel, counted), name in zip(counters_of(pathlib.Path(table).read_text()), launched, strict=True):
        number, form = name.split()
        if form != kernel:
            raise SystemExit(f"launch {name} is {kernel} to ncu")
        made["cases"][int(number)]["ncu"] = {key: n for key, n in counted.items() if re.fullmatch(WANTED, key)}
    write(file, made)


def main() -> None:
    command, *words = sys.argv[1:]
    if command == "new":
        write(words[0], {"cases": [{**case._asdict(), "ncu": {}} for case in cases()]})
    elif command == "metrics":
        print(metrics(words[0]))
    elif command == "launch":
        launch(words[0], words[1], int(words[2]), int(words[3]))
    else:
        record(*words)


if __name__ == "__main__":
    main()
