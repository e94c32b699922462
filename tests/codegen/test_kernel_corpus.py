"""Every kernel of tests/data/kernels is compiled for every architecture, assembled, and run on the simulator with every
check on.

What it gives is compared with what the interpreter gives for the same text: under bounds that are derived from the
kernel, which are zero for operations that have one right result. The second witness is what an H200 gave for Triton's
code of the same kernel, bit for bit. Where the two compilers add in different orders the last bits may differ: ORDER
lists these, with the reason; their sums are tested against their stated order elsewhere.
"""

from __future__ import annotations

import re

import corpus_cases
import corpus_launches
import ptx_cases
import pytest
import small_kernels
from tiletwin import diff
from tiletwin.cuda import ptxas

SAMPLE_EVERY = 8
ORDER = {
    "custom_reduce": "a sum of f32 in another order",
    "reduce_basic_fp16": "a sum of f16 in another order",
    "reduce_basic_fp32": "a sum of f32 in another order",
    "tuple_reduce": "Welford's sums in another order",
    "min_max_clamp_fp16": "NaN clamped to [-1, 1]: -1 (ir/ElementwiseOps.td); Triton takes min.xorsign.abs on sm_90",
    "min_max_clamp_fp32": "as min_max_clamp_fp16",
    "mm_loop_fp8e4nv": "sums of f8 products by mma.sync; Triton takes wgmma, whose sums are narrower",
}
"""Cases whose bits are the compiler's to choose: the order of a reduction, or the instruction. They are compared with
the NumPy references that the recordings were judged by."""
LACKING = {
    ("sm_75", "cast_fp16_fp8e4b15"): "the text's own inline assembly has min.f16x2, which needs sm_80",
    ("sm_75", "cast_fp32_fp8e4b15"): "as cast_fp16_fp8e4b15",
}
"""Texts of Triton's front end that no assembler takes for an architecture: our front end's are compiled there."""
RACES: dict[str, str] = {}
"""Kernels that have a race of their own, which the check of races reports: none. Triton's code of spin_lock and
tuple_reduce has one (tests/sim/test_ptx_corpus.py); in ours one thread loads for all, and one of several stores."""
OTHER = {"cuda_extras": "the kernel reads a clock"}
"""Kernels whose results are nobody's to promise."""
NOT_COMPARABLE = {
    "custom_reduce": "an operation of which no bound is known (tt.reduce)",
    "custom_scan": "an operation of which no bound is known (tt.scan)",
    "scans_fp32": "an operation of which no bound is known (tt.scan)",
}
"""Kernels of which the tester knows no bounds, with its words for why; an H200's bits or NumPy's values judge them."""
FLOAT_OPERATION = re.compile(
    r"^\s*(?:@\S+\s+)?(add|sub|mul|fma|div|sqrt|rcp|mad)((?:\.[a-z0-9:_]+)*)\.(f16|f16x2|bf16|bf16x2|f32|f32x2|f64)\b",
    re.M,
)
ROUNDING = {"rn", "rz", "rm", "rp", "approx", "full"}
FREE = re.compile(
    r"arith\.(mulf|divf)|math\.|tt\.(dot|dot_scaled|reduce|scan|extern_elementwise|elementwise_inline_asm|precise_)|fadd"
)
"""What a text has whose results may differ in the last bits: products that may be fused, functions, sums."""


def _cases(architectures: tuple[str, ...], names: list[str]) -> list:
    found = []
    for architecture in architectures:
        place = corpus_cases.ARCHITECTURES.index(architecture)
        for number, name in enumerate(names):
            marks = [] if (number + place) % SAMPLE_EVERY == 0 else [pytest.mark.slow]
            found.append(pytest.param(architecture, name, marks=marks, id=f"{architecture}-{name}"))
    return found


def _bare(ptx: str) -> list[str]:
    """Float operations that leave their rounding open, and that an assembler may fuse. Sums of f32 count beside
    products that may be fused."""
    found = [match for match in FLOAT_OPERATION.finditer(ptx) if not ROUNDING & set(match.group(2).split("."))]
    has_product = any(match.group(1) == "mul" and match.group(3) == "f32" for match in found)
    return [one.group(0) for one in found if has_product or one.group(1) not in ("add", "sub") or one.group(3) != "f32"]


