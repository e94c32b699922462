"""Every kernel in tests/data/kernels gives the stored values: by a launch, and compiled ahead for its exact signature.

The stored values come from NumPy references that Triton's interpreter or an H200 confirms; see tests/data/README.md.
"""

from __future__ import annotations

import pytest
import triton
from kernel_cases import DATA, arguments, cases_of, differences, expected_cases, load_json

# What the interpreter cannot run yet: kernel files, and single cases.
WAITING_FILES = {}
WAITING_CASES: dict[str, str] = {}
# Launched from Python numbers, these get narrower types than they are about.
ONLY_AHEAD = {"range_types"}


def waiting(file: str, case: str) -> str | None:
    return WAITING_CASES.get(case) or WAITING_FILES.get(file)


def parameters() -> list:
    found = []
    for file, case in expected_cases():
        reason = waiting(file, case)
        marks = [pytest.mark.skip(reason=f"not interpreted yet: {reason}")] if reason else []
        found.append(pytest.param(file, case, id=case, marks=marks))
    return found


@pytest.mark.parametrize(("file", "name"), parameters())
def test_launch(file: str, name: str) -> None:
    if name in ONLY_AHEAD:
        pytest.skip("its types cannot be had from Python numbers")
    case = cases_of(file)[name]
    made = arguments(file, name)
    constants = {key: value for key, value in case["constexprs"].items() if isinstance(key, str)}
    case["fn"][case["grid"]](**made, **constants, **case["options"])
    assert not differences(file, name, made)


@pytest.mark.parametrize(("file", "name"), parameters())
def test_compiled_ahead(file: str, name: str) -> None:
    case = cases_of(file)[name]
    made = arguments(file, name)
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    compiled = triton.compile(source, options=case["options"])
    compiled[case["grid"]](*[made[p] for p, kind in case["signature"].items() if kind != "constexpr"])
    assert not differences(file, name, made)


def test_waiting_cases_exist() -> None:
    known = expected_cases()
    assert set(WAITING_CASES) | ONLY_AHEAD <= {case for _, case in known}
    assert set(WAITING_FILES) <= {file for file, _ in known}


def without_values() -> list[tuple[str, str]]:
    """Cases that are not run above: no stored values, or the interpreter cannot run them yet."""
    run = {case for file, case in expected_cases() if not waiting(file, case)}
    files = sorted(path.stem for path in (DATA / "kernels").glob("k*.py"))
    rejected = {name for name, entry in load_json("rejected.json").items() if entry["stage"] == "front end"}
    return [(file, case) for file in files for case in cases_of(file) if case not in run | rejected]


@pytest.mark.parametrize(("file", "name"), without_values(), ids=lambda v: v)
def test_ttir_is_made(file: str, name: str) -> None:
    case = cases_of(file)[name]
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    assert "tt.func public" in triton.compile(source, options=case["options"]).asm["ttir"]
