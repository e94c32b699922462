"""What a compile worker of Inductor makes for a GPU, and what the process that asked for it gets. No GPU is needed."""

from __future__ import annotations

import pytest
from children import HERE, PACKAGE_PARENT, run

pytest.importorskip("torch")

START = """
import functools, os, pickle
from gpu_kernel_text import TEXT
from torch._inductor.codecache import _load_triton_kernel_from_source
from torch._inductor.runtime import triton_heuristics
from torch._inductor.runtime.cache_dir_utils import cache_dir, triton_cache_dir
from torch._inductor.runtime.compile_tasks import _worker_compile_triton
from torch._inductor.runtime.runtime_utils import triton_hash_to_path_key
import triton
from tiletwin.codegen import assembler

def from_worker(static):
    load = functools.partial(_load_triton_kernel_from_source, "triton_poi_fused_add_0", TEXT)
    kernel, _ = _worker_compile_triton(load, {}, {"use_static_triton_launcher": static})
    kernel = pickle.loads(pickle.dumps(kernel))
    kernel.restore_after_unpickle(old_values=None)
    return kernel
"""


def said_of(text: str, folder) -> list[str]:
    done = run("-c", START + text, paths=[HERE / "python" / "startup", HERE / "inductor"], timeout=600, TILETWIN="1",
               TEST_PACKAGE_PARENT=str(PACKAGE_PARENT), TORCHINDUCTOR_CACHE_DIR=str(folder))  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_kernel_with_its_stages(tmp_path) -> None:
    """What Inductor launches by Triton's own launcher: the stages and all that is known of the kernel come along."""
    said = said_of(
        """
kernel = from_worker(False)
for result in kernel.compile_results:
    binary = result.kernel
    print(type(result).__name__, binary.metadata.num_warps, binary.packed_metadata, binary.metadata.shared,
          ".target sm_90a" in binary.asm["ptx"], ("cubin" in binary.asm) == (assembler.find() is not None),
          kernel.fn.fn, kernel.fn.arg_names, kernel.fn.constexprs,
          "tl.store(out_ptr0" in kernel.fn.src, kernel.fn.cache_key == binary.src.fn.cache_key, binary.function)
""",
        tmp_path,
    )
    assert said and all(line.startswith("TritonCompileResult ") for line in said)
    for line in said:
        assert line.endswith("0 True True None ['in_ptr0', 'out_ptr0', 'xnumel', 'XBLOCK'] [3] True True None"), line


def test_a_cubin_that_inductors_launcher_loads(tmp_path) -> None:
    said = said_of(
        """
if assembler.find() is None:
    print("no ptxas")
    raise SystemExit
for result in from_worker(True).compile_results:
    kernel = result.kernel
    folder = os.path.join(triton_cache_dir(0), triton_hash_to_path_key(kernel.hash))
    with open(os.path.join(folder, f"{kernel.name}.cubin"), "rb") as file:
        print(type(result).__name__, kernel.arg_tys, kernel.full_constexprs, file.read() == kernel.cubin_raw)
    print(sorted(name.rpartition(".")[2] for name in os.listdir(folder)))
""",
        tmp_path,
    )
    if said == ["no ptxas"]:
        pytest.skip("there is no ptxas")
    assert said[0] == "StaticTritonCompileResult OOi [3] True"
    assert said[1] == "['cubin', 'json', 'json', 'llir', 'ptx', 'source', 'ttgir', 'ttir']"
    assert [folder.name.rpartition("-")[2] for folder in tmp_path.iterdir()] == ["gpu"], "nothing lies beside it"


def test_a_function_that_was_sent_cannot_be_compiled(tmp_path) -> None:
    said = said_of(
        """
fn = from_worker(False).fn
print(fn, pickle.loads(pickle.dumps(fn)).arg_names, fn.used_global_vals)
try: triton.compile(triton.compiler.ASTSource(fn, "*fp32, *fp32, i32, 8"), target="cuda:90")
except ValueError as error: print(error)
""",
        tmp_path,
    )
    assert said[0].endswith(":triton_poi_fused_add_0) ['in_ptr0', 'out_ptr0', 'xnumel', 'XBLOCK'] {}")
    assert said[1] == "triton_poi_fused_add_0 came from another process without its Python function: compile it there"
