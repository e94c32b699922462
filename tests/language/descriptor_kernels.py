"""Kernels that use tensor descriptors; test_descriptors.py launches them."""

import triton
import triton.language as tl


@triton.jit
def load_1d(x_ptr, o_ptr, s0, at0, B0: tl.constexpr, PAD: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [s0], [1], [B0], padding_option=PAD)
    tl.store(o_ptr + tl.arange(0, B0), desc.load([at0]))


@triton.jit
def load_2d(x_ptr, o_ptr, s0, s1, t0, at0, at1, B0: tl.constexpr, B1: tl.constexpr, PAD: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [s0, s1], [t0, 1], [B0, B1], padding_option=PAD)
    block = desc.load([at0, at1])
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], block)


@triton.jit
def copy_3d(x_ptr, o_ptr, s0, s1, s2, t0, t1, at0, at1, at2, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [s0, s1, s2], [t0, t1, 1], [B0, B1, B2])
    o = tl.make_tensor_descriptor(o_ptr, [s0, s1, s2], [t0, t1, 1], [B0, B1, B2])
    o.store([at0, at1, at2], x.load([at0, at1, at2]))


@triton.jit
def copy_4d(x_ptr, o_ptr, S: tl.constexpr, T: tl.constexpr, at, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, S, T, B)
    o = tl.make_tensor_descriptor(o_ptr, S, T, B)
    o.store([at[0], at[1], at[2], at[3]], x.load([at[0], at[1], at[2], at[3]]))


@triton.jit
def copy_5d(x_ptr, o_ptr, S: tl.constexpr, T: tl.constexpr, at, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, S, T, B)
    o = tl.make_tensor_descriptor(o_ptr, S, T, B)
    o.store([at[0], at[1], at[2], at[3], at[4]], x.load([at[0], at[1], at[2], at[3], at[4]]))


@triton.jit
def copy_host(x, o, at0, at1):
    tl.static_assert(x.dtype == o.dtype)
    tl.store_tensor_descriptor(o, [at0, at1], tl.load_tensor_descriptor(x, [at0, at1]))


@triton.jit
def load_host(x, o_ptr, at0, at1):
    block = x.load([at0, at1])
    rows: tl.constexpr = x.block_shape[0]
    columns: tl.constexpr = x.block_shape[1]
    tl.store(o_ptr + tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :], block)


@triton.jit
def facts_of_host(x, o_ptr):
    tl.store(o_ptr, x.shape[0].to(tl.int64))
    tl.store(o_ptr + 1, x.shape[1].to(tl.int64))
    tl.store(o_ptr + 2, x.strides[0])
    tl.store(o_ptr + 3, x.strides[1])


@triton.jit
def add_blocks(desc, x, y, at):
    return desc.load([at, 0]) + x + y


@triton.jit
def host_in_function_and_tuple(descs, o_ptr, B0: tl.constexpr, B1: tl.constexpr):
    total = tl.zeros((B0, B1), tl.float32)
    total = add_blocks(descs[0], total, 1.0, 0)
    total = add_blocks(descs[1], total, 2.0, B0)
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], total)


@triton.jit
def choose_by_if(a_ptr, b_ptr, o_ptr, s0, s1, take_b, B0: tl.constexpr, B1: tl.constexpr):
    if take_b != 0:
        desc = tl.make_tensor_descriptor(b_ptr, [s0, s1], [s1, 1], [B0, B1])
    else:
        desc = tl.make_tensor_descriptor(a_ptr, [s1, s0], [s0, 1], [B0, B1])
    block = desc.load([0, 0])
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], block)


@triton.jit
def choose_between_two(a, b, o_ptr, take_b, B0: tl.constexpr, B1: tl.constexpr):
    desc = a
    if take_b != 0:
        desc = b
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], desc.load([0, 0]))


@triton.jit
def replace_in_loop(a, b, o_ptr, rounds, B0: tl.constexpr, B1: tl.constexpr):
    desc = a
    total = tl.zeros((B0, B1), tl.float32)
    for r in range(rounds):
        total += desc.load([0, 0]) * (r + 1)
        if r % 2 == 0:
            desc = b
        else:
            desc = a
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], total)


