"""Notes of what variables hold change no code: each kernel of the corpus is compiled with and without them.

What they say is judged where it is shown (tests/debugger/test_kernel_variables.py).
"""

from __future__ import annotations

import re

import corpus_cases
import corpus_launches
import pytest
import test_dots_in_flight as dots
import test_loads_of_operands as loads
import test_registers_held as rows
import tiletwin as triton
import tiletwin._codegen
import tiletwin.language as tl

OTHERWISE = {
    ("sm_90a", "desc_arg_fp32"): "an address is computed behind a wait instead of in front of it",
    ("sm_80", "none_index"): "a load of few elements is made once more, in the layout that its note has",
    ("sm_90a", "none_index"): "as on sm_80",
    ("sm_100a", "desc_arg_fp32"): "as on sm_90a",
    ("sm_100a", "none_index"): "as on sm_80",
}
"""Kernels whose code differs, and how."""
NOTED = "// tiletwin."


def code(text: str) -> list[str]:
    """The instructions: without notes, places in the source, and labels for debuggers."""
    lines = [re.sub(r"\s+", " ", line.partition("//")[0]).strip() for line in text.splitlines()]
    return [line for line in lines if line and not re.match(r"\.loc|\$L__(tmp|func_begin|func_end)\d+:", line)]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90a", "sm_100a"])
def test_code_is_the_same(architecture, monkeypatch):
    compared, differ = 0, set()
    for name in sorted(corpus_launches._cases()):
        monkeypatch.delenv("TILETWIN_DEBUG", raising=False)
        try:
            text = corpus_launches.own_text(name)
            plain = corpus_cases.compile_case(name, architecture, text, copied_loads=True)["ptx"]
        except (KeyError, ValueError, tiletwin.CompilationError, tiletwin._codegen.Error):
            continue  # for other architectures, or not for any
        monkeypatch.setenv("TILETWIN_DEBUG", "/nowhere")
        text = corpus_launches.own_text(name)
        noted = corpus_cases.compile_case(name, architecture, text, copied_loads=True)["ptx"]
        assert NOTED not in plain
        compared += 1
        if code(noted) != code(plain):
            differ.add((architecture, name))
    assert compared > 400
    assert differ == {known for known in OTHERWISE if known[0] == architecture}


@triton.jit
def row_sums(x, out, n, WIDTH: tl.constexpr):
    """Rows without their sum, which has a name and is added up."""
    at = tl.arange(0, WIDTH)
    total = 0.0
    for i in range(0, n):
        row = tl.load(x + i * WIDTH + at)
        found = tl.sum(row, 0)
        total = total + found
    tl.store(out, total)


KERNELS = {
    "row_sums": (row_sums, "*fp32:16, *fp32:16, i32, 512"),
    "scaled": (rows.scaled, "*fp32:16, *fp32:16, *fp32:16, *fp32:16, i32, 512"),
    "decayed": (loads.decayed, "*fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, 64, 32, 32, 0"),
    "narrowed": (loads.narrowed, "*fp16:16, *fp32:16, *fp16:16, *fp32:16, i32:16, i32:16, False, 16, 64, 32"),
}


@pytest.mark.parametrize(
    ("name", "warps"),
    [("row_sums", 1), ("row_sums", 4), ("scaled", 1), ("scaled", 4), ("decayed", 1), ("decayed", 2), ("narrowed", 4)],
)
def test_code_of_loops_is_the_same(name: str, warps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that threads add up first, lines read in several layouts, values computed behind a barrier."""
    kernel, signature = KERNELS[name]

    def ptx() -> str:
        return dots.code_of(triton.jit(kernel.fn), signature, num_warps=warps)["ptx"]

    monkeypatch.delenv("TILETWIN_DEBUG", raising=False)
    plain = ptx()
    monkeypatch.setenv("TILETWIN_DEBUG", "/nowhere")
    noted = ptx()
    assert code(noted) == code(plain) and NOTED not in plain
    marks = [at.start() for at in re.finditer(r"// tiletwin\.var: \d+ 0x1", noted)]
    read = re.search(r"ld\.global|cp\.async", noted)
    assert read and max(marks) > read.start()  # what was loaded is not there in front of that
