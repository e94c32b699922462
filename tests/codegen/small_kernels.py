"""Small kernels written as TTIR: compiled for a target, accepted by ptxas, run on the simulator.

Here:      targets, texts of kernels that do one thing to every element, compilation, a launch with all checks on, or on
           a GPU (TILETWIN_TEST_DEVICE=cuda).
Not here:  what is expected of them (test_*.py), the kernels of the corpus (corpus_cases.py).
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tiletwin.cuda import ptxas

PTX_VERSIONS = {"sm_75": 70, "sm_80": 70, "sm_89": 81, "sm_90a": 87, "sm_100a": 87}
ARCHITECTURES = tuple(PTX_VERSIONS)


def numpy_type(element: str) -> np.dtype:
    """How elements are held: as their bits; i1 as bytes."""
    bits = int(re.match(r"b?[fi](\d+)", element)[1])
    return np.dtype(f"uint{max(bits, 8)}")


@functools.cache
def _compiled(text: str, arch: str, stage: str, options: str) -> dict[str, Any]:
    from tiletwin import _codegen

    capability = int("".join(c for c in arch if c.isdigit()))
    target = {"backend": "cuda", "capability": capability, "arch": arch, "ptx_version": PTX_VERSIONS[arch],
              "warp_size": 32}  # fmt: skip
    code = _codegen.compile(text, stage, f"kernel.{stage}", target, json.loads(options))
    assemble(code["ptx"], arch)
    return code


def compiled(text: str, arch: str, stage: str = "ttir", **options: Any) -> dict[str, Any]:
    """The stages of a kernel, which ptxas accepts where there is one. Errors: tiletwin._codegen.Error."""
    return _compiled(text, arch, stage, json.dumps({"num_warps": 4, "verify": True, **options}))


def assemble(ptx: str, arch: str) -> None:
    """With the ptxas that compilations use, if there is one. Errors: PTXASError."""
    if tool := ptxas.find():
        tool.assemble(ptx, arch)


ON_GPU = os.environ.get("TILETWIN_TEST_DEVICE") == "cuda"
of_simulator = pytest.mark.skipif(ON_GPU, reason="looks at what the simulator alone tells")


def _launch_on_gpu(code: dict[str, Any], arguments: Sequence[Any], grid: Any) -> None:
    import tiletwin.cuda

    facts = code["metadata"]
    arch = re.search(r"^\.target (sm_(\d+)(\w?))", code["ptx"], re.M)
    here = tiletwin.cuda.device_facts(0)["capability"]
    if int(arch[2]) > here or (arch[3] and int(arch[2]) != here):
        pytest.skip(f"code for {arch[1]} does not run on this GPU")
    kernel = tiletwin.cuda.load(code["ptx"])[facts["name"]]
    kernel(*arguments, grid=grid, block=32 * facts["num_warps"], shared=facts["shared"])


def launch(code: dict[str, Any], *arguments: Any, grid: int = 1, **options: Any) -> None:
    """Runs compiled code on the simulator, whose checks must find nothing, or on the GPU; arrays are changed in place.
    options: of tiletwin.sim.Kernel; a GPU does without them. What a GPU cannot run is skipped."""
    import tiletwin.checks
    import tiletwin.sim

    facts = code["metadata"]
    if ON_GPU:
        if "memory" in options or "print" in options:
            pytest.skip("memory beside arguments, and what kernels print, are given to the simulator alone")
        return _launch_on_gpu(code, arguments, grid)
    kernel = tiletwin.sim.load(code["ptx"])[facts["name"]]
    options = {"checks": "all", "limit": 50_000_000} | options
    tiletwin.checks.clear()
    kernel(*arguments, grid=grid, block=32 * facts["num_warps"], shared=facts["shared"], **options)
    assert not tiletwin.checks.findings()


def elementwise(body: str, operands: Sequence[str], results: Sequence[str], count: int) -> str:
    """A kernel that loads a tile %a, %b, ... for each operand type, runs `body` (T stands for "tensor<COUNTx") and
    stores %r0, %r1, ... Arguments: operands, then results."""
    lines = []
    kinds = list(zip("abcdefgh", operands, strict=False)) + [(f"r{i}", kind) for i, kind in enumerate(results)]
    lines += [f"%range = tt.make_range {{end = {count} : i32, start = 0 : i32}} : Ti32>"]
    for name, kind in kinds:
        memory = "i8" if kind == "i1" else kind
        lines += [
            f"%{name}_base = tt.splat %{name}_ptr : !tt.ptr<{memory}> -> T!tt.ptr<{memory}>>",
            f"%{name}_at = tt.addptr %{name}_base, %range : T!tt.ptr<{memory}>>, Ti32>",
        ]
        if name.startswith("r"):
            continue
        lines += [f"%{name}{'_byte' if kind == 'i1' else ''} = tt.load %{name}_at : T!tt.ptr<{memory}>>"]
        if kind == "i1":
            lines += [
                f"%{name}_zero = arith.constant dense<0> : Ti8>",
                f"%{name} = arith.cmpi ne, %{name}_byte, %{name}_zero : Ti8>",
            ]
    lines += [body]
    for i, kind in enumerate(results):
        value = f"%r{i}"
        if kind == "i1":
            lines += [f"%r{i}_byte = arith.extui %r{i} : Ti1> to Ti8>"]
            value += "_byte"
        lines += [f"tt.store %r{i}_at, {value} : T!tt.ptr<{'i8' if kind == 'i1' else kind}>>"]
    parameters = ", ".join(f"%{name}_ptr: !tt.ptr<{'i8' if kind == 'i1' else kind}>" for name, kind in kinds)
    text = re.sub(r"\bT(?=[!ifb])", f"tensor<{count}x", "\n  ".join(lines))
    return f"tt.func public @kernel({parameters}) {{\n  {text}\n  tt.return\n}}\n"


def run_elementwise(
    body: str, inputs: Sequence[tuple[str, np.ndarray]], results: Sequence[str], arch: str, **options: Any
) -> list[np.ndarray]:
    """What `elementwise` computes from arrays of one length, a power of two."""
    count = len(inputs[0][1])
    code = compiled(elementwise(body, [kind for kind, _ in inputs], results, count), arch, **options)
    arrays = [np.ascontiguousarray(array).view(numpy_type(kind)) for kind, array in inputs]
    outputs = [np.zeros(count, numpy_type(kind)) for kind in results]
    launch(code, *arrays, *outputs)
    return outputs
