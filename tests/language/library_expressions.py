"""Constructors, random numbers, hints, softmax and the like in random kernels (expressions.py)."""

from __future__ import annotations

import math

import numpy as np
from expression_values import Constant, as_type, correctly_rounded, mathematical
from expressions import CONSTANTS, Kernel, operation
from number_formats import FP8, INTS, TL, TYPES, bits_of, convert, held, to_bits

MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
KEY_STEPS = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


def philox_words(counter: tuple[int, int, int, int], key: tuple[int, int], rounds: int, bits: int) -> tuple[int, ...]:
    """Philox-4x32 or 4x64 (Salmon and others, 2011) on Python integers."""
    mask = (1 << bits) - 1
    c, k = counter, key
    for _ in range(rounds):
        left, right = MULTIPLIERS[bits][0] * c[0], MULTIPLIERS[bits][1] * c[2]
        c = ((right >> bits) ^ c[1] ^ k[0], right & mask, (left >> bits) ^ c[3] ^ k[1], left & mask)
        k = ((k[0] + KEY_STEPS[bits][0]) & mask, (k[1] + KEY_STEPS[bits][1]) & mask)
    return c


def words(seed: int, offsets: np.ndarray, rounds: int) -> np.ndarray:
    """The four words of each offset: shape (4, *offsets.shape)."""
    key = (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF)
    wide = offsets.dtype.itemsize == 8
    rows = [
        philox_words((int(o) & 0xFFFFFFFF, int(o) >> 32 & 0xFFFFFFFF if wide else 0, 0, 0), key, rounds, 32)
        for o in offsets.reshape(-1)
    ]
    return np.array(rows, np.uint32).T.reshape(4, *offsets.shape)


def uniform(x: np.ndarray) -> np.ndarray:
    signed = x.view(f"i{x.dtype.itemsize}")
    folded = np.where(signed < 0, ~signed, signed)
    scale = {4: 4.6566127342e-10, 8: 1.0842020432385337e-19}[x.dtype.itemsize]
    return folded.astype(np.float32) * np.float32(scale)


@operation(2)
def random_numbers(k: Kernel) -> None:
    x = k.operand(("i32", "u32", "i64", "u64"))
    if not x or x.elements.size > 64:
        return
    seed = k.one_of([0, 1, 42, 2**31 - 1, -1, 2**40 + 7])
    rounds = k.one_of([10, 10, 6, 7])
    option = "" if rounds == 10 else f", n_rounds={rounds}"
    made = words(seed % 2**64, x.elements, rounds)
    form, part = k.one_of(["randint", "rand", "randn", "randint4x", "rand4x", "randn4x"]), k.pick(4)
    several = form.endswith("4x")
    text = f"tl.{form}({seed}, {x.text}{option})" + (f"[{part}]" if several else "")
    if form.startswith("randint"):
        k.add(text, "u32", made[part if several else 0], x.defined)
    elif form.startswith("rand4") or form == "rand":
        k.add(text, "fp32", uniform(made[part if several else 0]), x.defined)
    else:
        first = part // 2 * 2 if several else 0
        normal = normals(uniform(made[first]), uniform(made[first + 1]))[part % 2 if several else 0]
        k.add(text, "fp32", normal.astype(np.float32), x.defined, final=True, bound=np.full(x.shape, 2e-5))


