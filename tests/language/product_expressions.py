"""Dots and scaled dots of random kernels (expressions.py), with a bound from the sum of the products' magnitudes."""

from __future__ import annotations

import formats
import numpy as np
from expressions import Kernel, operation
from number_formats import FP8, held, hold, rounded

LEAST_K = {"i8": 32, "fp8e5": 32, "fp8e4nv": 32, "fp16": 16, "bf16": 16, "fp32": 8, "fp64": 4}
# How much of each product an operand's own rounding may take away.
PRECISION = {"ieee": 2.0**-23, "tf32": 2.0**-9, "tf32x3": 2.0**-19, "bf16x3": 2.0**-14, "bf16x6": 2.0**-19}


def small(k: Kernel, t: str, shape: tuple[int, ...]) -> np.ndarray:
    """Finite numbers about 1, some zero; any int8."""
    if t == "i8":
        return k.random.integers(-128, 128, shape).astype(np.int8)
    x = k.random.standard_normal(shape) * 2.0 ** k.random.integers(-3, 4, shape)
    x[k.random.random(shape) < 0.1] = 0
    return hold(rounded(x, t), t)


@operation(3)
def dot(k: Kernel) -> None:
    t = k.one_of(list(LEAST_K))
    other = k.one_of(list(FP8)) if t in FP8 else t
    m, n = k.one_of([1, 2, 16]), k.one_of([1, 4, 16])
    inner = LEAST_K[t] * k.one_of([1, 2])
    batch = (k.one_of([1, 2]),) if k.pick(4) == 0 else ()
    a = k.load_of(t, small(k, t, (*batch, m, inner)))
    turned = not batch and k.pick(3) == 0
    b_elements = small(k, other, (*batch, inner, n))
    b = k.load_of(other, np.ascontiguousarray(b_elements.T) if turned else b_elements)
    b_text = f"tl.trans({b.text})" if turned else b.text
    if t == "i8":
        out, options = "i32", []
    elif t == "fp64":
        out, options = "fp64", []
    else:
        out = k.one_of(["fp32", "fp16"]) if t == "fp16" or t in FP8 else "fp32"
        options = ["out_dtype=tl.float16"] if out == "fp16" else []
    precision = k.one_of(list(PRECISION)) if t == "fp32" else "ieee"
    if t == "fp32":
        options.append(f'input_precision="{precision}"')
    if t in FP8 and k.pick(2):
        options.append(f"max_num_imprecise_acc={inner}")
    shape = (*batch, m, n)
    c_elements = np.zeros(shape, held(out))
    arguments = [a.text, b_text]
    if k.pick(2):
        any_int = k.random_elements("i32", int(np.prod(shape))).reshape(shape)
        c_elements = any_int if out == "i32" else small(k, out, shape)
        arguments.append(k.load_of(out, c_elements).text)
    text = f"tl.dot({', '.join([*arguments, *options])})"
    if out == "i32":
        wide = a.elements.astype(np.int32) @ b_elements.astype(np.int32) + c_elements
        k.add(text, "i32", wide.astype(np.int32), True)
        return
    x, y, c = (v.astype(np.longdouble) for v in (a.elements, b_elements, c_elements))
    size = np.abs(x) @ np.abs(y) + np.abs(c)
    place = {"fp64": 2.0**-50, "fp32": PRECISION[precision], "fp16": 2.0**-10}[out]
    value = (x @ y + c).astype(np.float64)
    bound = (size * place + 2.0**-24).astype(np.float64)
    # Beyond fp16's range the way of rounding decides.
    known = np.abs(value) + bound < (6e4 if out == "fp16" else np.inf)
    k.add(text, out, np.where(known, value, 0).astype(held(out)), known, final=True, bound=bound)


KINDS = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16", "e2m1": "u8"}


@operation()
def dot_scaled(k: Kernel) -> None:
    m, n, inner = k.one_of([1, 16]), k.one_of([1, 8]), 32 * k.one_of([1, 2])
    sides, texts = [], []
    for rows, is_left in ((m, True), (n, False)):
        kind = k.one_of(list(KINDS))
        if kind == "e2m1":
            codes = k.random.integers(0, 16, (rows, inner)).astype(np.uint8)
            values = np.where(codes & 8, -1, 1) * np.array(formats.E2M1)[codes & 7]
            stored = (codes[:, 1::2] << 4 | codes[:, ::2]).astype(np.uint8)
        else:
            stored = values = small(k, KINDS[kind], (rows, inner))
        value = k.load_of(KINDS[kind], np.ascontiguousarray(stored if is_left else stored.T))
        scale = "None"
        # Powers of two that keep every number exact in bf16 and nearly so in fp16.
        if k.pick(4):
            codes = k.random.integers(124, 131, (rows, inner // 32)).astype(np.uint8)
            scale = k.load_of("u8", codes).text
            values = values * np.repeat(np.ldexp(1.0, codes.astype(int) - 127), 32, 1)
        sides.append(values.astype(np.float64))
        texts.append(f'{value.text}, {scale}, "{kind}"')
    x, y = sides[0], sides[1].T
    c, tail = np.zeros((m, n)), ""
    if k.pick(2):
        loaded = k.load_of("fp32", small(k, "fp32", (m, n)))
        c, tail = loaded.elements.astype(np.float64), f", {loaded.text}"
    bound = (np.abs(x) @ np.abs(y) + np.abs(c)) * 2.0**-20 + 2.0**-16
    result = (x @ y + c).astype(np.float32)
    k.add(f"tl.dot_scaled({texts[0]}, {texts[1]}{tail})", "fp32", result, True, final=True, bound=bound)
