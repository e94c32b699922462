"""Access to the kernels in tests/data/kernels and to the values they should give.

Here:      loading cases, building arguments, comparing outputs.
Not here:  what is tested (test_*.py).
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

DATA = Path(__file__).resolve().parent.parent / "data"
TORCH = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8e5": torch.float8_e5m2,
    "fp8e4nv": torch.float8_e4m3fn,
    "i1": torch.bool,
    "u1": torch.bool,
    **{f"i{n}": getattr(torch, f"int{n}") for n in (8, 16, 32, 64)},
    **{f"u{n}": getattr(torch, f"uint{n}") for n in (8, 16, 32, 64)},
}
FLOATS = frozenset({"fp64", "fp32", "fp16", "bf16", "fp8e5", "fp8e4nv"})


def load_json(name: str) -> Any:
    return json.loads((DATA / name).read_text())


@functools.cache
def kernel_module(name: str) -> Any:
    """A kernel file, imported with `triton` meaning tiletwin (conftest.py sees to that)."""
    folder = str(DATA / "kernels")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


@functools.cache
def cases_of(file: str) -> dict[str, dict]:
    return {case["name"]: case for case in kernel_module(file).CASES}


@functools.cache
def expected(file: str) -> tuple[dict[str, dict], dict[str, np.ndarray]]:
    """(meta by case, arrays by "case/in_param" and "case/out_param")."""
    with np.load(DATA / "expected" / f"{file}.npz") as arrays:
        content = {name: arrays[name] for name in arrays.files}
    return json.loads(content.pop("meta").tobytes()), content


def expected_cases() -> list[tuple[str, str]]:
    """(file, case) of all cases with stored values."""
    files = sorted(path.stem for path in (DATA / "expected").glob("*.npz"))
    return [(file, case) for file in files for case in expected(file)[0]]


def element_type(signature: str) -> str:
    """ "*kfp32" -> "fp32"."""
    return signature.lstrip("*").removeprefix("k")


def from_stored(array: np.ndarray, element: str) -> torch.Tensor:
    """A stored array as a tensor of that element type; bits become bf16 and fp8."""
    tensor = torch.from_numpy(np.array(array))
    wanted = TORCH[element]
    return tensor if tensor.dtype == wanted else tensor.view(wanted)


def arguments(file: str, case: str) -> dict[str, Any]:
    """The run-time arguments of a case: tensors made from stored inputs, zeros, or scalars."""
    meta, arrays = expected(file)
    types, sizes = meta[case]["types"], meta[case]["sizes"]
    made: dict[str, Any] = {}
    for name, signature in types.items():
        if name in meta[case]["scalars"]:
            made[name] = meta[case]["scalars"][name]
        elif f"{case}/in_{name}" in arrays:
            made[name] = from_stored(arrays[f"{case}/in_{name}"], element_type(signature))
        else:
            made[name] = torch.zeros(sizes[name], dtype=TORCH[element_type(signature)])
    return made


def values(tensor: torch.Tensor, element: str) -> np.ndarray:
    """Floats as float64, others as they are; flat."""
    return (tensor.to(torch.float64) if element in FLOATS else tensor).reshape(-1).numpy()


def differences(file: str, case: str, made: dict[str, Any]) -> list[str]:
    """What is wrong with the arguments after a launch: outputs within tolerance, inputs untouched."""
    meta, arrays = expected(file)
    before = arguments(file, case)
    problems = []
    for name, signature in meta[case]["types"].items():
        if name in meta[case]["scalars"]:
            continue
        element = element_type(signature)
        stored = arrays.get(f"{case}/out_{name}")
        want = values(before[name] if stored is None else from_stored(stored, element), element)
        got = values(made[name], element)
        if element in FLOATS:
            relative, absolute = meta[case]["tolerance"].get(name) or (0, 0)
            with np.errstate(invalid="ignore"):
                wrong = ~np.isclose(got, want, rtol=relative, atol=absolute, equal_nan=True)
        else:
            wrong = got != want
        at = np.flatnonzero(wrong)
        if at.size:
            what = f"got {got[at[0]]!r}, want {want[at[0]]!r}"
            problems.append(f"{name}: {at.size} of {wrong.size} elements, first at {at[0]}: {what}")
    return problems


# ---- inputs of cases that have no stored values ----

SCALARS = {"n": 16, "programs": 2, "M": 128, "N": 128, "K": 128, "T": 128, "scale": 0.125}
STRIDES = {"sam": 128, "sak": 1, "sbk": 128, "sbn": 1, "scm": 128, "scn": 1}
ELEMENTS = 1 << 16  # more than any of these kernels reaches


def tensor(element: str) -> torch.Tensor:
    """Small numbers that differ, none negative."""
    generator = torch.Generator().manual_seed(7)
    whole = torch.randint(0, 5, (ELEMENTS,), generator=generator)
    if element == "fp8e4b15":
        return whole.to(torch.int8)
    if element.startswith(("fp", "bf")):
        return (whole / 2).to(TORCH[element])
    return whole.to(TORCH[element])


def made_argument(name: str, kind: Any) -> Any:
    """A value for a parameter of a case that has none stored."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    if isinstance(kind, tuple):
        return tuple(made_argument(f"{name}.{i}", k) for i, k in enumerate(kind) if k != "constexpr")
    if kind.startswith("tensordesc"):
        return TensorDescriptor.from_tensor(tensor("fp32")[: 13 * 48].reshape(13, 48), [8, 16])
    if kind.startswith("*"):
        return tensor(element_type(kind))
    default = 1.5 if kind.startswith("fp") else 3
    return {**SCALARS, **STRIDES}.get(name, default)


def made_arguments(case: dict) -> dict[str, Any]:
    made = {name: made_argument(name, kind) for name, kind in case["signature"].items() if kind != "constexpr"}
    if "pp" in made:  # a table of addresses, all of one buffer
        made["target of pp"] = tensor("fp32")
        made["pp"][:] = made["target of pp"].data_ptr()
    return made
