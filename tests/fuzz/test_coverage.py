"""Coverage counts what there is: every operation of docs/ops.md is wanted or left out with a reason, and programs reach
95 % of what is wanted."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tiletwin.fuzz import coverage, generator, report, running
from tiletwin.fuzz.tree import ops

OPS = (Path(__file__).resolve().parents[2] / "docs" / "ops.md").read_text()


def test_every_operation_is_wanted_or_left_out_with_a_reason() -> None:
    documented = set(re.findall(r"(?m)^### `(tt\.[\w.]+)`", OPS))
    assert set(coverage.TAKES) | set(coverage.EXCLUDED) == documented
    assert not set(coverage.TAKES) & set(coverage.EXCLUDED)
    assert all(coverage.EXCLUDED.values())


def test_operations_of_a_text() -> None:
    text = """
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32> loc(#loc1)
    %1 = tt.addptr %p, %0 : tensor<8x!tt.ptr<f16>>, tensor<8xi32> loc(#loc2)
    %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %3 = arith.addf %a, %b : f32
      tt.reduce.return %3 : f32
    }) : (tensor<8xf32>) -> f32 loc(#loc3)
    tt.store %1, %2 : tensor<8x!tt.ptr<f16>> loc(#loc4)
    """
    found = coverage.operations(text)
    assert ("tt.make_range", "i32") in found and ("tt.addptr", "f16") in found and ("tt.store", "f16") in found
    assert ("tt.reduce", "f32") in found and ("tt.reduce", "f16") not in found and ("arith.addf", "f32") not in found


def reached(seeds: range) -> dict[str, Counter[tuple[str, str]]]:
    found: dict[str, Counter[tuple[str, str]]] = {"operation": Counter(), "form": Counter()}
    for seed in seeds:
        program = generator.program(seed, 12)
        found["form"].update({(op.form, op.element) for op in ops(program)})
        found["operation"].update(coverage.operations(running.launch_of(program).ttir))
        running.forget(program)
    return found


def test_a_few_programs_reach_most() -> None:
    found = reached(range(120))
    assert report.share(found["operation"], coverage.wanted()) > 75


@pytest.mark.slow
def test_programs_reach_everything() -> None:
    found = reached(range(1500))
    for kind, wanted in (("operation", coverage.wanted()), ("form", coverage.wanted_forms())):
        assert report.share(found[kind], wanted) >= 95, report.missing(found[kind], wanted)
