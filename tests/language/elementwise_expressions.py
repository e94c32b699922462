"""Elementwise operations of random kernels (expressions.py): source text, result type, elements."""

from __future__ import annotations

import numpy as np
from expression_values import (
    WIDE,
    Constant,
    Value,
    arithmetic,
    as_type,
    fused,
    mathematical,
    nan_wins,
    number_wins,
    promoted,
    truncated_division,
    zero_ordered,
)
from expressions import Kernel, both_defined, operation
from number_formats import (
    FLOATS,
    FP8,
    INTS,
    TL,
    TYPES,
    bits_of,
    convert,
    from_bits,
    held,
    hold,
    is_float,
    is_signed,
    to_bits,
)

Operand = Value | Constant


def ordered(k: Kernel, x: Value, y: Operand) -> tuple[Operand, Operand]:
    """The operands in either order."""
    return (y, x) if k.pick(2) else (x, y)


def broadcast(a: Operand, b: Operand) -> tuple[int, ...]:
    return np.broadcast_shapes(*(v.shape for v in (a, b) if isinstance(v, Value)))


def pair(k: Kernel, types: tuple[str, ...]) -> tuple[Value, Operand] | None:
    x = k.operand(types)
    y = k.partner(x, types) if x else None
    return (x, y) if x and y else None


@operation(6)
def plus_minus_times(k: Kernel) -> None:
    chosen = pair(k, TYPES)
    if not chosen:
        return
    x, y = chosen
    t = promoted("add", x, y)
    if t is None:
        return
    op = k.one_of(["+", "-", "*"])
    a, b = ordered(k, x, y)
    (p, dp), (q, dq) = as_type(a, t), as_type(b, t)
    result = arithmetic(op, p, q, t)
    text = f"{a.text} {op} {b.text}"
    if k.pick(4) == 0:
        wrap = ", sanitize_overflow=False" if k.pick(2) else ""
        text = f"tl.{ {'+': 'add', '-': 'sub', '*': 'mul'}[op] }({a.text}, {b.text}{wrap})"
    k.add(text, t, result, both_defined(dp, dq, result.shape))


@operation(2)
def divide(k: Kernel) -> None:
    chosen = pair(k, TYPES)
    t = promoted("div", *chosen) if chosen else None
    if not chosen or t is None:
        return
    a, b = ordered(k, *chosen)
    (p, dp), (q, dq) = as_type(a, t), as_type(b, t)
    with np.errstate(all="ignore"):
        result = p / q
    k.add(f"{a.text} / {b.text}", t, result, both_defined(dp, dq, result.shape))


@operation(2)
def float_remainder(k: Kernel) -> None:
    chosen = pair(k, FLOATS)
    if not chosen or isinstance(chosen[1], Constant):
        return
    t = promoted("mod", *chosen)
    if t is None:
        return
    (p, dp), (q, dq) = (as_type(v, t) for v in chosen)
    with np.errstate(all="ignore"):
        result = np.fmod(p, q)
    k.add(f"{chosen[0].text} % {chosen[1].text}", t, result, both_defined(dp, dq, result.shape))


@operation(3)
def int_division(k: Kernel) -> None:
    chosen = pair(k, INTS)
    if not chosen:
        return
    x, y = chosen
    if isinstance(y, Constant) and (isinstance(y.number, float) or y.number == 0):
        return
    op = k.one_of(["//", "%"])
    t = promoted("floordiv" if op == "//" else "mod", x, y)
    if t is None:
        return
    (p, dp), (q, dq) = as_type(x, t), as_type(y, t)
    p, q = np.broadcast_arrays(p, q)
    quotient, remainder, defined = truncated_division(p, q, t)
    result = quotient if op == "//" else remainder
    k.add(f"{x.text} {op} {y.text}", t, result, defined & both_defined(dp, dq, result.shape))