def normals(u1: np.ndarray, u2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    radius = np.sqrt(-2.0 * np.log(np.maximum(np.float32(1e-7), u1).astype(np.float64)))
    angle = (np.float32(2 * math.pi) * u2).astype(np.float64)
    return radius * np.cos(angle), radius * np.sin(angle)


@operation()
def philox(k: Kernel) -> None:
    t = k.one_of(["u32", "u64"])
    x = k.operand((t,))
    if not x or x.elements.size > 64:
        return
    bits, seed, part = bits_of(t), k.one_of([0, 5, 2**40 + 7]), k.pick(4)
    key = (seed & 0xFFFFFFFF, seed >> 32) if bits == 32 else (seed, 0)
    others = (1, 2, 3)
    rows = [philox_words((int(c), *others), key, 10, bits)[part] for c in x.elements.reshape(-1)]
    zero = f"{x.text} * 0"
    counters = f"{x.text}, {zero} + 1, {zero} + 2, {zero} + 3"
    if k.pick(2) or bits == 64:
        text = f"tl.philox({seed}, {counters})[{part}]"
        # The 64-bit key is a block of one element: a scalar counter becomes such a block.
        shape = x.shape or ((1,) if bits == 64 else ())
    else:
        text = f"tl.philox_impl({counters}, {zero} + {key[0]}, {zero} + {key[1]})[{part}]"
        shape = x.shape
    k.add(text, t, np.array(rows, held(t)).reshape(shape), x.defined.reshape(shape))


@operation()
def uniform_floats(k: Kernel) -> None:
    x = k.operand(("i32", "u32", "i64", "u64"))
    if not x:
        return
    made = uniform(x.elements.view(f"u{x.elements.dtype.itemsize}"))
    k.add(f"tl.uint_to_uniform_float({x.text})", "fp32", made, x.defined)


@operation()
def normal_pair(k: Kernel) -> None:
    found = [v for v in k.operands(("fp32",)) if v.defined.all() and ((v.elements >= 0) & (v.elements < 1)).all()]
    if not found:
        return
    x, part = k.one_of(found), k.pick(2)
    made = normals(x.elements, x.elements)[part].astype(np.float32)
    bound = np.full(x.shape, 2e-5)
    k.add(f"tl.pair_uniform_to_normal({x.text}, {x.text})[{part}]", "fp32", made, True, final=True, bound=bound)


@operation(2)
def constructor(k: Kernel) -> None:
    t = k.one_of([*TYPES, *FP8])
    shape = tuple(k.one_of([1, 2, 8]) for _ in range(k.pick(3)))
    x = k.operand()
    form = k.one_of(["zeros", "zeros_like", "full", "full_of"])
    if form == "zeros":
        k.add(f"tl.zeros({list(shape)}, tl.{TL[t]})", t, np.zeros(shape, held(t)), True)
    elif form == "zeros_like" and x:
        k.add(f"tl.zeros_like({x.text})", x.type, np.zeros(x.shape, held(x.type)), True)
    elif form == "full" and t not in FP8:
        number = k.one_of([c for c in CONSTANTS if not isinstance(c, float) and fits(c, t)])
        value, _ = as_type(Constant(number), t)
        k.add(f"tl.full({list(shape)}, {number}, tl.{TL[t]})", t, np.full(shape, value), True)
    elif form == "full_of" and t not in FP8:
        scalars = [v for v in k.operands(tuple(TYPES)) if not v.shape]
        if scalars:
            v = k.one_of(scalars)
            value, known = convert(v.elements, v.type, t)
            k.add(f"tl.full({list(shape)}, {v.text}, tl.{TL[t]})", t, np.full(shape, value), known & v.defined)


def fits(number: int, t: str) -> bool:
    if t in INTS:
        info = np.iinfo(held(t))
        return info.min <= number <= info.max
    return t in ("fp32", "fp64") or (0 <= number <= 1 if t == "i1" else abs(number) <= 200)


@operation()
def numbers(k: Kernel) -> None:
    number = k.one_of([0, 7, -3, 2**31 - 1, 2**32 - 1, 2**40, True, 1.5])
    t = "i1" if number is True else "fp32" if isinstance(number, float) else "i32"
    if t == "i32" and number > 2**31 - 1:
        t = "u32" if number < 2**32 else "i64"
    form = k.one_of(["tl.to_tensor({})", "tl.program_id({})", "tl.num_programs({})"])
    if form == "tl.to_tensor({})":
        k.add(form.format(number), t, np.asarray(number).astype(held(t)), True)
    else:
        value = np.asarray(int("num" in form), np.int32)
        k.add(form.format(k.pick(3)), "i32", value, True)


@operation()
def promise(k: Kernel) -> None:
    """Nothing but a hint: the value is what it was."""
    x = k.operand(("i32", "fp32", "fp64"))
    masks = [v for v in k.operands(("i1",)) if x and v.shape == x.shape and v.defined.all()]
    if x and masks:
        mask = k.one_of(masks)
        made = np.where(mask.elements, x.elements, 0).astype(held(x.type))
        text = f"tl.expect_zero(tl.where({mask.text}, {x.text}, 0), {mask.text})"
        k.add(text, x.type, made, x.defined | ~mask.elements)
    scalars = [v for v in k.operands(("i1",)) if not v.shape and v.defined and v.elements]
    if scalars:
        k.line(f"tl.{k.one_of(['assume', 'device_assert'])}({k.one_of(scalars).text})")


@operation()
def swizzle(k: Kernel) -> None:
    rows, columns, group = k.one_of([1, 4, 7]), k.one_of([1, 3, 8]), k.one_of([1, 2, 5])
    i, j, part = k.pick(rows), k.pick(columns), k.pick(2)
    order = []
    for first in range(0, rows, group):
        order += [(r, c) for c in range(columns) for r in range(first, min(first + group, rows))]
    place = order[i * columns + j]
    value = np.asarray(place[part], np.int32)
    k.add(f"tl.swizzle2d(tl.program_id(0) + {i}, {j}, {rows}, {columns}, {group})[{part}]", "i32", value, True)


@operation(2)
def sigmoid(k: Kernel) -> None:
    x = k.operand(("fp32",))
    if not x or x.elements.size > 256:
        return
    with np.errstate(all="ignore"):
        made = np.float32(1) / (np.float32(1) + mathematical("exp", -x.elements, "fp32"))
    k.add(f"tl.sigmoid({x.text})", "fp32", made, x.defined)


@operation(2)
def softmax(k: Kernel) -> None:
    x = k.operand(("fp32",), least_rank=1)
    if not x or x.elements.size > 256:
        return
    axis = k.pick(len(x.shape))
    sane = (np.isfinite(x.elements) & (np.abs(x.elements) < 1e30) & x.defined).all(axis, keepdims=True)
    with np.errstate(all="ignore"):
        z = np.where(sane, x.elements - x.elements.max(axis, keepdims=True), np.float32(0))
        bits = to_bits(z, "fp32")
        power = np.array([correctly_rounded("exp", int(b), "fp32") for b in bits.reshape(-1)]).reshape(x.shape)
        made = power / power.sum(axis, keepdims=True)
    option = ", ieee_rounding=True" if k.pick(2) else ""
    bound = made * x.shape[axis] * 2.0**-22 + 1e-37
    k.add(f"tl.softmax({x.text}, {axis}{option})", "fp32", made.astype(np.float32),
          np.broadcast_to(sane, x.shape), final=True, bound=bound)  # fmt: skip