@triton.jit
def early_return(a, b, o_ptr, take_b, B0: tl.constexpr, B1: tl.constexpr):
    at = tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :]
    if take_b != 0:
        tl.store(o_ptr + at, b.load([0, 0]))
        return
    tl.store(o_ptr + at, a.load([0, 0]))


@triton.jit
def in_while(x, o_ptr, rounds, B0: tl.constexpr, B1: tl.constexpr):
    total = tl.zeros((B0, B1), tl.float32)
    at = 0
    while at < rounds:
        total += x.load([at, at - 1])
        at += 1
    tl.store(o_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], total)


@triton.jit
def gather_rows(x_ptr, rows_ptr, o_ptr, s0, s1, column, K: tl.constexpr, N: tl.constexpr, PAD: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [s0, s1], [s1, 1], [1, N], padding_option=PAD)
    rows = tl.load(rows_ptr + tl.arange(0, K))
    tl.store(o_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :], desc.gather(rows, column))


@triton.jit
def scatter_rows(x_ptr, rows_ptr, o_ptr, s0, s1, column, K: tl.constexpr, N: tl.constexpr):
    desc = tl.make_tensor_descriptor(o_ptr, [s0, s1], [s1, 1], [1, N])
    rows = tl.load(rows_ptr + tl.arange(0, K))
    desc.scatter(tl.load(x_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :]), rows, column)


@triton.jit
def reduce_into(x_ptr, o_ptr, s0, s1, at0, at1, OP: tl.constexpr, B0: tl.constexpr, B1: tl.constexpr):
    o = tl.make_tensor_descriptor(o_ptr, [s0, s1], [s1, 1], [B0, B1])
    x = tl.load(x_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :])
    if OP == "add":
        o.atomic_add([at0, at1], x)
    elif OP == "min":
        o.atomic_min([at0, at1], x)
    elif OP == "max":
        o.atomic_max([at0, at1], x)
    elif OP == "and":
        o.atomic_and([at0, at1], x)
    elif OP == "or":
        o.atomic_or([at0, at1], x)
    else:
        o.atomic_xor([at0, at1], x)


@triton.jit
def count_up(o, B0: tl.constexpr, B1: tl.constexpr):
    o.atomic_add([tl.program_id(0) % 3, 0], tl.full((B0, B1), 1, tl.int32))


@triton.jit
def in_place(x, B0: tl.constexpr, B1: tl.constexpr, rounds):
    """Each row block is read one row further down than it is written: the store must not be seen by the load."""
    for r in range(rounds):
        block = x.load([r + 1, 0])
        x.store([r, 0], block)
        x.store([r + 40, 0], block + block)


@triton.jit
def matmul_desc(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([m, k]), b.load([k, n]), sums, input_precision="ieee")
    c.store([m, n], sums.to(c.dtype))


@triton.jit
def make_bad(x_ptr, t0, offset):
    desc = tl.make_tensor_descriptor(x_ptr + offset, [8, 16], [t0, 1], [8, 16])
    desc.store([0, 0], desc.load([0, 0]))


@triton.jit
def unused_bad(x_ptr, o_ptr, t0, make):
    if make != 0:
        desc = tl.make_tensor_descriptor(x_ptr, [8, 16], [t0, 1], [8, 16])
        tl.store(o_ptr, tl.sum(tl.sum(desc.load([0, 0]), 0), 0))


@triton.jit
def old_names(x_ptr, WHICH: tl.constexpr):
    if WHICH == "make":
        tl._experimental_make_tensor_descriptor(x_ptr, [8, 8], [8, 1], [8, 8])
    elif WHICH == "load":
        tl._experimental_descriptor_load(x_ptr, [0, 0], [8, 8], tl.float32)
    elif WHICH == "store":
        tl._experimental_descriptor_store(x_ptr, 0.0, [0, 0])
    elif WHICH == "reinterpret":
        tl._experimental_reinterpret_tensor_descriptor(x_ptr, [8, 8], tl.float32)
    elif WHICH == "create":
        tl.extra.cuda.experimental_device_tensormap_create2d(x_ptr, x_ptr, [8, 8], [8, 8], tl.float32)
    else:
        tl.extra.cuda.experimental_tensormap_fenceproxy_acquire(x_ptr)
