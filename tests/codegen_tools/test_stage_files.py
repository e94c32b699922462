"""Dumps of stages, and files that replace them, by the variables that ask for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiletwin as triton
from stage_doubles import SIGNATURE, scale
from tiletwin.compiler import ASTSource

ALL = ("source", "ttir", "ttgir", "llir", "ptx", "cubin", "sass")


def compiled(**options):
    return triton.compile(ASTSource(scale, SIGNATURE), target="cuda:90", options=options)


def test_a_folder_gets_every_stage(doubles, monkeypatch, tmp_path) -> None:
    folder = tmp_path / "new" / "dump"
    monkeypatch.setenv("TILETWIN_DUMP", str(folder))
    kernel = compiled()
    name = f"scale-{kernel.hash[:8]}"
    assert {path.name for path in folder.iterdir()} == {f"{name}.{stage}" for stage in ALL}
    for stage in ALL:
        content = kernel.asm[stage]
        assert (folder / f"{name}.{stage}").read_bytes() == (content if stage == "cubin" else content.encode())
    compiled(num_warps=8)
    assert len(list(folder.iterdir())) == 2 * len(ALL), "another specialization, other names"


def test_dumps_come_from_the_cache_too(doubles, monkeypatch, tmp_path) -> None:
    _ = compiled().asm["cubin"]
    monkeypatch.setenv("TILETWIN_DUMP", str(tmp_path / "dump"))
    compiled()
    assert len(doubles.generator.calls) == 1 and len(list((tmp_path / "dump").iterdir())) == len(ALL)


def test_stages_are_printed(doubles, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TILETWIN_DUMP", "ptx, ttgir")
    compiled()
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("// ----- ") == 2
    assert shown.err.startswith(
        "// ----- ttgir of scale -----\n// tt.func public @scale\n\n// ----- ptx of scale -----\n.version"
    )
    monkeypatch.setenv("TILETWIN_DUMP", "ptx,cubin")
    with pytest.raises(RuntimeError, match=r"TILETWIN_DUMP=ptx,cubin: a cubin is no text; name a folder"):
        compiled()
    monkeypatch.setenv("TILETWIN_DUMP", "ptx,ttgirr")
    with pytest.raises(RuntimeError, match=r"TILETWIN_DUMP=ptx,ttgirr: ttgirr is no stage; there are source, ttir,"):
        compiled()


def test_a_folder_of_overrides_that_is_not_there(doubles, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match=r"TILETWIN_OVERRIDE=.*nothing: there is no such folder; correct or unset"):
        compiled()


@pytest.mark.parametrize(
    ("variable", "value", "stages"),
    [
        ("MLIR_ENABLE_DUMP", "1", ["ttir", "ttgir"]),
        ("MLIR_ENABLE_DUMP", "scale", ["ttir", "ttgir"]),
        ("MLIR_ENABLE_DUMP", "other", []),
        ("MLIR_ENABLE_DUMP", "0", []),
        ("LLVM_IR_ENABLE_DUMP", "1", ["llir"]),
        ("NVPTX_ENABLE_DUMP", "1", ["ptx"]),
    ],
)
def test_variables_of_triton_that_print(doubles, monkeypatch, capsys, variable, value, stages) -> None:
    monkeypatch.setenv(variable, value)
    compiled()
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("// -----")]
    assert lines == [f"// ----- {stage} of scale -----" for stage in stages]


def test_tritons_folder(doubles, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    kernel = compiled()
    (folder,) = (tmp_path / "dump").iterdir()
    assert {path.name for path in folder.iterdir()} == {f"scale.{stage}" for stage in ALL}
    assert kernel.metadata_group["scale.ptx"] == str(folder / "scale.ptx")


def test_a_launch_on_the_cpu_dumps_what_it_makes(doubles, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TILETWIN_DUMP", str(tmp_path / "dump"))
    x = np.zeros(64, np.float32)
    triton.jit(scale.fn)[(1,)](x, x, 64, 2.0)
    assert sorted(path.suffix for path in (tmp_path / "dump").iterdir()) == [".source", ".ttir"]
    assert not doubles.generator.calls


def changed(stage: str, content: str) -> str:
    return content.replace("scale", "changed") if stage != "ttir" else content.replace("mulf", "addf")


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx"])
@pytest.mark.parametrize("form", ["hash", "name", "triton"])
def test_a_file_replaces_a_stage(doubles, monkeypatch, tmp_path, capsys, stage: str, form: str) -> None:
    original = compiled()
    folder = tmp_path / "override"
    name = f"scale-{original.hash[:8]}.{stage}" if form == "hash" else f"scale.{stage}"
    if form == "triton":
        monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
        monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(folder))
        from tiletwin.runtime import cache

        folder = Path(cache.get_override_manager(original.src.hash()).cache_dir)  # type: ignore[attr-defined]
    else:
        monkeypatch.setenv("TILETWIN_OVERRIDE", str(folder))
    folder.mkdir(parents=True)
    (folder / name).write_text(changed(stage, original.asm[stage]))
    capsys.readouterr()
    kernel = compiled()
    assert kernel.asm.replaced == []
    assert kernel.asm[stage] != original.asm[stage] and kernel.asm[stage] == changed(stage, original.asm[stage])
    said = capsys.readouterr()
    assert said.err.splitlines().count(f"tiletwin: scale is compiled from {folder / name}") == 1
    assert said.out == "", "the stage itself may go there"
    assert kernel.asm.replaced == ([] if stage == "ttir" else [str(folder / name)])
    if stage in ("ttgir", "llir"):
        assert doubles.generator.calls[-1][:3] == (stage, kernel.asm[stage], str(folder / name))
        assert ".entry changed(" in kernel.asm["ptx"] and kernel.metadata.name == "scale"
    if stage == "ptx":
        assert doubles.ptxas.calls == [] and b".entry changed(" in kernel.asm["cubin"]
    if stage == "ttir":
        x, o = np.full(64, 3, np.float32), np.zeros(64, np.float32)
        kernel[(1,)](x, o, 64, 2.0)
        assert (o == 5).all() and kernel.asm["ptx"] and "addf" in doubles.generator.calls[-1][1]


def test_a_binary_replaces_the_cubin(doubles, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    (tmp_path / "scale.cubin").write_bytes(b"\x7fELF mine")
    kernel = compiled()
    assert kernel.asm["cubin"] == b"\x7fELF mine" and kernel.n_regs == 255


def test_a_dump_changed_by_hand_is_taken(doubles, monkeypatch, tmp_path) -> None:
    """The round trip that both variables are for."""
    monkeypatch.setenv("TILETWIN_DUMP", str(tmp_path))
    compiled()
    monkeypatch.delenv("TILETWIN_DUMP")
    (path,) = tmp_path.glob("*.ptx")
    path.write_text(path.read_text().replace("ret;", "exit;"))
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    assert "exit;" in compiled().asm["ptx"]
