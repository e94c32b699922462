"""Names of types in signatures, and specializations as text, under names that `triton.runtime.jit` re-exports.

Here:      signature strings of annotations and arguments, keys, data for `JITFunction.preload`.
Not here:  what a launch does with its arguments (`_C.Launcher`).
"""

from __future__ import annotations

import re
from typing import Any

from tiletwin.dtypes import SIGNATURE_NAMES, dtype
from tiletwin.version import NAME

TYPE_NAMES = {name: kind if kind == "void" else dtype(kind).mangle() for name, kind in SIGNATURE_NAMES.items()}
"""Names of scalar types in annotations and dtypes, to signature strings."""

type_canonicalisation_dict = TYPE_NAMES


def mangle_type_name(text: str) -> str | None:
    """Signature string of a type's name ("fp32", "*fp16", "pointer<fp32>", "const int32_t*"); None if it names none."""
    text = text.strip().strip("'\"")  # `from __future__ import annotations` quotes strings once more
    if text.startswith("const "):
        inner = mangle_type_name(text[len("const ") :])
        return "*k" + inner[1:] if inner and inner.startswith("*") and not inner.startswith("*k") else None
    if text.startswith("pointer<") and text.endswith(">"):
        text = "*" + text[len("pointer<") : -1]
    if text.startswith("*"):
        const = text[1:].startswith("k")
        inner = mangle_type_name(text[2 if const else 1 :])
        return inner and ("*k" if const else "*") + inner
    if text.endswith("*"):
        inner = mangle_type_name(text[:-1])
        return inner and "*" + inner
    for prefix in (f"{NAME}.", "triton.", "language.", "tl."):
        text = text.removeprefix(prefix)
    return TYPE_NAMES.get(text.removesuffix("_t"))


def mangle_type(arg: Any, specialize: bool = False) -> str:
    """The signature string a launch gives to `arg`: "*fp32", "i32", "constexpr" (None; with `specialize` also 1).

    Errors: TypeError, a value that only a tl.constexpr parameter takes.
    """
    if arg is None or (specialize and type(arg) is int and arg == 1):
        return "constexpr"
    if isinstance(arg, bool):
        return "u1"
    if isinstance(arg, int):
        return "i32" if -(1 << 31) <= arg < 1 << 31 else "u64" if 1 << 63 <= arg < 1 << 64 else "i64"
    if isinstance(arg, float):
        return "fp32"
    if isinstance(arg, (tuple, list)):
        return str(tuple(mangle_type(item, specialize) for item in arg))
    if hasattr(arg, "block_shape"):
        element = mangle_type(arg.base).removeprefix("*")
        return f"tensordesc<{element}[{', '.join(map(str, arg.block_shape))}]>"
    name = str(getattr(arg, "dtype", None)).removeprefix("torch.")
    if name not in TYPE_NAMES:
        raise TypeError(f"a {type(arg).__name__} has no type in a kernel's signature; it can only be a tl.constexpr")
    return "*" + TYPE_NAMES[name]


def convert_to_tuple_if_list(item: Any) -> Any:
    """Lists, also in lists, as tuples; anything else as it is."""
    return tuple(convert_to_tuple_if_list(value) for value in item) if isinstance(item, list) else item


def _by_hash(value: Any) -> Any:
    """`value` with jit functions replaced by the hash of their source."""
    if hasattr(type(value), "cache_key"):
        return value.cache_key
    if isinstance(value, (list, tuple)):
        items = [_by_hash(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def compute_cache_key(kernel_key_cache: dict, specialization: list, options: Any) -> str:
    """Text that stands for a specialization and options; `kernel_key_cache` remembers it."""
    key = (tuple(specialization), str(options))
    if key not in kernel_key_cache:
        kernel_key_cache[key] = f"{_by_hash(specialization)}{options}"
    return kernel_key_cache[key]


_DEF = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(", re.MULTILINE)


def get_def_line_number(raw_src: list[str], starting_line_number: int) -> int:
    """Line of the `def` in a function's source lines. `starting_line_number` is that of the first one."""
    for offset, line in enumerate(raw_src):
        if _DEF.match(line):
            return starting_line_number + offset
    return starting_line_number


def get_def_col_number(raw_src_str: str) -> int:
    """Column of the `def` in a function's source, from 0."""
    found = _DEF.search(raw_src_str)
    return 0 if found is None else len(found.group()) - len(found.group().lstrip())
