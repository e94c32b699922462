"""Loads from which loops compute operands, and tiles that products read transposed too: in shared memory, copied ahead.

Here:      the bits of the same kernel with num_stages = 1, or of NumPy, under several orders of warps and copies; which
           loads are copied.
Not here:  operands that are loaded as they are (test_pipelined_dots.py), the order of waits (test_dots_in_flight.py).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import small_kernels
import test_dots_in_flight as dots
import tiletwin as triton
import tiletwin.language as tl

PACKED = "*fp16:16, *i32:16, *fp16:16, *fp32:16, i32:16, i32:16"
SCHEDULES = ("turns", "seed:1,copies=drawn", "seed:2,copies=late")


@triton.jit
def gradient(q, k, do, lse, delta, dk, dv, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Of attention to BN keys, with the values' part replaced by the keys: four products, two of them transposed."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    keys = tl.load(k + n[:, None] * D + d[None, :])
    sum_k = tl.zeros((BN, D), tl.float32)
    sum_v = tl.zeros((BN, D), tl.float32)
    for start in range(0, T, BM):
        at = (start + m)[:, None] * D + d[None, :]
        queries, gradients = tl.load(q + at), tl.load(do + at)
        p = tl.exp2(tl.dot(keys, tl.trans(queries)) * 0.125 - tl.load(lse + start + m)[None, :])
        sum_v = tl.dot(p.to(do.dtype.element_ty), gradients, sum_v)
        ds = p * (tl.dot(keys, tl.trans(gradients)) - tl.load(delta + start + m)[None, :])
        sum_k = tl.dot(ds.to(q.dtype.element_ty), queries, sum_k)
    tl.store(dk + n[:, None] * D + d[None, :], sum_k)
    tl.store(dv + n[:, None] * D + d[None, :], sum_v)


@triton.jit
def packed_weights(
    a, packed, scales, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EACH: tl.constexpr
):
    """EACH weights of four bits less 8 a word, along K; a scale for BK of them."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        words = tl.load(packed + ((start + k) // EACH)[:, None] * N + n[None, :])
        weights = ((words >> (k % EACH * 4)[:, None]) & 15) - 8
        scale = tl.load(scales + start // BK * N + n)
        acc = tl.dot(left, weights.to(left.dtype) * scale[None, :], acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def two_loops(q, k, out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The second loop goes on where the pointers of the first one are."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    at = k + n[None, :] * D + d[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, T, BN):
        acc = tl.dot(queries, tl.load(at), acc)
        at += BN * D
    for start in range(0, 2 * BN, BN):
        acc = tl.dot(queries, tl.load(at), acc * (start + 1))
        at += BN * D
    tl.store(out + m[:, None] * BN + n[None, :], acc)


@triton.jit
def linear_attention(q, k, v, out, T, D: tl.constexpr, BM: tl.constexpr, E: tl.constexpr):
    """Sums of half-precision numbers as f32: products of tf32. The loop reads the first one before it goes on."""
    m, d, e = tl.arange(0, BM), tl.arange(0, D), tl.arange(0, E)
    state = tl.zeros((D, E), tl.float32)
    for start in range(0, T, BM):
        row = (start + m)[:, None]
        queries = tl.load(q + row * D + d[None, :]).to(tl.float32) + 1
        keys = tl.load(k + (start + m)[None, :] * D + d[:, None]).to(tl.float32) + 1
        values = tl.load(v + row * E + e[None, :]).to(tl.float32)
        scores = tl.where(m[:, None] >= m[None, :], tl.dot(queries, keys), 0)
        tl.store(out + row * E + e[None, :], tl.dot(scores, values) + tl.dot(queries, state))
        state += tl.dot(keys, values)


def launch(
    code: dict[str, Any], given: list[np.ndarray], out: list[tuple[int, ...]], *numbers: int
) -> list[np.ndarray]:
    """What the code computes, the same in every order of warps and copies."""
    first: list[np.ndarray] = []
    for schedule in SCHEDULES:
        results = [np.full(shape, 77, np.float32) for shape in out]
        small_kernels.launch(code, *[x.reshape(-1) for x in (*given, *results)], *numbers, schedule=schedule)
        first = first or results
        assert all((a.view(np.uint32) == b.view(np.uint32)).all() for a, b in zip(first, results, strict=True))
    return first


def copies(code: dict[str, Any]) -> int:
    """Copies in the first loop's body."""
    loop = code["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)[0]
    return loop.count("twg.async_copy ")


@pytest.mark.parametrize(
    ("kind", "width", "rows", "block", "warps"),
    [
        ("fp16", 64, 64, 64, 4),
        pytest.param("bf16", 64, 64, 128, 8, marks=pytest.mark.slow),
        pytest.param("fp16", 128, 32, 128, 8, marks=pytest.mark.slow),
    ],
)
def test_a_tile_that_is_read_transposed_too_is_copied_once(
    kind: str, width: int, rows: int, block: int, warps: int
) -> None:
    """And so are the lines that the probabilities need. Both sums are in flight until the next iteration's product. The
    second transposed product begins behind the first one."""
    length = 3 * rows
    random = np.random.default_rng(7)
    q, do = (dots.bits(kind, random.standard_normal((length, width))) for _ in range(2))
    k = dots.bits(kind, random.standard_normal((block, width)))
    lse, delta = (random.standard_normal(length).astype(np.float32) for _ in range(2))
    signature = (
        f"*{kind}:16, *{kind}:16, *{kind}:16, *fp32:16, *fp32:16, *fp32:16, *fp32:16, i32, {width}, {rows}, {block}"
    )
    results = {}
    for stages in (1, 3):
        code = dots.code_of(gradient, signature, num_warps=warps, num_stages=stages)
        results[stages] = launch(code, [q, k, do, lse, delta], [(block, width)] * 2, length)
        assert copies(code) == (4 if stages == 3 else 2)
        assert dots.in_flight(code) == (4 if stages == 3 else 0) and "tt.trans" not in code["ttgir"]
        dots.assert_not_serialised(code)
    for one, other in zip(results[1], results[3], strict=True):
        assert (one.view(np.uint32) == other.view(np.uint32)).all()
    queries, keys, gradients = (dots.value(kind, x).astype(np.float64) for x in (q, k, do))
    p = np.exp2(keys @ queries.T * 0.125 - lse)
    want = (p * (keys @ gradients.T - delta)) @ queries, p @ gradients
    for got, exact in zip(results[3], want, strict=True):
        np.testing.assert_allclose(got, exact, atol=(3e-2 if kind == "bf16" else 3e-3) * np.abs(exact).max())


@pytest.mark.parametrize(
    ("rows", "stages", "each", "copied"),
    [(16, 3, 1, 3), (16, 2, 1, 3), (64, 3, 1, 2), (16, 3, 8, 2), (16, 2, 8, 2), (64, 3, 8, 2)],
)
def test_packed_weights_are_copied_ahead(rows: int, stages: int, each: int, copied: int) -> None:
    """A warpgroup's product would wait for such copies in front of unpacking: words as large as the operand are loaded
    as before. Scales of two bytes a thread are not copied."""
    columns, depth, total = 64, 64, 256
    random = np.random.default_rng(9)
    a = random.integers(-4, 5, (rows, total)).astype(np.float16)
    words = random.integers(-(2**31), 2**31, (total // each, columns)).astype(np.int32)
    scales = 2.0 ** random.integers(-2, 3, (total // depth, columns)).astype(np.float16)
    code = dots.code_of(packed_weights, f"{PACKED}, {rows}, {columns}, {depth}, {each}", num_warps=4, num_stages=stages)
    assert copies(code) == copied and ("wgmma" in code["ptx"]) == (rows == 64)
    given = [a.view(np.uint16), words, scales.astype(np.float16).view(np.uint16)]
    (got,) = launch(code, given, [(rows, columns)], columns, total)
    weights = ((words[:, None] >> (np.arange(each) * 4)[None, :, None]) & 15).astype(np.int64) - 8
    weights = weights.reshape(total, columns) * np.repeat(scales.astype(np.float64), depth, 0)
    np.testing.assert_array_equal(got, a.astype(np.float64) @ weights)


@pytest.mark.parametrize("stages", [1, 3])
def test_loads_in_front_of_products_that_the_loop_waits_for_are_copied_ahead(stages: int) -> None:
    """Nothing is in flight while such loads are waited for, so that copies can only begin earlier."""
    width, rows, columns, length = 64, 64, 32, 192
    random = np.random.default_rng(13)
    q, k, v = (random.integers(-2, 3, (length, n)).astype(np.float16) for n in (width, width, columns))
    code = dots.code_of(
        linear_attention,
        f"*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32, {width}, {rows}, {columns}",
        num_warps=4,
        num_stages=stages,
    )
    assert "wgmma" in code["ptx"] and copies(code) == (3 if stages == 3 else 0)
    (got,) = launch(code, [x.view(np.uint16) for x in (q, k, v)], [(length, columns)], length)
    a, b, c = q + 1.0, k + 1.0, v.astype(np.float64)
    np.testing.assert_array_equal(got, np.tril(a @ b.T) @ c)


@triton.jit
def both_sides(a, b, scales, left, right, N, D: tl.constexpr, M: tl.constexpr, SCALED: tl.constexpr):
    """A tile that is the first operand of one product, the second of another one, and may be scaled beside them."""
    m, d = tl.arange(0, M), tl.arange(0, D)
    at = m[:, None] * D + d[None, :]
    fixed = tl.load(b + m[:, None] * M + m[None, :])
    sums = tl.zeros((M, M), tl.float32)
    for start in range(0, N, M):
        one, two = tl.load(a + start * D + at), tl.load(b + start * D + at)
        sums = tl.dot(one, tl.trans(two), sums)
        found = tl.dot(fixed, one)
        if SCALED:
            found = found * one + tl.load(scales + start + m)[:, None]
        tl.store(right + start * D + at, found)
    tl.store(left + m[:, None] * M + m[None, :], sums)


@pytest.mark.parametrize("scaled", [False, True])
def test_an_operand_of_two_products_is_copied_once(scaled: bool) -> None:
    """What scales the product reads the copy, too, in its own layout."""
    width, rows, length = 32, 32, 160
    random = np.random.default_rng(17)
    a, b = (random.integers(-2, 3, (length, width)).astype(np.float16) for _ in range(2))
    scales = random.integers(-4, 5, length).astype(np.float32)
    results = {}
    for stages in (1, 3):
        code = dots.code_of(
            both_sides, f"*fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32:16, {width}, {rows}, {scaled}",
            num_warps=2, num_stages=stages,
        )  # fmt: skip
        assert "mma.sync" in code["ptx"] and copies(code) == (2 if stages == 3 else 0)
        results[stages] = launch(
            code, [a.view(np.uint16), b.view(np.uint16), scales], [(rows, rows), (length, width)], length
        )
        loop = code["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)[0]
        assert "tt.load %one" not in loop and (stages == 1 or not re.search(r"%one\S* = twg.convert_layout", loop))
    x, y = a.astype(np.float64).reshape(-1, rows, width), b.astype(np.float64).reshape(-1, rows, width)
    want = y.reshape(-1)[: rows * rows].reshape(rows, rows) @ x
    if scaled:
        want = want * x + scales.reshape(-1, rows, 1)
    for left, right in results.values():
        np.testing.assert_array_equal(left, (x @ y.transpose(0, 2, 1)).sum(0))
        np.testing.assert_array_equal(right.reshape(x.shape), want)


@triton.jit
def narrowed(a, b, scales, c, N, K, SCALED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The right operand is f32 in memory, and may be scaled along K by numbers of two bytes."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        if SCALED:
            right = right * tl.load(scales + start + k).to(tl.float32)[:, None]
        acc = tl.dot(left, right.to(left.dtype), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize(
    ("rows", "columns", "depth", "stages", "scaled", "copied", "alone"),
    [
        (64, 64, 32, 2, False, 2, False),
        (64, 64, 32, 4, False, 1, False),
        (64, 64, 32, 4, False, 2, True),
        (64, 64, 32, 2, True, 1, False),
        (64, 64, 32, 2, True, 1, True),
        (64, 128, 32, 2, False, 2, False),
        (64, 32, 128, 4, False, 2, False),
        (16, 64, 32, 4, False, 2, False),
        (16, 64, 32, 4, True, 2, False),
    ],
)
def test_all_loads_in_front_of_a_product_are_copied_or_none(
    rows: int, columns: int, depth: int, stages: int, scaled: bool, copied: int, alone: bool
) -> None:
    """Lines of two bytes a thread cannot be copied. Four stages of the larger operands leave room for fewer CTAs, which
    is nothing to a CTA that has a multiprocessor of its own."""
    total = 4 * depth
    random = np.random.default_rng(3)
    a, b = random.integers(-4, 5, (rows, total)), random.integers(-4, 5, (total, columns))
    scales = random.integers(-2, 3, total)
    given = [a.astype(np.float16).view(np.uint16), b.astype(np.float32), scales.astype(np.float16).view(np.uint16)]
    signature = f"*fp16:16, *fp32:16, *fp16:16, *fp32:16, i32:16, i32:16, {scaled}, {rows}, {columns}, {depth}"
    code = dots.code_of(narrowed, signature, num_warps=4, num_stages=stages, alone=alone)
    assert copies(code) == copied and ("wgmma" in code["ptx"]) == (rows == 64)
    (got,) = launch(code, given, [(rows, columns)], columns, total)
    np.testing.assert_array_equal(got, a.astype(np.float64) @ (b * scales[:, None] if scaled else b))


@pytest.mark.parametrize(("stages", "rings"), [(3, set()), (4, {3}), (5, set())])
def test_copies_have_one_stage_less_where_as_many_ctas_fit_then(stages: int, rings: set[int]) -> None:
    """Two CTAs fit with three stages of all copies, one with four. Of the matrix alone that is copied anyway three
    CTAs fit with three stages, two with four or five. Two stages less are too many."""
    rows, columns, depth = 64, 32, 128
    signature = f"*fp16:16, *fp32:16, *fp16:16, *fp32:16, i32:16, i32:16, False, {rows}, {columns}, {depth}"
    code = dots.code_of(narrowed, signature, num_warps=4, num_stages=stages)
    found = re.findall(r"twg.local_alloc {.*} -> <(\d+)x\d+x\d+xf(\d+)", code["ttgir"])
    assert {int(count) for count, bits in found if bits == "32"} == rings


@pytest.mark.parametrize(("alone", "stages", "found"), [(False, 3, 3), (True, 3, 6), (True, 2, 6), (True, 1, 0)])
@pytest.mark.parametrize("rounds", [1, 5, 6, 9])
def test_a_program_that_is_alone_has_more_buffers(alone: bool, stages: int, found: int, rounds: int) -> None:
    """Also where threads copy. Loops are shorter than the ring, as long, and longer."""
    rows, columns, depth = 16, 64, 32
    total = rounds * depth
    random = np.random.default_rng(4)
    a, b = random.integers(-4, 5, (rows, total)), random.integers(-4, 5, (total, columns))
    given = [a.astype(np.float16).view(np.uint16), b.astype(np.float32), np.zeros(total, np.uint16)]
    signature = f"*fp16:16, *fp32:16, *fp16:16, *fp32:16, i32:16, i32:16, False, {rows}, {columns}, {depth}"
    code = dots.code_of(narrowed, signature, num_warps=4, num_stages=stages, alone=alone)
    rings = {int(count) for count in re.findall(r"twg.local_alloc {.*} -> <(\d+)x\d+x\d+xf", code["ttgir"])}
    assert rings == ({found} if found else set())
    (got,) = launch(code, given, [(rows, columns)], columns, total)
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b)


@triton.jit
def decayed(k, v, g, last, out, T, D: tl.constexpr, E: tl.constexpr, BM: tl.constexpr, FORM: tl.constexpr):
    """A state of gated attention: a line of the loop, or what FORM makes of it, scales its rows, and, less a tile, what
    is added to it."""
    m, d, e = tl.arange(0, BM), tl.arange(0, D), tl.arange(0, E)
    state = tl.zeros((D, E), tl.float32)
    for start in range(0, T, BM):
        gates = tl.load(last + start // BM * D + d)
        at = (start + m)[None, :] * D + d[:, None]
        keys = tl.load(k + at) * tl.exp2(gates[:, None] - tl.load(g + at))
        if FORM == 0:
            factors = tl.exp2(gates)
        elif FORM == 1:
            swap: tl.constexpr = "mov.b32 $0, $3; mov.b32 $1, $2;"
            factors = tl.inline_asm_elementwise(swap, "=&r,=r,r,r", [gates], tl.float32, is_pure=True, pack=2)
        else:
            both: tl.constexpr = "mov.b32 $0, $2; neg.f32 $1, $2;"
            types: tl.constexpr = (tl.float32, tl.float32)
            _, factors = tl.inline_asm_elementwise(both, "=&f,=f,f", [gates], types, is_pure=True, pack=1)
        state *= factors[:, None]
        values = tl.load(v + (start + m)[:, None] * E + e[None, :])
        state = tl.dot(keys.to(values.dtype), values, state)
    tl.store(out + d[:, None] * E + e[None, :], state)


@pytest.mark.parametrize("form", [0, 1, 2], ids=["exp", "pairs", "two results"])
@pytest.mark.parametrize(("warps", "block"), [(1, 16), (2, 32), (2, 64)])
def test_copied_lines_are_read_in_each_layout_that_is_wanted(warps: int, block: int, form: int) -> None:
    """A conversion between warps would let them all wait twice in each round. What takes two neighbours at once, or
    gives two results, is not computed again."""
    length, width, columns = 5 * block, 64, 32
    random = np.random.default_rng(6)
    k, v = (dots.bits("fp16", random.standard_normal((length, n))) for n in (width, columns))
    g = -random.random((length, width), np.float32)
    last = -random.random((5, width), np.float32)
    signature = f"*fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, {width}, {columns}, {block}, {form}"
    results = {}
    for stages in (1, 3):
        code = dots.code_of(decayed, signature, num_warps=warps, num_stages=stages)
        (results[stages],) = launch(code, [k, v, g, last], [(width, columns)], length)
    loop = code["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)[0]
    assert copies(code) == 4 and (form != 0 or "scratch" not in loop)
    assert (results[1].view(np.uint32) == results[3].view(np.uint32)).all()
    keys, values = (dots.value("fp16", x).astype(np.float64) for x in (k, v))
    want = np.zeros((width, columns))
    for i in range(5):
        part = slice(i * block, (i + 1) * block)
        factors = [np.exp2(last[i]), last[i].reshape(-1, 2)[:, ::-1].ravel(), -last[i]][form]
        want = want * factors[:, None] + (keys[part] * np.exp2(last[i] - g[part])).T @ values[part]
    np.testing.assert_allclose(results[3], want, rtol=1e-2, atol=2e-2)


def test_scales_are_loaded_an_iteration_ahead() -> None:
    """A copy moves at least four bytes a thread, and these are two."""
    code = dots.code_of(packed_weights, f"{PACKED}, 16, 128, 128, 1", num_warps=4, num_stages=2)
    loop = code["ttgir"].split("scf.for", 1)[1].split("scf.yield", 1)
    (loaded,) = re.findall(r"(%\S+) = tt.load .*tensor<128x!tt.ptr<f16>", loop[0])
    assert loaded in loop[1].split("\n")[0] and loop[0].count(loaded) == 1


def test_stages_are_fewer_where_memory_is_short() -> None:
    """Words of 64 KB a stage: three stages have no room, two have."""
    code = dots.code_of(packed_weights, f"{PACKED}, 16, 128, 128, 1", num_warps=4, num_stages=3)
    assert copies(code) == 2 and "<2x128x128xi32" in code["ttgir"]
    assert code["metadata"]["shared"] <= 227 * 1024


def test_stages_that_the_program_itself_has_no_room_for_stay() -> None:
    """The launch says so then; a configuration of fewer stages would pass for it."""
    code = dots.code_of(packed_weights, f"{PACKED}, 16, 128, 128, 1", num_warps=4, num_stages=60)
    assert copies(code) == 1 and "<60x16x128xf16" in code["ttgir"]


def test_pointers_that_come_out_of_a_loop_are_loaded_from_by_vectors() -> None:
    width, rows, block, length = 64, 64, 64, 128
    random = np.random.default_rng(11)
    q, k = (random.integers(-3, 4, (n, width)).astype(np.float16) for n in (rows, length + 2 * block))
    code = dots.code_of(
        two_loops, f"*fp16:16, *fp16:16, *fp32:16, i32, {width}, {rows}, {block}", num_warps=4, num_stages=2
    )
    vectors = re.findall(r"twg.async_copy .*twg.vector = (\d+)", code["ttgir"])
    assert len(vectors) >= 4 and set(vectors) == {"8"}
    assert "twg.convert_layout" not in code["ttgir"].split("scf.for")[2].split("scf.yield")[0]
    (got,) = launch(code, [q.view(np.uint16), k.view(np.uint16)], [(rows, block)], length)
    blocks = [q.astype(np.float64) @ k[i : i + block].T.astype(np.float64) for i in range(0, length + 2 * block, block)]
    np.testing.assert_array_equal(got, (sum(blocks[:-2]) * 1 + blocks[-2]) * (block + 1) + blocks[-1])
