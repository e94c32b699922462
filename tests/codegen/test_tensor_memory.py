"""Products by tcgen05, whose sums are in tensor memory: types, shapes, operands that lie either way, loops, what stays
there.

The judges: small whole numbers, whose sums are exact in every order; NumPy; the bits of the same kernel with one stage;
and the simulator with all its checks, where a product lands only when its barrier is waited for and tensor memory has
to be given back.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import test_compiled_dots as single
import test_dots_in_flight as dots
import test_pipelined_dots as pipelined
import test_pipelined_tensor_copies as copies
import tiletwin as triton
import tiletwin.language as tl
import tiletwin.sim
import torch
from tiletwin import diff
from tiletwin.compiler import ASTSource
from tiletwin.diff.backends import SimBackend
from tiletwin.tools.tensor_descriptor import TensorDescriptor

ARCH = "sm_100a"
KINDS = [
    (("f16", "f16", "f32"), "ieee", "f16"),
    (("bf16", "bf16", "f32"), "ieee", "f16"),
    (("f32", "f32", "f32"), "tf32", "tf32"),
    (("f8E4M3FN", "f8E5M2", "f32"), "ieee", "f8f6f4"),
    (("f8E5M2", "f8E4M3FN", "f32"), "ieee", "f8f6f4"),
]


def count(code: dict[str, Any] | str, what: str) -> int:
    ptx = code if isinstance(code, str) else code["ptx"]
    return len(re.findall(rf"tcgen05\.{what}", ptx))


def code_of(kernel: Any, signature: str, **options: Any) -> dict[str, Any]:
    ttir = triton.compile(ASTSource(kernel, signature), target="cuda:100", options=options).asm["ttir"]
    return small_kernels.compiled(ttir, ARCH, **options)


def marked(cases: list[tuple], every: int = 7) -> list:
    return [pytest.param(*case, marks=[] if i % every == 0 else [pytest.mark.slow]) for i, case in enumerate(cases)]


SHAPES = [
    *[(64, 32, 32, 4), (64, 256, 64, 8), (128, 32, 64, 4), (128, 64, 128, 8), (128, 256, 32, 4)],
    *[(256, 64, 64, 4), (256, 128, 32, 8), (512, 32, 32, 16), (64, 64, 256, 16), (128, 512, 32, 8)],
]


@pytest.mark.parametrize(("kinds", "precision", "kind", "shape"), marked([(*k, s) for k in KINDS for s in SHAPES]))
def test_types_and_shapes(kinds: tuple, precision: str, kind: str, shape: tuple[int, int, int, int]) -> None:
    """The sum comes from registers; columns of 16 bytes are no rows that can be swizzled."""
    m, n, k, warps = shape
    ptx = single.check(kinds, m, n, k, ARCH, precision=precision, warps=warps)
    rows, columns = 128 if m >= 128 else 64, min(n, 256)
    products = (m // rows) * (n // columns) * (k * single.SIZES[kinds[0]] // 32)
    assert count(ptx, rf"mma\.cta_group::1\.kind::{kind} ") == products and "mma.sync" not in ptx
    assert count(ptx, "alloc") == count(ptx, "dealloc") == 1
    taken = int(re.search(r"tcgen05\.alloc[^;]*, (\d+);", ptx)[1])
    assert taken == max(m // 128, 1) * n


@pytest.mark.parametrize(
    ("kinds", "shape", "options"),
    [
        (("f16", "f16", "f32"), (32, 64, 64), {}),  # too few rows
        (("f16", "f16", "f32"), (128, 8, 64), {}),  # and columns
        (("f16", "f16", "f32"), (128, 64, 8), {}),
        (("f16", "f16", "f32"), (256, 512, 16), {"warps": 16}),  # more cells than there are
        (("f16", "f16", "f32"), (64, 64, 64), {"warps": 2}),  # no warp for the upper lanes
        (("f16", "f16", "f16"), (64, 64, 64), {}),
        (("i8", "i8", "i32"), (64, 64, 64), {}),
        (("f32", "f32", "f32"), (64, 16, 16), {"precision": "ieee"}),
        (("f16", "f16", "f32"), (64, 64, 64), {"batch": 2}),
    ],
)
def test_what_tensor_memory_does_not_hold(kinds: tuple, shape: tuple[int, int, int], options: dict[str, Any]) -> None:
    ptx = single.check(kinds, *shape, ARCH, **options)
    assert "tcgen05" not in ptx and ("mma.sync" in ptx or options.get("precision") == "ieee")


def test_only_the_architecture_with_all_features_has_it() -> None:
    text = single.plain(("f16", (64, 64)), ("f16", (64, 64)), ("f32", (64, 64)))
    for arch, capability, has in (("sm_100", 100, 0), ("sm_103a", 103, 1), ("sm_110a", 110, 1), ("sm_120", 120, 0)):
        target = {"backend": "cuda", "capability": capability, "arch": arch, "ptx_version": 90, "warp_size": 32}
        ptx = tiletwin._codegen.compile(text, "ttir", "kernel.ttir", target, {"num_warps": 4, "verify": True})["ptx"]
        assert bool(count(ptx, "mma")) == bool(has)
        small_kernels.assemble(ptx, arch)


LOOPS = [
    *itertools.product(("f16", "f32", "f8E5M2"), [(64, 64, 64, 4)], (False, True)),
    *itertools.product(("bf16",), [(128, 128, 32, 8), (128, 32, 16, 4), (256, 64, 32, 4)], (False, True)),
]


@pytest.mark.parametrize(("kind", "shape", "columns"), marked(LOOPS, 3))
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_a_loop_leaves_its_sum(kind: str, shape: tuple, columns: bool, stages: int) -> None:
    """a lies either way in memory; the loop ends before it begins, within a tile, and behind one."""
    m, n, k, warps = shape
    for total in (0, 48, 128):
        options = {"num_warps": warps, "num_stages": stages}
        code = pipelined.check(kind, m, n, k, total, ARCH, columns, **options)
    loop = re.search(r"scf\.for.*?\n    \}", code["ttgir"], re.S)[0]
    assert "twg.tmem_dot" in loop and "tmem_load" not in loop and "tmem_store" not in loop
    assert code["ttgir"].count("twg.tmem_load") == code["ttgir"].count("twg.tmem_store") == 1
    copied = stages > 1 and (kind != "f32" or not columns)
    assert ("cp.async.c" in code["ptx"]) == copied


@pytest.mark.parametrize(("kind", "m", "n", "k", "across", "warps"), marked(dots.MATMULS + dots.TURNED, 4))
def test_bits_of_one_stage(
    kind: str, m: int, n: int, k: int, across: bool, warps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an epilogue that reduces the sum's rows."""
    monkeypatch.setattr(dots, "code_of", code_of)
    for epilogue in (0, 1):
        want, code = dots.run_matmul(kind, m, n, k, 80, across, epilogue, num_warps=warps, num_stages=1)
        got, code = dots.run_matmul(kind, m, n, k, 80, across, epilogue, num_warps=warps, num_stages=3)
        assert (got.view(np.uint8) == want.view(np.uint8)).all() and count(code, "mma")


