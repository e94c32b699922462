"""Reductions, scans and sorting in random kernels (expressions.py)."""

from __future__ import annotations

import numpy as np
from expression_values import SHORT, TABLE, Value, arithmetic, number_wins, zero_ordered
from expressions import Kernel, operation
from number_formats import FLOATS, INTS, TYPES, convert, held, is_float

UNARY = {op: dict(zip(TABLE["types"], row.split())) for op, row in TABLE["unary"].items()}


def result_type(op: str, t: str) -> str:
    return SHORT[UNARY[op][t]]


def axis_of(k: Kernel, x: Value) -> int:
    """An axis, sometimes counted from the end."""
    rank = len(x.shape)
    return k.pick(rank) - (rank if k.pick(3) == 0 else 0)


def reduction_arguments(k: Kernel, x: Value, may_be_none: bool = True) -> tuple[int | None, bool, str]:
    axis = None if may_be_none and k.pick(4) == 0 else axis_of(k, x)
    keep = bool(k.pick(2))
    return axis, keep, f"{axis}" + (", keep_dims=True" if keep else "")


def flat_if_none(a: np.ndarray, axis: int | None) -> tuple[np.ndarray, int]:
    return (a.reshape(-1), 0) if axis is None else (a, axis)


def finish(result: np.ndarray, x: Value, axis: int | None, keep: bool) -> np.ndarray:
    if not keep:
        return result
    return result.reshape((1,) * len(x.shape)) if axis is None else np.expand_dims(result, axis)


def fold(choose, a: np.ndarray, axis: int) -> np.ndarray:
    parts = np.moveaxis(a, axis, 0)
    result = parts[0]
    for part in parts[1:]:
        result = choose(result, part)
    return result


