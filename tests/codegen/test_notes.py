"""Notes of what variables hold change no code: each kernel of the corpus is compiled with and without them.

What they say is judged where it is shown (tests/debugger/test_kernel_variables.py).
"""

from __future__ import annotations

import re

import corpus_cases
import corpus_launches
import pytest
import tiletwin._codegen

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
