"""Atomic operations against NumPy: many programs, lanes and programs that meet at one address, both modes, with one
thread and several. What comes back is tested by replaying: the old values of one address must form a chain.
"""

from __future__ import annotations

import atomic_kernels as k
import numpy as np
import pytest
import torch
import triton

INTS = ["int32", "uint32", "int64", "uint64"]
CASES = [
    *[(op, t) for op in ("add", "max", "min", "and", "or", "xor", "xchg") for t in INTS],
    *[("add", t) for t in ("float16", "bfloat16", "float32", "float64")],
    *[(op, t) for op in ("max", "min", "xchg") for t in ("float32", "float64")],
]
FOLD = {
    "add": lambda a, b: a + b,
    "max": np.maximum,
    "min": np.minimum,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xchg": lambda a, b: b,
}
PROGRAMS, BLOCK, CELLS = 40, 64, 37


def numbers(dtype: str, count: int, seed: int) -> torch.Tensor:
    """Integers over their whole range; floats that are small integers, so that sums are exact in any order."""
    random = np.random.default_rng(seed)
    if dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        return torch.from_numpy(random.integers(info.min, info.max, count, dtype=dtype, endpoint=True))
    return torch.from_numpy(random.integers(-1, 2, count).astype(np.float64)).to(getattr(torch, dtype))


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    return (tensor.to(torch.float64) if tensor.dtype in (torch.float16, torch.bfloat16) else tensor).numpy()


def replay(op: str, before: np.ndarray, index: np.ndarray, x: np.ndarray) -> np.ndarray:
    out = before.copy()
    with np.errstate(over="ignore"):
        for at, value in zip(index, x):
            out[at] = FOLD[op](out[at], value)
    return out


