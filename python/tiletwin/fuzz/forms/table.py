"""The registry of forms.

Here:      Form, the decorator that adds one.
Invariant: names are unique; a form emits at least one statement with its own name and element type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def form(name: str, elements: Sequence[str], *, in_helpers: bool = False, weight: float = 1.0):
    """Adds the function under it to the table; it takes the builder and one of `elements`."""

    def add(make: Make) -> Make:
        assert name not in FORMS, name
        FORMS[name] = Form(name, tuple(elements), make, in_helpers, weight)
        return make

    return add
