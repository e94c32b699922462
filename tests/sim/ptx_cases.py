"""PTX that Triton 3.9 made of the kernels in tests/data/kernels, and what an H200 gave for these very texts.

Here:      the cases, their inputs, a launch of one on the simulator, which values differ.
Not here:  what is expected of them (test_ptx_corpus.py); the data's format (tests/data/README.md).
"""

from __future__ import annotations

import functools
import json
import pathlib
import tarfile
from typing import Any, NamedTuple

import numpy as np

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
BITS = {"fp32": np.float32, "fp16": np.float16, "bf16": np.uint16, "fp64": np.float64, "i1": np.bool_}
ARCHITECTURES = ("sm_80", "sm_90")
READS_PAST_THE_END = {"mm_loop_fp16": 128 * 200, "mm_loop_fp32": 128 * 160, "mm_loop_bf16_w8": 256 * 192}
"""Kernels that mask columns only: they load whole tiles of rows, past the last one. Elements that every array is given;
what lies there meets no value that is stored."""


class Case(NamedTuple):
    architecture: str
    name: str
    text: str
    entry: str
    arguments: list[str]
    warps: int
    shared: int
    scratch: int
    """Bytes of global memory that each CTA is given."""


@functools.cache
def all_cases(architecture: str) -> dict[str, Case]:
    texts, table = {}, {}
    with tarfile.open(DATA / "ptx" / "texts.tar.xz") as archive:
        for member in archive:
            folder, _, file = member.name.partition("/")
            if member.isfile() and folder == architecture and file.endswith(".ptx"):
                texts[file.removesuffix(".ptx")] = archive.extractfile(member).read().decode()
            elif member.name == f"{architecture}.json":
                table = json.loads(archive.extractfile(member).read())["cases"]
    return {
        name: Case(architecture, name, texts[name], row["entry"], row["arguments"], row["num_warps"], row["shared"],
                   row["global_scratch"])
        for name, row in sorted(table.items())
    }  # fmt: skip


@functools.cache
def _recorded() -> tuple[Any, dict]:
    file = np.load(DATA / "ptx" / "h200.npz")
    return file, json.loads(file["meta"].tobytes())


def recorded(architecture: str, name: str) -> dict[str, np.ndarray]:
    """Every pointer argument after the launch on the H200; empty: the case was not run there."""
    file, meta = _recorded()
    same = set(meta["same"]) if architecture == "sm_80" else set()
    found = {}
    for key in file.files:
        folder, _, rest = key.partition("/")
        case, _, argument = rest.partition("/")
        if case == name and (folder == architecture or (folder == "sm_90" and rest in same)):
            found[argument] = file[key]
    return found


def recorded_names(architecture: str) -> list[str]:
    file, meta = _recorded()
    names = {key.split("/")[1] for key in file.files if key.startswith(f"{architecture}/")}
    if architecture == "sm_80":
        names |= {key.split("/")[0] for key in meta["same"]}
    return sorted(names)


@functools.cache
def _expected() -> dict[str, tuple[pathlib.Path, dict]]:
    cases = {}
    for path in sorted((DATA / "expected").glob("*.npz")):
        with np.load(path) as file:
            cases |= {name: (path, meta) for name, meta in json.loads(file["meta"].tobytes()).items()}
    return cases


def inputs(name: str) -> tuple[dict, dict[str, np.ndarray]]:
    """(types, scalars, grid, sizes of a case; its arrays by parameter)."""
    file, meta = _recorded()
    if name in meta["pipelines"]:
        prefix = f"in/{name}/"
        return meta["pipelines"][name], {k.removeprefix(prefix): file[k] for k in file.files if k.startswith(prefix)}
    path, case = _expected()[name]
    with np.load(path) as stored:
        prefix = f"{name}/in_"
        return case, {k.removeprefix(prefix): stored[k] for k in stored.files if k.startswith(prefix)}


def element_type(name: str) -> np.dtype:
    """ "*bf16" is stored as its bits."""
    name = name.lstrip("*").removeprefix("k")
    if name.startswith("fp8"):
        return np.dtype(np.uint8)
    return np.dtype(BITS.get(name) or {"i": "int", "u": "uint"}[name[0]] + name[1:])


def scalar(value: float, type_name: str, parameter: Any) -> int | float:
    """A number as the parameter's type takes it: floats that are passed as integers are passed as their bits."""
    if not type_name.startswith(("fp", "bf")) or parameter.type.startswith("f"):
        return value if parameter.type.startswith("f") else int(value) & ((1 << parameter.bits) - 1)
    return int(np.array(value, np.float64 if parameter.bits == 64 else np.float32).view(f"u{parameter.bits // 8}"))


def run(case: Case, **options: Any) -> dict[str, np.ndarray]:
    """Runs a case on the simulator; every pointer argument afterwards, flat. options: of tiletwin.sim.Kernel."""
    import tiletwin.sim

    meta, arrays = inputs(case.name)
    kernel = tiletwin.sim.load(case.text, file=f"{case.name}.ptx")[case.entry]
    memory: dict[str, np.ndarray] = {}
    values: list[Any] = []
    for parameter, name in zip(kernel.parameters, case.arguments, strict=False):
        kind = meta["types"][name]
        if name in meta["sizes"]:
            size = meta["sizes"][name]
            whole = np.zeros(max(size, READS_PAST_THE_END.get(case.name, 0)), element_type(kind))
            if name in arrays:
                whole[:size] = arrays[name].reshape(-1)
            memory[name] = whole[:size]
            values.append(whole)
        else:
            values.append(scalar(meta["scalars"][name], kind, parameter))
    grid = (*meta["grid"], 1, 1)[:3]
    scratch = np.zeros(max(case.scratch, 1) * grid[0] * grid[1] * grid[2] + 256, np.uint8)
    start = -scratch.ctypes.data % 128
    values += [scratch[start:], 0][: len(kernel.parameters) - len(values)]
    kernel(*values, grid=grid, block=32 * case.warps, shared=case.shared, **options)
    return memory


def is_nan(values: np.ndarray, type_name: str) -> np.ndarray:
    name = type_name.lstrip("*").removeprefix("k")
    if name in ("fp16", "fp32", "fp64"):
        return np.isnan(values)
    if name == "bf16":
        return (values & 0x7FFF) > 0x7F80
    if name == "fp8e5":
        return (values & 0x7F) > 0x7C
    if name == "fp8e4nv":
        return (values & 0x7F) == 0x7F
    return np.zeros(values.shape, bool)


def differences(case: Case, got: dict[str, np.ndarray]) -> list[str]:
    """One line for each argument that is not, bit for bit, what the H200 gave; NaN is NaN."""
    meta, _ = inputs(case.name)
    lines = []
    for name, want in recorded(case.architecture, case.name).items():
        have = got[name].reshape(-1)
        want = want.reshape(-1).astype(have.dtype, copy=False)
        bits = f"u{have.dtype.itemsize}"
        bad = have.view(bits) != want.view(bits)
        bad &= ~(is_nan(have, meta["types"][name]) & is_nan(want, meta["types"][name]))
        if bad.any():
            first = int(bad.argmax())
            lines.append(
                f"{name}: {int(bad.sum())} of {bad.size} differ, first [{first}]: {have[first]!r}, not {want[first]!r}"
            )
    return lines
