"""A kernel leaves the same bits however often and on however many threads it runs, in every case of tests/data."""

from __future__ import annotations

import pytest
import torch
import triton
from kernel_cases import arguments, cases_of, expected_cases
from test_kernels import waiting


def parameters() -> list:
    found = []
    for file, case in expected_cases():
        reason = waiting(file, case)
        marks = [pytest.mark.skip(reason=f"not interpreted yet: {reason}")] if reason else []
        found.append(pytest.param(file, case, id=case, marks=marks))
    return found


@pytest.mark.parametrize(("file", "name"), parameters())
def test_same_bits_with_any_threads(file: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases_of(file)[name]
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    compiled = triton.compile(source, options=case["options"])
    found = []
    for threads in ("1", "2", "1", "2"):
        monkeypatch.setenv("TILETWIN_NUM_THREADS", threads)
        made = arguments(file, name)
        compiled[case["grid"]](*[made[p] for p, kind in case["signature"].items() if kind != "constexpr"])
        tensors = {key: value for key, value in made.items() if isinstance(value, torch.Tensor)}
        found.append({key: value.contiguous().view(torch.uint8).numpy().tobytes() for key, value in tensors.items()})
    assert all(bits == found[0] for bits in found)
