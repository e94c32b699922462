"""Kernels that load pointers from memory, make them from addresses, and reinterpret them."""

import triton
import triton.language as tl


@triton.jit
def sum_by_table(table_ptr, lengths_ptr, o_ptr, B: tl.constexpr):
    """Program i sums the float32 array whose address is table[i]."""
    pid = tl.program_id(0)
    x_ptr = tl.load(table_ptr + pid).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, B)
    x = tl.load(x_ptr + at, mask=at < tl.load(lengths_ptr + pid), other=0.0)
    tl.store(o_ptr + pid, tl.sum(x, 0))


@triton.jit
def sum_by_pointers(table_ptr, lengths_ptr, o_ptr, B: tl.constexpr):
    """The same through a pointer to pointers."""
    pid = tl.program_id(0)
    pointers = table_ptr.to(tl.pointer_type(tl.pointer_type(tl.float32)))
    x_ptr = tl.load(pointers + pid)
    at = tl.arange(0, B)
    x = tl.load(x_ptr + at, mask=at < tl.load(lengths_ptr + pid), other=0.0)
    tl.store(o_ptr + pid, tl.sum(x, 0))


@triton.jit
def block_of_pointers(table_ptr, o_ptr, index, N: tl.constexpr):
    """Element `index` of each of N arrays, gathered through a block of loaded pointers, and written back negated."""
    pointers = tl.load(table_ptr + tl.arange(0, N)).to(tl.pointer_type(tl.float32))
    x = tl.load(pointers + index)
    tl.store(o_ptr + tl.arange(0, N), x)
    tl.store(pointers + index, -x)


@triton.jit
def masked_pointers(table_ptr, o_ptr, n, N: tl.constexpr):
    at = tl.arange(0, N)
    pointers = tl.load(table_ptr + at, mask=at < n, other=0).to(tl.pointer_type(tl.float32))
    tl.store(o_ptr + at, tl.load(pointers, mask=at < n, other=-1.0))


@triton.jit
def swap_pointers(table_ptr):
    pointers = table_ptr.to(tl.pointer_type(tl.pointer_type(tl.int8)))
    a, b = tl.load(pointers), tl.load(pointers + 1)
    tl.store(pointers, b)
    tl.store(pointers + 1, a)


@triton.jit
def by_address(address, o_ptr, n, B: tl.constexpr):
    at = tl.arange(0, B)
    x = tl.load(address.to(tl.pointer_type(tl.float16)) + at, mask=at < n, other=0.0)
    tl.store(o_ptr + at, x, mask=at < n)


@triton.jit
def address_of(x_ptr, o_ptr, n):
    tl.store(o_ptr, x_ptr.to(tl.int64))
    tl.store(o_ptr + 1, (x_ptr + n).to(tl.int64) - x_ptr.to(tl.int64))


@triton.jit
def from_one_to_another(x_ptr, y_ptr, o_ptr, B: tl.constexpr):
    """Reaches y from x by way of integers."""
    x, y = x_ptr.to(tl.int64), y_ptr.to(tl.int64)
    at = tl.arange(0, B)
    tl.store(o_ptr + at, tl.load((x + (y - x)).to(tl.pointer_type(tl.float32)) + at))
    block = (x + at * 4 + (y - x)).to(tl.pointer_type(tl.float32))
    tl.store(o_ptr + B + at, tl.load(block))


@triton.jit
def bits_of(x_ptr, o_ptr, B: tl.constexpr):
    """float32 read as pairs of int16, by a pointer cast."""
    at = tl.arange(0, B)
    halves = x_ptr.to(tl.pointer_type(tl.int16), bitcast=True)
    tl.store(o_ptr + at, tl.load(halves + at))


@triton.jit
def is_null(x_ptr, o_ptr):
    tl.store(o_ptr, tl.where(x_ptr.to(tl.int1), 1, 0))
    tl.store(o_ptr + 1, (x_ptr.to(tl.int64) == 0).to(tl.int32))


