"""The functions of NVIDIA's libdevice as functions of the language: `libdevice.tanh(x)`.

Here:      one builtin for each row of libdevice_symbols.py, made when first used; arguments are named arg0, arg1, ...
Not here:  what they compute. A call becomes tt.extern_elementwise with the symbol for the arguments' element types.
Arguments are blocks or scalars, broadcast to one shape; their element types must be those of a row exactly, so float16
is an error. Numbers count as float32 or int32. libdevice.pyi lists the functions for editors.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tiletwin.dtypes import dtype, int1, str_to_ty
from tiletwin.language.arith_ops import extern_elementwise
from tiletwin.language.creation_ops import cast
from tiletwin.language.declare import library_function
from tiletwin.language.extra.cuda.libdevice_symbols import ABSENT, PREDICATES, ROWS, SYMBOL_PREFIX

Overloads = dict[tuple[dtype, ...], tuple[str, dtype]]


def overloads_of(name: str) -> Overloads:
    """{argument types: (symbol, result type)} of a function of ROWS."""
    found = {}
    for overload in ROWS[name].split():
        types, symbol = overload.split("=")
        arguments, result = types.split(">")
        key = tuple(str_to_ty(t) for t in arguments.split(","))
        found[key] = (SYMBOL_PREFIX + symbol, str_to_ty(result))
    return found


def _describe(name: str, overloads: Overloads) -> str:
    lines = [f"{SYMBOL_PREFIX}* function `{name}`, by argument types:"]
    for key, (symbol, result) in overloads.items():
        lines.append(f"    ({', '.join(map(str, key))}) -> {int1 if name in PREDICATES else result}: {symbol}")
    return "\n".join(lines)


def _call(name: str, overloads: Overloads, args: tuple[Any, ...]) -> Any:
    result = extern_elementwise("", "", list(args), overloads, True)
    return cast(result, int1) if name in PREDICATES else result


FUNCTIONS = tuple(sorted({*ROWS, *ABSENT}))


def __getattr__(name: str) -> Any:
    """Declares a function when it is first asked for."""
    if name in ROWS:
        overloads = overloads_of(name)
        count, doc = len(next(iter(overloads))), _describe(name, overloads)
        made = library_function(name, count, lambda *args: _call(name, overloads, args), doc)
    elif name in ABSENT:

        def absent(*args: Any) -> NoReturn:
            raise NotImplementedError(f"libdevice.{name}: NVIDIA's libdevice has no such function; use libdevice.tanh")

        made = library_function(name, ABSENT[name], absent, "Not in NVIDIA's libdevice; always an error.")
    else:
        raise AttributeError(f"libdevice has no function {name!r}")
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
