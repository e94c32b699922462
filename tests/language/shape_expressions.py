"""Shape operations of random kernels (expressions.py)."""

from __future__ import annotations

import math

import numpy as np
from expression_values import Value
from expressions import Kernel, operation
from number_formats import INTS, TYPES, bits_of, held, is_float
from reduction_expressions import SORTED

# ---- shapes ----


def same(k: Kernel, text: str, x: Value, change) -> None:
    k.add(text, x.type, np.ascontiguousarray(change(x.elements)).reshape(change(x.elements).shape), change(x.defined))


@operation(2)
def reshape(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    if not x:
        return
    rest, shape = math.prod(x.shape), []
    for _ in range(k.pick(4)):
        size = 1 << k.pick(rest.bit_length())
        shape.append(size)
        rest //= size
    shape.append(rest)
    form = k.one_of(["tl.reshape({}, [{}])", "{}.reshape({})", "tl.reshape({}, ({},))", "tl.view({}, [{}])"])
    same(k, form.format(x.text, ", ".join(map(str, shape))), x, lambda a: a.reshape(shape))


@operation()
def ravel(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    if x:
        same(k, k.one_of(["{}.ravel()", "tl.ravel({})"]).format(x.text), x, lambda a: a.reshape(-1))


@operation(2)
def permute(k: Kernel) -> None:
    x = k.operand(least_rank=2)
    if not x:
        return
    left, order = list(range(len(x.shape))), []
    while left:
        order.append(left.pop(k.pick(len(left))))
    form = k.one_of(["tl.permute({}, ({}))", "tl.trans({}, ({}))", "{}.permute({})"])
    same(k, form.format(x.text, ", ".join(map(str, order))), x, lambda a: a.transpose(order))


@operation()
def transpose(k: Kernel) -> None:
    x = k.operand(least_rank=2)
    if x:
        form = k.one_of(["tl.trans({})", "{}.T"]) if len(x.shape) == 2 else "tl.trans({})"
        same(k, form.format(x.text), x, lambda a: a.swapaxes(-1, -2))


@operation()
def new_axis(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    if not x or len(x.shape) > 3:
        return
    axis = k.pick(len(x.shape) + 1)
    if k.pick(2):
        items = [":"] * len(x.shape)
        items.insert(axis, "None")
        text = f"{x.text}[{', '.join(items)}]"
    else:
        text = f"tl.{k.one_of(['expand_dims', 'unsqueeze'])}({x.text}, {axis})"
    same(k, text, x, lambda a: np.expand_dims(a, axis))


@operation()
def squeeze(k: Kernel) -> None:
    found = [v for v in k.operands(least_rank=2) if 1 in v.shape]
    if found:
        x = k.one_of(found)
        axis = k.one_of([i for i, s in enumerate(x.shape) if s == 1])
        same(k, f"tl.squeeze({x.text}, {axis})", x, lambda a: a.squeeze(axis))


@operation()
def item(k: Kernel) -> None:
    found = [v for v in k.operands(least_rank=1) if v.elements.size == 1]
    if found:
        x = k.one_of(found)
        k.add(f"{x.text}.item()", x.type, x.elements.reshape(()), x.defined.reshape(()))


@operation()
def bitonic_merge(k: Kernel) -> None:
    """One half-cleaner after the other: any order of the input gives a defined result."""
    x = k.operand(SORTED, least_rank=1)
    if not x or x.shape[-1] < 2:
        return
    descending = bool(k.pick(2))
    size = x.shape[-1]
    known = x.defined.all(-1, keepdims=True)
    values = x.elements
    if is_float(x.type):
        known = known & ~np.isnan(values).any(-1, keepdims=True) & ~(values == 0).any(-1, keepdims=True)
    half = size // 2
    while half:
        pairs = values.reshape(-1, size // (2 * half), 2, half)
        low, high = np.minimum(pairs[:, :, 0], pairs[:, :, 1]), np.maximum(pairs[:, :, 0], pairs[:, :, 1])
        values = np.stack([high, low] if descending else [low, high], 2).reshape(x.shape)
        half //= 2
    text = f"tl.bitonic_merge({x.text}, descending={descending})"
    k.add(text, x.type, values.astype(held(x.type)), np.broadcast_to(known, x.shape))


@operation()
def broadcast_to(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    if not x:
        return
    shape = tuple(k.one_of([2, 4]) if s == 1 else s for s in x.shape)
    if math.prod(shape) <= 512:
        same(k, f"tl.broadcast_to({x.text}, {list(shape)})", x, lambda a: np.broadcast_to(a, shape))


@operation()
def broadcast_both(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    y = k.partner(x, constants=False) if x else None
    if not x or not isinstance(y, Value) or math.prod(np.broadcast_shapes(x.shape, y.shape)) > 512:
        return
    shape = np.broadcast_shapes(x.shape, y.shape)
    side = k.pick(2)
    same(k, f"tl.broadcast({x.text}, {y.text})[{side}]", (x, y)[side], lambda a: np.broadcast_to(a, shape))


def twin(k: Kernel, x: Value) -> Value:
    return k.one_of([v for v in k.operands((x.type,)) if v.shape == x.shape])


def combine(k: Kernel, text: str, x: Value, y: Value, change) -> None:
    elements = np.ascontiguousarray(change(x.elements, y.elements))
    if elements.size <= 512:
        k.add(text, x.type, elements, change(x.defined, y.defined))


@operation()
def join(k: Kernel) -> None:
    x = k.operand()
    if x and len(x.shape) < 4:
        y = twin(k, x)
        combine(k, f"tl.join({x.text}, {y.text})", x, y, lambda a, b: np.stack([a, b], -1))


@operation()
def split(k: Kernel) -> None:
    found = [v for v in k.operands(least_rank=1) if v.shape[-1] == 2]
    if not found:
        return
    x = k.one_of(found)
    half = k.pick(2)
    part = x.elements[..., half]
    k.add(f"tl.split({x.text})[{half}]", x.type, np.asarray(np.ascontiguousarray(part)).reshape(part.shape),
          x.defined[..., half])  # fmt: skip


@operation()
def interleave(k: Kernel) -> None:
    x = k.operand()
    if x and len(x.shape) < 4:
        y = twin(k, x)
        shape = (*x.shape[:-1], 2 * x.shape[-1]) if x.shape else (2,)
        combine(k, f"tl.interleave({x.text}, {y.text})", x, y, lambda a, b: np.stack([a, b], -1).reshape(shape))


@operation()
def cat(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    if x:
        y = twin(k, x)
        axis = k.pick(len(x.shape))
        combine(k, f"tl.cat({x.text}, {y.text}, dim={axis})", x, y, lambda a, b: np.concatenate([a, b], axis))


@operation(2)
def gather(k: Kernel) -> None:
    x = k.operand(least_rank=1)
    if not x:
        return
    axis = k.pick(len(x.shape))
    length = x.shape[axis]
    found = [
        v
        for v in k.operands(INTS)
        if len(v.shape) == len(x.shape)
        and all(i == axis or v.shape[i] == x.shape[i] for i in range(len(x.shape)))
        and length - 1 <= np.iinfo(held(v.type)).max
        and v.defined.all()
    ]
    if not found:
        return
    index = k.one_of(found)
    at = (index.elements & held(index.type).type(length - 1)).astype(np.int64)
    text = f"tl.gather({x.text}, {index.text} & {length - 1}, {axis})"
    k.add(text, x.type, np.take_along_axis(x.elements, at, axis), np.take_along_axis(x.defined, at, axis))


@operation()
def histogram(k: Kernel) -> None:
    found = [v for v in k.operands(("i32", "u32")) if len(v.shape) == 1 and v.defined.all()]
    if not found:
        return
    x = k.one_of(found)
    bins = 1 << k.pick(5)
    values = x.elements.astype(np.int64)
    chosen = (values >= 0) & (values < bins)
    masks = [v for v in k.operands(("i1",)) if v.shape == x.shape and v.defined.all()]
    text = f"tl.histogram({x.text}, {bins})"
    if masks and k.pick(2):
        mask = k.one_of(masks)
        chosen = chosen & mask.elements
        text = f"tl.histogram({x.text}, {bins}, mask={mask.text})"
    k.add(text, "i32", np.bincount(values[chosen], minlength=bins).astype(np.int32), True)


assert all(bits_of(t) for t in TYPES)
