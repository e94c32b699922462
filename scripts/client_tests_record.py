"""What CUDA's Python clients' own tests gave on the virtual GPU, beside a real GPU and Numba's simulator.

    python scripts/client_tests_record.py --suite here.json gpu.json --suite numba.json numba_gpu.json numba_sim.json

Here:      counts, tests that pass on the GPU and not here by reason, the file in benchmarks/results.
Not here:  the runs (client_tests.py), each of whose files has every test's outcome.
Invariant: a test that the GPU passed and that did not pass here, for whatever reason, counts as not passed.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results" / "clients_cpu.json"
GOOD = ("passed", "xfailed")
REASONS = {
    "the CUDA runtime that is linked into cuda.bindings and CuPy takes NVIDIA's driver only": r"cudaErrorSymbolNotFound"
    r"|thread_block_cluster|memory_ipc.*exitcode",
    "NVML is not there": r"(?i)nvml|show_device_properties|^tests/system/",
    "CuPy is not installed here, because of that runtime": r"(?i)cupy",
    "PyTorch is not installed here": r"(?i)torch",
    "nvFatbin is not installed here": r"nvfatbin",
    "green contexts and their resources are not there": r"green_c|GreenContext|resources",
    "pools of the host's memory are not shared with other processes": r"PinnedMR.*CUDA_ERROR_NOT_SUPPORTED",
    "a kernel that waits for a later call of its own thread never ends": r"test_(event|helpers).py.* longer than",
    "a host function that waits for a later call of its own thread waits in vain": r"test_inflight_launch_retains",
    "the test replaces os.fstat, which this pytest calls before the test gives it back": r"swallows_fstat_failure",
    "times of events are the simulator's": r"test_timing_success",
    "kernels cannot launch graphs or kernels": r"test_device_launch|test_recursive_launch|test_jit_link_module",
    "checkpoints of a process are not there": r"test_checkpoint",
    "an object that is linked holds machine code alone": r"load_rdc_with_linker",
    "what only a linker takes is refused when it is loaded, not later": r"test_object_code_load|object_code_ltoir",
    "a text that is linked calls what was optimised away while linking": r"test_nrt_detect_linked_ptx_file",
    "longer than the time limit": r"longer than|Timeout \(>",
    "more memory than this machine has": r"ended with -9",
    "cuRAND is not built into this PyCUDA": r"curand",
}
"""Reasons, and the regular expression that a test's name and its error match. What none of them matches stands with its
first line."""


def outcomes(run: dict[str, Any]) -> dict[str, str]:
    return {row["test"]: row["outcome"] for row in run["tests"]}


def counts(run: dict[str, Any]) -> dict[str, int]:
    return dict(collections.Counter(outcomes(run).values()).most_common())


def passed(run: dict[str, Any]) -> set[str]:
    return {test for test, outcome in outcomes(run).items() if outcome in GOOD}


def reason(test: str, row: dict[str, Any] | None) -> str:
    """Why a test did not pass here."""
    error = row["error"] if row else "not among the tests here"
    if found := next(
        (name for name, pattern in REASONS.items() if re.search(pattern, f"{test} {error}", re.DOTALL)), ""
    ):
        return found
    lines = [line.strip() for line in error.splitlines() if line.strip()] or ["no message"]
    return f"skips itself: {lines[0][:160]}" if row and row["outcome"] == "skipped" else lines[0][:160]


def summary(run: dict[str, Any]) -> dict[str, Any]:
    return {"date": run["date"], "versions": run["versions"], "seconds": run["seconds"], "counts": counts(run)}


def compared(here: dict[str, Any], gpu: dict[str, Any] | None, simulator: dict[str, Any] | None) -> dict[str, Any]:
    """One suite's entry of the record."""
    rows = {row["test"]: row for row in here["tests"]}
    wanted = passed(gpu) if gpu else {test for test, row in rows.items() if row["outcome"] in ("failed", "error")}
    missed = wanted - passed(here)
    by_reason: dict[str, list[str]] = collections.defaultdict(list)
    for test in sorted(missed):
        by_reason[reason(test, rows.get(test))].append(test)
    entry: dict[str, Any] = {"virtual GPU": summary(here)}
    if gpu:
        entry |= {"H200": summary(gpu), "pass on the H200": len(wanted), "of these here": len(wanted) - len(missed)}
        entry["share"] = round(1 - len(missed) / len(wanted), 4)
    if simulator:
        entry["Numba's simulator"] = summary(simulator)
        entry["of these with Numba's simulator"] = len(wanted & passed(simulator)) if gpu else None
    entry["do not pass, by reason"] = dict(sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])))
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", nargs="+", type=Path, action="append", required=True, metavar="FILE",
                        help="a run here, one of the same suite on a GPU, one on Numba's simulator")  # fmt: skip
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    record = {}
    for files in options.suite:
        here, gpu, simulator = ([json.loads(file.read_text()) for file in files] + [None, None])[:3]
        entry = record[here["suite"]] = compared(here, gpu, simulator)
        print(here["suite"], {name: value for name, value in entry.items() if not isinstance(value, dict)})
        for why, tests in entry["do not pass, by reason"].items():
            print(f"{len(tests):6}  {why}\n        {tests[0]}")
    options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