@pytest.mark.parametrize(
    ("kernel", "results", "rows", "inside"),
    [
        (dots.persistent, 1, 3, 0),  # its sum begins anew in each round of the outer loop
        (dots.one_sum_of_two, 1, 1, 0),
        (dots.two_sums, 2, 1, 0),
        (dots.used_inside, 1, 1, 1),  # is halved in registers
    ],
)
def test_sums_of_loops(kernel: Any, results: int, rows: int, inside: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dots, "code_of", code_of)
    want, _ = dots.run_loop(kernel, results, rows, num_stages=1)
    got, code = dots.run_loop(kernel, results, rows, num_stages=3)
    assert (got.view(np.uint32) == want.view(np.uint32)).all()
    product = code["ttgir"].rindex("twg.tmem_dot")
    innermost = code["ttgir"][code["ttgir"].rindex("scf.for", 0, product) : code["ttgir"].index("scf.yield", product)]
    assert innermost.count("tmem_load") == innermost.count("tmem_store") == inside


@triton.jit
def either_way(a, b, c, KIND: tl.constexpr):
    """Products in both ways of a branch, or one that multiplies what another one gives, of copied blocks."""
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    x = a.load([0, 0])
    if KIND == "chain":
        z = tl.dot(tl.dot(x, b.load([0, 0])).to(tl.float16), b.load([64, 0]).T)
    else:
        y = b.load([0, 0])
        z = tl.zeros((64, 64), tl.float32)
        for i in range(3):
            if i == tl.program_id(0):
                z = tl.dot(x, y, z)
            else:
                z = tl.dot(x, y.T, z) * 2
    tl.store(c + tl.program_id(0) * 64 * 64 + at, z)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("kind", ["chain", "branch"])
