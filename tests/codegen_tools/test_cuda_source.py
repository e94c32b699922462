"""Kernels as CUDA C++: nvcc compiles what is exported, and its PTX gives the original's bits on the simulator.

The originals are the texts that real Triton made (tests/data/ptx), kernels of our own code generator, and texts of
each form.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process_here import run_tiletwin
from tiletwin import sim
from tiletwin.compiler import ASTSource
from tiletwin.errors import PtxError
from tiletwin.tools import cuda_source
from tiletwin.tools.cuda_export import cuda_source_of_ptx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sim"))
import ptx_cases

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
# A call, a structure as parameter, printing, an assertion, shared memory with wgmma, parameters of one byte.
ALWAYS = ("call_noinline", "desc_arg_fp32", "prints", "asserts_debug", "mm_loop_fp16", "scalar_args", "early_return")
SAMPLE_EVERY = 12


def nvcc(text: str, architecture: str, folder: Path, *, to: str = "-ptx") -> str:
    """What nvcc makes of a CUDA C++ text, which it has to take without a warning, but for unused parameters."""
    source, made = folder / "kernel.cu", folder / "kernel.out"
    source.write_text(text)
    run = subprocess.run(["nvcc", to, f"-arch={architecture}", str(source), "-o", str(made)], capture_output=True,
                         text=True)  # fmt: skip
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return made.read_text() if to == "-ptx" else ""


def assembled(ptx: str, architecture: str, folder: Path) -> None:
    """ptxas takes what nvcc wrote: a call has the parameters of what is called."""
    (folder / "kernel.ptx").write_text(ptx)
    words = ["ptxas", f"-arch={architecture}", str(folder / "kernel.ptx"), "-o", str(folder / "kernel.cubin")]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def _cases() -> list:
    found = []
    for architecture in ptx_cases.ARCHITECTURES:
        for number, name in enumerate(ptx_cases.all_cases(architecture)):
            always = architecture == "sm_90" and name in ALWAYS
            if number % SAMPLE_EVERY == 0 or always:
                marks = [] if always else [pytest.mark.slow]
                found.append(pytest.param(architecture, name, marks=marks, id=f"{architecture}-{name}"))
    return found


@needs_nvcc
@pytest.mark.parametrize("architecture, name", _cases())
def test_same_bits_as_the_original(architecture: str, name: str, tmp_path: Path) -> None:
    case = ptx_cases.all_cases(architecture)[name]
    target = "sm_90a" if architecture == "sm_90" else architecture
    text = nvcc(cuda_source(case.text), target, tmp_path)
    assembled(text, target, tmp_path)
    if name not in ptx_cases.recorded_names(architecture):
        return  # it has no inputs
    want, got = ptx_cases.run(case), ptx_cases.run(case._replace(text=text))
    for argument, values in want.items():
        assert values.tobytes() == got[argument].tobytes(), argument


@pytest.mark.parametrize("architecture", ptx_cases.ARCHITECTURES)
def test_every_text_can_be_exported(architecture: str) -> None:
    for name, case in list(ptx_cases.all_cases(architecture).items())[::3]:
        text = cuda_source(case.text)
        body = text[text.index('extern "C" __global__') :]
        assert f" {case.entry}(" in body.splitlines()[0] and "$L__" not in text, name
        instructions = len(re.findall(r"^\s*(?:@!?%p\d+\s+)?(?:ld|st|mma|wgmma|fma|add|mul|shfl)\b", case.text, re.M))
        assert text.count('\\n"') > instructions, f"{name}: an instruction was dropped"


@triton.jit
def mixed(x_ptr, o_ptr, default, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.float32)
    total = tl.sum(x, 0)
    tl.store(o_ptr + i, (x * scale + total + default).to(tl.float16), mask=i < n)


MIXED = "*bf16:16, *fp16, i64, i32, fp32, 256"


@functools.cache
def mixed_kernel():
    return triton.compile(ASTSource(mixed, MIXED), target="sm_90a", options={"num_warps": 2})


def test_names_types_and_launch_of_our_own_kernel() -> None:
    text = cuda_source(mixed_kernel())
    shared = mixed_kernel().metadata.shared
    assert (
        'extern "C" __global__ void __launch_bounds__(64) mixed('
        "__nv_bfloat16* x_ptr, __half* o_ptr, long long default_, int n, float scale) {"
    ) in text
    assert "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" in text and f"mixed_shared = {shared};" in text
    assert "//     nvcc -arch=sm_90a ..." in text
    assert "//     mixed<<<grid, mixed_threads, mixed_shared>>>(x_ptr, o_ptr, default_, n, scale);" in text
    line = mixed.first_line + 3
    assert f"  // {Path(__file__).name}:{line}\n" in text, "what the assembly belongs to"


@needs_nvcc
@pytest.mark.parametrize("name", [None, "another_name"])
def test_our_own_kernel(name: str | None, tmp_path: Path) -> None:
    kernel = mixed_kernel()
    made = nvcc(cuda_source(kernel, name), "sm_90a", tmp_path)
    nvcc(cuda_source(kernel, name), "sm_90a", tmp_path, to="-c")  # the host's part, too
    x = np.random.default_rng(1).integers(0x3F00, 0x4100, 500).astype(np.uint16)
    results = []
    for text, entry in ((kernel.asm["ptx"], "mixed"), (made, name or "mixed")):
        o = np.zeros(512, np.float16)
        sim.load(text)[entry](x, o, 3, 500, 1.5, grid=2, block=64, shared=kernel.metadata.shared)
        results.append(o)
    assert results[0][:500].all() and not results[0][500:].any() and results[0].tobytes() == results[1].tobytes()


HEAD = ".version 8.4\n.target sm_80\n.address_size 64\n"


def exported(body: str, head: str = "", parameters: str = ".param .u64 k_param_0", **options) -> str:
    return cuda_source_of_ptx(f"{HEAD}{head}.visible .entry k({parameters})\n{{\n{body}\n}}\n", **options)


def test_registers_and_labels_get_names_of_their_own() -> None:
    text = exported(
        ".reg .b32 %r<3>; .reg .pred %p<2>; .reg .b64 %SP;\nmov.u32 %r1, %tid.x;\n$L__tmp0:\n@%p1 bra $L__BB0_2;\n"
        "mov.b32 %r2|%p1, %r1;\n$L__BB0_2:\nst.global.u32 [%SP], _r9;\nret;"
    )
    assert '"  .reg .b32 __r<3>; .reg .pred __p<2>; .reg .b64 __SP;\\n"' in text, "_r9 is taken"
    assert '"  mov.u32 __r1, %%tid.x;\\n"' in text and '"  mov.b32 __r2|__p1, __r1;\\n"' in text
    assert '"  @__p1 bra BB0_2_%=;\\n"' in text and '"  BB0_2_%=:\\n"' in text and "tmp0" not in text


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("ret;", []),
        ("bar.sync 0;\nret;", ["bar.sync 0;"]),
        ("@%p1 ret;\nbar.sync 0;\nret;", ["@%%p1 bra end_%=;", "bar.sync 0;", "end_%=:"]),
        ("bar.sync 0;\n@%p1 ret;", ["bar.sync 0;", "@%%p1 bra end_%=;", "end_%=:"]),
        ("@%p1 bra $L__BB0_1;\nret.uni;\n$L__BB0_1:\nexit;", ["@%%p1 bra BB0_1_%=;", "bra end_%=;", "BB0_1_%=:",
                                                              "exit;", "end_%=:"]),
    ],
)  # fmt: skip
def test_returns(body: str, lines: list[str]) -> None:
    found = re.findall(r'^    "  (.*)\\n"', exported(body), re.MULTILINE)
    assert [line for line in found if "_in_" not in line] == lines


def test_parameters_are_operands() -> None:
    parameters = (
        ".param .u64 .ptr .global .align 16 k_param_0, .param .f32 k_param_1, .param .b16 k_param_2, "
        ".param .u8 k_param_3, .param .align 64 .b8 k_param_4[128], .param .u32 k_param_5, .param .u64 k_param_6"
    )
    text = exported(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %rs<9>;\n"
        "ld.param.b64 %rd1, [k_param_0];\nld.param.b32 %r1, [k_param_1];\nld.param.b16 %rs1, [k_param_2];\n"
        "ld.param.b8 %rs2, [k_param_3];\nld.param.b64 %rd2, [k_param_4+8];\nld.param.s32 %rd3, [k_param_5];\n"
        "ld.param.b32 %r2, [k_param_6];\nmov.b64 %rd4, k_param_4;",
        parameters=parameters,
    )
    assert (
        "k(void* param_0, float param_1, unsigned short param_2, unsigned char param_3, const __grid_constant__ "
        in text
    )
    assert "struct __align__(64) param_4_bytes { unsigned long long words[16]; };" in text
    for line in (
        "mov.b64 _rd1, _in_param_0;", "mov.b32 _r1, _in_param_1;", "mov.b16 _rs1, _in_param_2;",
        "ld.param.b8 _rs2, [k_param_3];", "ld.param.b64 _rd2, [k_param_4+8];", "cvt.s64.s32 _rd3, _in_param_5;",
        "ld.param.b32 _r2, [k_param_6];", "mov.b64 _rd4, k_param_4;",
        ".reg .b32 _in_param_1; mov.f32 _in_param_1, %1;",
    ):  # fmt: skip
        assert line in re.sub(" +", " ", text), line
    assert '"l"(param_0), "f"(param_1), "h"((unsigned short)param_2), "r"(param_5) : "memory"' in text
    renamed = exported("ld.param.b8 %rs2, [other];", parameters=".param .u8 other", name="f")
    assert "[f_param_0]" in renamed, "by the name that nvcc gives it"


def test_variables_are_operands() -> None:
    head = (
        ".extern .shared .align 16 .b8 smem[];\n.shared .align 8 .b64 barrier;\n.global .align 4 .f32 table[2] = "
        "{0f3F800000, 0fBF800000};\n.const .align 4 .u32 factor = 7;\n.global .align 1 .b8 unused[4];\n"
    )
    text = exported(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.b32 %r1, smem;\nmov.b64 %rd1, smem+32;\nst.shared.b32 [smem+4], %r1;\n"
        "mbarrier.init.shared.b64 [barrier], 1;\nmov.u64 %rd2, table;\nld.const.u32 %r2, [factor];",
        head=head,
    )
    for line in (
        "extern __shared__ __align__(16) unsigned char smem[];",
        "static __shared__ __align__(8) unsigned long long barrier;",
        "static __device__ __align__(4) unsigned table[2] = {0x3F800000, 0xBF800000};",
        "static __constant__ __align__(4) unsigned factor = {7};", "mov.b32 _r1, _in_smem;",
        "cvt.u64.u32 _rd1, _in_smem; add.u64 _rd1, _rd1, 32;", "st.shared.b32 [_in_smem+4], _r1;",
        "mbarrier.init.shared.b64 [_in_barrier], 1;", "mov.b64 _rd2, _in_table;", "ld.const.u32 _r2, [_in_factor];",
        '"r"((unsigned)__cvta_generic_to_shared(smem))', '"l"(__cvta_generic_to_constant(&factor))',
    ):  # fmt: skip
        assert line in text, line
    assert "unused" not in text


def test_launch_bounds() -> None:
    directives = ".maxntid 64, 2\n.minnctapersm 3\n.maxnreg 96\n.reqnctapercluster 2, 1, 1\n"
    ptx = f"{HEAD}.visible .entry k()\n{directives}{{\nret;\n}}\n"
    text = cuda_source_of_ptx(ptx, shared=100_000)
    assert "__global__ void __launch_bounds__(128, 3) __cluster_dims__(2, 1, 1) k() {" in text
    assert "-maxrregcount=96 gives it" in text and "cudaFuncAttributeMaxDynamicSharedMemorySize, k_shared" in text


@needs_nvcc
def test_forms_that_nvcc_takes(tmp_path: Path) -> None:
    """Every kind of variable, and a function that takes and returns structures: compiled, and run."""
    function = (
        ".func (.param .align 16 .b8 func_retval0[16]) swap(.param .align 8 .b8 swap_param_0[16], "
        ".param .b32 swap_param_1)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<2>;\nld.param.b64 %rd1, [swap_param_0];\n"
        "ld.param.b64 %rd2, [swap_param_0+8];\nld.param.b32 %r1, [swap_param_1];\ncvt.u64.u32 %rd0, %r1;\n"
        "add.u64 %rd1, %rd1, %rd0;\n"
        "st.param.b64 [func_retval0], %rd2;\nst.param.b64 [func_retval0+8], %rd1;\nret;\n}\n"
    )
    variables = (
        ".shared .align 8 .b8 own[64];\n.global .align 4 .u32 table[4] = {1, 2, 3, 0x10};\n"
        ".const .align 8 .b64 big = 0x123456789ABCDEF0;\n"
    )
    body = (
        ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<2>;\nld.param.u64 %rd1, [k_param_0];\n"
        "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 2;\n@%p1 bra $L__done;\nmov.u64 %rd2, table;\n"
        "mad.wide.u32 %rd2, %r1, 4, %rd2;\nld.global.u32 %r2, [%rd2];\nld.const.u64 %rd3, [big];\n"
        "mov.u32 %r3, own;\nshl.b32 %r4, %r1, 3;\nadd.u32 %r3, %r3, %r4;\nst.shared.u64 [%r3], %rd3;\n"
        "ld.shared.u64 %rd4, [%r3];\n{\n.param .align 8 .b8 param0[16];\n.param .b32 param1;\n"
        ".param .align 16 .b8 retval0[16];\nst.param.b64 [param0], %rd4;\nst.param.b64 [param0+8], 5;\n"
        "st.param.b32 [param1], %r2;\ncall.uni (retval0), swap, (param0, param1);\nld.param.b64 %rd5, [retval0];\n"
        "ld.param.b64 %rd6, [retval0+8];\n}\nmad.wide.u32 %rd7, %r1, 16, %rd1;\nst.global.u64 [%rd7], %rd5;\n"
        "st.global.u64 [%rd7+8], %rd6;\n$L__done:\nret;"
    )
    original = f"{HEAD}{variables}{function}.visible .entry k(.param .u64 k_param_0)\n{{\n{body}\n}}\n"
    made = nvcc(cuda_source(original), "sm_80", tmp_path)
    assembled(made, "sm_80", tmp_path)
    for text in (original, made):
        o = np.zeros((4, 2), np.uint64)
        sim.load(text)["k"](o, grid=1, block=32)
        assert o.tolist() == [[5, 0x123456789ABCDEF0 + n] for n in (1, 2, 3)] + [[0, 0]]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (HEAD, ValueError, r"the PTX has the entries none; choose one"),
        (HEAD + ".entry a() { ret; }\n.entry b() { ret; }", ValueError, r"the PTX has the entries a, b; choose one"),
        (HEAD + ".alias a, b;", PtxError, r"line 4: this is not known here: .alias a, b;"),
        (HEAD + ".entry a() { ret; ", PtxError, r"line 4: braces do not match"),
        (HEAD + ".global .u64 p = other;\n.entry a() { mov.u64 %rd1, p; }", PtxError,
         r"line 4: p begins with the address of other, which C\+\+ cannot say here"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported(text: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        cuda_source(text)


@pytest.mark.parametrize("name", ["1 2", "a-b", "class", "float", "xor", "decltype", "é"])
def test_names_that_no_function_has(name: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be the name of a function in C\+\+; name= \(--name\)"):
        cuda_source(HEAD + ".entry a() { ret; }", name)


def test_words_of_python_are_names_in_cpp() -> None:
    assert "void def(" in cuda_source(HEAD + ".entry a() { ret; }", "def")


def test_one_of_several_entries() -> None:
    text = HEAD + ".entry a() { ret; }\n.entry b() { exit; }"
    assert "void b() {" in cuda_source_of_ptx(text, "b") and "exit;" in cuda_source_of_ptx(text, "b")
    with pytest.raises(ValueError, match=r"entries a, b; none is c"):
        cuda_source_of_ptx(text, "c")


def test_command(tmp_path: Path) -> None:
    words = [f"{__file__}:mixed", "-s", MIXED, "-t", "sm_80"]
    done = run_tiletwin("export", *words, "--out", str(tmp_path / "mixed.cu"), "--name", "mine")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "__global__ void __launch_bounds__(128) mine(" in (tmp_path / "mixed.cu").read_text()
    done = run_tiletwin("export", *words)
    assert done.stdout.startswith("// mixed: PTX of tiletwin for sm_80, as inline assembly.\n")
    done = run_tiletwin("export", *words[:-1], "gfx942")
    assert done.returncode == 2 and "mixed is compiled for hip; CUDA C++ takes PTX only" in done.stderr
