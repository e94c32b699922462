"""torch.compile on a GPU with tiletwin as its Triton: the functions of compiled_cases.py, caches, what does not fit.

Not here:  the same while kernels are interpreted (test_compiled.py), compile workers without a GPU
           (test_gpu_workers.py), the operators that torch knows (op_db.py).
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from children import HERE, PACKAGE_PARENT, run
from test_compiled import CASES, FILE

pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
STATIC = "TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER"


def printed(*words: Any, **values: str) -> str:
    """What a script prints that runs on the GPU."""
    values = {"TILETWIN": "1", "TEST_PACKAGE_PARENT": str(PACKAGE_PARENT), **values}
    done = run(*words, paths=[HERE / "python" / "startup"], timeout=1500, **values)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def outcome(request, tmp_path_factory):
    chosen = {case for item in request.session.items for case in CASES if f"[{case}-" in item.name}

    @functools.cache
    def of(launcher: str) -> dict[str, str]:
        """Of the cases that this run of the tests has, in one process."""
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path_factory.mktemp(launcher))}
        said = printed(FILE, "cuda", *sorted(chosen), **caches, **{STATIC: str(int(launcher == "inductor"))})
        return json.loads(next(line for line in said.splitlines() if line.startswith('{"results"')))["results"]

    return of


@pytest.mark.parametrize("launcher", ["inductor", "kernel"])
@pytest.mark.parametrize("case", CASES)
def test_compiled_is_as_eager(outcome, case: str, launcher: str) -> None:
    """launcher: Inductor's own, which loads the cubin, or `CompiledKernel.run`."""
    assert outcome(launcher)[case] == ""


def test_caches_are_found_again_and_apart_from_tritons(tmp_path) -> None:
    text = """
import torch, triton
compiled = torch.compile(lambda x: (x + 1).sum(-1))
result = compiled(torch.ones(3, 5, device="cuda")).tolist()
counters = torch._dynamo.utils.counters["inductor"]
print(triton.__name__, result, counters["fxgraph_cache_hit"], counters["triton_bundler_load_static_autotuner"])
"""
    first, second = (printed("-c", text, TORCHINDUCTOR_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.split("\n")[0] == "tiletwin [10.0, 10.0, 10.0] 0 0"
    assert second.split("\n")[0] == "tiletwin [10.0, 10.0, 10.0] 1 1"
    assert [folder.name.rpartition("-")[2] for folder in tmp_path.iterdir()] == ["gpu"]


def test_compile_workers_compile_with_tiletwin(tmp_path) -> None:
    """Inductor starts them on its own; a kernel that one of them made has no Python function here."""
    text = """
import torch
import torch._inductor.config as config
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.runtime import triton_heuristics
config.compile_threads = 2
AsyncCompile.wait_pool_ready()
made = []
launcher = triton_heuristics.CompileResult._gen_launcher_code
triton_heuristics.CompileResult._gen_launcher_code = lambda *a: made.append(a[0]) or launcher(*a)
compiled = torch.compile(lambda x: torch.softmax(x, -1) * 2)
x = torch.randn(100, 300, device="cuda")
torch.testing.assert_close(compiled(x), torch.softmax(x, -1) * 2)
kernels = [result.kernel for result in made]
print([getattr(kernel, "src", kernel) and type(kernel).__name__ for kernel in kernels])
print(all(getattr(getattr(kernel, "src", None), "fn", None) is None or kernel.src.fn.fn is None for kernel in kernels))
"""
    for static, kind in (("1", "StaticallyLaunchedCudaKernel"), ("0", "CompiledKernel")):
        said = printed("-c", text, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / static), **{STATIC: static}).splitlines()
        assert kind in said[-2] and said[-1] == "True", said


def test_what_does_not_fit_is_passed_over(tmp_path) -> None:
    """Of a kernel's configurations Inductor takes those that the GPU has shared memory for."""
    script = Path(tmp_path, "large.py")
    script.write_text("""
import torch, triton
import triton.language as tl

def product(configs):
    @triton.autotune(configs, key=[])
    @triton.jit
    def kernel(a, b, out, K, B: tl.constexpr):
        i = tl.arange(0, B)
        total = tl.zeros((B, B), tl.float32)
        for k in range(0, K, B):
            x = tl.load(a + i[:, None] * K + k + i[None, :])
            total = tl.dot(x, tl.load(b + (k + i)[:, None] * B + i[None, :]), total)
        tl.store(out + i[:, None] * B + i[None, :], total)

    def function(a, b):
        out = torch.empty(128, 128, device="cuda")
        kernel[(1,)](a, b, out, a.shape[1], B=128)
        return out * 2

    return torch.compile(function)

a, b = (torch.randn(*shape, device="cuda", dtype=torch.float16) for shape in ((128, 1024), (1024, 128)))
large, small = (triton.Config({}, num_stages=stages, num_warps=4) for stages in (7, 2))
result = product([large, small])(a, b)
torch.testing.assert_close(result, 2 * (a.float() @ b.float()), rtol=1e-2, atol=1e-1)
print("taken")
try:
    product([large])(a, b)
except Exception as error:
    print("out of resource" in str(error).lower() or "OutOfMemoryError" in str(error), str(error)[:300])
""")
    said = printed(script, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "caches")).splitlines()
    assert said[0] == "taken" and said[1].startswith("True"), said


def test_graphs_of_launches(tmp_path) -> None:
    text = """
import torch
layers = torch.nn.Sequential(*(torch.nn.LayerNorm(64) for _ in range(3))).cuda().requires_grad_(False)
compiled = torch.compile(layers, mode="reduce-overhead")
for i in range(5):
    x = torch.randn(10, 64, device="cuda")
    torch.testing.assert_close(compiled(x), layers(x), rtol=1e-4, atol=1e-4)
print(torch._dynamo.utils.counters["inductor"]["cudagraph_skips"])
from torch._inductor.cudagraph_trees import get_container
print(get_container(0).get_tree_manager().current_node is not None)
"""
    for static in "01":
        said = printed("-c", text, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / static), **{STATIC: static})
        assert said.split() == ["0", "True"]
