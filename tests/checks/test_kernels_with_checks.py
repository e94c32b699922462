"""The kernels of tests/data/kernels under TILETWIN_CHECK=all: the same bits as without, and only listed findings.

A sample of the cases runs in `make test`, every one in `make test-all`.
"""

from __future__ import annotations

import os

import pytest
import torch
from kernel_cases import arguments, cases_of, expected_cases
from tiletwin import checks

# Cases of kernels that do on purpose what a check is about: checks that may speak, and why.
EXPECTED: dict[str, tuple[str, str]] = {
    "arith_int_i16": ("overflow", "products of numbers up to the largest"),
    "arith_int_i8": ("overflow", "sums and products of all numbers"),
    "arith_int_u8": ("overflow", "differences below zero, products past 255"),
    "mixed_u8_i8": ("overflow", "negative numbers as bytes"),
    "overflow_i32": ("overflow", "wraps around on purpose"),
    "shifts_i32": ("overflow", "shifts bits out at the top"),
    "shifts_i8": ("overflow", "shifts bits out at the top"),
    "cast_i32_u8": ("overflow", "casts numbers that do not fit"),
    "cast_i64_u32": ("overflow", "casts numbers that do not fit"),
    "cast_i64_u8": ("overflow", "casts numbers that do not fit"),
    "cast_u32_i8": ("overflow", "casts numbers that do not fit"),
    "reduce_basic_u8": ("overflow", "sums are stored as bytes"),
}
# Launched from Python numbers, these get narrower types than they are about.
ONLY_AHEAD = {"range_types"}

CASES = [(file, name) for file, name in expected_cases() if name not in ONLY_AHEAD]
SAMPLE = CASES if os.environ.get("TILETWIN_TEST_ALL") else CASES[::6]


def run(file: str, name: str) -> dict[str, bytes]:
    """Launches a case; the bytes of its tensors afterwards."""
    case = cases_of(file)[name]
    made = arguments(file, name)
    constants = {key: value for key, value in case["constexprs"].items() if isinstance(key, str)}
    case["fn"][case["grid"]](**made, **constants, **case["options"])
    tensors = {key: value for key, value in made.items() if isinstance(value, torch.Tensor)}
    return {key: value.reshape(-1).view(torch.uint8).numpy().tobytes() for key, value in tensors.items()}


@pytest.mark.parametrize(("file", "name"), [pytest.param(file, name, id=name) for file, name in SAMPLE])
def test_same_bits_and_no_findings(file: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILETWIN_CHECK", raising=False)
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")
    before = run(file, name)
    monkeypatch.setenv("TILETWIN_CHECK", "all,device:h200")
    checks.clear()
    after = run(file, name)
    found = checks.findings()
    checks.clear()
    assert after == before
    allowed = EXPECTED.get(name, ("", ""))[0].split()
    assert not [str(finding) for finding in found if finding.check not in allowed]


def test_listed_cases_exist() -> None:
    assert set(EXPECTED) <= {name for _, name in CASES}
