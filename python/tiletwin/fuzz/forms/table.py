"""The registry of forms.

Here:      Form, the decorator that adds one, forms of functions of one operand.
Invariant: names are unique; a form emits at least one statement with its own name and element type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiletwin.fuzz.types import Type

if TYPE_CHECKING:
    from tiletwin.fuzz.builder import Builder

Make = Callable[["Builder", str], object]


@dataclass(frozen=True)
class Form:
    """elements: what it takes. in_helpers: it needs no memory and no lane numbers, so a jit function may hold it."""

    name: str
    elements: tuple[str, ...]
    make: Make
    in_helpers: bool = False
    weight: float = 1.0


FORMS: dict[str, Form] = {}


def form_of_one(name: str, elements: Sequence[str], template: str, soft: bool = False, weight: float = 1.0) -> None:
    """Adds the form of a function of one operand, of any shape, whose result has the operand's type."""

    @form(name, elements, in_helpers=True, weight=weight)
    def make(g: Builder, element: str) -> object:
        shape = g.shape()
        return g.define(template, [g.value(element, shape)], Type(element, shape), soft=soft)


def form(name: str, elements: Sequence[str], *, in_helpers: bool = False, weight: float = 1.0):
    """Adds the function under it to the table; it takes the builder and one of `elements`."""

    def add(make: Make) -> Make:
        assert name not in FORMS, name
        FORMS[name] = Form(name, tuple(elements), make, in_helpers, weight)
        return make

    return add