@operation(3)
def bitwise(k: Kernel) -> None:
    chosen = pair(k, ("i1", *INTS))
    if not chosen or (isinstance(chosen[1], Constant) and isinstance(chosen[1].number, float)):
        return
    t = promoted("and", *chosen)
    if t is None:
        return
    op = k.one_of(["&", "|", "^"])
    (p, dp), (q, dq) = (as_type(v, t) for v in chosen)
    result = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[op](p, q)
    k.add(f"{chosen[0].text} {op} {chosen[1].text}", t, result, both_defined(dp, dq, result.shape))


@operation(3)
def shift(k: Kernel) -> None:
    x = k.operand(INTS)
    y = k.partner(x, INTS) if x else None
    if not x or not y:
        return
    if isinstance(y, Constant):
        y = Constant(k.pick(bits_of(x.type)))
    op = k.one_of(["<<", ">>"])
    t = promoted("shl" if op == "<<" else "shr", x, y)
    if t is None:
        return
    text = y.text
    (p, dp), (q, dq) = as_type(x, t), as_type(y, t)
    if isinstance(y, Value) and k.pick(3):
        # Most amounts are outside the width otherwise.
        most = min(bits_of(y.type), bits_of(t)) - 1 if bits_of(y.type) > 3 else 7
        text = f"({y.text} & {most})"
        q = q & held(t).type(most)
    inside = (q >= 0) & (q < bits_of(t))
    safe = np.where(inside, q, 0).astype(held(t))
    shifted = x if isinstance(x, Value) else y
    if op == ">>" and shifted.type.startswith("i") and t.startswith("u"):  # the sign of what is shifted counts
        p = p.view(f"int{bits_of(t)}")
        safe = safe.view(p.dtype)
    result = np.left_shift(p, safe) if op == "<<" else np.right_shift(p, safe)
    k.add(f"{x.text} {op} {text}", t, result.view(held(t)), inside & both_defined(dp, dq, result.shape))


COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@operation(3)
def compare(k: Kernel) -> None:
    chosen = pair(k, TYPES)
    t = promoted("add", *chosen) if chosen else None
    if not chosen or t is None:
        return
    op = k.one_of(list(COMPARE))
    (p, dp), (q, dq) = (as_type(v, t) for v in chosen)
    result = COMPARE[op](p, q)
    k.add(f"{chosen[0].text} {op} {chosen[1].text}", "i1", result, both_defined(dp, dq, result.shape))


@operation(3)
def where(k: Kernel) -> None:
    chosen = pair(k, TYPES)
    t = promoted("where", *chosen) if chosen else None
    if not chosen or t is None:
        return
    shape = broadcast(*chosen)
    conditions = [v for v in k.operands(("i1",)) if can_broadcast(v.shape, shape)]
    if not conditions:
        return
    condition = k.one_of(conditions)
    (p, dp), (q, dq) = (as_type(v, t) for v in chosen)
    result = np.where(condition.elements, p, q)
    defined = np.where(condition.elements, dp, dq) & condition.defined
    if not shape and condition.shape:
        return  # scalars picked by a block are covered by blocks
    text = f"tl.where({condition.text}, {chosen[0].text}, {chosen[1].text})"
    k.add(text, t, result.astype(held(t)), defined)


def can_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


@operation(3)
def extremum(k: Kernel) -> None:
    chosen = pair(k, TYPES)
    t = promoted("maximum", *chosen) if chosen else None
    if not chosen or t is None:
        return
    greater = bool(k.pick(2))
    propagate = is_float(t) and k.pick(2) == 0
    choose = zero_ordered(greater) if not is_float(t) else nan_wins(greater) if propagate else number_wins(greater)
    (p, dp), (q, dq) = (as_type(v, t) for v in chosen)
    result = np.asarray(choose(*np.broadcast_arrays(p, q))).astype(held(t))
    option = ", propagate_nan=tl.PropagateNan.ALL" if propagate else ""
    name = "maximum" if greater else "minimum"
    k.add(f"tl.{name}({chosen[0].text}, {chosen[1].text}{option})", t, result, both_defined(dp, dq, result.shape))