@pytest.fixture(params=["1 thread", "2 threads", "eager"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "eager":
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    else:
        monkeypatch.setenv("TILETWIN_NUM_THREADS", request.param[0])
    return request.param


def check_chain(
    op: str, before: np.ndarray, after: np.ndarray, index: np.ndarray, x: np.ndarray, old: np.ndarray
) -> None:
    """Per address: some order of the operations explains every old value and the last one."""
    for cell in np.unique(index):
        at = np.flatnonzero(index == cell)
        if op == "xchg":
            # Values go round: what was there and what was put there is what was seen and what is left.
            put, seen = [before[cell], *x[at]], [*old[at], after[cell]]
            assert sorted(put) == sorted(seen)
        elif op in ("max", "or"):
            assert (
                (FOLD[op](old[at], x[at]) <= after[cell]).all()
                if op == "max"
                else ((old[at] | x[at]) & ~after[cell] == 0).all()
            )
        elif op in ("min", "and"):
            assert (
                (FOLD[op](old[at], x[at]) >= after[cell]).all()
                if op == "min"
                else (old[at] & after[cell] == after[cell]).all()
            )
        else:  # add, xor: the results are the old values of the next
            with np.errstate(over="ignore"):
                results = sorted([before[cell], *FOLD[op](old[at], x[at])])
            assert results == sorted([*old[at], after[cell]])


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_tile(op: str, dtype: str, mode: str) -> None:
    programs = 4 if mode == "eager" else PROGRAMS
    n = programs * BLOCK - 11
    index = torch.from_numpy(np.random.default_rng(1).integers(0, CELLS, n).astype(np.int32))
    x, o = numbers(dtype, n, 2), numbers(dtype, CELLS, 3)
    before, old = o.clone(), torch.zeros(n, dtype=o.dtype)
    k.rmw_tile[(programs,)](o, old, index, x, n, OP=op, B=BLOCK)
    want = replay(op, as_numpy(before), index.numpy(), as_numpy(x))
    if op != "xchg":
        np.testing.assert_array_equal(as_numpy(o), want)
    check_chain(op, as_numpy(before), as_numpy(o), index.numpy(), as_numpy(x), as_numpy(old))


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_scalar(op: str, dtype: str, mode: str) -> None:
    programs = 8 if mode == "eager" else 300
    index = torch.from_numpy(np.random.default_rng(1).integers(0, 3, programs).astype(np.int32))
    x, o = numbers(dtype, programs, 4), numbers(dtype, 3, 5)
    before, old = o.clone(), torch.zeros(programs, dtype=o.dtype)
    n = programs - 2  # the last two are masked off
    k.rmw_scalar[(programs,)](o, old, index, x, n, OP=op)
    i, v, r = index.numpy()[:n], as_numpy(x)[:n], as_numpy(old)
    if op != "xchg":
        np.testing.assert_array_equal(as_numpy(o), replay(op, as_numpy(before), i, v))
    check_chain(op, as_numpy(before), as_numpy(o), i, v, r[:n])
    assert (r[n:] == 0).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ["max", "min"])
def test_float_extrema_order_by_sign_and_bits(op: str, dtype: str, mode: str) -> None:
    """Two integer atomics: NaN with the sign bit clear is above +inf, -0 is below +0."""
    nan, inf = float("nan"), float("inf")
    memory = [1.0, -1.0, 0.0, -0.0, inf, -inf, 5e-45 if dtype == "float32" else 5e-324, -2.0, 3.0, nan]
    operand = [2.0, -2.0, -0.0, 0.0, nan, 1.0, 0.0, nan, -nan, 1.0]
    o, x = (torch.tensor(v, dtype=getattr(torch, dtype)) for v in (memory, operand))
    bits = torch.int32 if dtype == "float32" else torch.int64
    # The order of the bits as sign and magnitude, which is that of signed integers once negative ones are mirrored.
    low = torch.iinfo(bits).min
    key = [[v if v >= 0 else low - v for v in t.view(bits).tolist()] for t in (o, x)]
    pick = max if op == "max" else min
    want = [pick(a, b) for a, b in zip(*key)]
    n = len(memory)
    k.rmw_tile[(1,)](o, torch.zeros(n, dtype=o.dtype), torch.arange(n, dtype=torch.int32), x, n, OP=op, B=16)
    assert [v if v >= 0 else low - v for v in o.view(bits).tolist()] == want


def test_float_add_of_special_values(mode: str) -> None:
    inf, nan, tiny = float("inf"), float("nan"), 2.0**-149
    memory = torch.tensor([inf, inf, nan, -0.0, -0.0, tiny, 3.4e38, 1e-40])
    x = torch.tensor([-inf, 1.0, 1.0, -0.0, 0.0, -tiny, 3.4e38, 1e-40])
    want = memory + x
    n = len(x)
    old = torch.zeros(n)
    o = memory.clone()
    k.rmw_tile[(1,)](o, old, torch.arange(n, dtype=torch.int32), x, n, OP="add", B=8)
    np.testing.assert_array_equal(o.numpy(), want.numpy())
    np.testing.assert_array_equal(old.numpy(), memory.numpy())
    assert torch.signbit(o[3]) and not torch.signbit(o[4])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_sums_round_once_to_nearest_even(dtype: str) -> None:
    kind = getattr(torch, dtype)
    random = np.random.default_rng(0)
    a = torch.from_numpy(random.integers(0, 1 << 16, 4096).astype(np.uint16)).view(kind)
    b = torch.from_numpy(random.integers(0, 1 << 16, 4096).astype(np.uint16)).view(kind)
    o, old = a.clone(), torch.zeros(4096, dtype=kind)
    k.rmw_tile[(32,)](o, old, torch.arange(4096, dtype=torch.int32), b, 4096, OP="add", B=128)
    want = (a.to(torch.float64) + b.to(torch.float64)).to(kind)
    np.testing.assert_array_equal(o.to(torch.float64).numpy(), want.to(torch.float64).numpy())


@pytest.mark.parametrize("scope", ["gpu", "cta", "sys", None])
@pytest.mark.parametrize("sem", ["acq_rel", "acquire", "release", "relaxed", None])
def test_every_order_and_scope(sem: str | None, scope: str | None, mode: str) -> None:
    o = torch.zeros(10, dtype=torch.int32)
    k.rmw_order[(5,)](o, SEM=sem, SCOPE=scope, B=8)
    assert o.tolist() == [5] * 8 + [7, 5]


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"],
)
def test_load_and_store(dtype: str, mode: str) -> None:
    kind = getattr(torch, dtype)
    x = torch.arange(-8, 8).to(kind)
    o = torch.full((16,), 99).to(kind)
    k.load_store[(1,)](x, o, 5, B=16)
    want = torch.full((16,), 99).to(kind)
    want[:5], want[5] = x[:5], x[0]
    assert o.view(torch.uint8).tolist() == want.view(torch.uint8).tolist()


