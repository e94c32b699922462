"""Both modes leave the same bits in memory, print the same and fail alike, for every kernel of the language.

Cases with stored values get their stored arguments; the others (pipelines, what only prints or asserts, sizes that no
reference covers) get random ones made here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiletwin
import torch
import triton
import triton.language as tl
from kernel_cases import (
    DATA,
    FLOATS,
    TORCH,
    arguments,
    cases_of,
    element_type,
    expected_cases,
    kernel_module,
    load_json,
)
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

range_types = kernel_module("k12_control").range_types


@triton.jit
def typed_ranges(o_ptr, n64: tl.int64, u32: tl.uint32, n8: tl.int8):
    range_types(o_ptr, n64, u32, n8)


# Kernels about types that no Python number has are launched through others whose parameters have them.
TYPED = {"range_types": typed_ranges}
REJECTED = {name for name, entry in load_json("rejected.json").items() if entry["stage"] == "front end"}
# Sums of integers, whose check of overflow no mode has yet.
CHECKED_IN_REGIONS = {"cat_forms"}
# Bytes that a clock was written to.
CLOCKS = {"cuda_extras": ("o_ptr", slice(8, 16))}
SCALARS: dict[str, dict[str, Any]] = {
    "mm_persistent_desc": {"M": 200, "N": 136, "K": 128, "programs": 2},
    "mm_loop": {"M": 120, "N": 100, "K": 96, "sam": 96, "sak": 1, "sbk": 128, "sbn": 1, "scm": 128, "scn": 1},
    "attention_loop": {"T": 128, "scale": 0.125},
    "asserts": {"n": 16},
    "ptr_of_ptr": {"n": 3},
}


def files() -> list[str]:
    return sorted(path.stem for path in Path(DATA / "kernels").glob("k*.py"))


def without_values() -> list[tuple[str, str]]:
    """Cases that compile and have no stored values."""
    stored = {case for _, case in expected_cases()}
    return [(file, case) for file in files() for case in cases_of(file) if case not in stored | REJECTED]


def tensor(signature: str, size: int, random: np.random.Generator) -> Any:
    """Small numbers of an element type."""
    element = element_type(signature)
    if element == "fp8e4b15":  # torch has no such type
        return triton.reinterpret(tensor("*u8", size, random), tl.float8e4b15)
    if element in FLOATS:
        return torch.from_numpy(random.standard_normal(size).astype(np.float32)).to(TORCH[element])
    return torch.from_numpy(random.integers(0, 8, size)).to(TORCH[element])


def made_arguments(case: dict) -> dict[str, Any]:
    """Random arguments for a case, large enough for its accesses; the same at each call."""
    random = np.random.default_rng(7)
    values: dict[str, Any] = {}
    for name, kind in case["signature"].items():
        given = SCALARS.get(case["fn"].__name__, {}).get(name)
        if given is not None:
            values[name] = given
        elif isinstance(kind, tuple):
            values[name] = tuple(
                case["constexprs"].get((list(case["signature"]).index(name), i))
                or (tensor(k, 4096, random) if k.startswith("*") else 3 + i)
                for i, k in enumerate(kind)
            )
        elif kind.startswith("tensordesc"):
            values[name] = TensorDescriptor(tensor("fp32", 24 * 32, random).reshape(24, 32), [24, 32], [32, 1], [8, 16])
        elif name == "pp":
            values["keep"] = [tensor("fp32", 64, random) for _ in range(3)]
            values[name] = torch.tensor([x.data_ptr() for x in values["keep"]])  # not compared: addresses differ
        elif kind.startswith("*"):
            values[name] = tensor(kind, 65536, random)
        elif kind != "constexpr":
            values[name] = 0.5 if kind in FLOATS else 5
    return values


def bits(value: Any) -> Any:
    """Bytes of tensors, through tuples and descriptors; other arguments as they are."""
    if isinstance(value, tuple):
        return [bits(v) for v in value]
    value = value.base if isinstance(value, (TensorDescriptor, TensorWrapper)) else value
    return value.contiguous().view(torch.uint8).numpy().tobytes() if isinstance(value, torch.Tensor) else value


def launch(file: str, name: str, made: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What the arguments hold after a launch, and what went wrong, if it was an assertion."""
    case = cases_of(file)[name]
    kept = made.pop("keep", [])
    for x in kept:
        tiletwin.register(x)
    constants = {key: value for key, value in case["constexprs"].items() if isinstance(key, str)}
    failure = ""
    try:
        TYPED.get(name, case["fn"])[case["grid"]](**made, **constants, **case["options"])
    except AssertionError as error:
        failure = str(error)
    for x in kept:
        tiletwin.unregister(x)
    if name in CLOCKS:
        key, part = CLOCKS[name]
        made[key].view(torch.uint8)[part] = 0
    return {key: bits(value) for key, value in made.items() if key != "pp"}, failure


def device_lines(out: str) -> list[str]:
    """Lines that programs print with tl.device_print. `print` is Python's own in eager mode, and what is printed while
    compiling depends on what was compiled before."""
    return [line for line in out.splitlines() if line.startswith("pid (") and "plain" not in line]


def compare(file: str, name: str, make: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "0")
    compiled, failure = launch(file, name, make())
    printed = device_lines(capfd.readouterr().out)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    eager, eager_failure = launch(file, name, make())
    assert eager == compiled
    assert failure == eager_failure
    assert device_lines(capfd.readouterr().out) == printed


@pytest.mark.parametrize(("file", "name"), expected_cases(), ids=lambda v: v)
def test_the_same_with_every_operation_correctly_rounded(
    file: str, name: str, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    compare(file, name, lambda: arguments(file, name), monkeypatch, capfd)


@pytest.mark.parametrize(("file", "name"), expected_cases()[::4], ids=lambda v: v)
def test_the_same_with_checks_of_overflow(file: str, name: str, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """debug=True: both modes compute the same, or fail at the same operation of the same program."""
    case = cases_of(file)[name]
    monkeypatch.setitem(case, "options", {**case["options"], "debug": True})
    if name in CHECKED_IN_REGIONS:
        for mode in "01":
            monkeypatch.setenv("TILETWIN_EAGER", mode)
            with pytest.raises(tiletwin.CompilationError, match=r"tt.assert inside the region of tt.reduce"):
                launch(file, name, arguments(file, name))
        return
    compare(file, name, lambda: arguments(file, name), monkeypatch, capfd)


@pytest.mark.parametrize(("file", "name"), expected_cases(), ids=lambda v: v)
def test_eager_gives_the_bits_of_compiled(file: str, name: str, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    compare(file, name, lambda: arguments(file, name), monkeypatch, capfd)


@pytest.mark.parametrize(("file", "name"), without_values(), ids=lambda v: v)
def test_the_same_for_cases_without_values(file: str, name: str, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    compare(file, name, lambda: made_arguments(cases_of(file)[name]), monkeypatch, capfd)


def test_every_kernel_is_compared() -> None:
    compared = {case for _, case in expected_cases() + without_values()}
    assert {case for file in files() for case in cases_of(file)} - compared <= REJECTED
