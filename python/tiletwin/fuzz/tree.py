"""A generated program as a typed tree.

Here:      values, statements, helper functions, parameters; walking over a tree.
Not here:  making one (generator.py), its text (text.py), changing it (shrink.py, twins.py).
Invariant: every statement is safe for all values of its operands' types: divisors are made positive, shift amounts are
           masked, masks and conditions are exact. So an operand may be exchanged for another one of its type, and any
           statement whose results nobody uses may go. The exceptions are ADDRESSES: no two lanes may store to one
           element, and all offsets are inside of their buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tiletwin.fuzz.types import Type

ADDRESSES = ("lanes", "offsets", "pointers")
"""Forms of statements whose results are numbers of elements of buffers, or pointers to them."""
POINTER = "pointer"
"""In the place of an element type: a tile of pointers."""


@dataclass(frozen=True)
class Value:
    """An operand: a variable, or text that stands for a constant or a parameter."""

    text: str
    type: Type
    exact: bool = True
    """Every right run gives the same bits: rounding that is free has no part in it."""
    is_variable: bool = True


@dataclass
class Op:
    """One statement: `results = template`, with operands in the places of {}.

    form, element: the row of the table of forms that made it, for coverage. effect: it writes memory.
    """

    form: str
    element: str
    template: str
    operands: list[Value]
    results: list[Value] = field(default_factory=list)
    effect: bool = False
    output: int = -1
    """Number of the output that a final store writes."""


@dataclass
class Let:
    """`target = source`: a variable is bound anew, of the same type."""

    target: Value
    source: Value


@dataclass
class If:
    condition: Value
    then: list[Any]
    otherwise: list[Any]


@dataclass
class For:
    """`for index in range(count)`; how: "range", "tl.range" or "tl.static_range"."""

    index: Value
    count: str
    rounds: int
    how: str
    body: list[Any]


@dataclass
class While:
    """A counter runs from 0 to `rounds`, and `condition`, if there is one, may end the loop earlier."""

    counter: Value
    limit: str
    body: list[Any]


@dataclass
class Leave:
    """`if condition: return`, in a kernel's own body."""

    condition: Value


@dataclass
class Helper:
    """A jit function. Bodies are statements like a kernel's; lines is text in their place."""

    name: str
    parameters: list[Value]
    body: list[Any]
    results: list[Value]
    noinline: bool = False
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Buffer:
    """A pointer parameter. content: how it is filled (inputs.py)."""

    name: str
    element: str
    count: int
    content: str
    seed: int


@dataclass(frozen=True)
class DescriptorArgument:
    """A tensor descriptor over a buffer of its own."""

    name: str
    buffer: Buffer
    shape: tuple[int, ...]
    block: tuple[int, ...]
    padding: str = "zero"


@dataclass
class Program:
    seed: int
    body: list[Any] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    descriptors: list[DescriptorArgument] = field(default_factory=list)
    scalars: dict[str, Any] = field(default_factory=dict)
    """Run-time arguments by name."""
    constants: dict[str, Any] = field(default_factory=dict)
    """tl.constexpr arguments by name."""
    grid: tuple[int, ...] = (1,)
    options: dict[str, int] = field(default_factory=dict)
    extra: list[Buffer] = field(default_factory=list)
    """What a twin takes besides."""
    pid: str = "{pid}"
    """How the number of a program is computed from its linear id, for twins."""


def blocks(statement: Any) -> list[list[Any]]:
    """The lists of statements inside of a statement."""
    if isinstance(statement, If):
        return [statement.then, statement.otherwise]
    return [statement.body] if isinstance(statement, (For, While)) else []


def walk(body: list[Any]) -> Iterator[Any]:
    """Every statement, in the order of the text."""
    for statement in body:
        yield statement
        for block in blocks(statement):
            yield from walk(block)


def lists(body: list[Any]) -> Iterator[list[Any]]:
    """Every list of statements, outer ones first."""
    yield body
    for statement in body:
        for block in blocks(statement):
            yield from lists(block)


def used(statement: Any) -> list[Value]:
    """The operands that a statement itself reads."""
    if isinstance(statement, Op):
        return statement.operands
    if isinstance(statement, Let):
        return [statement.source]
    return [statement.condition] if isinstance(statement, (If, Leave)) else []


def ops(program: Program) -> Iterator[Op]:
    """Every operation of the kernel and of its helpers."""
    for body in (program.body, *(helper.body for helper in program.helpers)):
        yield from (statement for statement in walk(body) if isinstance(statement, Op))