@pytest.mark.parametrize("dtype", ["int16", "float16", "bfloat16", "int32", "uint32", "float32", "int64", "float64"])
def test_compare_and_swap(dtype: str, mode: str) -> None:
    kind = getattr(torch, dtype)
    o, c = torch.tensor([3, 4, 0, 5, 6, 7, 8, 9]).to(kind), torch.tensor([3, 3, 0, 5, 5, 7, 7, 7]).to(kind)
    v = torch.arange(20, 28).to(kind)
    before, old = o.clone(), torch.zeros(8, dtype=kind)
    k.cas_tile[(1,)](o, old, c, v, B=8)
    assert old.tolist() == before.tolist()
    assert o.tolist() == torch.where(before == c, v, before).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_no_program_is_lost_in_a_loop_of_compare_and_swap(dtype: str, mode: str) -> None:
    programs = 10 if mode == "eager" else 400
    x = torch.from_numpy(np.random.default_rng(0).integers(1, 4, programs)).to(getattr(torch, dtype))
    o = torch.zeros(1, dtype=x.dtype)
    k.cas_loop_add[(programs,)](o, x)
    assert o.item() == x.to(torch.float64).sum().item()


def test_histogram_and_split_k(mode: str) -> None:
    random = np.random.default_rng(0)
    x, y = (torch.from_numpy(random.integers(0, m, 2048).astype(np.int32)) for m in (5, 7))
    o = torch.zeros(5, 7, dtype=torch.int32)
    k.histogram_2d[(8,)](o, x, y, M=5, N=7, B=256)
    want = np.zeros((5, 7), np.int32)
    np.add.at(want, (x.numpy(), y.numpy()), 1)
    np.testing.assert_array_equal(o.numpy(), want)

    a = torch.from_numpy(random.integers(-3, 4, (16, 128)).astype(np.float32))
    b = torch.from_numpy(random.integers(-3, 4, (128, 32)).astype(np.float32))
    c = torch.ones(16, 32)
    k.split_k[(8,)](a, b, c, 128, M=16, N=32, B=16)
    np.testing.assert_array_equal(c.numpy(), (a @ b + 1).numpy())


def test_one_copy_for_arguments_that_alias(mode: str) -> None:
    x = torch.ones(64)
    index = torch.zeros(64, dtype=torch.int32)
    k.rmw_tile[(1,)](x, torch.zeros(64), index, x[0:64], 64, OP="max", B=64)
    assert x[0] == 1


# ---- errors ----


@pytest.mark.parametrize("op", ["add", "max", "min", "and", "or", "xor", "xchg", "cas", "load", "store", "scalar"])
def test_outside_nothing_is_written(op: str, mode: str) -> None:
    memory = torch.full((12,), 7, dtype=torch.int32)
    o = memory[:6].clone()
    name = "atomic_add" if op == "scalar" else f"atomic_{op}"
    with pytest.raises(
        triton.errors.OutOfBoundsError, match=rf"tl\.{name}.*{'read' if op == 'load' else 'write'}s 4 bytes"
    ) as raised:
        k.outside[(1,)](o, OP=op, B=8)
    assert raised.value.buffer is not None and raised.value.offset == (32 if op == "scalar" else 24)
    assert o.tolist() == [7] * 6


@pytest.mark.parametrize("tile", [False, True])
def test_misaligned(tile: bool, mode: str) -> None:
    b = torch.zeros(16, dtype=torch.int8)
    with pytest.raises(ValueError, match=r"tl\.atomic_add.*offset 2 of .*multiple of 4"):
        k.misaligned[(1,)](b, tile=tile)
    assert not b.any()


def test_read_only_memory(mode: str) -> None:
    x = np.zeros(8, np.int32)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        k.rmw_order[(1,)](x, SEM="relaxed", SCOPE="gpu", B=4)
    assert not x.any()


