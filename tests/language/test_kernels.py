"""Every kernel in tests/data/kernels gives the stored values: by a launch, and compiled ahead for its exact signature.

The stored values come from NumPy references that Triton's interpreter or an H200 confirms; see tests/data/README.md.
"""

from __future__ import annotations

import pytest
from kernel_cases import arguments, cases_of, differences, expected_cases

# reason: cases that need what is not there yet.
NOT_YET: dict[str, tuple[str, ...]] = {}
WAITING = {case: reason for reason, cases in NOT_YET.items() for case in cases}


def parameters() -> list:
    return [
        pytest.param(file, case, id=case, marks=[pytest.mark.skip(reason=WAITING[case])] if case in WAITING else [])
        for file, case in expected_cases()
    ]


@pytest.mark.parametrize(("file", "name"), parameters())
def test_launch(file: str, name: str) -> None:
    case = cases_of(file)[name]
    made = arguments(file, name)
    constants = {key: value for key, value in case["constexprs"].items() if isinstance(key, str)}
    case["fn"][case["grid"]](**made, **constants, **case["options"])
    assert not differences(file, name, made)


def test_waiting_cases_exist() -> None:
    assert set(WAITING) <= {case for _, case in expected_cases()}
