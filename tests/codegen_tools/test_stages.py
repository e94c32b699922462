"""kernel.asm and what a compiled kernel tells: made when asked for, once; errors that name the kernel's line."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from stage_doubles import SIGNATURE, GeneratorError, scale
from tiletwin import CompilationError, knobs
from tiletwin.codegen import assembler, generator
from tiletwin.compiler import ASTSource

STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "cubin")


def compiled(target: str | None = "cuda:90", **options):
    return triton.compile(ASTSource(scale, SIGNATURE), target=target, options=options)


def test_nothing_is_made_before_it_is_asked_for(doubles) -> None:
    kernel = compiled(num_warps=8)
    assert kernel.metadata.num_warps == 8 and kernel.name == "scale" and "made: none" in repr(kernel.asm)
    assert not doubles.generator.calls and not doubles.ptxas.calls
    assert kernel.asm["ptx"] is kernel.asm["ptx"] and ".maxntid 256" in kernel.asm["ptx"]
    assert kernel.asm["ttgir"].startswith("// tt.func public @scale") and kernel.asm["llir"].startswith("; llir")
    assert len(doubles.generator.calls) == 1 and not doubles.ptxas.calls
    assert kernel.asm["cubin"] == kernel.kernel == b"\x7fELF" + kernel.asm["ptx"].encode()
    assert kernel.asm["sass"] == f"sass of {len(kernel.asm['cubin'])} bytes"
    assert len(doubles.generator.calls) == len(doubles.ptxas.calls) == 1
    with pytest.raises(KeyError, match=r"no stage 'spirv'; available: source, ttir, ttgir, llir, ptx, cubin, sass"):
        kernel.asm["spirv"]


def test_what_the_generator_is_told(doubles) -> None:
    kernel = compiled("sm_80", num_warps=2, num_stages=5, maxnreg=96, enable_fp_fusion=False)
    _ = kernel.asm["ptx"]
    stage, text, file_name, target, options = doubles.generator.calls[0]
    assert (stage, file_name, target["arch"]) == ("ttir", scale.file, "sm_80")
    assert "tt.func public @scale" in text and f'loc("{scale.file}":' in text, "the text says where it comes from"
    assert options == {
        "num_warps": 2, "num_stages": 5, "num_ctas": 1, "maxnreg": 96, "enable_fp_fusion": False, "verify": True,
        "line_info": True, "enable_reflect_ftz": True,
    }  # fmt: skip
    with knobs.compilation.scope():
        knobs.compilation.disable_line_info = True
        _ = compiled("sm_80").asm["cubin"]
    assert doubles.generator.calls[1][4]["line_info"] is False and doubles.ptxas.calls[0][2] == []


def test_iteration_and_membership(doubles, monkeypatch) -> None:
    kernel = compiled()
    assert tuple(kernel.asm) == STAGES and len(kernel.asm) == 6 and "sass" not in kernel.asm
    assert dict(kernel.asm).keys() == set(STAGES)
    monkeypatch.setattr(assembler, "find", lambda: None)
    assert tuple(compiled().asm) == STAGES[:-1] and "cubin" in kernel.asm, "it was made"


def test_figures(doubles) -> None:
    kernel = compiled(num_warps=8)
    assert kernel.metadata.shared == 512 and kernel.packed_metadata == (8, 1, 512)
    assert not doubles.ptxas.calls
    assert (kernel.n_regs, kernel.n_spills) == (255, 2) and kernel.asm.binary.log.startswith("ptxas info")
    assert (kernel.metadata.registers, kernel.metadata.spills) == (255, 4)
    fields = kernel.metadata._asdict()
    assert fields["threads"] == 256 and fields["arguments"] == ["ptr", "ptr", "i32", "f32"]
    assert tuple(fields) == kernel.metadata._fields and list(kernel.metadata) == list(fields.values())
    with pytest.raises(AttributeError, match=r"has no field 'smem'; it has allowed_dot"):
        kernel.metadata.smem
    with pytest.raises(AttributeError, match=r"cannot be changed: shared"):
        kernel.metadata.shared = 3


def test_a_launch_on_the_cpu_makes_no_gpu_code(doubles) -> None:
    x, o = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    kernel = scale[(2,)](x, o, 100, 3.0)
    assert (o == 3 * x).all() and tuple(kernel.asm) == ("source", "ttir")
    assert (kernel.n_regs, kernel.n_spills, kernel.metadata.shared) == (0, 0, 0) and not doubles.generator.calls
    assert "scale" in kernel.asm["ptx"] and len(doubles.generator.calls) == 1, "it does where that is asked for"
    assert tuple(kernel.asm) == ("source", "ttir", "ttgir", "llir", "ptx")
    for_gpu = compiled()
    for_gpu[(2,)](x, o.fill(0) or o, 100, 2.0)
    assert (o == 2 * x).all()


def test_threads_get_one_text(doubles) -> None:
    kernel, texts = compiled(), []
    threads = [threading.Thread(target=lambda: texts.append(kernel.asm["cubin"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 8 and all(text is texts[0] for text in texts)
    assert len(doubles.generator.calls) == len(doubles.ptxas.calls) == 1


def test_an_error_shows_the_kernels_line(doubles) -> None:
    line = scale.first_line + 3
    doubles.generator.error = GeneratorError("tt.load is not implemented for sm_90a", scale.file, line, 27)
    with pytest.raises(CompilationError) as caught:
        compiled().asm["ptx"]
    error = caught.value
    assert (error.file, error.line, error.column) == (scale.file, line, 26)
    shown = str(error).splitlines()
    assert shown[0] == f"{scale.file}:{line}:27:" and "tl.load(x_ptr + i" in shown[1] and shown[2] == " " * 26 + "^"
    assert shown[3] == "tt.load is not implemented for sm_90a"
    doubles.generator.error = GeneratorError("no place")
    with pytest.raises(CompilationError, match=r"stage_doubles.py:\nno place"):
        compiled().asm["llir"]
    doubles.generator.error = None
    assert "scale" in compiled().asm["ptx"], "an error is not kept"


def test_without_a_generator_or_an_assembler(doubles, monkeypatch) -> None:
    monkeypatch.setattr(assembler, "find", lambda: None)
    kernel = compiled()
    assert "cubin" not in kernel.asm and ".entry scale" in kernel.asm["ptx"]
    assert kernel.metadata.registers is None and kernel.metadata._asdict()["shared"] == 512
    with pytest.raises(RuntimeError, match=r"(?s)needs ptxas, and none was found; looked at:.*\['ptx'\] works without"):
        kernel.asm["cubin"]

    def missing():
        raise RuntimeError("GPU code needs tiletwin's code generator")

    monkeypatch.setattr(generator, "extension", missing)
    kernel = compiled()
    assert "tt.func" in kernel.asm["ttir"]
    with pytest.raises(RuntimeError, match=r"code generator"):
        kernel.asm["ptx"]


def test_options_of_ptxas(doubles, monkeypatch, capsys) -> None:
    _ = compiled(ptx_options="-v --warn-on-spills").asm["cubin"]
    monkeypatch.setenv("PTXAS_OPTIONS", "--def-load-cache 'ca'")
    monkeypatch.setenv("DISABLE_PTXAS_OPT", "1")
    monkeypatch.setenv("TRITON_DUMP_PTXAS_LOG", "1")
    assert capsys.readouterr().out == ""
    _ = compiled().asm["cubin"]
    assert [call[2] for call in doubles.ptxas.calls] == [
        ["-v", "--warn-on-spills", "-lineinfo"],
        ["--def-load-cache", "ca", "--opt-level", "0", "-lineinfo"],
    ]
    assert capsys.readouterr().out == "ptxas info : Used 24 registers\n"


def test_a_listener_sees_all_stages(doubles, monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(knobs.compilation, "listener", lambda **facts: seen.append(facts))
    compiled()
    assert [stage for stage, _ in seen[0]["times"].lowering_stages] == ["ttir", "ptx", "cubin"]
    assert seen[0]["metadata"]["shared"] == 512 and seen[0]["cache_hit"] is False
    compiled()
    assert seen[1]["cache_hit"] is True and seen[1]["times"].lowering_stages == [("ttir", 0)]


def test_text_files(doubles, tmp_path) -> None:
    first = compiled()
    x, o = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        (tmp_path / f"kernel.{stage}").write_text(first.asm[stage])
    del doubles.generator.calls[:]
    ttir = triton.compile(tmp_path / "kernel.ttir", target="sm_80")
    ttir[(1,)](x, o, 64, 4.0)
    assert (o == 4 * x).all() and ttir.name == "scale" and ttir.asm["ttgir"] == first.asm["ttgir"]
    ttgir = triton.compile(tmp_path / "kernel.ttgir", target="sm_80")
    assert ttgir.name == "scale" and ttgir.asm.stages == ("ttgir", "llir", "ptx", "cubin", "sass")
    assert ttgir.asm["ttgir"] == first.asm["ttgir"] and ttgir.asm["llir"] == first.asm["llir"]
    assert [call[0] for call in doubles.generator.calls] == ["ttir", "ttgir"]
    with pytest.raises(RuntimeError, match=r"kernel.ttgir, which the interpreter cannot run; a .ttir file it can"):
        ttgir[(1,)](x, o, 64, 4.0)
    llir = triton.compile(tmp_path / "kernel.llir", target="sm_80")
    assert "; llir" in llir.asm["llir"] and "ttgir" not in llir.asm.stages and "scale" in llir.asm["ptx"]
    ptx = triton.compile(tmp_path / "kernel.ptx")
    assert ptx.name == "scale" and ptx.target.arch == 90 and ptx.metadata.num_warps == 4 and ptx.metadata.threads == 128
    assert ptx.asm["cubin"] == first.asm["cubin"] and len(doubles.generator.calls) == 3


@pytest.mark.parametrize("name", ["kernel.sass", "kernel.glir", "kernel"])
def test_files_of_other_stages(tmp_path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=r"only files of .ttir, .ttgir, .llir, .ptx, .amdgcn can be compiled here"):
        triton.compile(tmp_path / name)


def test_a_text_of_real_triton_is_explained(doubles, tmp_path) -> None:
    path = tmp_path / "kernel.ttgir"
    path.write_text("#blocked = #ttg.blocked<{sizePerThread = [4]}>\nmodule { tt.func public @add() { tt.return } }\n")
    doubles.generator.error = GeneratorError("unknown dialect", str(path), 1, 12)
    with pytest.raises(CompilationError, match=r"(?s)kernel.ttgir:1:12:\n#blocked = .*compile the .ttir instead"):
        triton.compile(path, target="sm_90a").asm["ptx"]


def test_ir_override(doubles, tmp_path) -> None:
    for stage in ("ttir", "ttgir", "ptx"):
        path = tmp_path / f"mine.{stage}"
        path.write_text(compiled().asm[stage].replace("scale", "mine"))
        assert "mine" in compiled(ir_override=str(path)).asm["ptx"], stage
    with pytest.raises(ValueError, match=r"has to end in one of the stages .ttir, .ttgir, .llir, .ptx, .cubin"):
        compiled(ir_override="mine.txt")
    with pytest.raises(ValueError, match=r"only a .ttir file can be interpreted"):
        scale[(1,)](np.zeros(64, np.float32), np.zeros(64, np.float32), 64, 1.0, ir_override=str(tmp_path / "mine.ptx"))


def test_names_given_by_repr(doubles) -> None:
    @triton.jit(repr=lambda s: f"fill_{s.constants['N']}")
    def fill(o_ptr, N: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, N), 1.0)

    kernel = triton.compile(ASTSource(fill, "*fp32, 16"), target="sm_75")
    assert kernel.name == "fill_16" and ".entry fill_16(" in kernel.asm["ptx"]
