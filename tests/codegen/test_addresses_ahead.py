"""Loads whose addresses are computed some iterations ahead: chosen by branches, read from tables, for several products;
and lines of few elements, which each thread loads where it needs them.

The judge is NumPy on small whole numbers, so that every order of a sum gives the same, with the simulator's checks of
races, bounds, unwritten memory and copies that nobody waited for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import checks
from tiletwin.compiler import ASTSource
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS

HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)


@pytest.fixture(autouse=True)
def all_checks(monkeypatch):
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    checks.clear()
    yield
    assert not checks.findings()


def stages_of(kernel, types: dict[str, str], **options: Any) -> dict[str, str]:
    """Texts of a kernel's stages; "int" is a number that 16 divides, other words that are no types are constexprs."""
    constants = {name: value for name, value in types.items() if not isinstance(value, str)}
    types = {name: value for name, value in types.items() if name not in constants}
    signature = {name: "i32" if value == "int" else value for name, value in types.items()}
    numbers = {name: i for i, name in enumerate(kernel.arg_names)}
    attributes = {(numbers[name],): [["tt.divisibility", 16]] for name, value in types.items() if value != "i32"}
    source = ASTSource(kernel, signature | dict.fromkeys(constants, "constexpr"), constants, attributes)
    return triton.compile(source, target=HOPPER, options=options).asm


