"""What is kept of a Python object that a kernel's variable holds.

Here:      tensors, compile-time values, tuples, aggregates, descriptors and everything else, as rows of `value`.
Not here:  packing of elements (format.py), reading back (model.py).
Invariant: a value of the language is kept bit for bit; of other objects their text is kept.

kind        type                      data
tensor      element type              elements (format.py)
number      int, float, bool, str, none   JSON; floats as repr
tuple       tuple or the class's name JSON: [value id, ...]
object      the class's name          JSON: {field: value id}
text        the class's name          what the object prints as
"""

from __future__ import annotations

import json
from typing import Any

from tiletwin import _C
from tiletwin.trace.writer import Writer

LONGEST_TEXT = 300
_PLAIN = {int: "int", float: "float", bool: "bool", str: "str", type(None): "none"}


def _json(data: Any) -> bytes:
    return json.dumps(data).encode()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."


def short_text(value: Any) -> str:
    """A short text of any object; objects of the user's may fail to print."""
    name = getattr(value, "__name__", None)
    try:
        text = name if isinstance(name, str) and callable(value) else repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose repr() fails: {error}>"
    return _cut(text)


def keep(writer: Writer, value: Any) -> int:
    """The id under which a value is stored."""
    if isinstance(value, _C.tensor):
        raw = _C.raw_value(value)
        if raw is not None:
            type_name, shape, data = raw
            return writer.value("tensor", type_name, shape, data, _C.pointer_origin(value))
        return writer.value("text", "tensor", (), short_text(value).encode())
    if isinstance(value, _C.constexpr):
        return keep(writer, value.value)
    kind = _PLAIN.get(type(value))
    if kind is not None:
        plain = repr(value) if kind == "float" else _cut(value) if kind == "str" else value
        return writer.value("number", kind, (), _json(plain))
    if isinstance(value, (tuple, list)):
        items = [keep(writer, item) for item in value]
        return writer.value("tuple", type(value).__name__, (), _json(items))
    fields = getattr(type(value), "__tiletwin_fields__", None)
    if isinstance(value, _C.block_pointer):
        fields = fields or ("base", "extents", "strides", "offsets", "block_shape", "order")
    if fields is not None:
        parts = {name: keep(writer, getattr(value, name)) for name in fields if name != "handle"}
        if isinstance(value, _C.tensor_descriptor):
            parts["block_shape"] = keep(writer, tuple(value.block_shape))
        return writer.value("object", type(value).__name__, (), _json(parts))
    return writer.value("text", type(value).__name__, (), short_text(value).encode())
