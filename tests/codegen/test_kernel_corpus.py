"""Every kernel of tests/data/kernels is compiled for every architecture, assembled, and run on the simulator.

The judge is what an H200 gave for Triton's code of the same kernel. Where the two compilers add in different orders the
last bits may differ: ORDER lists these, with the reason; their sums are tested against their stated order elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

pytest.importorskip("tiletwin._sim", reason="the simulator is not part of this build")
pytest.importorskip("tiletwin._codegen", reason="the code generator is not part of this build")

import corpus_cases
import ptx_cases
import tiletwin._codegen

SAMPLE_EVERY = 8
NOT_COMPILED = re.compile(r"is not compiled for \w+ yet")
ORDER = {
    "custom_reduce": "a sum of f32 in another order",
    "reduce_basic_fp16": "a sum of f16 in another order",
    "reduce_basic_fp32": "a sum of f32 in another order",
    "tuple_reduce": "Welford's sums in another order",
    "min_max_clamp_fp16": "NaN clamped to [-1, 1]: -1 (ir/ElementwiseOps.td); Triton takes min.xorsign.abs on sm_90",
    "min_max_clamp_fp32": "as min_max_clamp_fp16",
    "mm_loop_fp8e4nv": "sums of f8 products by mma.sync; Triton takes wgmma, whose sums are narrower",
}
"""Cases whose bits are the compiler's to choose: the order of a reduction, or the instruction."""
LACKING = {
    ("sm_75", "cast_fp16_fp8e4b15"): "the text's own inline assembly has min.f16x2, which needs sm_80",
    ("sm_75", "cast_fp32_fp8e4b15"): "as cast_fp16_fp8e4b15",
}
"""Texts of Triton's front end that no assembler takes for an architecture; ours writes none of these."""
FLOAT_OPERATION = re.compile(
    r"^\s*(?:@\S+\s+)?(add|sub|mul|fma|div|sqrt|rcp|mad)((?:\.[a-z0-9:_]+)*)\.(f16|f16x2|bf16|bf16x2|f32|f32x2|f64)\b",
    re.M,
)
ROUNDING = {"rn", "rz", "rm", "rp", "approx", "full"}


def _cases(architectures: tuple[str, ...], names: list[str]) -> list:
    found = []
    for place, architecture in enumerate(architectures):
        for number, name in enumerate(names):
            marks = [] if (number + place) % SAMPLE_EVERY == 0 else [pytest.mark.slow]
            found.append(pytest.param(architecture, name, marks=marks, id=f"{architecture}-{name}"))
    return found


def _compile(name: str, architecture: str) -> dict:
    try:
        return corpus_cases.compile_case(name, architecture)
    except tiletwin._codegen.Error as error:
        if NOT_COMPILED.search(error.args[0]):
            pytest.xfail(error.args[0])
        raise


@pytest.mark.parametrize("architecture, name", _cases(corpus_cases.ARCHITECTURES, sorted(corpus_cases.texts())))
def test_the_assembler_takes_it(architecture: str, name: str, tmp_path) -> None:
    ptx = _compile(name, architecture)["ptx"]
    bare = [match.group(0) for match in FLOAT_OPERATION.finditer(ptx) if not ROUNDING & set(match.group(2).split("."))]
    assert not bare, "a float operation without rounding modifier: the assembler may fuse it"
    ptxas = shutil.which("ptxas")
    if not ptxas:
        pytest.skip("no ptxas on PATH")
    (tmp_path / "kernel.ptx").write_text(ptx)
    if reason := LACKING.get((architecture, name)):
        pytest.xfail(reason)
    command = [ptxas, f"-arch={architecture}", "-o", "/dev/null", str(tmp_path / "kernel.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_list_of_orders_is_current() -> None:
    assert set(ORDER) <= set(ptx_cases.recorded_names("sm_90"))


RECORDED = sorted(set(ptx_cases.recorded_names("sm_90")) & set(corpus_cases.texts()))


@pytest.mark.parametrize("architecture, name", _cases(corpus_cases.SIMULATED, RECORDED))
def test_same_bits_as_an_h200(architecture: str, name: str) -> None:
    compiled = _compile(name, architecture)
    if name not in ptx_cases.recorded_names(corpus_cases.recorded_on(architecture)):
        pytest.skip(f"no recording for {architecture}: Triton does not compile it there")
    different = corpus_cases.run_compiled(name, architecture, compiled)
    if name not in ORDER:
        assert not different