def _assembled(name: str, architecture: str) -> dict:
    """A case's stages, verified after every pass. No float operation leaves its rounding open, and ptxas takes it."""
    text = corpus_launches.own_text(name) if (architecture, name) in LACKING else None
    compiled = corpus_cases.compile_case(name, architecture, text)
    ptx = compiled["ptx"]
    assert not _bare(ptx), "a float operation without rounding modifier: the assembler may fuse it"
    small_kernels.assemble(ptx, architecture)
    return compiled


NAMES = sorted(corpus_cases.texts())
ONLY_ASSEMBLED = tuple(name for name in corpus_cases.ARCHITECTURES if name not in corpus_cases.SIMULATED)


@pytest.mark.parametrize("architecture, name", _cases(ONLY_ASSEMBLED, NAMES))
def test_the_assembler_takes_it(architecture: str, name: str) -> None:
    _assembled(name, architecture)
    if ptxas.find() is None:
        pytest.skip("there is no ptxas")


@pytest.mark.parametrize("architecture, name", _cases(corpus_cases.SIMULATED, NAMES))
def test_agrees_with_the_interpreter(architecture: str, name: str, record_property) -> None:
    """And with an H200; the assembler takes it, and no check says anything."""
    compiled = _assembled(name, architecture)
    launch = corpus_launches.launch_of(name)
    outcome = corpus_launches.CheckedCode(compiled).run(launch)
    found, outcome.findings = outcome.findings, []
    assert {finding.check for finding in found} == ({"races"} if name in RACES else set()), [*map(str, found)]
    report = corpus_launches.compare(launch, outcome)
    verdict = corpus_launches.verdict(report)
    shown = f"{corpus_launches.NOT_COMPARABLE}: {OTHER[name]}" if name in OTHER else verdict
    record_property("count", f"{architecture}, compared with the interpreter: {shown}")
    if name in OTHER:
        return
    assert verdict != diff.DIFFERENT, str(report)
    reason = verdict.removeprefix(f"{corpus_launches.NOT_COMPARABLE}: ")
    assert (reason if reason != verdict else None) == NOT_COMPARABLE.get(name), str(report)
    if verdict == corpus_launches.BOUNDS:
        assert FREE.search(corpus_cases.texts()[name]), "none of its operations is free to give other bits"
    recorded = corpus_cases.recorded_case(name, architecture)
    if name in ORDER or "tcgen05.mma" in compiled["ptx"]:  # sums that nobody has recorded on a GPU
        assert not corpus_launches.reference_differences(name, launch, outcome)
    elif recorded is not None:
        assert not ptx_cases.differences(recorded, corpus_launches.written(launch, outcome))


def test_the_pattern_sees_bare_operations() -> None:
    lines = "\tadd.f64 \t%r1, %r2, %r3;\n\t@%p1 fma.ftz.f64 a;\n\tmul.sat.f16x2 a;\n\tdiv.bf16 a;\n"
    right = "\tadd.rn.f32 a;\n\tdiv.full.ftz.f32 a;\n\tsqrt.approx.f32 a;\n\tadd.s32 a;\n\tred.global.add.f32 [a], b;\n"
    assert len(_bare(lines)) == 4 and not _bare(right)
    assert not _bare("\tadd.f32 a;\n\tsub.ftz.f32 a;\n\tmul.rn.f32 a;\n")
    assert len(_bare("\tadd.f32 a;\n\tmul.f32 a;\n")) == 2


def test_the_checks_look() -> None:
    """Without its barriers a reduction is reported."""
    compiled = corpus_cases.compile_case("reduce_basic_fp32", "sm_90a")
    compiled["ptx"] = re.sub(r"bar\.sync\s+0;", "", compiled["ptx"])
    found = corpus_launches.CheckedCode(compiled).run(corpus_launches.launch_of("reduce_basic_fp32")).findings
    assert {finding.check for finding in found} == {"races", "uninitialized"}


def test_the_lists_are_current() -> None:
    assert set(ORDER) <= set(ptx_cases.recorded_names("sm_90"))
    assert {*RACES, *OTHER, *NOT_COMPARABLE} <= set(NAMES)
    assert set(ptx_cases.recorded_names("sm_90")) - set(NAMES) == set()
