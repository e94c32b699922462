"""Launches that tools/record_times.py has recorded, some of their CTAs run on the simulator.

Here:      memory and arguments like those of the recording; which CTAs run; what they did, as rows of numbers.
Not here:  the model of time, errors (estimate.py).
"""

from __future__ import annotations

import json
import lzma
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tiletwin import counters
from tiletwin.counters.counts import Launch
from tiletwin.counters.work import loaded_sectors
from tiletwin.cuda import ptxas
from tiletwin.launch import sim_launch
from tiletwin.sim import load
from tiletwin.sim.arguments import gpu_number, pack
from tiletwin.sim.launch_memory import LaunchMemory

_KINDS = {"fp32": "f32", "fp64": "f64", "u1": "i1", "u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64"}
_NOISE = np.random.default_rng(1).standard_normal(1 << 20).astype(np.float32)
_SMALL, _LARGE_NUMBER = 64, 1000.0
"""Buffers of so few bytes hold sums of others: a kernel may do nothing where they are small."""
_PAGE = 4096
"""Traffic is told apart by pages: no two buffers share one."""
_WORK, _FEWEST, _MOST = 400_000, 4, 48
"""Instructions of warps that run of each launch, and how many CTAs."""


def _noise(dtype: str) -> np.ndarray:
    if dtype == "float32":
        return _NOISE.view(np.uint8)
    if dtype == "float16":
        return _NOISE.astype(np.float16).view(np.uint8)
    if dtype == "bfloat16":
        return (_NOISE.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    return np.abs(_NOISE * 8).astype(np.uint8) | np.uint8(0x20)  # small numbers of 8 bits


class Memory:
    """Buffers like those of a recorded launch: of integers with numbers of the same range, of floats with noise."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.kept: list[np.ndarray] = []
        self.views: dict[int, np.ndarray] = {}
        for value in (*row["arguments"], *row["named"].values()):
            if isinstance(value, dict) and value["storage"] not in self.views:
                room = np.zeros(value["bytes"] + _PAGE, np.uint8)
                start = -room.ctypes.data % _PAGE
                self.kept.append(room)
                self.views[value["storage"]] = room[start : start + value["bytes"]]
                self._fill(self.views[value["storage"]], value)

    @staticmethod
    def _fill(view: np.ndarray, value: dict[str, Any]) -> None:
        dtype = value["dtype"]
        if "values" in value:
            numbers = view.view(dtype)
            numbers[: len(value["values"])] = value["values"]
        elif "range" in value:
            low, high = value["range"]
            numbers = view.view(dtype)
            numbers[:] = np.random.default_rng(0).integers(low, high + 1, numbers.size, dtype=np.int64)
        elif dtype == "float32" and view.size <= _SMALL:
            view.view(np.float32)[:] = _LARGE_NUMBER
        elif "float" in dtype:
            noise = _noise(dtype)
            for begin in range(0, view.size, noise.size):
                view[begin : begin + noise.size] = noise[: view.size - begin]

    def address(self, value: dict[str, Any]) -> int:
        return self.views[value["storage"]].ctypes.data + value["offset"]

    def buffers(self) -> list[tuple[str, int, int, bool]]:
        views = enumerate(self.views.values())
        return [(str(i), view.ctypes.data, view.ctypes.data + view.size, False) for i, view in views]


class Ready(NamedTuple):
    """A launch that may begin. parameters: the bytes of each."""

    entry: Any
    grid: list[int]
    threads: int
    block: bytes

    @property
    def parameters(self) -> list[bytes]:
        return [self.block[one.offset : one.offset + one.bytes] for one in self.entry.parameters]


def ready(row: dict[str, Any], address: Callable[[dict[str, Any]], int]) -> Ready:
    """What the entry takes, behind it null pointers for scratch memory that nothing uses; and the grid of CTAs.
    address: of an argument that points."""
    found = re.search(r"\.entry\s+([\w$]+)", row["ptx"])
    assert found is not None
    entry = load(row["ptx"], contract="facts" not in row, file=f"{row['kernel']}.ptx")[found[1]]
    grid = tuple(row["grid"])
    given = dict(zip(row["names"], row["arguments"])) | row["named"]
    values, kinds = [], []
    for parameter, kind in row["signature"].items():
        if kind == "constexpr":
            continue
        value = given[parameter]
        values.append(address(value) if isinstance(value, dict) else value or 0)
        kinds.append("ptr" if kind.startswith("*") else _KINDS.get(kind, kind))
    if "facts" in row:
        made, grid = sim_launch._arguments(values, row["facts"], entry.name, grid)
    else:
        made = [gpu_number(value, kind) for value, kind in zip(values, kinds)]
    made += [0] * (len(entry.parameters) - len(made))
    block = pack(entry.name, entry.parameters, entry.parameter_bytes, made, LaunchMemory())
    return Ready(entry, list(grid), max(32 * row["warps"], entry.required_threads[0]), block)


def starts(row: dict[str, Any]) -> tuple[Callable[[list[int]], Any], int]:
    """What runs CTAs of a recorded launch, those that it is given, or all if it is given none; how many there are."""
    memory = Memory(row)
    one = ready(row, memory.address)
    sizes = tuple(one.grid), (one.threads, 1, 1), (1, 1, 1)
    shared = row.get("facts", row)["shared"]

    def start(which: list[int]) -> Any:  # it keeps the memory
        rest = one.block, memory.buffers(), (), 0, 0, "", lambda text: None
        return one.entry.launch(*sizes, shared, *rest, clusters=which)

    return start, math.prod(one.grid)


def launched(row: dict[str, Any]) -> Launch:
    """Runs some CTAs of a recorded launch, the same ones each time."""
    start, ctas = starts(row)
    count = min(max(_WORK // max(start([ctas // 2]).instructions, 1), _FEWEST), _MOST, ctas)
    golden = 0.6180339887498949  # multiples of it are spread evenly, and fall in step with no grid
    with counters.collect() as launches:
        start(sorted({int(ctas * ((i * golden + 0.31) % 1)) for i in range(count)}))
    return launches[0]


def numbers(row: dict[str, Any]) -> dict[str, Any]:
    """What some CTAs of a recorded launch did, beside how long all of them took."""
    launch = launched(row)
    line = launch.timeline
    timeline = [line.ctas, round(line.warps, 3), round(line.meetings), *([round(x) for x in part] for part in line[3:])]
    return {
        **{key: row[key] for key in ("case", "kernel", "compiler", "cold_us", "warm_us", "registers")},
        "ctas": launch.ctas, "warps": launch.warps, "shared": launch.shared, "timeline": timeline,
        "loaded": loaded_sectors(launch), "traffic": [list(one) for one in launch.traffic],
    }  # fmt: skip


def _spilled(row: dict[str, Any]) -> int:
    """Bytes of loads and stores in a thread's code for which ptxas finds no registers."""
    target, entry = (re.search(pattern, row["ptx"]) for pattern in (r"\.target\s+(\w+)", r"\.entry\s+([\w$]+)"))
    assert target is not None and entry is not None
    report = ptxas.assemble(row["ptx"], target[1]).functions[entry[1]]
    return report.spill_stores + report.spill_loads


def seen(file: Path) -> list[dict[str, Any]]:
    """A row of numbers for each launch of a recording."""
    rows = []
    for row in json.loads(lzma.decompress(file.read_bytes()))["rows"]:
        rows.append(numbers(row) | {"spilled": _spilled(row)})
        print(f"{row['compiler']}: {row['case']}: {row['kernel']}", flush=True)
    return rows
