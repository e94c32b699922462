"""Forms of atomic operations.

What they return is used only where each lane of each program has an address of its own. To shared addresses they only
go if any order gives the same number: whole numbers, or floats whose sums the tester bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.memory import scratch
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.types import ALL, Type, bits, is_float

WHOLE = ("int32", "int64", "uint32", "uint64")
ADDED = (*WHOLE, "float16", "bfloat16", "float32", "float64")


def _own(g: Builder, element: str, name: str):
    """An atomic operation on elements that no other lane touches, whose old values are used."""
    shape = g.shape(tile=True)
    size = prod(shape)
    pointer, at, value = scratch(g, element, size), g.lanes(shape), g.value(element, shape, exact=True)
    operands, type_ = [pointer, at, value], Type(element, shape)
    order = g.pick(["", ", sem='relaxed'", ", sem='release'", ", scope='cta'"])
    if g.chance(0.3):
        # A lane that is masked off gets no value that is promised.
        operands.append(g.mask(shape))
        return g.effect(f"tl.{name}({{}} + pid * {size} + {{}}, {{}}, mask={{}}{order})", operands)
    return g.effect(f"tl.{name}({{}} + pid * {size} + {{}}, {{}}{order})", operands, type_)


def _shared(g: Builder, element: str, name: str):
    shape = g.shape(tile=True)
    pointer = g.pointer(g.new_buffer("s", element, 16, "small"))
    at, value = g.lanes(shape), g.value(element, shape, exact=True)
    g.effect(f"tl.{name}({{}} + ({{}} & 15), {{}})", [pointer, at, value])


def _updates(name: str, elements: Sequence[str], *functions: str, may_share: bool = True) -> None:
    """Adds a form that changes elements by `name`, or by one of several functions."""

    @form(name, elements)
    def make(g: Builder, element: str):
        function = g.pick(functions) if functions else name
        return _own(g, element, function) if not may_share or g.chance(0.6) else _shared(g, element, function)


_updates("atomic_add", ADDED)
_updates("atomic_max", WHOLE, "atomic_max", "atomic_min")
_updates("atomic_and", WHOLE, "atomic_and", "atomic_or", "atomic_xor")
_updates("atomic_xchg", (*WHOLE, "float32", "float64"), may_share=False)


@form("atomic_cas", (*WHOLE, "int16", "uint16", "float16", "bfloat16", "float32", "float64"))
def compare_and_swap(g: Builder, element: str):
    shape = g.shape(tile=True)
    size, type_ = prod(shape), Type(element, shape)
    pointer, at = scratch(g, element, size), g.lanes(shape)
    if is_float(element):  # a GPU compares bits, NumPy numbers: neither NaN nor a zero with a sign
        expected, value = g.load(element, shape, "small"), g.load(element, shape, "small")
    else:
        expected, value = g.value(element, shape), g.value(element, shape)
    return g.effect(f"tl.atomic_cas({{}} + pid * {size} + {{}}, {{}}, {{}})", [pointer, at, expected, value], type_)


@form("atomic_load", [name for name in ALL if bits(name) > 1], weight=0.5)
def load_and_store(g: Builder, element: str):
    """Both on elements of this lane alone."""
    shape = g.shape(tile=True)
    size = prod(shape)
    pointer, at, value = scratch(g, element, size), g.lanes(shape), g.value(element, shape)
    place = f"{{}} + pid * {size} + {{}}"
    order = g.pick(["", ", sem='relaxed'"])
    g.effect(f"tl.atomic_store({place}, {{}}{order})", [pointer, at, value])
    return g.define(f"tl.atomic_load({place})", [pointer, at], Type(element, shape), exact=value.exact)