@operation()
def clamp(k: Kernel) -> None:
    x = k.operand(("fp16", "fp32", "fp64", "i32", "u32", "i64"))
    if not x:
        return
    low = k.one_of([0, 1, 2])
    high = low + k.one_of([0, 1, 5, 60])
    propagate = is_float(x.type) and k.pick(2) == 0
    (p, _), (q, _) = as_type(Constant(low), x.type), as_type(Constant(high), x.type)
    shape = x.shape
    p, q = np.broadcast_to(p, shape), np.broadcast_to(q, shape)
    if is_float(x.type):
        larger, smaller = (nan_wins(True), nan_wins(False)) if propagate else (number_wins(True), number_wins(False))
    else:
        larger, smaller = zero_ordered(True), zero_ordered(False)
    result = smaller(larger(x.elements, p), q).astype(held(x.type))
    option = ", propagate_nan=tl.PropagateNan.ALL" if propagate else ""
    # With a bound of zero, either zero may come out.
    open_zero = (result == 0) & (x.elements == 0) if is_float(x.type) else np.zeros(shape, bool)
    k.add(f"tl.clamp({x.text}, {low}, {high}{option})", x.type, result, x.defined & ~open_zero)


@operation()
def fma(k: Kernel) -> None:
    t = k.one_of(list(FLOATS))
    x = k.operand((t,))
    y = k.partner(x, (t,), constants=False) if x else None
    if not x or not isinstance(y, Value):
        return
    shape = np.broadcast_shapes(x.shape, y.shape)
    thirds = [v for v in k.operands((t,)) if can_broadcast(v.shape, shape)]
    z = k.one_of(thirds)
    result = fused(x.elements, y.elements, z.elements, t)
    if result.size > 256:
        return
    defined = x.defined & y.defined & z.defined
    k.add(f"{k.one_of(['tl', 'tl.math'])}.fma({x.text}, {y.text}, {z.text})", t, result, defined)


@operation(2)
def unary(k: Kernel) -> None:
    x = k.operand()
    if not x:
        return
    a, t = x.elements, x.type
    forms = ["neg", "abs"] if t in TYPES else []
    if t == "i1" or t in INTS:
        forms.append("invert")
    if not forms:
        return
    form = k.one_of(forms)
    if form == "invert":
        return void(k.add(f"~{x.text}", t, ~a, x.defined))
    if form == "neg":
        # A float's sign is flipped, zero's too; an integer is taken from 0.
        negative = -a if is_float(t) else arithmetic("-", np.zeros((), held(t)), a, t)
        return void(k.add(f"-{x.text}", t, negative, x.defined))
    with np.errstate(all="ignore"):
        result = np.abs(a) if t != "i1" else a
    return void(k.add(f"{k.one_of(['tl', 'tl.math'])}.abs({x.text})", t, result, x.defined))


def void(_: Value) -> None:
    return None


@operation(4)
def math_function(k: Kernel) -> None:
    x = k.operand(WIDE)
    if not x or x.elements.size > 256:
        return
    name = k.one_of(["exp", "exp2", "log", "log2", "sin", "cos", "erf", "sqrt", "rsqrt", "floor", "ceil", "sqrt_rn"])
    module = k.one_of(["tl", "tl.math"])
    if name in ("floor", "ceil"):
        k.add(f"{module}.{name}({x.text})", x.type, getattr(np, name)(x.elements), x.defined)
        return
    if name == "sqrt_rn" and x.type != "fp32":
        return
    result = mathematical("sqrt" if name == "sqrt_rn" else name, x.elements, x.type)
    # In fp64 the C library's long double is one unit off now and then.
    inexact = x.type == "fp64" and name not in ("sqrt", "sqrt_rn")
    with np.errstate(all="ignore"):
        bound = np.where(np.isfinite(result), np.spacing(np.abs(result)), 0.0) if inexact else None
    k.add(f"{module}.{name}({x.text})", x.type, result, x.defined, final=inexact, bound=bound)


