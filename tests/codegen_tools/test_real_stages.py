"""Stages as the real code generator and the real ptxas make them: for every architecture, from every stage on."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from stage_doubles import SIGNATURE, scale
from tiletwin import CompilationError, sim
from tiletwin.codegen import assembler, targets
from tiletwin.compiler import ASTSource
from tiletwin.cuda import sass

ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]


def compiled(target: str = "cuda:90", **options):
    return triton.compile(ASTSource(scale, SIGNATURE), target=target, options=options)


def needs_ptxas() -> None:
    if assembler.find() is None:
        pytest.skip("there is no ptxas")


@pytest.mark.parametrize("capability", ARCHITECTURES)
def test_every_architecture_is_assembled(capability: int) -> None:
    needs_ptxas()
    kernel = compiled(f"cuda:{capability}")
    name = targets.ARCHITECTURES[capability].name
    assert f".target {name}\n" in kernel.asm["ptx"] and kernel.asm["cubin"].startswith(b"\x7fELF")
    assert 8 <= kernel.n_regs <= 255 and kernel.n_spills == 0
    if sass.find() is not None:
        assert "FMUL" in kernel.asm["sass"]
        from tiletwin.tools import disasm

        assert "FMUL" in disasm.get_sass(kernel.asm["cubin"], "scale")
        with pytest.raises(ValueError, match=r"no function 'other'; it has scale"):
            disasm.get_sass(kernel.asm["cubin"], "other")


def test_the_default_version_is_assembled_too(monkeypatch) -> None:
    """What is written where no assembler is known is PTX of that version."""
    needs_ptxas()
    for capability in ARCHITECTURES:
        version = targets.ARCHITECTURES[capability].default_ptx
        kernel = compiled(f"cuda:{capability}", ptx_version=version)
        assert kernel.asm["ptx"].count(f".version {targets.dotted(version)}\n") == 1 and kernel.asm["cubin"]


def instructions(ptx: str) -> list[str]:
    """The lines of PTX that are not about lines."""
    about_lines = re.compile(r"\s*\.(loc|file|section)\b")
    return [line for line in ptx.splitlines() if line.startswith("\t") and not about_lines.match(line)]


def test_compilation_goes_on_from_every_stage(tmp_path) -> None:
    first = compiled("sm_80", num_warps=8)
    for stage in ("ttir", "ttgir", "llir"):
        path = tmp_path / f"scale.{stage}"
        path.write_text(first.asm[stage])
        options = {"num_warps": 8} if stage == "ttir" else {}
        again = triton.compile(path, target="sm_80", options=options)
        assert instructions(again.asm["ptx"]) == instructions(first.asm["ptx"]), stage
        assert again.name == "scale" and again.metadata.num_warps == 8, "the text says so itself"
        assert again.metadata.shared == first.metadata.shared


def test_figures_agree_with_the_text() -> None:
    @triton.jit
    def total(x_ptr, o_ptr, N: tl.constexpr):
        tl.store(o_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N)), 0))

    kernel = triton.compile(ASTSource(total, "*fp32:16, *fp32, 1024"), target="sm_80", options={"num_warps": 4})
    assert kernel.metadata.shared >= 16 and ".extern .shared" in kernel.asm["ptx"], "a word for each warp"
    assert kernel.metadata.threads == 128 and re.search(r"\.(reqntid|maxntid) 128\b", kernel.asm["ptx"])
    assert list(kernel.metadata.arguments) == ["ptr", "ptr"]
    x, o = np.arange(1024, dtype=np.float32), np.zeros(1, np.float32)
    sim.load(kernel.asm["ptx"])["total"](x, o, grid=1, block=128, shared=kernel.metadata.shared)
    assert o[0] == x.sum()


def test_line_information() -> None:
    from tiletwin import knobs

    with_lines = compiled("sm_80").asm["ptx"]
    line = scale.first_line + 3
    assert re.search(r'\.file\s+1 "[^"]*stage_doubles\.py"', with_lines) and re.search(
        rf"\.loc\s+1 {line} ", with_lines
    )
    with knobs.compilation.scope():
        knobs.compilation.disable_line_info = True
        without = compiled("sm_80").asm["ptx"]
    assert "\t.loc" not in without and instructions(without) == instructions(with_lines)


def test_an_error_in_a_text_names_its_line(tmp_path) -> None:
    path = tmp_path / "broken.ttgir"
    text = compiled("sm_80").asm["ttgir"].replace("arith.mulf", "arith.mulx")
    path.write_text(text)
    number = next(n for n, line in enumerate(text.splitlines(), 1) if "arith.mulx" in line)
    with pytest.raises(CompilationError) as caught:
        triton.compile(path, target="sm_80").asm["ptx"]
    assert (caught.value.file, caught.value.line) == (str(path), number) and "arith.mulx" in caught.value.source_line
    path = tmp_path / "broken.llir"
    path.write_text("define void @f( {")
    with pytest.raises(CompilationError, match=r"broken\.llir"):
        triton.compile(path, target="sm_80").asm["ptx"]


def test_entries_on_disk_hold_what_was_made(tmp_path) -> None:
    needs_ptxas()
    first = compiled("sm_80")
    made = {stage: first.asm[stage] for stage in ("ttgir", "llir", "ptx", "cubin")}
    assert not first.asm.cached
    again = compiled("sm_80")
    assert {stage: again.asm[stage] for stage in made} == made and again.asm.cached
    assert again.metadata._asdict() == first.metadata._asdict() and again.asm.binary == first.asm.binary


def test_without_ptxas(monkeypatch, tmp_path) -> None:
    """Where no CUDA toolkit is installed PTX is made, a cubin is not, and the message says what to do."""
    from tiletwin import toolkit

    monkeypatch.setattr(toolkit, "places", lambda name: iter([toolkit.Place("PATH", tmp_path / "bin" / name)]))
    monkeypatch.setattr(assembler, "_driver_ptx", lambda: None)
    kernel = compiled("sm_80")
    assert ".version 8.4\n.target sm_80\n" in kernel.asm["ptx"] and tuple(kernel.asm)[-1] == "ptx"
    assert kernel.metadata.registers is None and kernel.metadata.num_warps == 4
    with pytest.raises(RuntimeError) as caught:
        kernel.asm["cubin"]
    lines = str(caught.value).splitlines()
    assert lines[0] == "a cubin needs ptxas, and none was found; looked at:"
    assert lines[1] == f"  PATH: {tmp_path}/bin/ptxas: not there"
    assert lines[2].startswith("Install one (pip install nvidia-cuda-nvcc), or name it in TILETWIN_PTXAS; ")


def test_the_driver_chooses_the_version_where_it_assembles(monkeypatch) -> None:
    monkeypatch.setattr(assembler, "find", lambda: None)
    monkeypatch.setattr(assembler, "_driver_ptx", lambda: 83)
    assert ".version 8.3\n" in compiled("sm_80").asm["ptx"]
    with pytest.raises(ValueError, match=r"sm_100a needs PTX 8.6 or newer, and the driver takes PTX 8.3 at most"):
        compiled("sm_100a").asm["ptx"]
