"""Which accesses through descriptors are copies with tensor maps and which stay plain; ttgir that says what cannot be;
kernels with maps exported and launched by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_kernels as sk
import tiletwin as triton
import tiletwin.language as tl
from tensor_map_kernels import copy_blocks, copy_inside, maps_of
from tiletwin import checks
from tiletwin.backends.compiler import GPUTarget
from tiletwin.launch import tensor_map_arguments

# ---- what stays plain ----


def _compiled(fn: Any, signature: dict[str, str], constants: dict[str, Any], capability: int = 90) -> Any:
    source = triton.ASTSource(fn, signature, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32))


@triton.jit
def unaligned(x, out, at, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), x.load([at]))


@triton.jit
def chosen(x, y, out, which, B: tl.constexpr):
    d = x
    if which > 0:
        tl.store(out, 1.0)
        d = y
    tl.store(out + tl.arange(0, B), d.load([0]))


@triton.jit
def rows_by_number(x, out, B: tl.constexpr):
    rows = tl.arange(0, 8)
    block = x.gather(rows, 0)
    tl.store(out + rows[:, None] * B + tl.arange(0, B)[None, :], block)


def test_blocks_that_may_begin_anywhere_are_plain() -> None:
    signature = {"x": "tensordesc<fp32[64]>", "out": "*fp32", "at": "i32", "B": "constexpr"}
    assert maps_of(_compiled(unaligned, signature, {"B": 64}))[0] is None
    source = triton.ASTSource(unaligned, signature, constexprs={"B": 64}, attrs={(2,): [["tt.divisibility", 16]]})
    known = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert maps_of(known)[0] == tensor_map_arguments.MapArgument("float32", (64,), 0)


def test_descriptors_in_control_flow_and_rows_are_plain() -> None:
    signature = {
        "x": "tensordesc<fp32[64]>",
        "y": "tensordesc<fp32[64]>",
        "out": "*fp32",
        "which": "i32",
        "B": "constexpr",
    }
    assert not any(maps_of(_compiled(chosen, signature, {"B": 64})))
    gathered = _compiled(rows_by_number, {"x": "tensordesc<fp32[1, 64]>", "out": "*fp32", "B": "constexpr"}, {"B": 64})
    assert not any(maps_of(gathered))


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
def test_maps_from_sm_90_on(capability: int) -> None:
    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    compiled = _compiled(copy_inside, signature, {"BM": 16, "BN": 64}, capability)
    expected = tensor_map_arguments.MapArgument("float16", (16, 64), 128) if capability >= 90 else None
    assert maps_of(compiled)[0] == maps_of(compiled)[5] == expected
    assert ("cp.async.bulk.tensor" in compiled.asm["ptx"]) == (capability >= 90)
    if capability >= 90:
        assert re.search(r"\.param \.align 64 \.b8 copy_inside_param_0\[128\]", compiled.asm["ptx"])
    sk.assemble(compiled.asm["ptx"], {80: "sm_80", 90: "sm_90a", 100: "sm_100a", 120: "sm_120"}[capability])


def test_large_blocks_are_plain() -> None:
    signature = {
        "x": "tensordesc<fp32[256, 128]>",
        "y": "tensordesc<fp32[16, 64]>",
        "BM": "constexpr",
        "BN": "constexpr",
    }
    described = maps_of(_compiled(copy_blocks, signature | {"y": signature["x"]}, {"BM": 256, "BN": 128}))
    assert not any(described)


def test_ttgir_keeps_what_maps_are_made_of() -> None:
    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    compiled = _compiled(copy_blocks, signature, {"BM": 16, "BN": 64})
    again = sk.compiled(compiled.asm["ttgir"], "sm_90a", "ttgir")
    assert again["metadata"]["arguments"] == compiled.asm.facts["arguments"]
    assert again["ptx"].count("cp.async.bulk.tensor") == compiled.asm["ptx"].count("cp.async.bulk.tensor")


BAD_TTGIR = {
    "box": ("box = [16, 64]", "box = [16, 48]", "has a box whose extents do not divide those of the block"),
    "rank": ("box = [16, 64]", "box = [64]", "has a box whose extents do not divide"),
    "rows": (
        "box = [16, 64], swizzle = 128>",
        "box = [16, 4], swizzle = 0>",
        "has a box with rows of 8 bytes, which are no",
    ),
    "swizzle": ("swizzle = 128>}", "swizzle = 64>}", "has a swizzle of 64 bytes, with rows of 128"),
    "no map": (
        r"\{twg\.tensor_map = [^}]*\}",
        "",
        "needs a descriptor that is an argument of the kernel with a tensor map",
    ),
}


@pytest.mark.parametrize("mistake", BAD_TTGIR)
def test_ttgir_that_says_what_cannot_be(mistake: str) -> None:
    from tiletwin import _codegen

    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    ttgir = _compiled(copy_blocks, signature, {"BM": 16, "BN": 64}).asm["ttgir"]
    what, instead, message = BAD_TTGIR[mistake]
    pattern = what if mistake == "no map" else re.escape(what)
    broken = re.sub(pattern, instead, ttgir)
    assert broken != ttgir
    with pytest.raises(_codegen.Error, match=message):
        sk.compiled(broken, "sm_90a", "ttgir")


def test_ttgir_with_maps_wants_sm_90() -> None:
    from tiletwin import _codegen

    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    ttgir = _compiled(copy_blocks, signature, {"BM": 16, "BN": 64}).asm["ttgir"]
    with pytest.raises(_codegen.Error, match=r"twg\.tensor_load.* is not compiled for sm_80 yet"):
        sk.compiled(ttgir, "sm_80", "ttgir")


def test_strides_that_no_map_has_are_refused() -> None:
    described = tensor_map_arguments.MapArgument("float32", (4, 16), 64)
    with pytest.raises(ValueError, match=r"k\(\): x: strides of a tensor map lie from 0 to 2\^40 bytes, not -64"):
        tensor_map_arguments.numbers(described, [1 << 20, 8, 16, -16, 1], "k(): x")


# ---- exported, and launched by hand ----


def _launched_by_hand(ptx: str, compiled: Any, x: np.ndarray, y: np.ndarray) -> None:
    """As a CUDA program launches it: maps that it makes itself of what `arguments` says."""
    import tiletwin.sim

    def arguments(tensor: np.ndarray, described: Any) -> list[Any]:
        box = tuple(reversed(described.box))
        made = tiletwin.sim.tensor_map(tensor, box, dtype=described.element, swizzle=described.swizzle or None)
        return [made, *tensor.shape, tensor.shape[1], 1]

    maps = [described for described in maps_of(compiled) if described]
    kernel = tiletwin.sim.load(ptx)[compiled.asm.facts["name"]]
    checks.clear()
    kernel(
        *arguments(x, maps[0]), *arguments(y, maps[1]), grid=(4, 3), block=compiled.metadata.threads,
        shared=compiled.metadata.shared, checks="all",
    )  # fmt: skip
    assert not checks.findings()


def test_exported_as_cuda(tmp_path: Path) -> None:
    """A tensor map is a parameter of the exported function as it is one of the kernel."""
    from tiletwin.tools import cuda_source

    signature = {"x": "tensordesc<fp16[16, 64]>", "y": "tensordesc<fp16[16, 64]>", "BM": "constexpr", "BN": "constexpr"}
    compiled = _compiled(copy_inside, signature, {"BM": 16, "BN": 64})
    x = np.arange(30 * 72, dtype=np.float16).reshape(30, 72)
    y = np.zeros_like(x)
    _launched_by_hand(compiled.asm["ptx"], compiled, x, y)
    np.testing.assert_array_equal(x, y)
    source = cuda_source(compiled)
    assert source.count("const __grid_constant__") == 2
    if shutil.which("nvcc") is None:
        return
    (tmp_path / "kernel.cu").write_text(source)
    words = ["nvcc", "-ptx", "-arch=sm_90a", str(tmp_path / "kernel.cu"), "-o", str(tmp_path / "kernel.ptx")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    ptx = (tmp_path / "kernel.ptx").read_text()
    sk.assemble(ptx, "sm_90a")
    z = np.zeros_like(x)
    _launched_by_hand(ptx, compiled, x, z)
    np.testing.assert_array_equal(x, z)
