"""Kernels that pick rows and columns by number, as the interpreter may take them apart; test_rows.py launches them."""

import triton
import triton.language as tl


@triton.jit
def rows_by_number(x_ptr, rows_ptr, o_ptr, stride, n, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=columns[None, :] < n, other=-1.0)
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + columns[None, :], x)


@triton.jit
def rows_sum_first(x_ptr, rows_ptr, o_ptr, stride, n, m, R: tl.constexpr, C: tl.constexpr):
    """The offsets are summed as integers before they meet the pointer; the mask leaves out rows too."""
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    offsets = (rows[:, None] * stride + columns[None, :]) + 1 - 1
    mask = (tl.arange(0, R)[:, None] < m) & (columns[None, :] < n)
    x = tl.load(x_ptr + offsets, mask=mask, other=-1.0)
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + columns[None, :], x)


@triton.jit
def columns_by_number(x_ptr, columns_ptr, o_ptr, stride, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R), tl.load(columns_ptr + tl.arange(0, C))
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :])
    y = tl.load((x_ptr + columns)[None, :] + rows[:, None] * stride)
    tl.store(o_ptr + rows[:, None] * C + tl.arange(0, C)[None, :], x + y)


@triton.jit
def both_by_number(x_ptr, rows_ptr, columns_ptr, o_ptr, stride, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.load(columns_ptr + tl.arange(0, C))
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :])
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :], x)


@triton.jit
def masked_rows(x_ptr, rows_ptr, o_ptr, stride, R: tl.constexpr, C: tl.constexpr):
    """The mask depends on the numbers: -1 stands for no row."""
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=(rows >= 0)[:, None], other=0.5)
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + columns[None, :], x)


@triton.jit
def write_rows(x_ptr, rows_ptr, o_ptr, stride, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    pointers = o_ptr + rows[:, None] * stride + columns[None, :]
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + columns[None, :])
    tl.store(pointers, x)
    tl.store(pointers, tl.load(pointers) * 2, mask=columns[None, :] < C - 1)


@triton.jit
def advanced_in_loop(x_ptr, rows_ptr, o_ptr, stride, rounds, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    pointers = x_ptr + rows[:, None] * stride + columns[None, :]
    total = tl.zeros((R, C), tl.float32)
    for r in range(rounds):
        total += tl.load(pointers)
        tl.store(o_ptr, -1.0)
        pointers += C
        if r == 1:
            pointers += stride
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + columns[None, :], total)


@triton.jit
def wrapped(x_ptr, o_ptr, m, n, row, column, R: tl.constexpr, C: tl.constexpr):
    """Both indices modulo their sizes, after a store."""
    tl.store(o_ptr, -1.0)
    rows, columns = (row + tl.arange(0, R)) % m, (column + tl.arange(0, C)) % n
    across = tl.load(x_ptr + rows[:, None] * n + tl.arange(0, C)[None, :], mask=tl.arange(0, C)[None, :] < n, other=0.0)
    down = tl.load(
        x_ptr + tl.arange(0, R)[:, None] * n + columns[None, :], mask=tl.arange(0, R)[:, None] < m, other=0.0
    )
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(o_ptr + at, across)
    tl.store(o_ptr + R * C + at, down)


@triton.jit
def pages(x_ptr, table_ptr, o_ptr, P: tl.constexpr, S: tl.constexpr, D: tl.constexpr):
    """Three dimensions: the page of each block comes from a table."""
    page = tl.load(table_ptr + tl.arange(0, P)).to(tl.int64)
    s, d = tl.arange(0, S), tl.arange(0, D)
    x = tl.load(x_ptr + page[:, None, None] * (S * D) + (s[:, None] * D + d[None, :])[None, :, :])
    y = tl.trans(x, 0, 2, 1)
    at = tl.arange(0, P)[:, None, None] * (S * D) + d[None, :, None] * S + s[None, None, :]
    tl.store(o_ptr + at, y)


@triton.jit
def offsets_as_values(rows_ptr, o_ptr, stride, R: tl.constexpr, C: tl.constexpr):
    """The offsets are looked at, not only followed."""
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    offsets = rows[:, None] * stride + columns[None, :]
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + columns[None, :], offsets, mask=tl.trans(tl.trans(offsets)) > 5)
    tl.store(o_ptr + offsets * 0, 7, mask=offsets == 2147483647)


@triton.jit
def sums_wrap(x_ptr, rows_ptr, o_ptr, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.load(rows_ptr + tl.arange(0, R)), tl.arange(0, C)
    x = tl.load(x_ptr + ((rows[:, None] + columns[None, :]) - 2147483640))
    tl.store(o_ptr + tl.arange(0, R)[:, None] * C + columns[None, :], x)
