"""Kernels from TTIR text: what Triton 3.9 printed for a kernel runs to the same bits as the kernel's source does.

`ttir/` holds the texts after Triton's passes, `source/` what its front end made before them. Cases with stored values
run on the stored inputs, and are compared with these values too; the others run on inputs made here.
"""

from __future__ import annotations

import functools
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
from kernel_cases import DATA, arguments, cases_of, differences, expected_cases, made_arguments

# Texts that do not give the bits of their source, with the reason.
OTHER_BITS = {
    "target": "the text was made where there was no GPU: it holds other branches",
    "cuda_extras": "the kernel reads a clock",
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


@functools.cache
def files() -> dict[str, str]:
    """The kernel file of each case that has a text."""
    names = sorted(path.stem for path in (DATA / "kernels").glob("[kx]*.py"))
    found = {case: file for file in names for case in cases_of(file)}
    return {case: found[case] for case in sorted({name.split("/")[1] for name in texts()})}


@functools.cache
def stored_cases() -> set[str]:
    return {case for _, case in expected_cases()}


def run(compiled: Any, file: str, name: str) -> dict[str, Any]:
    case = cases_of(file)[name]
    made = arguments(file, name) if name in stored_cases() else made_arguments(case)
    compiled[case["grid"]](*[made[p] for p, kind in case["signature"].items() if kind != "constexpr"])
    return made


def raw(made: dict[str, Any]) -> dict[str, bytes]:
    tensors = {key: value for key, value in made.items() if isinstance(value, torch.Tensor)}
    for key, value in made.items():
        if isinstance(value, tuple):
            tensors |= {f"{key}.{i}": v for i, v in enumerate(value) if isinstance(v, torch.Tensor)}
    if "pp" in tensors:
        del tensors["pp"]  # addresses
    return {key: value.contiguous().view(torch.uint8).numpy().tobytes() for key, value in tensors.items()}


@pytest.mark.parametrize("name", files())
@pytest.mark.parametrize("stage", ["ttir", "source"])
def test_text_runs_as_its_source(stage: str, name: str, tmp_path: Path) -> None:
    if f"{stage}/{name}" not in texts():
        pytest.skip("Triton 3.9 makes no such text")
    file = files()[name]
    case = cases_of(file)[name]
    path = tmp_path / f"{name}.ttir"
    path.write_text(texts()[f"{stage}/{name}"])
    from_text = run(triton.compile(str(path), options=case["options"]), file, name)
    if name in stored_cases():
        assert not differences(file, name, from_text)
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    from_source = run(triton.compile(source, options=case["options"]), file, name)
    if f"{stage}/{name}" in WITHIN_TOLERANCE:
        return
    assert (raw(from_text) == raw(from_source)) != (name in OTHER_BITS)


@pytest.mark.parametrize("name", files())
def test_text_prints_and_parses_again(name: str, tmp_path: Path) -> None:
    """What is printed for a text is read to the same module."""
    path = tmp_path / "first.ttir"
    path.write_text(texts()[f"ttir/{name}"])
    options = cases_of(files()[name])[name]["options"]
    once = triton.compile(str(path), options=options).asm["ttir"]
    again = tmp_path / "again.ttir"
    again.write_text(once)
    assert triton.compile(str(again), options=options).asm["ttir"] == once


def test_most_cases_have_a_text() -> None:
    cases = {case for _, case in expected_cases()}
    assert len({name.split("/")[1] for name in texts()} & cases) > 350
    assert set(OTHER_BITS) <= set(files())
    assert set(WITHIN_TOLERANCE) <= set(texts())


def test_a_broken_text_is_an_error_with_a_place(tmp_path: Path) -> None:
    path = tmp_path / "broken.ttir"
    path.write_text(
        "module {\n  tt.func public @k(%x: !tt.ptr<f32>) {\n    %a = tt.load %y : !tt.ptr<f32>\n    tt.return\n  }\n}\n"
    )
    with pytest.raises(Exception, match=r"broken\.ttir:3"):
        triton.compile(str(path))
    path.write_text("module {\n}\n")
    with pytest.raises(ValueError, match=r"no public tt\.func"):
        triton.compile(str(path))
    other = tmp_path / "kernel.glsl"
    other.write_text("")
    with pytest.raises(ValueError, match=r"only files of \.ttir, .* can be compiled here"):
        triton.compile(str(other))
