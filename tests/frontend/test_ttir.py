"""Each case's TTIR holds the same operations as Triton 3.9's for the same kernel.

Operations are compared as counts by name: their order differs where arguments are evaluated in Python's order here, and
keywords first there. Cases that differ for a reason are listed with it; the list is checked both ways.
"""

from __future__ import annotations

import functools
import importlib
import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest
import triton

DATA = Path(__file__).resolve().parent.parent / "data"
FILES = sorted(path.stem for path in (DATA / "kernels").glob("[kx]*.py"))
OPERATION = re.compile(r'(?:= |^\s*)"?((?:tt|arith|math|scf|cf|ub|llvm)\.[\w.]+)"?', re.MULTILINE)

# What is different on purpose: reason -> cases.
DIFFERENT = {
    "fp8e4b15 is converted by integer operations, not by inline assembly of one GPU": (
        "cast_fp8e4b15_fp16 cast_fp16_fp8e4b15 cast_fp32_fp8e4b15 cast_fp8e4b15_fp32 dot_fp8e4b15"
    ),
    "the emulated GPU has a compute capability; the reference was made where there was no GPU": "target",
    "loops are not unrolled before the backend": "for_forms",
    "a reduction of all elements keeps its shape operations": "argminmax_fp32 argminmax_i32 argminmax_bf16",
    "a dot's accumulator is added after the dot": (
        "dot_acc_fp16_fp32 dot_acc_fp16_fp16 dot_acc_i8_i32 dot_acc_bf16_fp32"
    ),
    "the last Philox round makes no key for a round that does not come": (
        "philox_64 philox_raw rand_all_i32 rand_all_i64seed rand_4x rand_wide"
    ),
    "fewer shape operations are folded": (
        "explicit_broadcast view_reorder squeeze_item tuple_index ptr_arith topk_i32_k1 dot_small_1x1x16"
    ),
}
REASONS = {case: reason for reason, cases in DIFFERENT.items() for case in cases.split()}


@functools.cache
def references() -> dict[str, str]:
    with tarfile.open(DATA / "ttir.tar.xz") as archive:
        return {
            Path(member.name).stem: archive.extractfile(member).read().decode()
            for member in archive.getmembers()
            if member.name.startswith("ttir/") and member.name.endswith(".ttir")
        }


@functools.cache
def cases() -> dict[str, dict]:
    return {case["name"]: case for file in FILES for case in importlib.import_module(file).CASES}


def operations(text: str) -> Counter:
    """Names of operations with how often they stand in the text."""
    without_locations = re.sub(r" loc\([^\n]*$|^#loc.*$", "", text, flags=re.MULTILINE)
    return Counter(OPERATION.findall(without_locations))


def ttir(case: dict) -> str:
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    return triton.compile(source, options=case["options"]).asm["ttir"]


@pytest.mark.parametrize("name", sorted(set(cases()) & set(references())))
def test_same_operations(name: str) -> None:
    made, wanted = operations(ttir(cases()[name])), operations(references()[name])
    difference = {op: made[op] - wanted[op] for op in made.keys() | wanted.keys() if made[op] != wanted[op]}
    if name in REASONS:
        assert difference, f"{name} no longer differs: take it off the list"
        pytest.xfail(f"{REASONS[name]}: {difference}")
    assert not difference
