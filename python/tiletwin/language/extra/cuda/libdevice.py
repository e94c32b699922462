"""The functions of NVIDIA's libdevice as functions of the language: `libdevice.tanh(x)`.

Here:      one builtin for each row of libdevice_symbols.py, made when first used; arguments are named arg0, arg1, ...
Not here:  what they compute. A call becomes tt.extern_elementwise with the symbol for the arguments' element types.
Arguments are blocks or scalars, broadcast to one shape; their element types must be those of a row exactly, so float16
is an error. Numbers count as float32 or int32. libdevice.pyi lists the functions for editors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiletwin.dtypes import dtype, int1, str_to_ty
from tiletwin.language.arith_ops import extern_elementwise
from tiletwin.language.creation_ops import cast
from tiletwin.language.declare import builtin
from tiletwin.language.extra.cuda.libdevice_symbols import ABSENT, PREDICATES, ROWS, SYMBOL_PREFIX

Overloads = dict[tuple[dtype, ...], tuple[str, dtype]]


def parse_rows(text: str) -> dict[str, Overloads]:
    """{function: {argument types: (symbol, result type)}}, from rows as in libdevice_symbols.py."""
    table: dict[str, Overloads] = {}
    for line in text.strip().splitlines():
        name, *overloads = line.split()
        table[name] = {}
        for overload in overloads:
            types, symbol = overload.split("=")
            arguments, result = types.split(">")
            key = tuple(str_to_ty(t) for t in arguments.split(","))
            table[name][key] = (SYMBOL_PREFIX + symbol, str_to_ty(result))
    return table


def _describe(name: str, overloads: Overloads) -> str:
    lines = [f"{SYMBOL_PREFIX}* function `{name}`, by argument types:"]
    for key, (symbol, result) in overloads.items():
        lines.append(f"    ({', '.join(map(str, key))}) -> {int1 if name in PREDICATES else result}: {symbol}")
    return "\n".join(lines)


def _call(name: str, overloads: Overloads, args: list[Any]) -> Any:
    result = extern_elementwise("", "", args, overloads, True)
    return cast(result, int1) if name in PREDICATES else result


def _one(name: str, overloads: Overloads) -> Callable:
    def function(arg0):
        return _call(name, overloads, [arg0])

    return function


def _two(name: str, overloads: Overloads) -> Callable:
    def function(arg0, arg1):
        return _call(name, overloads, [arg0, arg1])

    return function


def _three(name: str, overloads: Overloads) -> Callable:
    def function(arg0, arg1, arg2):
        return _call(name, overloads, [arg0, arg1, arg2])

    return function


def _four(name: str, overloads: Overloads) -> Callable:
    def function(arg0, arg1, arg2, arg3):
        return _call(name, overloads, [arg0, arg1, arg2, arg3])

    return function


_MAKERS = {1: _one, 2: _two, 3: _three, 4: _four}


def _absent(name: str) -> Callable:
    def function(arg0):
        raise NotImplementedError(f"libdevice.{name}: NVIDIA's libdevice has no such function; use libdevice.tanh")

    return function


def _declare(name: str, function: Callable, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return builtin(function, python=True)


_LINES = {line.split(maxsplit=1)[0]: line for line in ROWS.strip().splitlines()}
FUNCTIONS = tuple(sorted({*_LINES, *ABSENT}))


def __getattr__(name: str) -> Any:
    """Declares a function when it is first asked for."""
    if name in _LINES:
        overloads = parse_rows(_LINES[name])[name]
        maker = _MAKERS[len(next(iter(overloads)))]
        made = _declare(name, maker(name, overloads), _describe(name, overloads))
    elif name in ABSENT:
        made = _declare(name, _absent(name), "Not in NVIDIA's libdevice; always an error.")
    else:
        raise AttributeError(f"libdevice has no function {name!r}")
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
