"""Rows and columns picked by number against NumPy: masks, borders, wrapped indices, loops, stores, wild numbers."""

from __future__ import annotations

import numpy as np
import pytest
import row_kernels as kernels
import tiletwin
import torch
import triton

X = torch.arange(20 * 24, dtype=torch.float32).reshape(20, 24)
NUMBERS = [
    [3, 1, 19, 7, 0, 12, 12, 8],
    [4, 5, 6, 7, 8, 9, 10, 11],
    [19, 17, 15, 13, 11, 9, 7, 5],
    [6] * 8,
    [16, 17, 18, 19, 0, 1, 2, 3],
]
TYPES = [torch.int32, torch.int64]


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("n", [16, 9, 1, 0])
def test_rows(numbers: list[int], dtype: torch.dtype, n: int) -> None:
    rows, out = torch.tensor(numbers, dtype=dtype), torch.zeros(8, 16)
    want = X[numbers, :16].clone()
    want[:, n:] = -1
    kernels.rows_by_number[(1,)](X, rows, out, 24, n, 8, 16)
    assert torch.equal(out, want)
    for m in (8, 5, 0):
        kernels.rows_sum_first[(1,)](X, rows, out, 24, n, m, 8, 16)
        want[m:] = -1
        assert torch.equal(out, want)


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_columns(numbers: list[int], dtype: torch.dtype) -> None:
    out, columns = torch.zeros(16, 8), torch.tensor(numbers, dtype=dtype)
    kernels.columns_by_number[(1,)](X, columns, out, 24, 16, 8)
    assert torch.equal(out, X[:16, numbers] * 2)
    both = torch.zeros(8, 8)
    kernels.both_by_number[(1,)](X, columns.flip(0), columns, both, 24, 8, 8)
    assert torch.equal(both, X[numbers[::-1]][:, numbers])


def test_masks_by_number() -> None:
    numbers = [3, -1, 19, -1, -1, 0, 1, -1]
    out = torch.zeros(8, 16)
    kernels.masked_rows[(1,)](X, torch.tensor(numbers), out, 24, 8, 16)
    want = X[numbers, :16].clone()
    want[[i for i, n in enumerate(numbers) if n < 0]] = 0.5
    assert torch.equal(out, want)


@pytest.mark.parametrize("numbers", NUMBERS[:3] + NUMBERS[4:], ids=str)
def test_stores(numbers: list[int]) -> None:
    numbers = list(dict.fromkeys(numbers))
    numbers += [n for n in range(20) if n not in numbers][: 8 - len(numbers)]
    x, out = torch.randn(8, 16), torch.zeros(20, 24)
    kernels.write_rows[(1,)](x, torch.tensor(numbers), out, 24, 8, 16)
    want = torch.zeros(20, 24)
    want[numbers, :15], want[numbers, 15] = x[:, :15] * 2, x[:, 15]
    assert torch.equal(out, want)


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_loops(numbers: list[int], rounds: int) -> None:
    numbers = [min(n, 18) for n in numbers]
    out = torch.zeros(8, 8)
    kernels.advanced_in_loop[(1,)](X, torch.tensor(numbers), out, 24, rounds, 8, 8)
    want = torch.zeros(8, 8)
    flat = X.reshape(-1)
    for r in range(rounds):
        start = torch.tensor(numbers) * 24 + 8 * r + (24 if r > 1 else 0)
        want += flat[start[:, None] + torch.arange(8)]
    assert torch.equal(out, want)


@pytest.mark.parametrize("row", [0, 3, 12, 19, 20, 35])
@pytest.mark.parametrize("column", [0, 5, 15, 23, 30])
def test_wrapped_indices(row: int, column: int) -> None:
    out = torch.zeros(2, 8, 16)
    kernels.wrapped[(1,)](X, out, 20, 24, row, column, 8, 16)
    rows, columns = (row + np.arange(8)) % 20, (column + np.arange(16)) % 24
    assert torch.equal(out[0], X[rows, :16]) and torch.equal(out[1], X[:8, columns])


def test_pages() -> None:
    x, out = torch.randn(9, 8, 4), torch.zeros(4, 4, 8)
    table = torch.tensor([7, 0, 8, 3], dtype=torch.int32)
    kernels.pages[(1,)](x, table, out, 4, 8, 4)
    assert torch.equal(out, x[table.long()].transpose(1, 2))


def test_offsets_are_values_too() -> None:
    numbers, out = [3, 1, 0, 7], torch.full((4, 8), -1, dtype=torch.int32)
    kernels.offsets_as_values[(1,)](torch.tensor(numbers, dtype=torch.int32), out, 4, 4, 8)
    offsets = torch.tensor(numbers)[:, None] * 4 + torch.arange(8)
    assert torch.equal(out, torch.where(offsets > 5, offsets, -1).int())


@pytest.mark.parametrize("start", [2147483640, 2147483645])
def test_sums_that_wrap(start: int) -> None:
    """rows + columns passes 2^31 and comes back by the subtraction, exactly as 32-bit numbers do."""
    x, out = torch.arange(64, dtype=torch.float32), torch.zeros(8, 8)
    rows = torch.arange(start, start + 2).to(torch.int32)[[0, 1, 1, 0, 0, 1, 0, 1]]
    kernels.sums_wrap[(1,)](x, rows, out, 8, 8)
    assert torch.equal(out, x[(rows.long() - 2147483640)[:, None] + torch.arange(8)])


@pytest.mark.parametrize(("wrong", "text"), [(20, "past the end"), (-1, "before the start"), (10**6, "past the end")])
def test_wild_numbers(wrong: int, text: str) -> None:
    numbers = [3, 1, wrong, 7, 0, 12, 12, 8]
    with pytest.raises(tiletwin.OutOfBoundsError, match=rf"element 32 \(index \(2, 0\)\).*{text}"):
        kernels.rows_by_number[(1,)](X, torch.tensor(numbers), torch.zeros(8, 16), 24, 16, 8, 16)


def test_no_addresses_are_written_down() -> None:
    """Persistent matrix products with indices modulo their sizes load blocks."""
    import restart_kernels

    names = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp32") | dict.fromkeys("MNK", "i32")
    constants = {"BM": 32, "BN": 32, "BK": 32}
    source = triton.compiler.ASTSource(
        restart_kernels.persistent_matmul, names | dict.fromkeys(constants, "constexpr"), constants
    )
    plan = triton.compile(source).module.text("plan").split("fallback")[0]
    assert "LoadRows" in plan and "Gather" not in plan and "Scatter" not in plan
