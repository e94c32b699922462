"""Forms of atomic operations.

What they return is used only where each lane of each program has an address of its own. To shared addresses they only
go if any order gives the same number: whole numbers, or floats whose sums the tester bounds.
"""

from __future__ import annotations

from math import prod

from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.memory import scratch
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.tree import Buffer, Value
from tiletwin.fuzz.types import ALL, Type, is_float
from tiletwin.fuzz.types import bits as bits_of

WHOLE = ("int32", "int64", "uint32", "uint64")
ADDED = (*WHOLE, "float16", "bfloat16", "float32", "float64")
COMPARED = (*WHOLE, "float32", "float64")


def _own(g: Builder, element: str, name: str):
    """An atomic operation on elements that no other lane touches, whose old values are used."""
    shape = g.shape(tile=True)
    size = prod(shape)
    pointer, at, value = scratch(g, element, size), g.lanes(shape), g.value(element, shape, exact=True)
    operands, more = [pointer, at, value], ""
    type_ = Type(element, shape)
    order = g.pick(["", ", sem='relaxed'", ", sem='release'", ", scope='cta'"])
    if g.chance(0.3):
        # A lane that is masked off gets no value that is promised.
        mask = g.mask(shape)
        operands.append(mask)
        return g.effect(f"tl.{name}({{}} + pid * {size} + {{}}, {{}}, mask={{}}{order})", operands)
    made = g.define(f"tl.{name}({{}} + pid * {size} + {{}}, {{}}{more}{order})", operands, type_)
    g.bodies[-1][-1].effect = True
    return made


def _shared(g: Builder, element: str, name: str):
    shape = g.shape(tile=True)
    buffer = f"s{len(g.program.buffers)}_ptr"
    g.program.buffers.append(Buffer(buffer, element, 16, "small", g.rng.randrange(1000)))
    at, value = g.lanes(shape), g.value(element, shape, exact=True)
    g.effect(f"tl.{name}({{}} + ({{}} & 15), {{}})", [Value(buffer, Type(element), True, False), at, value])


@form("atomic_add", ADDED)
def add(g: Builder, element: str):
    return _own(g, element, "atomic_add") if g.chance(0.6) else _shared(g, element, "atomic_add")


@form("atomic_max", WHOLE)
def maximum(g: Builder, element: str):
    name = g.pick(["atomic_max", "atomic_min"])
    return _own(g, element, name) if g.chance(0.6) else _shared(g, element, name)


@form("atomic_and", WHOLE)
def bits(g: Builder, element: str):
    name = g.pick(["atomic_and", "atomic_or", "atomic_xor"])
    return _own(g, element, name) if g.chance(0.6) else _shared(g, element, name)


@form("atomic_xchg", (*WHOLE, "float32", "float64"))
def exchange(g: Builder, element: str):
    return _own(g, element, "atomic_xchg")


@form("atomic_cas", (*WHOLE, "int16", "uint16", "float16", "bfloat16", "float32", "float64"))
def compare_and_swap(g: Builder, element: str):
    shape = g.shape(tile=True)
    size, type_ = prod(shape), Type(element, shape)
    pointer, at = scratch(g, element, size), g.lanes(shape)
    if is_float(element):  # a GPU compares bits, NumPy numbers: neither NaN nor a zero with a sign
        expected, value = g.load(element, shape, "small"), g.load(element, shape, "small")
    else:
        expected, value = g.value(element, shape), g.value(element, shape)
    made = g.define(f"tl.atomic_cas({{}} + pid * {size} + {{}}, {{}}, {{}})", [pointer, at, expected, value], type_)
    g.bodies[-1][-1].effect = True
    return made


@form("atomic_load", [name for name in ALL if bits_of(name) > 1], weight=0.5)
def load_and_store(g: Builder, element: str):
    """Both on elements of this lane alone."""
    shape = g.shape(tile=True)
    size = prod(shape)
    pointer, at, value = scratch(g, element, size), g.lanes(shape), g.value(element, shape)
    place = f"{{}} + pid * {size} + {{}}"
    order = g.pick(["", ", sem='relaxed'"])
    g.effect(f"tl.atomic_store({place}, {{}}{order})", [pointer, at, value])
    return g.define(f"tl.atomic_load({place})", [pointer, at], Type(element, shape), exact=value.exact)