def whole(*shape: int, dtype=np.float16, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@triton.jit
def tiles_in_one_loop(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Persistent, as one loop over the blocks of all tiles: a branch moves on to the next tile."""
    steps = tl.cdiv(K, BK)
    columns = tl.cdiv(N, BN)
    tile = tl.program_id(0) - PROGRAMS
    rounds = tl.cdiv(tl.cdiv(M, BM) * columns - tl.program_id(0), PROGRAMS)
    k = -1
    m = 0
    n = 0
    om = tl.arange(0, BM)
    on = tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, steps * rounds):
        k = tl.where(k == steps - 1, 0, k + 1)
        if k == 0:
            tile += PROGRAMS
            m = tile // columns
            n = tile % columns
            om = tl.where(m * BM + tl.arange(0, BM) < M, m * BM + tl.arange(0, BM), 0)
            on = tl.where(n * BN + tl.arange(0, BN) < N, n * BN + tl.arange(0, BN), 0)
            om = tl.max_contiguous(tl.multiple_of(om, BM), BM)
            on = tl.max_contiguous(tl.multiple_of(on, BN), BN)
        ok = k * BK + tl.arange(0, BK)
        x = tl.load(a + om[:, None] * K + ok[None, :], mask=ok[None, :] < K, other=0.0)
        y = tl.load(b + ok[:, None] * N + on[None, :], mask=ok[:, None] < K, other=0.0)
        total = tl.dot(x, y, total)
        if k == steps - 1:
            cm = m * BM + tl.arange(0, BM)
            cn = n * BN + tl.arange(0, BN)
            tl.store(c + cm[:, None] * N + cn[None, :], total, mask=(cm[:, None] < M) & (cn[None, :] < N))
            total = tl.zeros((BM, BN), tl.float32)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 96, 64), (64, 64, 32), (80, 176, 80)])
def test_a_branch_chooses_the_addresses(m: int, n: int, k: int, stages: int) -> None:
    a, b, c = whole(m, k), whole(k, n, seed=1), np.full((m, n), 77, np.float32)
    tiles_in_one_loop[(2,)](a, b, c, m, n, k, 64, 32, 32, 2, num_stages=stages)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def test_what_a_branch_chooses_is_known() -> None:
    """Its tiles lie as the loads want them, and whole vectors are copied, without a conversion of addresses."""
    facts = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "int", "N": "int", "K": "int"}
    asm = stages_of(tiles_in_one_loop, facts | {"BM": 64, "BN": 64, "BK": 32, "PROGRAMS": 4}, num_stages=3)
    copies = [line for line in asm["ttgir"].splitlines() if "twg.async_copy" in line]
    assert len(copies) == 6 and all("twg.vector = 8" in line for line in copies)  # two in front of the loop, one in it
    assert "xi32" not in "".join(line for line in asm["ttgir"].splitlines() if "twg.convert_layout" in line)


@triton.jit
def blocks_of_a_table(q, k, o, table, first, last, N: tl.constexpr, D: tl.constexpr, WRITES: tl.constexpr = False):
    """A loop over the blocks that a table names, with the places in each of them in another one."""
    row, d = tl.arange(0, N), tl.arange(0, D)
    x = tl.load(q + row[:, None] * D + d[None, :])
    total = tl.zeros((N, N), tl.float32)
    for i in range(first, last):
        block = tl.load(table + i)
        y = tl.load(k + (block * N + row)[None, :] * D + d[:, None])
        total += tl.dot(x, y)
        if WRITES:
            tl.store(table + i + 1, block + 1)
    tl.store(o + row[:, None] * N + row[None, :], total)


@triton.jit
def rows_of_a_table(q, k, o, table, first, last, N: tl.constexpr, D: tl.constexpr):
    row, d = tl.arange(0, N), tl.arange(0, D)
    x = tl.load(q + row[:, None] * D + d[None, :])
    total = tl.zeros((N, N), tl.float32)
    for i in range(first, last):
        rows = tl.load(table + i * N + row, mask=i * N + row < last * N - 3, other=0)
        y = tl.load(k + rows[None, :] * D + d[:, None])
        total += tl.dot(x, y)
    tl.store(o + row[:, None] * N + row[None, :], total)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (1, 3), (0, 7)])
def test_a_table_names_the_blocks(first: int, last: int, stages: int) -> None:
    """The table ends with the loop: an iteration beyond reads nothing of it."""
    n, d = 64, 32
    table = np.array([5, 0, 3, 3, 7, 1, 2][:last] or [0], np.int32)
    q, k, o = whole(n, d), whole(8 * n, d, seed=1), np.full((n, n), 77, np.float32)
    blocks_of_a_table[(1,)](q, k, o, table, first, last, n, d, num_stages=stages)
    expected = sum(
        (q.astype(np.float32) @ k[i * n :][:n].T.astype(np.float32) for i in table[first:last]), np.zeros((n, n))
    )
    assert (o == expected).all()


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("last", [0, 1, 4])
def test_a_table_names_the_rows(last: int, stages: int) -> None:
    n, d = 64, 32
    table = np.random.default_rng(2).integers(0, 8 * n, max(last * n - 3, 1)).astype(np.int32)
    q, k, o = whole(n, d), whole(8 * n, d, seed=1), np.full((n, n), 77, np.float32)
    rows_of_a_table[(1,)](q, k, o, table, 0, last, n, d, num_stages=stages)
    rows = np.append(table, [0] * 3).reshape(last, n) if last else np.zeros((0, n), np.int32)
    expected = sum((q.astype(np.float32) @ k[row].T.astype(np.float32) for row in rows), np.zeros((n, n)))
    assert (o == expected).all()


@triton.jit
def blocks_behind_a_flag(q, k, o, table, first, last, N: tl.constexpr, D: tl.constexpr):
    row, d = tl.arange(0, N), tl.arange(0, D)
    x = tl.load(q + row[:, None] * D + d[None, :])
    total = tl.zeros((N, N), tl.float32)
    for i in range(first, last):
        while tl.atomic_add(o, 0.0, sem="acquire") < i:
            pass
        block = tl.load(table + i)
        y = tl.load(k + (block * N + row)[None, :] * D + d[:, None])
        total += tl.dot(x, y)
    tl.store(o + row[:, None] * N + row[None, :], total)


def test_tables_that_are_written_are_not_read_ahead() -> None:
    n, d = 64, 32
    facts = {"q": "*fp16", "k": "*fp16", "o": "*fp32", "table": "*i32", "first": "i32", "last": "i32", "N": n, "D": d}
    asked = (
        (blocks_of_a_table, {}),
        (rows_of_a_table, {}),
        (blocks_of_a_table, {"WRITES": True}),
        (blocks_behind_a_flag, {}),
    )
    copied = ["twg.async_copy" in stages_of(kernel, facts | more, num_stages=3)["ttgir"] for kernel, more in asked]
    assert copied == [True, True, False, False]
    table = np.zeros(8, np.int32)
    q, k, o = whole(n, d), whole(8 * n, d, seed=1), np.full((n, n), 77, np.float32)
    blocks_of_a_table[(1,)](q, k, o, table, 0, 7, n, d, True, num_stages=3)
    assert table.tolist() == list(range(8))
    assert (o == q.astype(np.float32) @ k[: 7 * n].astype(np.float32).reshape(7, n, d).sum(0).T).all()


@triton.jit
def three_products(a, b, c, o, K, N: tl.constexpr, BK: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    first = tl.zeros((N, N), tl.float32)
    second = tl.zeros((N, N), tl.float32)
    third = tl.zeros((N, N), tl.float32)
    for i in range(0, K, BK):
        k = i + tl.arange(0, BK)
        x = tl.load(a + row * K + k[None, :], mask=k[None, :] < K, other=0.0)
        y = tl.load(b + k[:, None] * N + column, mask=k[:, None] < K, other=0.0)
        z = tl.load(c + k[:, None] * N + column, mask=k[:, None] < K, other=0.0)
        first += tl.dot(x, y, input_precision="ieee")
        second += tl.dot(x, z, allow_tf32=False)
        third += tl.dot(x, y + z, input_precision="ieee")
    at = o + row * N + column
    tl.store(at, first)
    tl.store(at + N * N, second)
    tl.store(at + 2 * N * N, third)


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("k", [0, 16, 48, 80])
def test_products_without_tensor_cores_share_a_tile(k: int, stages: int) -> None:
    n = 32
    a, b, c = (
        whole(n, k, dtype=np.float32),
        whole(k, n, dtype=np.float32, seed=1),
        whole(k, n, dtype=np.float32, seed=2),
    )
    o = np.full((3, n, n), 77, np.float32)
    three_products[(1,)](a, b, c, o, k, n, 32, num_stages=stages)
    assert (o == np.stack([a @ b, a @ c, a @ (b + c)])).all()


def test_a_tile_of_three_products_is_copied_ahead() -> None:
    facts = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "o": "*fp32", "K": "int", "N": 32, "BK": 32}
    ttgir = stages_of(three_products, facts, num_stages=3)["ttgir"]
    copies = [line for line in ttgir.splitlines() if "twg.async_copy" in line]
    assert len(copies) == 3  # twice in front of the loop, once in it: of x alone, which products alone read


@triton.jit
def turned(x, cosine, sine, o, H: tl.constexpr, D: tl.constexpr):
    """Every head of a row turned by the row's angles: a line of numbers beside a tile."""
    head, d = tl.arange(0, H)[:, None], tl.arange(0, D)
    at = tl.program_id(0) * H * D * 2 + head * D * 2 + d[None, :]
    c = tl.load(cosine + tl.program_id(0) * D + d, mask=d < D, other=0.0).to(tl.float32)
    s = tl.load(sine + tl.program_id(0) * D + d, mask=d < D, other=0.0)
    first = tl.load(x + at).to(tl.float32)
    second = tl.load(x + at + D).to(tl.float32)
    tl.store(o + at, first * c[None, :] - second * s[None, :])
    tl.store(o + at + D, second * c[None, :] + first * s[None, :])


@pytest.mark.parametrize(("heads", "d", "warps"), [(8, 64, 4), (32, 32, 2), (2, 16, 1), (4, 128, 8)])
def test_lines_are_loaded_where_they_are_needed(heads: int, d: int, warps: int) -> None:
    x = whole(3, heads, 2, d)
    c, s = whole(3, d, seed=1), whole(3, d, seed=2)
    o = np.full((3, heads, 2, d), 77, np.float32)
    turned[(3,)](x, c, s, o, heads, d, num_warps=warps)
    first, second, c, s = (one.astype(np.float32) for one in (x[:, :, 0], x[:, :, 1], c[:, None], s[:, None]))
    assert (o == np.stack([first * c - second * s, second * c + first * s], 2)).all()


def test_lines_take_no_way_through_shared_memory() -> None:
    facts = {"x": "*fp16", "cosine": "*fp16", "sine": "*fp16", "o": "*fp32", "H": 8, "D": 64}
    asm = stages_of(turned, facts)
    assert "convert_layout" not in asm["ttgir"] and "bar.sync" not in asm["ptx"]
    assert asm["ttgir"].count("tt.load") == 4  # none is made twice in vain
    written = stages_of(turned_in_place, facts)["ttgir"]
    assert "convert_layout" in written


@triton.jit
def turned_in_place(x, cosine, sine, o, H: tl.constexpr, D: tl.constexpr):
    """A line that the kernel writes is loaded once."""
    head, d = tl.arange(0, H)[:, None], tl.arange(0, D)
    at = head * D + d[None, :]
    c = tl.load(cosine + d)
    tl.store(o + at, tl.load(x + at) * c[None, :])
    tl.store(cosine + d, c + 1)