@operation()
def exact_quotient(k: Kernel) -> None:
    x = k.operand(("fp32",))
    y = k.partner(x, ("fp32",), constants=False) if x else None
    if not x or not isinstance(y, Value):
        return
    with np.errstate(all="ignore"):
        result = x.elements / y.elements
    module = k.one_of(["tl", "tl.math"])
    call = k.one_of(["div_rn({}, {})", "fdiv({}, {}, ieee_rounding=True)", "fdiv({}, {})"])
    k.add(f"{module}.{call.format(x.text, y.text)}", "fp32", result, both_defined(x.defined, y.defined, result.shape))


@operation()
def high_product(k: Kernel) -> None:
    t = k.one_of(["i32", "u32", "i64", "u64"])
    x = k.operand((t,))
    y = k.partner(x, (t,), constants=False) if x else None
    if not x or not isinstance(y, Value):
        return
    bits = bits_of(t)
    unsigned = np.dtype(f"u{bits // 8}")
    p, q = np.broadcast_arrays(x.elements.view(unsigned), y.elements.view(unsigned))
    flat = [int(a) * int(b) >> bits for a, b in zip(p.ravel(), q.ravel())]
    result = np.array(flat, unsigned).reshape(p.shape).view(held(t))
    text = f"{k.one_of(['tl', 'tl.math'])}.umulhi({x.text}, {y.text})"
    k.add(text, t, result, both_defined(x.defined, y.defined, result.shape))


# fp8 has no cast to or from integers and bool, to the other fp8, or to and from fp64.
def castable(source: str, target: str) -> bool:
    if source in FP8 or target in FP8:
        other = target if source in FP8 else source
        return source == target or other in ("fp16", "bf16", "fp32")
    return True


@operation(6)
def cast(k: Kernel) -> None:
    x = k.operand()
    target = k.one_of([*TYPES, "fp8e5", "fp8e4nv"])
    if not x or not castable(x.type, target):
        return
    narrowing = is_float(x.type) and is_float(target) and bits_of(target) < bits_of(x.type)
    toward_zero = narrowing and target not in FP8 and k.pick(3) == 0
    values, defined = convert(x.elements, x.type, target, toward_zero)
    option = ', fp_downcast_rounding="rtz"' if toward_zero else ""
    form = k.one_of(["{}.to({})", "tl.cast({}, {})"])
    k.add(form.format(x.text, f"tl.{TL[target]}{option}"), target, values, defined & x.defined)


@operation(2)
def bitcast(k: Kernel) -> None:
    x = k.operand()
    if not x or x.type == "i1":
        return
    target = k.one_of([t for t in (*TYPES, *FP8) if t != "i1" and bits_of(t) == bits_of(x.type)])
    values = from_bits(to_bits(x.elements, x.type), target)
    known = ~np.isnan(x.elements) if is_float(x.type) else np.ones(x.shape, bool)
    form = k.one_of(["{}.to({}, bitcast=True)", "tl.cast({}, {}, bitcast=True)"])
    k.add(form.format(x.text, f"tl.{TL[target]}"), target, hold(values, target), x.defined & known)


@operation()
def hint(k: Kernel) -> None:
    x = k.operand(("i32", "i64"), least_rank=1)
    if not x:
        return
    ones = ", ".join("1" for _ in x.shape)
    name = k.one_of(["multiple_of", "max_contiguous", "max_constancy"])
    k.add(f"tl.{name}({x.text}, [{ones}])", x.type, x.elements, x.defined)


@operation()
def cdiv(k: Kernel) -> None:
    x = k.operand(("i32", "u32", "i64"))
    if not x:
        return
    d = k.one_of([1, 2, 3, 7, 100])
    t = x.type
    p = arithmetic("+", x.elements, np.asarray(d - 1).astype(held(t)), t)
    quotient, _, defined = truncated_division(p, np.broadcast_to(np.asarray(d).astype(held(t)), p.shape), t)
    assert is_signed(t) or t == "u32"
    k.add(f"tl.cdiv({x.text}, {d})", t, quotient, defined & x.defined)