@triton.jit
def grouped_matmul(a_table, b_table, c_table, sizes_ptr, strides_ptr, groups, BM: tl.constexpr, BN: tl.constexpr,
                   BK: tl.constexpr):  # fmt: skip
    """The tutorial's grouped GEMM: sizes (m, n, k) and leading strides of each group, addresses in tables."""
    tile = tl.program_id(0)
    end = 0
    for g in range(groups):
        gm, gn, gk = tl.load(sizes_ptr + g * 3), tl.load(sizes_ptr + g * 3 + 1), tl.load(sizes_ptr + g * 3 + 2)
        tiles_n = tl.cdiv(gn, BN)
        tiles = tl.cdiv(gm, BM) * tiles_n
        while tile >= end and tile < end + tiles:
            lda, ldb, ldc = (
                tl.load(strides_ptr + g * 3),
                tl.load(strides_ptr + g * 3 + 1),
                tl.load(strides_ptr + g * 3 + 2),
            )
            a_ptr = tl.load(a_table + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_table + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_table + g).to(tl.pointer_type(tl.float16))
            here = tile - end
            rows = here // tiles_n * BM + tl.arange(0, BM)
            columns = here % tiles_n * BN + tl.arange(0, BN)
            inner = tl.arange(0, BK)
            a_ptrs = a_ptr + rows[:, None] * lda + inner[None, :]
            b_ptrs = b_ptr + inner[:, None] * ldb + columns[None, :]
            sums = tl.zeros((BM, BN), tl.float32)
            for k in range(0, tl.cdiv(gk, BK)):
                a = tl.load(a_ptrs, mask=(rows[:, None] < gm) & (inner[None, :] < gk - k * BK), other=0.0)
                b = tl.load(b_ptrs, mask=(inner[:, None] < gk - k * BK) & (columns[None, :] < gn), other=0.0)
                sums += tl.dot(a, b)
                a_ptrs += BK
                b_ptrs += BK * ldb
            inside = (rows[:, None] < gm) & (columns[None, :] < gn)
            tl.store(c_ptr + rows[:, None] * ldc + columns[None, :], sums.to(tl.float16), mask=inside)
            tile += tl.num_programs(0)
        end += tiles


@triton.jit
def copy(x_ptr, o_ptr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def pointers_in_branches(x_ptr, y_ptr, o_ptr, n, take_y, stride_y, B: tl.constexpr):
    at = tl.arange(0, B)
    if take_y != 0:
        pointers = y_ptr + at * stride_y
    else:
        pointers = x_ptr + at
    x = tl.load(pointers, mask=at < n, other=0.0)
    k = 0
    while k < 3:
        x += tl.load(pointers, mask=at < n, other=0.0)
        pointers += 1
        k += 1
    tl.store(o_ptr + at, x)


@triton.jit
def compare_pointers(x_ptr, o_ptr):
    tl.store(o_ptr, x_ptr == x_ptr + 1)


@triton.jit
def subtract_pointers(x_ptr, o_ptr):
    tl.store(o_ptr, x_ptr + 3 - x_ptr)


@triton.jit
def write_constant(x_ptr: tl.const, o_ptr):
    tl.store(x_ptr, 1.0)


@triton.jit
def hints(x_ptr: tl.const, o_ptr, LOAD: tl.constexpr, STORE: tl.constexpr, KEEP: tl.constexpr, V: tl.constexpr):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i, cache_modifier=LOAD, eviction_policy=KEEP, volatile=V)
    tl.store(o_ptr + i, x, cache_modifier=STORE, eviction_policy=KEEP)
    tl.store(o_ptr + 8, tl.load(x_ptr + 7, cache_modifier=LOAD, volatile=V), cache_modifier=STORE)


@triton.jit
def unaligned(bytes_ptr, o_ptr, shift, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (bytes_ptr + shift).to(tl.pointer_type(tl.float32))
    x = tl.load(p + i)
    tl.store(o_ptr + i, x)
    tl.store(p + i, x * 2)
    tl.store(p, tl.load(p) + 1)


@triton.jit
def booleans(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < B - 1, other=True)
    tl.store(o_ptr + i, ~x)
    tl.store(o_ptr + B, 3)  # every number but 0 is true


@triton.jit
def wild(o_ptr, address, STEP: tl.constexpr, LOAD: tl.constexpr):
    if STEP == 0:
        p = address.to(tl.pointer_type(tl.float32))
        if LOAD:
            tl.store(o_ptr, tl.load(p))
        else:
            tl.store(p, 1.0)
    else:
        i = tl.arange(0, 4)
        p = (address + i.to(tl.int64) * STEP).to(tl.pointer_type(tl.float32))
        if LOAD:
            tl.store(o_ptr + i, tl.load(p))
        else:
            tl.store(p, i * 1.0)


@triton.jit
def copy_strided(x_ptr, o_ptr, xs0, xs1, os0, os1, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    tl.store(o_ptr + r * os0 + c * os1, tl.load(x_ptr + r * xs0 + c * xs1))


@triton.jit
def far_offsets(x_ptr, o_ptr, start: tl.int64, B: tl.constexpr):
    """Elements past 2^31, by 64-bit numbers; reading back what was written."""
    i = tl.arange(0, B)
    tl.store(x_ptr + start + i, i.to(tl.int8))
    tl.store(o_ptr + i, tl.load(x_ptr + (start + i)))
    tl.store(o_ptr + B + i, tl.load(x_ptr + ((i.to(tl.int64) << 27) % start)))
