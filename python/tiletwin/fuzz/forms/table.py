"""The registry of forms.

Here:      Form, the decorator that adds one, forms that a template says.
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


def template_form(
    name: str, elements: Sequence[str], template: str, *, operands: int = 1, exact: bool = False,
    soft: bool | Callable[[str, str], bool] = False, weight: float = 1.0, **choices: Sequence[str],
) -> None:  # fmt: skip
    """Adds the form of a function that acts on each element alone, whose operands and result are of one type.

    exact: the operands are (tree.Value). soft: rounding of the result is free; or whether it is, by element type and
    text. choices: by NAME, what stands in the template in the place of <NAME>.
    """

    @form(name, elements, in_helpers=True, weight=weight)
    def make(g: Builder, element: str) -> object:
        shape, text = g.shape(), template
        values = [g.value(element, shape, exact=exact) for _ in range(operands)]
        for choice, texts in choices.items():
            text = text.replace(f"<{choice}>", g.pick(texts))
        named = [value for i, value in enumerate(values) if f"{{{i}}}" in text]
        is_soft = soft(element, text) if callable(soft) else soft
        return g.define(text, named or values, Type(element, shape), soft=is_soft)


def form(name: str, elements: Sequence[str], *, in_helpers: bool = False, weight: float = 1.0):
    """Adds the function under it to the table; it takes the builder and one of `elements`."""

    def add(make: Make) -> Make:
        assert name not in FORMS, name
        FORMS[name] = Form(name, tuple(elements), make, in_helpers, weight)
        return make

    return add
