"""Atomics, block pointers and tensor descriptors of random kernels (expressions.py)."""

from __future__ import annotations

import math

import numpy as np
from expression_values import Value, arithmetic, zero_ordered
from expressions import Kernel, operation
from number_formats import held, is_float

WORDS = ("i32", "u32", "i64", "u64")
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
READ_WRITE = {
    "add": ("fp16", "bf16", "fp32", "fp64", *WORDS),
    "max": ("fp32", "fp64", *WORDS),
    "min": ("fp32", "fp64", *WORDS),
    **{name: WORDS for name in BITS},
    "xchg": ("fp32", "fp64", *WORDS),
}
IN_DESCRIPTORS = ("i8", "u8", "i16", "u16", *WORDS, "fp16", "bf16", "fp32", "fp64")


def order(k: Kernel, orders: tuple[str, ...] = ("acquire", "release", "acq_rel", "relaxed")) -> str:
    """Memory order and scope, or nothing."""
    sem = f', sem="{k.one_of(orders)}"' if k.pick(2) else ""
    return sem + (f', scope="{k.one_of(["cta", "gpu", "sys"])}"' if k.pick(4) == 0 else "")


def combined(form: str, memory: np.ndarray, x: np.ndarray, t: str) -> np.ndarray:
    if form == "add":
        return arithmetic("+", memory, x, t)
    if form in BITS:
        return BITS[form](memory, x)
    if form == "xchg":
        return x
    return zero_ordered(form == "max")(memory, x)


@operation(4)
def read_modify_write(k: Kernel) -> None:
    """Every element of its own; what was there, and what is there then."""
    form = k.one_of(list(READ_WRITE))
    x = k.operand(READ_WRITE[form])
    if not x:
        return
    t, shape = x.type, x.shape
    memory = k.random_elements(t, math.prod(shape)).reshape(shape)
    parameter = k.buffer(t, memory)
    chosen, mask = np.ones(shape, bool), ""
    if shape and k.pick(2):
        limit = k.pick(math.prod(shape) + 1)
        chosen = np.arange(math.prod(shape)).reshape(shape) < limit
        mask = f", mask={k.offsets(shape)} < {limit}"
    after = np.where(chosen, combined(form, memory, x.elements, t), memory).astype(held(t))
    known = x.defined.copy()
    if is_float(t) and form in ("max", "min"):
        known &= ~np.isnan(memory) & ~np.isnan(x.elements)
    text = f"tl.atomic_{form}({k.at(parameter, shape)}, {x.text}{mask}{order(k)})"
    k.add(text, t, memory, chosen)
    k.line("tl.debug_barrier()")
    k.add(f"tl.load({k.at(parameter, shape)})", t, after, known | ~chosen)


@operation(2)
def compare_and_swap(k: Kernel) -> None:
    x = k.operand(("i16", "u16", *WORDS))
    if not x:
        return
    found = [v for v in k.operands((x.type,)) if v.shape == x.shape]
    y = k.one_of(found)
    t, shape = x.type, x.shape
    memory = k.random_elements(t, math.prod(shape)).reshape(shape)
    memory = np.where(k.random.integers(0, 2, shape).astype(bool), x.elements, memory).astype(held(t))
    parameter = k.buffer(t, memory)
    after = np.where(memory == x.elements, y.elements, memory).astype(held(t))
    k.add(f"tl.atomic_cas({k.at(parameter, shape)}, {x.text}, {y.text}{order(k)})", t, memory, True)
    k.add(f"tl.load({k.at(parameter, shape)})", t, after, x.defined & y.defined)


@operation()
def atomic_access(k: Kernel) -> None:
    x = k.operand(("fp32", "fp64", *WORDS))
    if not x:
        return
    parameter = k.buffer(x.type, np.zeros(x.shape, held(x.type)))
    at = k.at(parameter, x.shape)
    k.line(f"tl.atomic_store({at}, {x.text}{order(k, ('release', 'relaxed'))})")
    k.add(f"tl.atomic_load({at}{order(k, ('acquire', 'relaxed'))})", x.type, x.elements, x.defined)


@operation()
def atomic_poll(k: Kernel) -> None:
    """Memory holds the value already, or never will."""
    number, waits = k.one_of([0, 1, 5, 77]), bool(k.pick(2))
    parameter = k.buffer("i32", np.asarray(number, np.int32))
    wanted = number if waits else number + 1
    timeout = "" if waits else ", timeout_ns=1000"
    k.add(f"tl.atomic_poll({parameter}, {wanted}{timeout})", "i1", np.asarray(waits), True)


