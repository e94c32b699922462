"""Kernels whose launches have arguments of every kind, for real Triton's compiler (test_triton_sim.py)."""

import sim_helpers
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def copied(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def numbers(o, half, brain, single, double, yes, small, large, huge, nothing, KIND: tl.constexpr):
    """Numbers of every type, `nothing` is None."""
    if nothing is None:
        tl.store(o, half.to(tl.float32) + brain.to(tl.float32) + single + tl.cast(double, tl.float32))
    tl.store(o + 1, tl.where(yes, small, 0).to(tl.float32))
    tl.store(o + 2, (large >> 20).to(tl.float32))
    tl.store(o + 3, (huge >> 40).to(tl.float32))
    tl.store(o + 4, tl.full((), 2.7, tl.float32).to(KIND).to(tl.float32))


@triton.jit
def pairs(both, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(both[0] + i) * both[1])


@triton.jit
def applied(x, o, f: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, f(tl.load(x + i)))


@triton.jit
def doubled(v):
    return v + v


@triton.jit
def transposed(source, target, M: tl.constexpr, N: tl.constexpr):
    """Tensor descriptors of the host."""
    target.store([0, tl.program_id(0) * M], tl.trans(source.load([tl.program_id(0) * M, 0])))


@triton.jit
def moved(x, o, rows, columns, M: tl.constexpr, N: tl.constexpr):
    """Tensor descriptors of the kernel."""
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [M, N])
    target = tl.make_tensor_descriptor(o, [rows, columns], [columns, 1], [M, N])
    target.store([tl.program_id(0) * M, 0], source.load([tl.program_id(0) * M, 0]) * 2)


@triton.jit
def asserting(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.device_assert(v < 10, "too large")
    tl.store(o + i, v)


@triton.jit
def reversed_rows(x, o, scratch, B: tl.constexpr):
    """A barrier is missing between the store and the load of other lanes' numbers."""
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(scratch + row * B + i, tl.load(x + row * B + i) * 2)
    back = tl.load(scratch + row * B + (B - 1 - i))
    tl.store(o + row * B + i, back + 1)


@triton.jit
def to_fp8(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i).to(tl.float8e4nv).to(tl.float32))


@triton.jit
def of_many(o, first, *numbers, scale: tl.constexpr = 1):
    total = first
    for k in tl.static_range(len(numbers)):
        total = total * 10 + numbers[k]
    tl.store(o, total * scale)


renamed = doubled


@sim_helpers.untouched
@triton.jit
def through_a_module(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = sim_helpers.shifted(tl.load(x + i)) - sim_helpers.SCALE
    tl.store(o + i, tl.where(i < sim_helpers.middle(B), sim_helpers.nearly(v), renamed(v)))
