"""What a launch is specialised on, as text that another process compiles it from.

Not here:  who asks for it (launch_hooks.py), who takes it (`JITFunction.preload`).
"""

from __future__ import annotations

import json
from typing import Any

from tiletwin import _C
from tiletwin.dtypes import dtype
from tiletwin.kernels.callables import JITCallable, jit_function_named


def _encoded(value: Any) -> Any:
    """A compile-time value for JSON."""
    if isinstance(value, dtype):
        return {"dtype": value.name}
    if isinstance(value, _C.constexpr):
        return {"constexpr": _encoded(value.value)}
    if isinstance(value, JITCallable) and value.full_name:
        return {"jit_function": value.full_name}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_encoded(item) for item in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a compile-time value of type {type(value).__name__} cannot be written as specialization data")


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, content), *_ = value.items()
    if kind == "dtype":
        return dtype(content)
    if kind == "constexpr":
        return _C.constexpr(_decoded(content))
    if kind == "jit_function":
        return jit_function_named(content)
    return tuple(_decoded(item) for item in content)


def _type_text(kind: Any) -> Any:
    return [_type_text(k) for k in kind] if isinstance(kind, (tuple, list)) else str(kind)


def _type_of(kind: Any) -> Any:
    return tuple(_type_of(k) for k in kind) if isinstance(kind, list) else kind


def write_specialization(
    name: str, signature: dict, constants: dict, attrs: dict, options: Any, key: str, target: Any
) -> str:
    """A specialization as JSON, which `JITFunction.preload` takes.

    Errors: TypeError, a compile-time value that JSON cannot hold.
    """
    table = options if isinstance(options, dict) else vars(options)
    return json.dumps(
        {
            "name": name,
            "signature": {parameter: _type_text(kind) for parameter, kind in signature.items()},
            "constant_keys": [list(path) for path in constants],
            "constant_vals": [_encoded(value) for value in constants.values()],
            "attrs_keys": [list(path) for path in attrs],
            "attrs_vals": [list(value) for value in attrs.values()],
            "options": {n: _encoded(v) for n, v in table.items()},
            "key": key,
            "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
        }
    )


def read_specialization(text: str) -> dict[str, Any]:
    """What `write_specialization` wrote: name, signature, constants, attrs, options, key, target (a dict).

    Errors: ValueError, text that is no specialization data.
    """
    try:
        data = json.loads(text)
        return {
            "name": data["name"],
            "signature": {name: _type_of(kind) for name, kind in data["signature"].items()},
            "constants": dict(zip(map(tuple, data["constant_keys"]), map(_decoded, data["constant_vals"]))),
            "attrs": dict(zip(map(tuple, data["attrs_keys"]), data["attrs_vals"])),
            "options": {name: _decoded(value) for name, value in data["options"].items()},
            "key": data["key"],
            "target": data["target"],
        }
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"this is no specialization data as jit hooks get it: {error!r}") from None
