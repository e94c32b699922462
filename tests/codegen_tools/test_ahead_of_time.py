"""Kernels as C source: what is written compiles against cuda.h, and its calls of the driver are those of a launch.

The driver is one of a few functions in C that notes what it is told; its notes are compared with what the cubin and the
arguments say. No GPU is needed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import children
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process_here import HERE
from tiletwin.codegen import assembler
from tiletwin.tools.compile import CompileArgs, c_type, compile_kernel
from tiletwin.tools.link import LinkerError, link

INCLUDE = next((p for p in map(Path, ("/usr/local/cuda/include", "/usr/include")) if (p / "cuda.h").exists()), None)
pytestmark = pytest.mark.skipif(
    assembler.find() is None or INCLUDE is None or shutil.which("cc") is None, reason="needs ptxas, cuda.h and cc"
)

DRIVER = r"""
#include "linked.h"
#include <stdio.h>
#include <string.h>
static const void* loaded;
CUresult cuModuleLoadData(CUmodule* m, const void* image) {
  loaded = image; *m = (CUmodule)image;
  printf("load %02x%c%c%c\n", ((const unsigned char*)image)[0], ((const char*)image)[1], ((const char*)image)[2],
         ((const char*)image)[3]);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule m) { printf("unload\n"); return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  *f = (CUfunction)m; printf("function %s\n", name);
  return strcmp(name, "scaled") ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) { printf("attribute %d\n", v); return 0; }
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream s, void** a, void** extra) {
  printf("launch %u %u %u, %u %u %u, %u:", x, y, z, bx, by, bz, shared);
  printf(" %llx %llx", *(unsigned long long*)a[0], *(unsigned long long*)a[1]);
  int n = 2;
  if (a[3]) printf(" %d", *(int*)a[n++]);
  printf(" %g %s\n", *(float*)a[n], a[n + 1] ? "more" : "end");
  return CUDA_SUCCESS;
}
int main(void) {
  printf("algorithms %d\n", my_get_num_algos());
  printf("%d\n", my_default(0, 0x100, 0x200, 100, 1.5f));
  printf("%d\n", my_default(0, 0x104, 0x200, 100, 1.5f));
  printf("%d\n", my_default(0, 0x104, 0x204, 1, 2.5f));
  printf("%d\n", my(0, 0x100, 0x200, 0, 1.5f, 0));
  printf("%d\n", my(0, 0x100, 0x200, 100, 1.5f, 1));
  printf("%d\n", my(0, 0x100, 0x200, 100, 1.5f, 2));
  printf("%d\n", unload_my());
  return 0;
}
"""


@triton.jit
def scaled(x_ptr, BLOCK: tl.constexpr, o_ptr, n, factor):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


def written(signature: str, folder: Path, **more) -> tuple[str, list[Path]]:
    given = {"num_warps": 2, "target": "sm_80", "out_name": "my", "grid": "(n + BLOCK - 1) / BLOCK, 1, 1", **more}
    return compile_kernel(CompileArgs(__file__, "scaled", signature, out_path=folder / "my", **given))


def test_a_program_that_launches(tmp_path: Path) -> None:
    headers = []
    for signature, warps in [
        ("*fp32:16, 64, *fp32:16, i32, fp32", 2),
        ("*fp32, 64, *fp32, i32, fp32", 2),
        ("*fp32, 64, *fp32, i32:1, fp32", 2),
        ("*fp32, 64, *fp32, i32, fp32", 4),
    ]:
        name, files = written(signature, tmp_path, num_warps=warps)
        assert all(path.exists() for path in files) and [path.suffix for path in files] == [".h", ".c"]
        assert (
            name.rpartition("_")[2]
            == {"*fp32:16": "0d1d", "*fp32": "2c" if ":1" in signature else ""}[signature.split(",")[0]]
        )
        headers.append(files[0])
    link(headers, tmp_path / "linked", prefix="")
    (tmp_path / "main.c").write_text(DRIVER)
    sources = [str(tmp_path / "main.c"), str(tmp_path / "linked.c"), *(str(h.with_suffix(".c")) for h in headers)]
    program = tmp_path / "program"
    built = subprocess.run(
        ["cc", "-Wall", "-Werror", "-Wno-unused-variable", f"-I{INCLUDE}", *sources, "-o", str(program)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    lines = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    loading = ["load 7fELF", "function scaled"]
    assert lines == [
        "algorithms 2",
        *loading, "launch 2 1 1, 64 1 1, 0: 100 200 100 1.5 end", "0",
        *loading, "launch 2 1 1, 64 1 1, 0: 104 200 100 1.5 end", "0",
        *loading, "launch 1 1 1, 64 1 1, 0: 104 204 2.5 end", "0",
        "0",
        *loading, "launch 2 1 1, 128 1 1, 0: 100 200 100 1.5 end", "0",
        "1",
        "unload", "unload", "unload", "unload", "0",
    ]  # fmt: skip


def test_what_is_written(tmp_path: Path) -> None:
    name, (header, source) = written("*fp16:16, 64, *fp32, u32, fp16", tmp_path)
    text = header.read_text()
    assert (
        f"// tt-linker: {name}:CUdeviceptr x_ptr, CUdeviceptr o_ptr, uint32_t n, uint16_t factor:64_warps2xstages3"
        in text
    )
    kernel = triton.compile(
        triton.ASTSource(scaled, "*fp16:16, 64, *fp32, u32, fp16"), target="sm_80", options={"num_warps": 2}
    )
    numbers = source.read_text().split("= {\n", 1)[1].split("};", 1)[0]
    embedded = bytes(int(word) for word in numbers.replace("\n", " ").split(",") if word.strip())
    assert hashlib.sha256(embedded).digest() == hashlib.sha256(kernel.asm["cubin"]).digest()
    assert 'module, "scaled")' in source.read_text() and "sm_80: BLOCK=64, num_warps=2" in source.read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signature": "*fp32, *fp32, i32, fp32"}, r"has 4 entries; scaled has the 5 parameters x_ptr, BLOCK, o_ptr"),
        ({"grid": "1, 1"}, r"the grid '1, 1' has to be three expressions"),
        ({"target": "gfx942"}, r"for 'cuda' targets only"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, change: dict, message: str) -> None:
    given = {"signature": "*fp32, 64, *fp32, i32, fp32", **change}
    with pytest.raises(ValueError, match=message):
        written(given.pop("signature"), tmp_path, **given)


def test_types() -> None:
    assert [c_type(k) for k in ("*fp32", "i1", "u8", "i64", "bf16", "fp64")] == [
        "CUdeviceptr", "int8_t", "uint8_t", "int64_t", "uint16_t", "double",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"type tensordesc<fp16\[8, 8\]> cannot be passed from C"):
        c_type("tensordesc<fp16[8, 8]>")


def test_headers_that_do_not_fit(tmp_path: Path) -> None:
    _, (one, _) = written("*fp32, 64, *fp32, i32, fp32", tmp_path)
    _, (other, _) = written("*fp32, 64, *fp32, i64, fp32", tmp_path)
    with pytest.raises(LinkerError, match=r"my\(CUdeviceptr, CUdeviceptr, int64_t, float\) does not fit to my\(CUdev"):
        link([one, other], tmp_path / "linked")
    (tmp_path / "none.h").write_text("int x;\n")
    with pytest.raises(LinkerError, match=r"none.h has no line '// tt-linker: ...'"):
        link([tmp_path / "none.h"], tmp_path / "linked")


def test_commands(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess:
        return children.run("-m", *words, paths=[HERE])

    signature = ("-s", "*fp32, 64, *fp32, i32, fp32", "-g", "n, 1, 1")
    done = run(
        "tiletwin.tools.compile", __file__, "-n", "scaled", *signature, "-t", "cuda:80:32", "-o", f"{tmp_path}/k"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (header,) = tmp_path.glob("k.*.h")
    done = run("tiletwin.tools.link", str(header), "-o", str(tmp_path / "linked"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "CUresult scaled_default(CUstream stream, CUdeviceptr x_ptr" in (tmp_path / "linked.h").read_text()
    done = run("tiletwin.tools.compile", __file__, "-n", "other", *signature)
    assert done.returncode == 2 and "has no jit function other" in done.stderr and "Traceback" not in done.stderr
    (tmp_path / "bad.py").write_text('TABLE = {}["a key"]\n')
    done = run("tiletwin.tools.compile", str(tmp_path / "bad.py"), "-n", "k", *signature)
    assert done.returncode == 2 and done.stderr.splitlines()[1].endswith('bad.py", line 1, in <module>'), done.stderr
    done = run("tiletwin.tools.link", __file__, "-o", str(tmp_path / "linked"))
    assert done.returncode == 2 and "it is no header of triton.tools.compile" in done.stderr
