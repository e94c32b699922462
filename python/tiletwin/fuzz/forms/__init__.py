"""The table of forms: what a statement of a generated program can be, by family.

A form is a name, the element types that it takes, and a function that asks a Builder for operands and emits statements.
A campaign counts (form, element type) pairs, and the generator draws from them evenly.
"""

from tiletwin.fuzz.forms import atomics, casts, dots, elementwise, maths, memory, orders, reductions, shapes
from tiletwin.fuzz.forms.table import FORMS, Form

__all__ = [
    "FORMS", "Form", "atomics", "casts", "dots", "elementwise", "maths", "memory", "orders", "reductions", "shapes",
]  # fmt: skip
