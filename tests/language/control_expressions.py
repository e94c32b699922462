"""Control flow, functions on elements, inline PTX and Python's logic in random kernels (expressions.py)."""

from __future__ import annotations

import numpy as np
from expression_values import Value, arithmetic
from expressions import Kernel, operation
from number_formats import held

EXACT = ("i32", "u32", "i64", "u64")


@operation(2)
def loop(k: Kernel) -> None:
    """acc = acc * 3 + x, some times."""
    x = k.operand(EXACT)
    if not x:
        return
    t, times = x.type, k.one_of([0, 1, 3, 6])
    name, i = f"a{len(k.values)}", f"i{len(k.values)}"
    value = x.elements
    for _ in range(times):
        value = arithmetic("+", arithmetic("*", value, np.asarray(3).astype(held(t)), t), x.elements, t)
    form = k.one_of(["range", "tl.range", "tl.static_range", "while"])
    k.line(f"{name} = {x.text}")
    if form == "while":
        k.line(f"{i} = tl.program_id(0)")
        condition = f"{i} < {times}"
        k.line(f"while {k.one_of(['{}', 'tl.condition({})']).format(condition)}:")
        k.line(f"    {i} += 1")
    else:
        k.line(f"for {i} in {form}({times}):")
    k.line(f"    {name} = {name} * 3 + {x.text}")
    k.add(name, t, value, x.defined)


@operation(2)
def branch(k: Kernel) -> None:
    conditions = [v for v in k.operands(("i1", "i32")) if not v.shape and v.defined]
    x = k.operand()
    if not conditions or not x:
        return
    condition = k.one_of(conditions)
    y = k.one_of([v for v in k.operands((x.type,)) if v.shape == x.shape])
    taken = x if condition.elements else y
    if k.pick(2):
        k.add(f"{x.text} if {condition.text} else {y.text}", x.type, taken.elements, taken.defined)
        return
    name = f"a{len(k.values)}"
    k.line(f"if {condition.text}:")
    k.line(f"    {name} = {x.text}")
    k.line("else:")
    k.line(f"    {name} = {y.text}")
    k.add(name, x.type, taken.elements, taken.defined)


@operation()
def logic(k: Kernel) -> None:
    x = k.operand(("i1",))
    y = k.partner(x, ("i1",), constants=False) if x else None
    if not x or not isinstance(y, Value):
        return
    both = np.broadcast_arrays(x.elements, y.elements)
    known = np.broadcast_to(x.defined, both[0].shape) & np.broadcast_to(y.defined, both[0].shape)
    form = k.one_of(["{} and {}", "{} or {}", "{}.logical_and({})", "{}.logical_or({})", "not {}"])
    if form == "not {}":
        k.add(form.format(x.text), "i1", ~x.elements, x.defined)
        return
    result = np.logical_and(*both) if "and" in form else np.logical_or(*both)
    k.add(form.format(x.text, y.text), "i1", result, known)


@operation()
def chained_comparison(k: Kernel) -> None:
    x = k.operand(("i16", "i32", "i64", "fp32", "fp64"))
    if x:
        low, high = k.one_of([-5, 0, 1]), k.one_of([2, 100])
        k.add(f"{low} < {x.text} <= {high}", "i1", (x.elements > low) & (x.elements <= high), x.defined)


@operation()
def mapped(k: Kernel) -> None:
    x = k.operand(EXACT, least_rank=1)
    if not x:
        return
    t = x.type
    if k.pick(2):
        k.helpers.add("cubed")
        cube = arithmetic("*", arithmetic("*", x.elements, x.elements, t), x.elements, t)
        k.add(f"tl.map_elementwise(cubed, {x.text})", t, cube, x.defined)
        return
    k.helpers.add("larger_and_smaller")
    y = k.one_of([v for v in k.operands((t,)) if v.shape == x.shape])
    part = k.pick(2)
    value = (np.maximum, np.minimum)[part](x.elements, y.elements)
    k.add(f"tl.map_elementwise(larger_and_smaller, {x.text}, {y.text})[{part}]", t, value, x.defined & y.defined)


ASSEMBLY = {
    "xor.b32 $0, $1, $2;": lambda a, b: a ^ b,
    "add.u32 $0, $1, $2;": lambda a, b: a + b,
    "lop3.b32 $0, $1, $2, 0, 0x3C;": lambda a, b: a ^ b,
    "{ .reg .b32 t; not.b32 t, $2; and.b32 $0, $1, t; }": lambda a, b: a & ~b,
}


@operation()
def assembly(k: Kernel) -> None:
    x = k.operand(("i32", "u32"), least_rank=1)
    if not x:
        return
    y = k.one_of([v for v in k.operands((x.type,)) if v.shape == x.shape])
    text = k.one_of(list(ASSEMBLY))
    value = ASSEMBLY[text](x.elements.view(np.uint32), y.elements.view(np.uint32))
    call = f'tl.inline_asm_elementwise("{text}", "=r,r,r", [{x.text}, {y.text}], dtype=tl.uint32, is_pure=True, pack=1)'
    k.add(call, "u32", value, x.defined & y.defined)