def test_phases_of_products_in_branches_and_chains(kind: str, stages: int) -> None:
    a, b = (np.random.default_rng(i).integers(-1, 2, (rows, 64)) for i, rows in enumerate((64, 128)))
    maps = [TensorDescriptor.from_tensor(torch.tensor(x).to(torch.float16), [64, 64]) for x in (a, b)]
    launch = diff.launch_of(either_way, (2,), (*maps, torch.zeros(2, 64, 64), kind), num_stages=stages, num_warps=4)
    outcome = Blackwell().checked(launch, checks="all")
    assert not outcome.error and not outcome.unsupported and not outcome.findings, outcome
    c = outcome.memory[2].view(np.float32).reshape(2, 64, 64)
    one, turned = a @ b[:64], a @ b[:64].T
    branch = [2 * (2 * (one + turned) + turned), 2 * (2 * turned + one + turned)]
    assert (c == ([(a @ b[:64]) @ b[64:].T] * 2 if kind == "chain" else branch)).all()


class Blackwell(SimBackend):
    """The simulator, on code for sm_100a."""

    capability = 100
    ptx = ""

    def _code(self, launch: Any) -> tuple[str, Any]:
        self.ptx, facts = super()._code(launch)
        return self.ptx, facts


COPIES = [
    *itertools.product((copies.multiply_all, copies.multiply), (3, 1, 2, 4), ((4, 128),)),
    (copies.multiply, 3, (8, 0)),
]


@pytest.mark.parametrize(("kernel", "stages", "case"), marked(COPIES, 5))
def test_operands_that_the_tensor_unit_copies(kernel: Any, stages: int, case: tuple[int, int]) -> None:
    """In loops, and in loops in loops, whose phases go on."""
    warps, k = case
    a, b = (np.random.default_rng(i).integers(-3, 4, (128, max(k, 8))) for i in (1, 2))
    blocks = [(torch.tensor(x).to(torch.float16), [64, 32]) for x in (a, b)] + [(torch.zeros(128, 128), [64, 64])]
    maps = [TensorDescriptor.from_tensor(tensor, block) for tensor, block in blocks]
    numbers = (k, 64, 64, 32) if kernel is copies.multiply else (k, 128, 128, 64, 64, 32)
    grid = (2, 2) if kernel is copies.multiply else (1,)
    backend = Blackwell()
    outcome = backend.checked(
        diff.launch_of(kernel, grid, (*maps, *numbers), num_stages=stages, num_warps=warps), checks="all"
    )
    assert not outcome.error and not outcome.unsupported and not outcome.findings, outcome
    c = outcome.memory[2].view(np.float32).reshape(128, 128)
    assert (c == (a[:, :k] @ b[:, :k].T)).all()
    assert "cp.async.bulk.tensor" in backend.ptx and count(backend.ptx, "mma")


