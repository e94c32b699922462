"""AMD GPUs as a target: assembly, code objects, figures, options, refusals. That the code computes what it should is
tests/codegen/test_amd_code.py's business."""

from __future__ import annotations

import inspect
import re
import shutil
import struct
import subprocess
import sys

import pytest
import stage_doubles
import tiletwin as triton
import tiletwin.language as tl
from stage_doubles import SIGNATURE, scale
from tiletwin import CompilationError
from tiletwin.backends.compiler import GPUTarget
from tiletwin.codegen import code_object, lld
from tiletwin.compiler import ASTSource
from tiletwin.errors import OptionError

GFX942 = GPUTarget("hip", "gfx942", 64)
ARCHITECTURES = ["gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"]
ELF_AMDGPU = 224


def compiled(fn, signature, target="hip:gfx942", constants=None, **options):
    return triton.compile(ASTSource(fn, signature, constants or {}), target=target, options=options)


def needs_lld() -> None:
    if lld.find() is None:
        pytest.skip("there is no ld.lld")


@triton.jit
def row_sums(x_ptr, o_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * N + tl.arange(0, N))
    tl.store(o_ptr + tl.program_id(0), tl.sum(x, 0))


@triton.jit
def product(a_ptr, b_ptr, o_ptr, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(o_ptr + i * N + j, tl.dot(tl.load(a_ptr + i * N + j), tl.load(b_ptr + i * N + j)))


@triton.jit
def floats(x_ptr, y_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(o_ptr + i, x * y + x)
    tl.store(o_ptr + N + i, x / y)
    tl.store(o_ptr + 2 * N + i, tl.sqrt(x))


# --- stages -----------------------------------------------------------------------------------------------------------


def test_the_target_gives_assembly() -> None:
    """As the signature is written in Triton, and as text."""
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "factor": "fp32"}
    kernel = triton.compile(ASTSource(scale, signature, {"BLOCK": 64}), target=GFX942)
    assert kernel.asm.stages == ("source", "ttir", "ttgir", "llir", "amdgcn", "hsaco")
    assert "define amdgpu_kernel void @scale(" in kernel.asm["llir"]
    assert "amdgcn-amd-amdhsa" in kernel.asm["llir"] and "nvvm" not in kernel.asm["llir"]
    text = kernel.asm["amdgcn"]
    assert '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"' in text and ".amdhsa_kernel scale" in text
    assert "global_load_dword" in text and "global_store_dword" in text and "s_cbranch_execz" in text
    line = next(n for n, row in enumerate(inspect.getsource(stage_doubles).splitlines(), 1) if "tl.store" in row)
    assert re.search(r'\.file\s+1 .*"stage_doubles\.py"', text) and re.search(rf"\.loc\s+1 {line} \d+", text)
    assert "ptx" not in kernel.asm and kernel.metadata.threads == 4 * 64
    assert kernel.metadata.warp_size == 64 and kernel.metadata.arch == "gfx942"


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_has_code(arch: str) -> None:
    kernel = compiled(row_sums, "*fp32:16, *fp32:16", f"hip:{arch}", {"N": 1024})
    text = kernel.asm["amdgcn"]
    lanes = 64 if arch.startswith("gfx9") else 32
    assert f"--{arch}" in text and kernel.target.warp_size == lanes
    assert f'"amdgpu-flat-work-group-size"="{4 * lanes},{4 * lanes}"' in kernel.asm["llir"]
    if shutil.which("llvm-mc-22"):
        words = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "-o", "/dev/null"]
        done = subprocess.run(words, input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_unknown_architectures_are_named() -> None:
    for target, message in [
        (GPUTarget("hip", "gfx999", 64), r"gfx999: this LLVM does not know it"),
        (GPUTarget("hip", "gfx942", 32), r"a warp of gfx942 has 64 threads, not 32"),
        (GPUTarget("hip", "gfx1100", 64), r"a warp of gfx1100 has 32 threads, not 64"),
        (GPUTarget("hip", "gfx803", 32), r"no code is made for gfx803"),
    ]:
        with pytest.raises(CompilationError, match=message):
            compiled(row_sums, "*fp32, *fp32", target, {"N": 64}).asm["amdgcn"]


@pytest.mark.parametrize("warps", [1, 4])
def test_reductions_shuffle_64_lanes(warps: int) -> None:
    kernel = compiled(row_sums, "*fp32:16, *fp32:16", constants={"N": 4096}, num_warps=warps)
    llir, text = kernel.asm["llir"], kernel.asm["amdgcn"]
    assert llir.count("call i32 @llvm.amdgcn.ds.bpermute") == 6 and text.count("ds_bpermute_b32") == 6
    assert ("s_barrier" in text) == (warps > 1) == (kernel.metadata.shared > 0)
    lanes = re.search(r"lane = (\[\[.*?\]\])", kernel.asm["ttgir"])[1]
    assert lanes.count("[") - 1 == 6


@pytest.mark.parametrize("kind", ["fp16", "fp32", "i8"])
def test_dots_are_multiply_adds(kind: str) -> None:
    kernel = compiled(product, f"*{kind}:16, *{kind}:16, *{'i32' if kind == 'i8' else 'fp32'}:16", constants={"N": 32})
    text = kernel.asm["amdgcn"]
    assert 'instruction = "fma"' in kernel.asm["ttgir"] and "mfma" not in text
    assert ("v_mad_u" in text or "v_mul" in text) if kind == "i8" else re.search(r"\bv_(pk_)?fma", text)


def test_floats_are_exact() -> None:
    """Without fusion no product is added in one step, but for those of exact division and roots themselves."""
    signature, constants = "*fp32:16, *fp32:16, *fp32:16", {"N": 256}
    apart = compiled(floats, signature, constants=constants, num_warps=4, enable_fp_fusion=False)
    assert (
        not re.search(r"\b(contract|fast|afn|arcp|reassoc)\b", apart.asm["llir"])
        and "llvm.fma" not in apart.asm["llir"]
    )
    assert "fdiv float" in apart.asm["llir"] and "llvm.sqrt.f32" in apart.asm["llir"]
    assert "v_div_fixup_f32" in apart.asm["amdgcn"] and "v_mad_f32" not in apart.asm["amdgcn"]
    assert apart.asm["amdgcn"].count("v_rcp_f32") == apart.asm["amdgcn"].count("v_div_fixup_f32")
    assert (
        ".amdhsa_float_denorm_mode_32 3" in apart.asm["amdgcn"]
        and ".amdhsa_float_round_mode_32 0" in apart.asm["amdgcn"]
    )
    fused = compiled(floats, signature, constants=constants, num_warps=4, enable_fp_fusion=True)
    assert fused.asm["llir"].count("llvm.fma.f32(") == 2  # a call and the declaration


# --- code objects -----------------------------------------------------------------------------------------------------


def symbols(image: bytes) -> dict[str, int]:
    """The dynamic symbols of an ELF file with their types."""
    sections, size, count = struct.unpack_from("<Q", image, 40)[0], *struct.unpack_from("<HH", image, 58)
    headers = [struct.unpack_from("<IIQQQQII", image, sections + i * size) for i in range(count)]
    found = {}
    for header in headers:
        if header[1] != 11:  # SHT_DYNSYM
            continue
        names = headers[header[6]][4]
        for at in range(header[4], header[4] + header[5], 24):
            name, info = struct.unpack_from("<IB", image, at)
            end = image.index(b"\0", names + name)
            found[image[names + name : end].decode()] = info & 15
    return found


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_code_objects_hold_the_kernel(arch: str) -> None:
    needs_lld()
    kernel = compiled(scale, SIGNATURE, f"hip:{arch}")
    image = kernel.asm["hsaco"]
    assert image.startswith(b"\x7fELF") and struct.unpack_from("<HH", image, 16) == (3, ELF_AMDGPU)
    found = symbols(image)
    assert found["scale"] == 2 and found["scale.kd"] == 1  # a function, and its descriptor: an object
    assert kernel.kernel == image and "hsaco" in kernel.asm
    again = compiled(scale, SIGNATURE, f"hip:{arch}")
    assert again.asm["hsaco"] == image and again.asm.cached


def test_the_assembler_is_llvms() -> None:
    """What is assembled here is, section by section, what llvm-mc makes of the same text."""
    if not (shutil.which("llvm-mc-22") and shutil.which("llvm-objcopy-22")):
        pytest.skip("there is no llvm-mc")
    from tiletwin import _codegen

    text = compiled(row_sums, "*fp32:16, *fp32:16", constants={"N": 1024}).asm["amdgcn"]
    mine = _codegen.assemble(
        text, "kernel.amdgcn", {"backend": "hip", "capability": 0, "arch": "gfx942", "warp_size": 64}
    )
    words = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj", "-o", "-"]
    theirs = subprocess.run(words, input=text.encode(), capture_output=True, check=True).stdout
    assert mine == theirs


def test_without_a_linker(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(lld, "places", lambda: iter([lld.Place("PATH", tmp_path / "ld.lld")]))
    kernel = compiled(scale, SIGNATURE)
    assert tuple(kernel.asm)[-1] == "amdgcn" and kernel.n_regs > 0
    with pytest.raises(RuntimeError, match=r"needs LLVM's linker ld\.lld(.|\n)*ld\.lld\n(.|\n)*TRITON_HIP_LLD_PATH"):
        kernel.asm["hsaco"]
    monkeypatch.undo()
    monkeypatch.setenv("TRITON_HIP_LLD_PATH", str(tmp_path / "nothing"))
    with pytest.raises(RuntimeError, match=r"TRITON_HIP_LLD_PATH names .*nothing, which is no program"):
        kernel.asm["hsaco"]


def test_a_changed_text_is_what_is_assembled(monkeypatch, tmp_path) -> None:
    needs_lld()
    kernel = compiled(scale, SIGNATURE)
    text, before = kernel.asm["amdgcn"], kernel.asm["hsaco"]
    (tmp_path / "scale.amdgcn").write_text(text.replace("s_endpgm", "s_nop 7\n\ts_endpgm"))
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    changed = compiled(scale, SIGNATURE)
    assert "s_nop 7\n" in changed.asm["amdgcn"] and changed.asm["hsaco"] != before
    (tmp_path / "scale.amdgcn").write_text(text.replace("s_endpgm", "s_endprogram"))
    with pytest.raises(CompilationError) as caught:
        compiled(scale, SIGNATURE).asm["hsaco"]
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "s_endpgm" in row)
    assert caught.value.line == line and "s_endprogram" in caught.value.source_line


def test_files_of_assembly_are_compiled_on(tmp_path) -> None:
    needs_lld()
    kernel = compiled(scale, SIGNATURE)
    path = tmp_path / "scale.amdgcn"
    path.write_text(kernel.asm["amdgcn"])
    read = triton.compile(path)
    assert read.target == GFX942 and read.name == "scale" and read.asm["hsaco"] == kernel.asm["hsaco"]
    assert read.n_regs == kernel.n_regs
    for stage in ("ttir", "ttgir", "llir"):
        path = tmp_path / f"scale.{stage}"
        path.write_text(kernel.asm[stage])
        assert code_object.kernel_name(triton.compile(path, target="hip:gfx942").asm["amdgcn"]) == "scale"


# --- figures and options ----------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_assembly() -> None:
    kernel = compiled(row_sums, "*fp32:16, *fp32:16", constants={"N": 4096}, num_warps=8)
    text = kernel.asm["amdgcn"]
    wanted = {name: int(re.search(rf"\.{key}\s+(\d+)", text)[1]) for name, key in
              {"shared": "amdhsa_group_segment_fixed_size", "vector": "amdhsa_next_free_vgpr"}.items()}  # fmt: skip
    assert kernel.metadata.shared == wanted["shared"] == 8 * 4 and kernel.metadata.spills == kernel.n_spills == 0
    assert kernel.metadata.registers == kernel.n_regs == wanted["vector"] and kernel.metadata.scalar_registers > 0
    told = code_object.figures(text)
    assert told.threads == 512 and told.scratch == 0


def test_spills_are_bytes() -> None:
    text = compiled(scale, SIGNATURE).asm["amdgcn"]
    assert code_object.figures(text).spills == 0
    for key, value in [("vgpr_spill_count", 5), ("private_segment_fixed_size", 36), ("sgpr_spill_count", 3)]:
        text, count = re.subn(rf"(\.{key}:\s+)0\n", rf"\g<1>{value}\n", text)
        assert count == 1
    told = code_object.figures(text)
    assert told.spills == 20 and told.scratch == 36
    with pytest.raises(ValueError, match=r"no \.amdgpu_metadata"):
        code_object.figures(text.replace(".amdgpu_metadata", ".metadata"))


def test_options_of_amd_gpus() -> None:
    hints = {"matrix_instr_nonkdim": 16, "kpack": 2, "schedule_hint": "none", "allow_flush_denorm": False}
    kernel = compiled(scale, SIGNATURE, waves_per_eu=2, **hints)
    assert '"amdgpu-waves-per-eu"="2"' in kernel.asm["llir"]
    assert all(getattr(kernel.metadata, name) == value for name, value in hints.items())
    plain = compiled(scale, SIGNATURE)
    assert "amdgpu-waves-per-eu" not in plain.asm["llir"]
    assert compiled(scale, SIGNATURE, **hints).asm["amdgcn"] == plain.asm["amdgcn"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxnreg": 64}, r"maxnreg=64 is an option for NVIDIA GPUs; the target is gfx942"),
        ({"num_ctas": 2}, r"num_ctas=2 is an option for NVIDIA GPUs"),
        ({"ptx_version": 84}, r"ptx_version=84 is an option for NVIDIA GPUs"),
        ({"launch_pdl": True}, r"launch_pdl=True is an option for NVIDIA GPUs"),
        ({"waves_per_eu": -1}, r"waves_per_eu must be an int >= 0, not -1"),
        ({"matrix_instr_nonkdim": 5}, r"matrix_instr_nonkdim must be one of 0, 4, 16, 32, not 5"),
        ({"kpack": 3}, r"kpack must be 1 or 2, not 3"),
        ({"cluster_dims": (2, 1, 1)}, r"clusters are not compiled for AMD GPUs"),
        ({"warp_size": 32}, r"a warp of gfx942 has 64 threads"),
        ({"arch": "gfx90a"}, r"arch='gfx90a': the target is gfx942"),
    ],
)
def test_options_that_are_refused(options, message) -> None:
    with pytest.raises(OptionError, match=message):
        compiled(scale, SIGNATURE, **options)