def region(k: Kernel, least: int) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """(shape of an array, shape of a block, where the block begins, which may be outside)."""
    block = (k.one_of([1, 2, 8]), least * k.one_of([1, 2]))
    shape = (k.one_of([1, 3, 8, 11]), least * k.one_of([1, 2, 3]))
    at = (k.one_of([0, 1, -1, 5, -9]), k.one_of([0, 1, -1, 7, 40]))
    return shape, block, at


def cut(array: np.ndarray, block: tuple[int, int], at: tuple[int, int], outside: float) -> np.ndarray:
    """The block of an array at a place; `outside` where there is no array."""
    rows, columns = (np.arange(n) + a for n, a in zip(block, at))
    inside = np.outer((rows >= 0) & (rows < array.shape[0]), (columns >= 0) & (columns < array.shape[1]))
    picked = array[np.clip(rows, 0, array.shape[0] - 1)[:, None], np.clip(columns, 0, array.shape[1] - 1)]
    return np.where(inside, picked, np.asarray(outside, array.dtype))


def pasted(array: np.ndarray, block: np.ndarray, at: tuple[int, int]) -> np.ndarray:
    """The array after a block was written at a place, as far as it is inside."""
    result = array.copy()
    for i, j in np.ndindex(*block.shape):
        if 0 <= i + at[0] < array.shape[0] and 0 <= j + at[1] < array.shape[1]:
            result[i + at[0], j + at[1]] = block[i, j]
    return result


@operation(2)
def descriptor(k: Kernel) -> None:
    t = k.one_of(IN_DESCRIPTORS)
    shape, block, at = region(k, 16 // held_bytes(t))
    array = k.random_elements(t, math.prod(shape)).reshape(shape)
    not_a_number = is_float(t) and k.pick(2) == 0
    padding = ', padding_option="nan"' if not_a_number else ""
    name = f"d{len(k.values)}"
    parameter = k.buffer(t, array)
    k.line(f"{name} = tl.make_tensor_descriptor({parameter}, {list(shape)}, [{shape[1]}, 1], {list(block)}{padding})")
    form = k.one_of(["{}.load({})", "tl.load_tensor_descriptor({}, {})"])
    loaded = k.add(form.format(name, list(at)), t, cut(array, block, at, math.nan if not_a_number else 0), True)
    if k.pick(2):
        to = (k.one_of([0, 1, -1]), k.one_of([0, 3, -2]))
        form = k.one_of(["{}.store({}, {})", "tl.store_tensor_descriptor({}, {}, {})"])
        k.line(form.format(name, list(to), loaded.text))
        k.line("tl.debug_barrier()")
        after = cut(pasted(array, loaded.elements, to), block, (0, 0), math.nan if not_a_number else 0)
        k.add(f"{name}.load([0, 0])", t, after, True)


def held_bytes(t: str) -> int:
    return 2 if t == "bf16" else int(t.lstrip("iufp")) // 8


@operation()
def block_pointer(k: Kernel) -> None:
    t = k.one_of(IN_DESCRIPTORS)
    shape, block, at = region(k, k.one_of([1, 4]))
    array = k.random_elements(t, math.prod(shape)).reshape(shape)
    parameter = k.buffer(t, array)
    name, step = f"b{len(k.values)}", (k.one_of([0, 1, 2]), k.one_of([0, 1, -3]))
    k.line(
        f"{name} = tl.make_block_ptr({parameter}, {list(shape)}, [{shape[1]}, 1], "
        f"{[a - s for a, s in zip(at, step)]}, {list(block)}, [1, 0])"
    )
    k.line(f"{name} = {k.one_of(['{0}.advance({1})', 'tl.advance({0}, {1})']).format(name, list(step))}")
    not_a_number = is_float(t) and k.pick(2) == 0
    padding = '"nan"' if not_a_number else '"zero"'
    text = f"tl.load({name}, boundary_check=[0, 1], padding_option={padding})"
    loaded: Value = k.add(text, t, cut(array, block, at, math.nan if not_a_number else 0), True)
    if k.pick(2):
        to = (k.one_of([0, 1, -1]), k.one_of([0, 3, -2]))
        whole = f"{parameter}, {list(shape)}, [{shape[1]}, 1]"
        k.line(f"{name} = tl.make_block_ptr({whole}, {list(to)}, {list(block)}, [1, 0])")
        k.line(f"tl.store({name}, {loaded.text}, boundary_check=[0, 1])")
        k.line("tl.debug_barrier()")
        flat = pasted(array, loaded.elements, to)
        row = k.pick(shape[0])
        k.add(f"tl.load({parameter} + {row * shape[1]})", t, flat[row, 0], True)