@pytest.mark.parametrize(
    ("precision", "kind", "products"), [("tf32x3", "tf32", 3), ("bf16x3", "f16", 3), ("bf16x6", "f16", 6)]
)
def test_operands_in_parts(precision: str, kind: str, products: int) -> None:
    ptx = single.check(("f32", "f32", "f32"), 64, 32, 32, ARCH, precision=precision)
    assert count(ptx, rf"mma\S*kind::{kind} ") == products * 32 // (8 if kind == "tf32" else 16)


@triton.jit
def chain(a, b, c, N: tl.constexpr):
    """Three products of one sum in straight code, and two of another one in between."""
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(a + at), tl.load(b + at)
    first = tl.dot(x, y)
    second = tl.dot(y, x)
    first = tl.dot(y, y, first)
    second = tl.dot(x, tl.trans(y), second)
    first = tl.dot(tl.trans(x), x, first)
    tl.store(c + at, first)
    tl.store(c + N * N + at, second)


@pytest.mark.parametrize(("size", "warps"), [(64, 4), (128, 4), (128, 8)])
def test_what_a_product_leaves_is_what_the_next_one_adds_to(size: int, warps: int) -> None:
    code = code_of(chain, f"*fp16:16, *fp16:16, *fp32:16, {size}", num_warps=warps)
    x, y = (np.random.default_rng(i).integers(-3, 4, (size, size)) for i in (1, 2))
    c = np.zeros((2, size, size), np.float32)
    small_kernels.launch(code, *(z.astype(np.float16).reshape(-1) for z in (x, y)), c.reshape(-1))
    assert (c[0] == x @ y + y @ y + x.T @ x).all() and (c[1] == y @ x + x @ y.T).all()
    assert code["ttgir"].count("twg.tmem_dot") == 5 and code["ttgir"].count("twg.tmem_load") == 2
    assert "tmem_store" not in code["ttgir"] and code["ttgir"].count("overwrites") == 2
    assert f"twg.tmem_open {2 * size}" in code["ttgir"]


@triton.jit
def many_sums(a, b, c, K, N: tl.constexpr, COUNT: tl.constexpr):
    """A loop's sums, of which not all find room in tensor memory."""
    at = tl.arange(0, 128)[:, None] * N + tl.arange(0, N)[None, :]
    inner = tl.arange(0, 16)
    s0 = tl.zeros((128, N), tl.float32)
    s1 = tl.zeros((128, N), tl.float32)
    s2 = tl.zeros((128, N), tl.float32)
    for k in range(0, K, 16):
        x = tl.load(a + tl.arange(0, 128)[:, None] * K + k + inner[None, :])
        y = tl.load(b + (k + inner)[:, None] * N + tl.arange(0, N)[None, :])
        s0 = tl.dot(x, y, s0)
        s1 = tl.dot(x, -y, s1)
        if COUNT > 2:
            s2 = tl.dot(x, y + y, s2)
    tl.store(c + at, s0)
    tl.store(c + 128 * N + at, s1)
    tl.store(c + 256 * N + at, s2)


@pytest.mark.parametrize(("columns", "sums", "kept"), [(128, 3, 3), (256, 2, 2), (256, 3, 1)])
def test_sums_stay_as_long_as_there_is_room(columns: int, sums: int, kept: int) -> None:
    """Of three sums of 256 columns one stays: the others need the rest in turn."""
    code = code_of(many_sums, f"*fp16:16, *fp16:16, *fp32:16, i32:16, {columns}, {sums}", num_warps=8)
    x = np.random.default_rng(1).integers(-3, 4, (128, 64))
    y = np.random.default_rng(2).integers(-3, 4, (64, columns))
    c = np.zeros((3, 128, columns), np.float32)
    small_kernels.launch(code, *(z.astype(np.float16).reshape(-1) for z in (x, y)), c.reshape(-1), 64)
    want = x @ y
    assert (c[0] == want).all() and (c[1] == -want).all() and (c[2] == (2 * want if sums > 2 else 0)).all()
    loop = re.search(r"scf\.for.*?\n    \}", code["ttgir"], re.S)[0]
    assert loop.count("tmem_load") == sums - kept


