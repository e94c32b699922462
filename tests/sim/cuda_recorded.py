"""What a GPU gave for the programs of tests/sim/cuda, and a launch of one of them on the simulator.

Here:      the archive that tools/record_cuda.py wrote, argument by argument; which values differ.
Not here:  what is expected (test_cuda.py); the archive's format (tools/record_cuda.py).
"""

from __future__ import annotations

import functools
import io
import json
import pathlib
import tarfile
from typing import Any

import numpy as np

ARCHIVE = pathlib.Path(__file__).resolve().parents[1] / "data" / "ptx" / "cuda_h200.tar.xz"
ALIGNMENT = 256
"""As cuMemAlloc's."""


@functools.cache
def _files() -> dict[str, bytes]:
    with tarfile.open(ARCHIVE) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]


@functools.cache
def recording() -> dict[str, Any]:
    """meta.json, with no programs where nothing is recorded."""
    return json.loads(_files()["meta.json"]) if ARCHIVE.exists() else {"programs": {}}


@functools.cache
def _arrays() -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(_files()["arrays.npz"])) as file:
        return {name: file[name] for name in file.files}


def text_of(source: str) -> str:
    return _files()[f"{source}.ptx"].decode()


def outputs_of(name: str) -> dict[str, np.ndarray]:
    return {output: _arrays()[f"{name}/out/{output}"] for output in recording()["programs"][name]["outputs"]}


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy whose first byte lies where a GPU's allocator would put it, and whose memory ends with its last one."""
    room = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    own = memoryview(room)[start : start + array.nbytes]  # a view of `room` would reach to the end of that
    copy = np.frombuffer(own, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def run(name: str, **options: Any) -> tuple[dict[str, np.ndarray], str, Any]:
    """(the arrays afterwards, what was printed, tiletwin.sim.Ran). options: of tiletwin.sim.Kernel."""
    import tiletwin.sim

    row = recording()["programs"][name]
    prefix = f"{name}/in/"
    stored = {k.removeprefix(prefix): v for k, v in _arrays().items() if k.startswith(prefix)}
    memory = {k: aligned(v) for k, v in stored.items()}
    values: list[Any] = []
    for argument in row["arguments"]:
        if "map" in argument:
            m = argument["map"]
            values.append(
                tiletwin.sim.tensor_map(
                    memory[m["array"]], m["box"], sizes=m["sizes"], strides=m["strides"], swizzle=m["swizzle"]
                )
            )
        elif "number" in argument:
            values.append(argument["number"])
        elif "structure" in argument:
            values.append(stored[argument["name"]].tobytes())
        else:
            values.append(memory[argument["name"]])
    printed: list[str] = []
    kernel = tiletwin.sim.load(text_of(row["source"]), file=f"{row['source']}.ptx")[row["entry"]]
    ran = kernel(*values, grid=row["grid"], block=row["block"], cluster=row["cluster"], shared=row["shared"],
                 memory=[memory[k] for k in row["hidden"]], print=printed.append, **options)  # fmt: skip
    return memory, "".join(printed), ran


def differences(name: str, got: dict[str, np.ndarray]) -> list[str]:
    """A line for each output that is not, bit for bit, what the GPU gave; NaN is NaN."""
    lines = []
    for output, want in outputs_of(name).items():
        want, have = want.reshape(-1), got[output].reshape(-1)
        bits = f"u{want.dtype.itemsize}"
        bad = have.view(bits) != want.view(bits)
        if want.dtype.kind == "f":
            bad &= ~(np.isnan(have) & np.isnan(want))
        if bad.any():
            first = int(bad.argmax())
            lines.append(f"{output}: {int(bad.sum())} of {bad.size} differ, first [{first}]: {have[first]!r}, not "
                         f"{want[first]!r}")  # fmt: skip
    return lines
