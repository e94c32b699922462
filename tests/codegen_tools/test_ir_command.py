"""`tiletwin ir`: any stage of any kernel for any target; what a wrong word is answered with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from process_here import HERE, run_tiletwin

KERNEL = (f"{HERE / 'stage_doubles.py'}:scale", "-s", "*fp32:16 *fp32:16 i32 fp32")


def printed(*words: str, **environment: str) -> str:
    done = run_tiletwin("ir", *words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "tt.func public @scale(%x_ptr: !tt.ptr<f32>"),
        (("--stage", "plan"), "plan scale"),
        (("--target", "sm_90a"), ".target sm_90a\n"),
        (("-t", "cuda:80"), ".target sm_80\n"),
        (("-t", "cuda:89", "--stage", "ttir"), "tt.func public @scale("),
        (("--stage", "ttgir", "-t", "sm_75", "-o", "num_warps=2"), "#twg.linear<"),
        (("--stage", "llir"), "define "),
        (("--stage", "ptx", "-c", "BLOCK=128", "-o", "num_warps=8"), " 256\n"),
    ],
)
def test_stages(words: tuple[str, ...], text: str) -> None:
    assert text in printed(*KERNEL, *words)


def test_locations() -> None:
    assert "loc(" not in printed(*KERNEL) and "stage_doubles.py" in printed(*KERNEL, "--locations")


def test_kernels_by_module_and_alone(tmp_path: Path) -> None:
    types = ("-s", "*fp32 *fp32 i32 fp32")
    assert "@scale" in printed("stage_doubles:scale", *types) and "@scale" in printed("stage_doubles::scale", *types)
    (tmp_path / "one.py").write_text(
        "import triton\nimport triton.language as tl\n\n@triton.jit\ndef only(o_ptr):\n    tl.store(o_ptr, 1.0)\n"
    )
    assert "@only" in printed(str(tmp_path / "one.py"), "-s", "*fp32")


def test_files_and_out(tmp_path: Path) -> None:
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        assert printed(*KERNEL, "-t", "sm_80", "--stage", stage, "--out", str(tmp_path / f"k.{stage}")) == ""

    def instructions(ptx: str) -> list[str]:
        return [line for line in ptx.splitlines() if line.startswith("\t") and not re.match(r"\s*\.(loc|file)\b", line)]

    ptx = (tmp_path / "k.ptx").read_text()
    for stage in ("ttir", "ttgir", "llir"):
        again = printed(str(tmp_path / f"k.{stage}"), "-t", "sm_80")
        assert instructions(again) == instructions(ptx), stage
    assert "plan scale" in printed(str(tmp_path / "k.ttir"), "--stage", "plan")


def test_a_plan_says_the_form_of_every_value() -> None:
    text = printed(f"{HERE.parents[1] / 'demo' / 'kernels.py'}:row_softmax", "-s", "*fp32 *fp32 i32 i32",
                   "-c", "BLOCK=4096", "--stage", "plan")  # fmt: skip
    forms = dict(re.findall(r"^  \d+:\d+  (\S+ \(\w+\)|arith.divf)  (.*)$", text.partition("forms:\n")[2], re.M))
    assert (
        forms["tt.make_range (cols)"] == "affine: 0 + 1 * i0" and forms["arith.cmpi (mask)"] == "box mask: 0 <= i0 < n"
    )
    assert forms["arith.constant (x)"] == "splat: 0xff800000"  # -inf
    assert forms["tt.load (x)"] == "memory view"  # nothing is copied
    # What only the next operation of a chain reads never becomes a tile; a sum reads all of the exponentials.
    assert forms["arith.subf (x)"] == forms["arith.divf"] == "strip" and forms["math.exp (num)"] == "dense: 16384 bytes"


def test_machine_code(tmp_path: Path) -> None:
    from tiletwin.codegen import assembler
    from tiletwin.cuda import sass

    if assembler.find() is None:
        pytest.skip("there is no ptxas")
    assert printed(*KERNEL, "-t", "sm_80", "--stage", "cubin", "--out", str(tmp_path / "k.cubin")) == ""
    assert (tmp_path / "k.cubin").read_bytes().startswith(b"\x7fELF")
    if sass.find() is not None:
        assert "FMUL" in printed(*KERNEL, "-t", "sm_80", "--stage", "sass")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((*KERNEL, "--stage", "spirv"), "--stage must be one of source, ttir, plan, ttgir, llir, ptx, cubin, sass"),
        ((*KERNEL, "--target", "sm_9"), "no code generation for compute capability 9; known: 75, 80"),
        ((*KERNEL, "--target", "fast"), "'fast' is no target: write cuda:90, sm_90a or hip:gfx942"),
        ((*KERNEL, "-o", "num_warps"), "-o num_warps: write NAME=VALUE"),
        ((*KERNEL, "-o", "num_warps=3"), "num_warps must be a power of 2"),
        ((*KERNEL, "-t", "sm_100a", "-o", "ptx_version=84"), "sm_100a needs PTX 8.6 or newer, and ptx_version=84 was"),
        ((KERNEL[0],), "gives 0 types (); scale needs one for each of x_ptr, o_ptr, n, factor"),
        (("nothing.py:k",), "nothing.py: no such file"),
        (("no_such_module:k",), "no_such_module: there is no such file and no such module; write script.py:kernel"),
        (("nothing.ttgir",), "nothing.ttgir: no such file"),
        ((f"{HERE / 'stage_doubles.py'}:other",), "has no jit function other; it has scale"),
        ((*KERNEL, "--stage", "amdgcn"), "no stage 'amdgcn'; available: source, ttir, ttgir, llir, ptx, cubin, sass"),
        ((*KERNEL, "--stage", "ptx", "-t", "gfx942"), "no stage 'ptx'; available: source, ttir, ttgir, llir, amdgcn"),
    ],
)
def test_wrong_words(words: tuple[str, ...], text: str) -> None:
    done = run_tiletwin("ir", *words)
    assert done.returncode == 2 and text in done.stderr and done.stdout == "", done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1, "one message"


@pytest.mark.parametrize(
    ("name", "content", "words", "text"),
    [
        ("k.amdgcn", b"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n", ("-t", "sm_90"),
         "k.amdgcn: a text of amdgcn is for AMD GPUs; the target is cuda:90"),
        ("k.ptx", b".version 8.4\n.target sm_90\n", ("-t", "gfx942"),
         "k.ptx: a text of ptx is for NVIDIA GPUs; the target is hip:gfx942"),
        ("k.ptx", b".version 8.4\n.target sm_90\n", (), "k.ptx: this PTX has no .entry"),
        ("k.ttir", b"\xff\xfe\x00", (), "k.ttir: this is no text of ttir: 'utf-8' codec can't decode byte 0xff"),
    ],
)  # fmt: skip
def test_wrong_files(tmp_path: Path, name: str, content: bytes, words: tuple[str, ...], text: str) -> None:
    (tmp_path / name).write_bytes(content)
    done = run_tiletwin("ir", str(tmp_path / name), *words)
    assert done.returncode == 2 and text in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_file_whose_import_fails(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text('import triton\nTABLE = {}["a key"]\n')
    done = run_tiletwin("ir", f"{path}:k")
    assert done.returncode == 2 and f'File "{path}", line 2' in done.stderr.splitlines()[1], done.stderr
    assert done.stderr.splitlines()[-1] == "KeyError: 'a key'"


def test_the_default_of_a_later_stage_is_its_assembly(tmp_path: Path) -> None:
    for stage in ("ttgir", "llir", "ptx"):
        path = tmp_path / f"k.{stage}"
        assert printed(*KERNEL, "-t", "sm_80", "--stage", stage, "--out", str(path)) == ""
        assert ".entry scale(" in printed(str(path))


def test_a_dump_that_cannot_be_printed() -> None:
    done = run_tiletwin("ir", *KERNEL, "-t", "sm_80", TILETWIN_DUMP="cubin")
    assert done.returncode == 2 and done.stderr.startswith("tiletwin: TILETWIN_DUMP=cubin: a cubin is no text")


def test_an_error_of_the_kernel_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n@triton.jit\ndef bad(o_ptr):\n    tl.store(o_ptr, z)\n"
    )
    done = run_tiletwin("ir", str(path), "-s", "*fp32", "-t", "sm_80")
    assert done.returncode == 2 and f"{path}:6:21:" in done.stderr and "tl.store(o_ptr, z)" in done.stderr


def test_a_ptxas_that_is_not_there(tmp_path: Path) -> None:
    done = run_tiletwin("ir", *KERNEL, "-t", "sm_80", "--stage", "cubin", TILETWIN_PTXAS=str(tmp_path / "gone"))
    assert done.returncode == 2 and "TILETWIN_PTXAS names" in done.stderr and "Traceback" not in done.stderr
