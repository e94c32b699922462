"""Metamorphic twins: a program changed in ways that must not change what it computes.

Here:      the table of changes; which of them a program allows.
Not here:  running both and comparing (judging.py).
Invariant: a twin writes the same buffers in the same places; what it adds stands behind the program's own arguments.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from math import prod

from tiletwin.fuzz.builder import COUNT
from tiletwin.fuzz.tree import Buffer, For, Op, Program, Value, walk
from tiletwin.fuzz.types import Type, kind

_LANEWISE = frozenset({
    "lanes", "offsets", "arguments", "load", "masked load", "pointer arithmetic", "store", "condition", "copy",
    "carried arithmetic",
    "arithmetic", "arithmetic of int1", "promotion", "number beside a tensor", "whole division", "division", "bits",
    "remainder of floats", "shift", "comparison", "mixed comparison", "where", "minimum", "clamp", "clamp by tensors",
    "abs", "negation", "not", "umulhi", "cdiv", "add without overflow check", "inline assembly", "cast", "fma",
    "rounding mode", "cast to an 8-bit float", "cast from an 8-bit float", "bitcast", "sine", "exact division",
    "rounding to whole numbers", "fast division", "exact root", "libdevice", "random integers", "random numbers",
    "tl.exp", "tl.exp2", "tl.log", "tl.log2", "tl.sqrt", "tl.rsqrt", "tl.erf", "tl.sigmoid",
})  # fmt: skip
"""Forms in which an element's result depends on the same element of the operands alone."""


def reversed_programs(program: Program) -> Program | None:
    """The programs of the grid change places."""
    total = prod(program.grid)
    if total < 2:
        return None
    twin = copy.deepcopy(program)
    twin.pid = f"{total - 1} - ({program.pid})"
    return twin


def unrolled(program: Program) -> Program | None:
    """Loops that count to a known number are unrolled by the front end."""
    twin, found = copy.deepcopy(program), False
    for statement in walk(twin.body):
        if isinstance(statement, For) and statement.how != "tl.static_range":
            rounds = program.scalars["k"] if statement.count == "k" else statement.rounds
            number = Value(f"u{statement.index.text}", statement.index.type, True, False)
            statement.body.insert(0, Op("unrolled", "int32", f"tl.to_tensor({number.text})", [], [statement.index]))
            statement.index, statement.how, statement.count = number, "tl.static_range", str(rounds)
            found = True
    return twin if found else None


def wide_masks(program: Program) -> Program | None:
    """Loads read all lanes, and `where` chooses afterwards: every lane's address is inside, masked off or not."""
    twin, found = copy.deepcopy(program), False
    for op in (s for s in walk(twin.body) if isinstance(s, Op)):
        if kind(op.element) == "8" or not op.template.startswith("tl.load({} + {}, mask={}, other="):
            continue
        other = "{3}" if len(op.operands) == 4 else op.template.split("other=")[1].removesuffix(")")
        op.template = f"tl.where({{2}}, tl.load({{0}} + {{1}}), {other}).to(tl.{op.element})"
        found = True
    return twin if found else None


def opaque_lanes(program: Program) -> Program | None:
    """The numbers of lanes are loaded from memory, so that no access is of a form that a compiler can see."""
    twin, found = copy.deepcopy(program), False
    pointer = Value("iota_ptr", Type("int32"), True, False)
    for op in twin.body:
        if isinstance(op, Op) and op.form == "lanes" and op.results[0].type.shape:
            op.template, op.operands, found = f"tl.load({{}} + ({op.template}))", [pointer], True
    twin.extra.append(Buffer("iota_ptr", "int32", COUNT, "iota", 0))
    return twin if found else None


def half_blocks(program: Program) -> Program | None:
    """Twice the programs, each with half of the elements, where elements do not depend on each other. Both halves store
    scalars, the same numbers to the same places."""
    every = [s for s in walk(program.body) if isinstance(s, Op)]
    shapes = {v.type.shape for op in every for v in (*op.operands, *op.results)} - {()}
    if len(shapes) != 1 or program.helpers or any(op.form not in _LANEWISE for op in every):
        return None
    (shape,) = shapes
    if (
        len(shape) != 1
        or shape[0] < 2
        or any(word in op.template for word in ("tl.arange", "multiple_of") for op in every if op.form != "lanes")
    ):
        return None
    size, half = shape[0], shape[0] // 2
    twin = copy.deepcopy(program)
    for op in (s for s in walk(twin.body) if isinstance(s, Op)):
        op.template = op.template.replace(f"[{size}]", f"[{half}]")
        if op.form == "lanes":
            op.template = f"tl.arange(0, {half}) + tl.program_id(0) % 2 * {half}"
    twin.grid = (program.grid[0] * 2, *program.grid[1:])
    twin.pid = f"({program.pid}) // 2"
    return twin


def other_warps(program: Program) -> Program | None:
    """Other numbers of warps and stages, for code generators."""
    twin = copy.deepcopy(program)
    warps = program.options["num_warps"]
    twin.options = {"num_warps": 2 if warps != 2 else 4, "num_stages": 4 - program.options["num_stages"]}
    return twin


TWINS: dict[str, Callable[[Program], Program | None]] = {
    "reversed programs": reversed_programs,
    "unrolled loops": unrolled,
    "wide masks": wide_masks,
    "opaque lanes": opaque_lanes,
    "half blocks": half_blocks,
}
"""Compared on the interpreter."""
CODE_TWINS = {"other warps": other_warps}
"""Compared on the simulator."""
