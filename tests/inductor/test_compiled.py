"""torch.compile while kernels are interpreted: all functions of compiled_cases.py, for the host and an emulated GPU."""

from __future__ import annotations

import ast
import functools
import json
from pathlib import Path
from typing import Any

import pytest
from children import HERE, PACKAGE_PARENT, run

pytest.importorskip("torch")
from filelock import FileLock  # torch brings it

FILE = Path(__file__).with_name("compiled_cases.py")
STARTUP = HERE / "python" / "startup"
CASES = [
    node.name
    for node in ast.parse(FILE.read_text()).body
    if isinstance(node, ast.FunctionDef) and not node.args.args and node.name != "main"
]
SLOW = {"templates"}


def compiled(*words: Any, **values: str) -> str:
    """What a script prints that finds tiletwin under the name of Triton."""
    values = {"TILETWIN_INTERPRET": "1", "TEST_PACKAGE_PARENT": str(PACKAGE_PARENT), **values}
    done = run(*words, paths=[STARTUP], timeout=900, **values)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def outcome(request, tmp_path_factory):
    names = {item.name for item in request.session.items}
    is_worker = hasattr(request.config, "workerinput")
    common = tmp_path_factory.getbasetemp().parent if is_worker else tmp_path_factory.getbasetemp()

    @functools.cache
    def of(device: str) -> dict[str, Any]:
        """Of the cases that this run of the tests has, in one process, whose results all workers of the run take."""
        kept = common / f"compiled-{device}.json"
        with FileLock(f"{kept}.lock"):
            if not kept.exists():
                caches = tmp_path_factory.mktemp(device)
                chosen = [case for case in CASES if f"test_compiled_is_as_eager[{case}-{device}]" in names]
                printed = compiled(FILE, device, *(chosen or CASES[:1]), TORCHINDUCTOR_CACHE_DIR=str(caches))
                assert [folder.name.partition("-")[0] for folder in caches.iterdir()] == ["tiletwin"]
                assert "Inductor generates C++" not in printed
                kept.write_text(next(line for line in printed.splitlines() if line.startswith('{"results"')))
        return json.loads(kept.read_text())

    return of


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SLOW)) for case in CASES])
def test_compiled_is_as_eager(outcome, case: str, device: str) -> None:
    assert outcome(device)["results"][case] == ""


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_generated_kernels_are_launched(outcome, device: str) -> None:
    found = outcome(device)
    assert found["launches"] > 2 * len(found["results"])


FALLBACKS = """
import torch
x, i, y = torch.zeros(3, dtype=torch.int8), torch.tensor([0, 0, 2]), torch.ones(3, dtype=torch.int8)
print(torch.compile(lambda x: x.index_put((i,), y, accumulate=True))(x).tolist())
print(torch.compile(lambda x: x.scatter_add(0, i, y))(x).tolist())
"""


def test_operators_that_are_not_compiled_are_named(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FALLBACKS)
    printed = compiled(script, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    assert printed.startswith("[2, 0, 1]\n[2, 0, 1]\n")
    for name in ("aten.index_put_", "aten.scatter_reduce_"):  # as Inductor calls them
        assert f"Inductor has no kernel for {name}" in printed


ADD = """
import torch, triton
compiled = torch.compile(lambda x: (x + 1).sum(-1))
names = []
triton.knobs.runtime.launch_enter_hook = lambda metadata: names.append(metadata.get()["name"])
print(compiled(torch.ones(3, 5)).tolist(), names)
"""


def test_results_of_a_later_process_come_from_caches(tmp_path) -> None:
    text = ADD + "print(dict(torch._dynamo.utils.counters['inductor']))"
    printed = [compiled("-c", text, TORCHINDUCTOR_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert all("[10.0, 10.0, 10.0] ['triton_" in text for text in printed)
    assert "'fxgraph_cache_hit': 1" not in printed[0] and "'fxgraph_cache_hit': 1" in printed[1]


def test_compilation_can_be_switched_off() -> None:
    printed = compiled("-c", ADD, TILETWIN_TORCH_COMPILE="0")
    assert "[10.0, 10.0, 10.0] []" in printed and printed.count("torch.compile does nothing") == 1


def test_a_generated_kernel_is_checked(tmp_path) -> None:
    """Indices from data may be outside: the kernel asserts that they are not, as on a GPU."""
    text = """
import torch
lookup = torch.compile(lambda x, i: x[i] * 2)
try:
    lookup(torch.ones(10), torch.tensor([3, 99]))
except Exception as error:
    print(type(error).__name__, error)
"""
    printed = compiled("-c", text, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    assert "index out of bounds: 0 <= tmp" in printed, printed


def test_libraries_find_one_active_driver() -> None:
    text = """
import torch, triton
from torch.utils._triton import has_triton
from triton.backends import backends
print(has_triton(), sorted(backends), sum(backend.driver.is_active() for backend in backends.values()))
"""
    assert "True ['cpu', 'nvidia'] 1" in compiled("-c", text)