@operation(2)
def sums(k: Kernel) -> None:
    x = k.operand(TYPES, least_rank=1)
    if not x:
        return
    axis, keep, text = reduction_arguments(k, x)
    t = result_type("sum", x.type)
    values, defined = convert(x.elements, x.type, t)
    values, at = flat_if_none(values, axis)
    known, _ = flat_if_none(defined & x.defined, axis)
    all_known = finish(known.all(at), x, axis, keep)
    if not is_float(t):
        result = values.sum(at, dtype=held(t))
        k.add(f"tl.sum({x.text}, {text})", t, finish(result, x, axis, keep), all_known)
        return
    with np.errstate(all="ignore"):
        wide = values.astype(np.float64)
        total, size = wide.sum(at), np.abs(wide).sum(at)
        bound = size * values.shape[at] * 2.0 ** -{"fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}[t]
        largest = {"fp16": 65504.0, "bf16": 3e38, "fp32": 3e38, "fp64": 1e308}[t]
        sane = np.isfinite(size) & (size < largest / 2)
        elements = np.where(sane, total, 0).astype(held(t))
    k.add(
        f"tl.sum({x.text}, {text})",
        t,
        finish(elements, x, axis, keep),
        all_known & finish(sane, x, axis, keep),
        final=True,
        bound=finish(np.where(sane, bound + 1e-30, 0), x, axis, keep),
    )


@operation(2)
def extrema(k: Kernel) -> None:
    x = k.operand(TYPES, least_rank=1)
    if not x:
        return
    axis, keep, text = reduction_arguments(k, x)
    greater = bool(k.pick(2))
    t = result_type("max", x.type)
    values, defined = convert(x.elements, x.type, t)
    values, at = flat_if_none(values, axis)
    known, _ = flat_if_none(defined & x.defined, axis)
    choose = number_wins(greater) if is_float(t) else zero_ordered(greater)
    result = np.asarray(fold(choose, values, at)).astype(held(t))
    name = "max" if greater else "min"
    k.add(f"tl.{name}({x.text}, {text})", t, finish(result, x, axis, keep), finish(known.all(at), x, axis, keep))


@operation(2)
def positions(k: Kernel) -> None:
    x = k.operand(TYPES, least_rank=1)
    if not x:
        return
    axis, keep, text = reduction_arguments(k, x, may_be_none=False)
    assert axis is not None
    greater = bool(k.pick(2))
    known = x.defined.all(axis)
    if is_float(x.type):
        known = known & ~np.isnan(x.elements).any(axis)
    values = np.where(np.isnan(x.elements), 0, x.elements).astype(held(x.type)) if is_float(x.type) else x.elements
    index = (values.argmax(axis) if greater else values.argmin(axis)).astype(np.int32)
    best = np.take_along_axis(values, np.expand_dims(index, axis), axis).squeeze(axis)
    name = "max" if greater else "min"
    known = finish(known, x, axis, keep)
    if k.pick(2):
        k.add(f"tl.arg{name}({x.text}, {text})", "i32", finish(index, x, axis, keep), known)
        return
    both = f"tl.{name}({x.text}, {text}, return_indices=True)"
    k.add(f"{both}[0]", x.type, finish(best, x, axis, keep), known)
    k.add(f"{both}[1]", "i32", finish(index, x, axis, keep), known)


@operation()
def bit_reductions(k: Kernel) -> None:
    x = k.operand(INTS, least_rank=1)
    if not x:
        return
    axis, keep, text = reduction_arguments(k, x)
    name, operate = k.one_of([("xor_sum", np.bitwise_xor), ("reduce_or", np.bitwise_or)])
    values, at = flat_if_none(x.elements, axis)
    known, _ = flat_if_none(x.defined, axis)
    result = operate.reduce(values, axis=at).astype(held(x.type))
    k.add(f"tl.{name}({x.text}, {text})", x.type, finish(result, x, axis, keep), finish(known.all(at), x, axis, keep))


@operation()
def custom_reduction(k: Kernel) -> None:
    x = k.operand(("i32", "i64", "u32", "fp32"), least_rank=1)
    if not x:
        return
    axis, keep, text = reduction_arguments(k, x)
    values, at = flat_if_none(x.elements, axis)
    known, _ = flat_if_none(x.defined, axis)
    known = known.all(at)
    if x.type == "fp32" or k.pick(2):
        k.helpers.add("branching")
        if is_float(x.type):
            known = known & ~np.isnan(values).any(at) & ~(values == 0).any(at)
        result = fold(zero_ordered(True), values, at).astype(held(x.type))
        k.add(f"tl.reduce({x.text}, {text.replace(',', ', branching,', 1) if keep else text + ', branching'})", x.type,
              finish(result, x, axis, keep), finish(known, x, axis, keep))  # fmt: skip
        return
    k.helpers.add("sum_and_largest")
    call = f"tl.reduce(({x.text}, {x.text}), {axis}, sum_and_largest{', keep_dims=True' if keep else ''})"
    total = values.sum(at, dtype=held(x.type))
    k.add(f"{call}[0]", x.type, finish(total, x, axis, keep), finish(known, x, axis, keep))
    k.add(f"{call}[1]", x.type, finish(values.max(at), x, axis, keep), finish(known, x, axis, keep))


def scanned(choose, a: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    parts = list(np.moveaxis(a, axis, 0))
    if reverse:
        parts.reverse()
    made = [parts[0]]
    for part in parts[1:]:
        made.append(choose(made[-1], part))
    if reverse:
        made.reverse()
    return np.moveaxis(np.stack(made), 0, axis)


@operation(3)
def scans(k: Kernel) -> None:
    x = k.operand(TYPES, least_rank=1)
    if not x:
        return
    axis, reverse = axis_of(k, x), bool(k.pick(2))
    text = f"{axis}, reverse={reverse}"
    known = scanned(np.logical_and, x.defined, axis, reverse)
    form = k.one_of(["cumsum", "cumprod", "larger", "right", "recurrence"])
    if form in ("cumsum", "cumprod"):
        t = result_type(form, x.type)
        values, _ = convert(x.elements, x.type, t)
        if not is_float(t):
            op = "+" if form == "cumsum" else "*"
            result = scanned(lambda a, b: arithmetic(op, a, b, t), values, axis, reverse)
            k.add(f"tl.{form}({x.text}, {text})", t, result.astype(held(t)), known)
        elif form == "cumsum":
            with np.errstate(all="ignore"):
                wide = values.astype(np.float64)
                total = scanned(np.add, wide, axis, reverse)
                size = scanned(np.add, np.abs(wide), axis, reverse)
                bound = size * values.shape[axis] * 2.0 ** -{"fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}[t]
                largest = {"fp16": 65504.0, "bf16": 3e38, "fp32": 3e38, "fp64": 1e308}[t]
                sane = np.isfinite(size) & (size < largest / 2)
            # What comes before an element, in another order, may overflow on the way.
            sane = scanned(np.logical_and, sane, axis, reverse)
            k.add(
                f"tl.cumsum({x.text}, {text})",
                t,
                np.where(sane, total, 0).astype(held(t)),
                known & sane,
                final=True,
                bound=np.where(sane, bound + 1e-30, 0),
            )
        return
    if form == "recurrence":
        if x.type not in ("i32", "u32", "i64"):
            return
        k.helpers.add("recurrence")
        t = x.type
        pairs = np.stack([x.elements, x.elements + np.asarray(1).astype(held(t))])

        def combine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.stack([a[0] * b[0], a[1] * b[0] + b[1]])

        parts = [np.moveaxis(p, axis, 0) for p in pairs]
        steps = [np.stack([parts[0][i], parts[1][i]]) for i in range(x.shape[axis])]
        if reverse:
            steps.reverse()
        made = [steps[0]]
        for step in steps[1:]:
            made.append(combine(made[-1], step))
        if reverse:
            made.reverse()
        both = np.stack(made)
        call = f"tl.associative_scan(({x.text}, {x.text} + 1), {axis}, recurrence, reverse={reverse})"
        for i in range(2):
            k.add(f"{call}[{i}]", t, np.moveaxis(both[:, i], 0, axis).astype(held(t)), known)
        return
    helper = "keep_larger" if form == "larger" else "keep_right"
    k.helpers.add(helper)
    if form == "larger":
        choose = number_wins(True) if is_float(x.type) else zero_ordered(True)
    else:
        choose = lambda a, b: b
    result = scanned(choose, x.elements, axis, reverse).astype(held(x.type))
    k.add(f"tl.associative_scan({x.text}, {axis}, {helper}, reverse={reverse})", x.type, result, known)


SORTED = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", *FLOATS)


@operation(2)
def sorting(k: Kernel) -> None:
    x = k.operand(SORTED, least_rank=1)
    if not x:
        return
    descending = bool(k.pick(2))
    size = x.shape[-1]
    wanted = 1 << k.pick(size.bit_length())
    known = x.defined.all(-1, keepdims=True)
    values = x.elements
    if is_float(x.type):
        # A NaN may appear twice, and so may one of two different zeros.
        known = known & ~np.isnan(values).any(-1, keepdims=True)
        zeros, negative = values == 0, np.signbit(values)
        known = known & ~((zeros & negative).any(-1, keepdims=True) & (zeros & ~negative).any(-1, keepdims=True))
        values = np.where(np.isnan(values), 0, values).astype(values.dtype)
    result = np.sort(values, axis=-1)
    if descending:
        result = result[..., ::-1]
    if k.pick(2) or wanted == size:
        call, t = f"tl.sort({x.text}, descending={descending})", x.type
        if size == 1:
            t = result_type("max", x.type)
    else:
        call, t = f"tl.topk({x.text}, {wanted}, descending={descending})", result_type("max", x.type)
        result = result[..., :wanted]
    converted, _ = convert(np.ascontiguousarray(result), x.type, t)
    k.add(call, t, converted, np.broadcast_to(known, converted.shape))


@operation(2)
def reversal(k: Kernel) -> None:
    x = k.operand(TYPES, least_rank=1)
    if not x:
        return
    axis = axis_of(k, x)
    known = ~np.isnan(x.elements) if is_float(x.type) else np.ones(x.shape, bool)
    k.add(f"tl.flip({x.text}, {axis})", x.type, np.flip(x.elements, axis).copy(), np.flip(x.defined & known, axis))
