"""Hints of tl.range in code for GPUs: unrolled loops compute the same, and what does nothing is said."""

import warnings
from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.compiler import ASTSource

HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)


@triton.jit
def rounds(x, o, seen, lower, upper, step, FACTOR: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    total = tl.zeros([N], tl.int32)
    count = 0
    for i in tl.range(lower, upper, step, loop_unroll_factor=FACTOR):
        total = total * 3 + tl.load(x + lanes + (i & 7))
        tl.store(seen + count, i)
        count += 1
    tl.store(o + lanes, total + count)


BOUNDS = [
    (0, 0, 1), (0, 1, 1), (0, 3, 1), (0, 8, 1), (3, 20, 4), (5, 2, 1), (-7, 7, 3), (2, 2, 0),
    (2**31 - 5, 2**31 - 1, 1), (2**31 - 9, 2**31 - 2, 2), (-(2**31), -(2**31) + 6, 1), (-(2**31), 2**31 - 1, 2**29),
]  # fmt: skip


@pytest.mark.parametrize("factor", [2, 3, 4, 7])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_unrolled_rounds_are_the_same(bounds: tuple, factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    n = 32
    x = np.arange(n + 8, dtype=np.int32) ** 2 - 99
    out, seen = np.zeros(n, np.int32), np.zeros(64, np.int32)
    rounds[(1,)](x, out, seen, *bounds, factor, n, num_warps=1)
    expected, numbers = np.zeros(n, np.int32), list(range(*bounds)) if bounds[2] else []
    for i in numbers:
        expected = expected * 3 + x[(i & 7) :][:n]
    assert seen[: len(numbers)].tolist() == numbers and not seen[len(numbers) :].any()
    assert np.array_equal(out, expected + len(numbers))


@triton.jit
def counted(x, o, UPPER: tl.constexpr, FACTOR: tl.constexpr):
    total = 0.0
    for i in tl.range(0, UPPER, loop_unroll_factor=FACTOR):
        total += tl.load(x + i, volatile=True)
    tl.store(o, total)


def loads_of(upper: int, factor: int) -> int:
    source = ASTSource(counted, {"x": "*fp32", "o": "*fp32"}, constexprs={"UPPER": upper, "FACTOR": factor})
    return triton.compile(source, target=HOPPER).asm["ttgir"].count("tt.load")


def test_code_has_as_many_bodies() -> None:
    assert loads_of(300, 4) == 4  # nothing is left over
    assert loads_of(301, 4) == 5
    assert loads_of(300, 1) == 1


@triton.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr, FACTOR: tl.constexpr, STAGES: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, B)
    total = tl.zeros([M, N], tl.float32)
    for i in tl.range(0, tl.cdiv(K, B), loop_unroll_factor=FACTOR, num_stages=STAGES):
        left = tl.load(a + m * K + (i * B + k)[None, :], mask=(i * B + k)[None, :] < K, other=0.0)
        right = tl.load(b + (i * B + k)[:, None] * N + n, mask=(i * B + k)[:, None] < K, other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m * N + n, total)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("k", [16, 96, 112])
def test_pipelined_products(k: int, arch: str, stages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order: the same bits as without."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", arch)
    rng = np.random.default_rng(k)
    a, b = rng.standard_normal((64, k)).astype(np.float16), rng.standard_normal((k, 64)).astype(np.float16)
    found = []
    for factor in (1, 2, 3):
        c = np.zeros((64, 64), np.float32)
        product[(1,)](a, b, c, k, 64, 64, 16, factor, stages, num_warps=4)
        found.append(c)
    np.testing.assert_allclose(found[0], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3)
    assert all(np.array_equal(found[0], c) for c in found)


@triton.jit
def nested(o, n, FACTOR: tl.constexpr):
    at = 0
    for i in tl.range(n, loop_unroll_factor=FACTOR):
        for j in tl.range(i, loop_unroll_factor=FACTOR):
            if (i + j) % 3 != 0:
                tl.store(o + at, i * 100 + j)
                at += 1
    tl.store(o + at, -1)


@pytest.mark.parametrize("factor", [2, 5])
def test_nested_loops(factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    out = np.zeros(64, np.int32)
    nested[(1,)](out, 8, factor)
    wanted = [i * 100 + j for i in range(8) for j in range(i) if (i + j) % 3]
    assert out[: len(wanted) + 1].tolist() == [*wanted, -1]


@triton.jit
def hinted(x, n, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr, NEST: tl.constexpr):
    for i in tl.range(n, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        if NEST:
            for j in tl.range(n):
                tl.atomic_add(x + i, j)
        else:
            tl.atomic_add(x + i, 1)


def said(constants: dict[str, Any], capability: int = 90, **options: int) -> list[str]:
    """Warnings of a compilation, each with the name of its file and its line."""
    source = ASTSource(hinted, {"x": "*i32", "n": "i32"}, constexprs=constants)
    target = triton.backends.compiler.GPUTarget("cuda", capability, 32)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        triton.compile(source, target=target, options=options).asm["ptx"]
    assert all(w.filename == __file__ for w in seen)
    first = hinted.fn.__code__.co_firstlineno
    return [f"{w.lineno - first}: {w.message}" for w in seen]


@pytest.mark.parametrize("again", ["compiled", "from the cache"])
def test_hints_that_change_nothing_are_said(again: str) -> None:
    def hints(flatten: bool, specialize: bool, nest: bool) -> dict[str, bool]:
        return {"FLATTEN": flatten, "SPECIALIZE": specialize, "NEST": nest}

    (text,) = said(hints(True, False, True), capability=80)
    assert text.startswith("2: tl.range(flatten=True) changes nothing: ")
    (text,) = said(hints(True, False, True))
    assert text.startswith("2: tl.range(flatten=True) changes nothing here: no load in it is a block")
    assert said(hints(True, False, False)) == []
    (text,) = said(hints(False, True, False))
    assert text.startswith("2: tl.range(warp_specialize=True) changes nothing here: no load in it is a block")
    assert said(hints(False, True, False), capability=80) == []
    (text,) = said(hints(False, False, False), num_ctas=2)
    assert text.startswith("1: num_ctas=2 changes nothing in this code: clusters are for loops over programs, ")
    assert said(hints(False, False, False)) == []