def test_too_many_warps_and_too_much_shared_memory_are_errors() -> None:
    with pytest.raises(CompilationError, match=r"num_warps=32 of 64 threads: a program has at most 1024 threads"):
        compiled(scale, SIGNATURE, num_warps=32).asm["amdgcn"]


# --- refusals ---------------------------------------------------------------------------------------------------------


@triton.jit
def uses_atomics(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(o_ptr + i, tl.load(x_ptr + i))  # here


@triton.jit
def uses_print(x_ptr, o_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x)  # here


@triton.jit
def uses_sin(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, tl.sin(tl.load(x_ptr + i)))  # here


@triton.jit
def uses_libdevice(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, tl.extra.libdevice.tanh(tl.load(x_ptr + i)))  # here


@triton.jit
def uses_assembly(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)  # here
    tl.store(o_ptr + i, y)


@triton.jit
def uses_histogram(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    counts = tl.histogram(tl.load(x_ptr + i).to(tl.int32), N)  # here
    tl.store(o_ptr + i, counts.to(tl.float32))


@triton.jit
def uses_a_descriptor(x_ptr, o_ptr, N: tl.constexpr):
    rows = tl.make_tensor_descriptor(x_ptr, [N, N], [N, 1], [N, N])  # here
    tl.store(o_ptr + tl.arange(0, N), tl.sum(rows.load([0, 0]), 0))


@pytest.mark.parametrize(
    ("kernel", "operation"),
    [
        (uses_atomics, "tt.atomic_rmw"),
        (uses_print, "tt.print"),
        (uses_sin, "__ocml_sin_f32"),
        (uses_libdevice, "__nv_tanhf"),
        (uses_assembly, "tt.elementwise_inline_asm"),
        (uses_histogram, "tt.histogram"),
        (uses_a_descriptor, "tt.make_tensor_descriptor"),
    ],
)
def test_what_has_no_code_is_refused_at_its_line(kernel, operation) -> None:
    made = compiled(kernel, "*fp32:16, *fp32:16", constants={"N": 64})
    with pytest.raises(CompilationError) as caught:
        made.asm["amdgcn"]
    message = str(caught.value)
    assert operation in message and "gfx942" in message, message
    assert caught.value.file == __file__ and "# here" in caught.value.source_line, message


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command_prints_assembly() -> None:
    place = f"{__file__.replace('test_amd_target', 'stage_doubles')}:scale"
    words = [sys.executable, "-m", "tiletwin", "ir", place, "-s", SIGNATURE, "--target", "gfx942"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and ".amdhsa_kernel scale" in done.stdout, done.stderr
