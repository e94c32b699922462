"""Signatures of kernels as text: "*fp32:16, *fp32, i32".

Here:      the text's grammar; which entry belongs to which parameter.
Not here:  what the types mean (frontend/).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

HINTS = ("16", "1")


def split_types(text: str) -> list[str]:
    """The entries of a signature, between commas or blanks that are not in brackets.

    Errors: ValueError, brackets that do not match.
    """
    words, depth, word = [], 0, ""
    for letter in text:
        depth += letter in "<[("
        depth -= letter in ">])"
        if depth < 0:
            break
        if depth == 0 and (letter == "," or letter.isspace()):
            words.append(word)
            word = ""
        else:
            word += letter
    if depth:
        raise ValueError(f"brackets do not match in the signature {text!r}")
    return [w.strip() for w in [*words, word] if w.strip()]


def _constant(text: str) -> tuple[bool, Any]:
    """(whether an entry is a value instead of a type, the value): 1024, -1.5, True, None, 'text'."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False, None
    return value is None or isinstance(value, (bool, int, float, str)), value


def _type(text: str) -> Any:
    """The type of one entry: a tuple's types for "(i32, *fp32)"."""
    if text.startswith("(") and text.endswith(")"):
        return tuple(_type(part) for part in split_types(text[1:-1]))
    return text


def _entries_by_parameter(fn: Any, entries: list[str], constants: dict[tuple, Any]) -> dict[int, str]:
    """The entry of each parameter that has one, by its number. There is an entry for each parameter, or one for each
    that is neither tl.constexpr nor given a value, where those at the end may be missing that are annotated."""
    open_ = [p for p in fn.params if (p.num,) not in constants and not p.is_constexpr]
    if len(entries) == len(fn.params):
        return {p.num: entry for p, entry in zip(fn.params, entries)}
    if len(entries) <= len(open_) and all(p.annotation_type for p in open_[len(entries) :]):
        return {p.num: entry for p, entry in zip(open_, entries)}
    raise ValueError(
        f"the signature gives {len(entries)} types ({', '.join(entries)}); {fn.__name__} needs one for each of "
        f"{', '.join(p.name for p in open_) or 'no parameter'}"
    )


def parse_signature(
    fn: Any, signature: str | Sequence[str], constants: dict[tuple, Any]
) -> tuple[dict[str, Any], dict[tuple, Any], dict[tuple, Any]]:
    """(types by parameter, compile-time values by path, attributes by path) of a signature as text.

    signature: a type for each parameter that is neither tl.constexpr nor in `constants`, or one for each parameter.
    After a type may stand `:16`, the value is a multiple of 16 (for pointers: bytes), or `:1`, it is the number 1. A
    number in place of a type is a compile-time value.
    Errors: ValueError, what does not fit, with what would; TypeError, no text and no list of texts.
    """
    if not isinstance(signature, (str, list, tuple)) or not all(isinstance(entry, str) for entry in signature):
        raise TypeError(
            f"the signature of {fn.__name__} must be a dict of types by parameter, a text as '*fp32:16, i32', "
            f"or a list of such words, not {signature!r}"
        )
    entries = split_types(signature) if isinstance(signature, str) else list(signature)
    given = _entries_by_parameter(fn, entries, constants)
    types: dict[str, Any] = {}
    constants = dict(constants)
    attributes: dict[tuple, Any] = {}
    for param in fn.params:
        path, entry = (param.num,), given.get(param.num)
        types[param.name] = "constexpr"
        if path in constants:
            continue
        if entry == "constexpr" or (entry is None and param.is_constexpr):
            if not param.has_default:
                raise ValueError(f"{fn.__name__} needs a value for its tl.constexpr parameter {param.name!r}")
            constants[path] = param.default
            continue
        is_value, value = (False, None) if entry is None else _constant(entry)
        if is_value:
            constants[path] = value
            continue
        if param.is_constexpr:
            raise ValueError(f"{fn.__name__}: {param.name} is tl.constexpr: give its value, not the type {entry}")
        kind, _, hint = (entry or param.annotation_type).partition(":")
        if hint and hint not in HINTS:
            raise ValueError(f"{kind}:{hint}: after a colon stands 16 (a multiple of 16) or 1 (the number 1)")
        if hint == "1":
            constants[path] = 1
            continue
        types[param.name] = _type(kind)
        if hint:
            attributes[path] = [["tt.divisibility", 16]]
    return types, constants, attributes