ATTENTION = [("fp16", 64, 64, 64, 4), ("fp16", 128, 128, 64, 8), ("bf16", 128, 64, 128, 4), ("fp16", 64, 256, 32, 8)]


@pytest.mark.parametrize(("kind", "rows", "keys", "depth", "warps"), marked(ATTENTION, 4))
def test_attention(kind: str, rows: int, keys: int, depth: int, warps: int) -> None:
    """The sum is scaled in registers in each iteration; the first product's sum is reduced there."""
    length = 2 * keys
    random = np.random.default_rng(3)
    q, k, v = (dots.bits(kind, random.standard_normal((n, depth))) for n in (rows, length, length))
    results = []
    for stages in (1, 2, 3):
        code = code_of(
            dots.attention,
            f"*{kind}:16, *{kind}:16, *{kind}:16, *fp32:16, i32:16, {depth}, {rows}, {keys}",
            num_warps=warps, num_stages=stages,
        )  # fmt: skip
        out = np.full((rows, depth), 77, np.float32)
        small_kernels.launch(code, *(x.reshape(-1) for x in (q, k, v, out)), length)
        results.append(out)
        assert count(code, r"mma\S*kind::f16 ") == (depth + keys) // 16 and "mma.sync" not in code["ptx"]
    assert all((out.view(np.uint32) == results[0].view(np.uint32)).all() for out in results)
    s = dots.value(kind, q).astype(np.float64) @ dots.value(kind, k).T * 0.125
    weights = np.exp2(s - s.max(1, keepdims=True))
    want = weights @ dots.value(kind, v) / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(results[0], want, atol=2e-2 if kind == "bf16" else 3e-3)


@triton.jit
def ends_early(a, c, N: tl.constexpr):
    if tl.program_id(0) == 1:
        return
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(a + at)
    if tl.program_id(0) == 2:
        x = x + x
        y = tl.dot(x, x)
    else:
        y = tl.zeros((N, N), tl.float32)
    i = 0
    while i < tl.program_id(0):
        y = tl.dot(x, x, y)
        i += 1
    tl.store(c + tl.program_id(0) * N * N + at, y)


def test_branches_and_ends_of_a_kernel() -> None:
    code = code_of(ends_early, "*fp16:16, *fp32:16, 64")
    x = np.random.default_rng(1).integers(-3, 4, (64, 64))
    c = np.full((4, 64, 64), 77, np.float32)
    small_kernels.launch(code, x.astype(np.float16).reshape(-1), c.reshape(-1), grid=4)
    assert (c[0] == 0).all() and (c[1] == 77).all() and (c[2] == 12 * (x @ x)).all() and (c[3] == 3 * (x @ x)).all()
    assert count(code, "dealloc") == code["ttgir"].count("tt.return") == 2


LEFT_OUT = [
    (r"@%p\d+ tcgen05\.dealloc[^;]*;", "nobody gives back"),
    (r"\{ \.reg \.pred done; waiting: [^}]*\}", "on its way"),
    (r"fence\.proxy\.async[^;]*;", "fence"),
]


@pytest.mark.parametrize(("part", "said"), LEFT_OUT)
def test_the_checks_look(part: str, said: str) -> None:
    code = dict(code_of(chain, "*fp16:16, *fp16:16, *fp32:16, 64"))
    assert re.search(part, code["ptx"])
    code["ptx"] = re.sub(part, "", code["ptx"])
    x, c = np.zeros(64 * 64, np.float16), np.zeros(2 * 64 * 64, np.float32)
    with pytest.raises(AssertionError):
        small_kernels.launch(code, x, x, c)
    assert any(said in str(finding) for finding in tiletwin.checks.findings())


def test_text_of_the_stage_compiles_again() -> None:
    code = small_kernels.compiled(pipelined.loop_text("f16", 64, 64, 64), ARCH, line_info=False)
    again = small_kernels.compiled(code["ttgir"], ARCH, "ttgir", line_info=False)
    assert again["ptx"] == code["ptx"]