def test_barrier_orders_what_comes_after(mode: str) -> None:
    o = torch.zeros(16, dtype=torch.int32)
    k.barrier[(1,)](o, B=8)
    assert o.tolist() == [*range(8), *range(7, -1, -1)]


# ---- order ----


def test_deterministic_sums_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")
    x = torch.from_numpy(np.random.default_rng(0).standard_normal(200 * 64).astype(np.float32) * 1e3)
    results = []
    for threads in ("1", "2", "2", "4"):
        monkeypatch.setenv("TILETWIN_NUM_THREADS", threads)
        o = torch.zeros(2)
        k.order_of_adds[(200,)](o, x, B=64)
        results.append(o.view(torch.int32).tolist())
    assert all(r == results[0] for r in results)
    # In order of program id, and of lanes within a program.
    lanes = np.float32(0)
    for value in x.numpy():
        lanes = np.float32(lanes + value)
    assert results[0][1] == int(np.float32(lanes).view(np.int32))


def test_eager_mode_adds_in_the_order_of_deterministic_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.from_numpy(np.random.default_rng(1).standard_normal(16 * 64).astype(np.float32) * 1e3)
    results = []
    for variable in ("TILETWIN_DETERMINISTIC", "TILETWIN_EAGER"):
        monkeypatch.setenv(variable, "1")
        o = torch.zeros(2)
        k.order_of_adds[(16,)](o, x, B=64)
        results.append(o.view(torch.int32).tolist())
    assert results[0] == results[1]


def test_a_bad_value_of_the_switch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "perhaps")
    with pytest.raises(Exception, match="TILETWIN_DETERMINISTIC=perhaps: expected 1"):
        k.order_of_adds[(2,)](torch.zeros(2), torch.zeros(128), B=64)


# ---- addresses that are numbers ----

OPERATIONS = ["add", "max", "min", "and", "or", "xor", "xchg", "cas", "load", "store", "poll"]


@pytest.mark.parametrize("tile", [False, True], ids=["scalar", "tile"])
@pytest.mark.parametrize("op", OPERATIONS)
def test_bad_addresses(op: str, tile: bool, mode: str) -> None:
    """Each operation, each way to go wrong: outside of all memory, between two multiples of the size, read-only."""
    dtype, size = (k.tl.int64, 8) if tile else (k.tl.int32, 4)
    with pytest.raises(triton.errors.OutOfBoundsError, match=rf"s {size} bytes at address 0x123456789000"):
        k.every_operation[(1,)](0x123456789000, OP=op, TILE=tile, T=dtype)
    with pytest.raises(triton.errors.OutOfBoundsError, match="null pointer"):
        k.every_operation[(1,)](size, OP=op, TILE=tile, T=dtype)
    memory = torch.ones(8, dtype=torch.int64)
    with pytest.raises(
        ValueError, match=rf"tl\.atomic_\w+: .*an atomic operation needs an address that is a multiple of {size}"
    ):
        k.every_operation[(1,)](memory.data_ptr() + size // 2, OP=op, TILE=tile, T=dtype)
    assert memory.tolist() == [1] * 8
    constant = np.ones(8, np.int64)
    constant.flags.writeable = False
    triton.register(constant, "my constants")
    try:
        if op in ("load", "poll"):
            k.every_operation[(1,)](constant.ctypes.data, OP=op, TILE=tile, T=dtype)
        else:
            with pytest.raises(
                ValueError, match=r"tl\.atomic_\w+: .*writes .* of my constants \(64 bytes\), which is read-only"
            ):
                k.every_operation[(1,)](constant.ctypes.data, OP=op, TILE=tile, T=dtype)
    finally:
        triton.unregister(constant)
    assert constant.tolist() == [1] * 8
    k.every_operation[(1,)](memory.data_ptr() + 8, OP=op, TILE=tile, T=dtype)
    assert memory[0] == 1 and memory[2:].tolist() == [1] * 6
    assert memory[1].item() & (2 ** (8 * size) - 1) == {"add": 2, "xor": 0}.get(op, 1)
