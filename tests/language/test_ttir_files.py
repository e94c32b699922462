"""Kernels from TTIR text: what Triton 3.9 printed for a kernel runs to the same bits as the kernel's source does.

`ttir/` holds the texts after Triton's passes, `source/` what its front end made before them.
"""

from __future__ import annotations

import functools
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
from kernel_cases import DATA, arguments, cases_of, differences, expected_cases
from test_kernels import waiting

# Texts that cannot run here, or not to the same bits, with the reason.
NOT_FROM_TEXT = {
    "target": "the text was made where there was no GPU: it holds other branches",
}
# Results may differ in the last places.
ACCUMULATED = "Triton's passes add a dot's accumulator inside the dot, ours behind it"
WITHIN_TOLERANCE = {
    f"ttir/{case}": ACCUMULATED
    for case in ("dot_acc_fp16_fp32", "dot_acc_fp16_fp16", "dot_acc_i8_i32", "dot_acc_bf16_fp32")
}


@functools.cache
def texts() -> dict[str, str]:
    """Text by "stage/case"."""
    with tarfile.open(DATA / "ttir.tar.xz") as archive:
        return {
            member.name.removesuffix(".ttir"): archive.extractfile(member).read().decode()
            for member in archive.getmembers()
            if member.name.endswith(".ttir")
        }


def parameters() -> list:
    found = []
    for file, case in expected_cases():
        for stage in ("ttir", "source"):
            if f"{stage}/{case}" not in texts():
                continue
            reason = waiting(file, case) or NOT_FROM_TEXT.get(case)
            marks = [pytest.mark.skip(reason=reason)] if reason else []
            found.append(pytest.param(stage, file, case, id=f"{stage}-{case}", marks=marks))
    return found


def run(compiled: Any, file: str, name: str) -> dict[str, Any]:
    made = arguments(file, name)
    case = cases_of(file)[name]
    compiled[case["grid"]](*[made[p] for p, kind in case["signature"].items() if kind != "constexpr"])
    return made


def raw(made: dict[str, Any]) -> dict[str, bytes]:
    tensors = {key: value for key, value in made.items() if isinstance(value, torch.Tensor)}
    return {key: value.contiguous().view(torch.uint8).numpy().tobytes() for key, value in tensors.items()}


@pytest.mark.parametrize(("stage", "file", "name"), parameters())
def test_text_runs_as_its_source(stage: str, file: str, name: str, tmp_path: Path) -> None:
    case = cases_of(file)[name]
    path = tmp_path / f"{name}.ttir"
    path.write_text(texts()[f"{stage}/{name}"])
    from_text = run(triton.compile(str(path), options=case["options"]), file, name)
    assert not differences(file, name, from_text)
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    from_source = run(triton.compile(source, options=case["options"]), file, name)
    if f"{stage}/{name}" not in WITHIN_TOLERANCE:
        assert raw(from_text) == raw(from_source)


def test_most_cases_have_a_text() -> None:
    cases = {case for _, case in expected_cases()}
    assert len({name.split("/")[1] for name in texts()} & cases) > 350
    assert set(NOT_FROM_TEXT) <= {name.split("/")[1] for name in texts()}
    assert set(WITHIN_TOLERANCE) <= set(texts())


def test_a_broken_text_is_an_error_with_a_place(tmp_path: Path) -> None:
    path = tmp_path / "broken.ttir"
    path.write_text("module {\n  tt.func public @k(%x: !tt.ptr<f32>) {\n    %a = tt.load %y : !tt.ptr<f32>\n    tt.return\n  }\n}\n")
    with pytest.raises(Exception, match=r"broken\.ttir:3"):
        triton.compile(str(path))
    path.write_text("module {\n}\n")
    with pytest.raises(ValueError, match="no public tt.func"):
        triton.compile(str(path))
    other = tmp_path / "kernel.ptx"
    other.write_text("")
    with pytest.raises(ValueError, match="a .ttir file can be compiled"):
        triton.compile(str(other))
