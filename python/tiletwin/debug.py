"""Helpers to call inside kernels while debugging them: print_if, breakpoint_if.

A compiled kernel keeps such calls as probes (frontend/WalkerProbes.cpp): programs whose condition does not hold go on
at full speed, what the others hand out comes here in order of program id (python/src/ProbeCalls.cpp). In eager mode the
functions are called as they stand here. Both ways show the same.
Not here:  tl.device_print (interp/run/ExecuteDebug.cpp), what a tensor looks like (tiletwin/eager).
Invariant: importing this needs neither NumPy nor a debugger.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from tiletwin import _C
from tiletwin.base_types import plain

Place = tuple[str, int]
"""File and line."""
Ids = tuple[int, int, int]

print_if = _C.print_if
"""Prints the program's id and the values as Python's print does, if the condition holds (a block: in any element)."""

breakpoint_if = _C.breakpoint_if
"""Stops in the debugger, at this line of the kernel, if the condition holds (a block: in any element)."""


class FormattedText(NamedTuple):
    """An f-string whose values a compiled kernel hands out: texts and (value, conversion, format) in turn."""

    parts: tuple

    def __str__(self) -> str:
        return "".join(map(_formatted, map(plain, self.parts)))


def _formatted(part: Any) -> str:
    if isinstance(part, str):
        return part
    value, conversion, spec = part
    if conversion in _CONVERSIONS:
        value = _CONVERSIONS[conversion](value)
    return format(value, str(spec))


_CONVERSIONS = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def holds(condition: Any) -> bool:
    """Whether a condition, a number or a tensor, holds anywhere."""
    value = plain(condition)
    if isinstance(value, (bool, int, float)):
        return bool(value)
    if isinstance(value, (tuple, str)):
        raise TypeError(f"the condition is a number or a tensor, got {value!r}")
    import numpy

    return bool(numpy.any(numpy.asarray(value)))


def show(
    condition: Any, *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """print_if, called."""
    if holds(condition):
        _print(_C.program_of_thread(), values, sep=plain(sep), end=plain(end), file=plain(file), flush=plain(flush))


def _print(program: Ids | None, values: tuple, **options: Any) -> None:
    shown = [str(value) if isinstance(value, FormattedText) else plain(value) for value in values]
    print(*([] if program is None else [f"pid {program}"]), *shown, **options)


def deliver_print(program: Ids, values: tuple, options: dict[str, Any] | None, where: Place) -> None:
    """A print_if of a compiled program whose condition held."""
    _print(program, values, **(options or {}))


def _notice(text: str) -> None:
    print(f"tiletwin: {text}", file=sys.stderr)


def _place(where: Place) -> str:
    return f"{os.path.basename(where[0])}:{where[1]}"


def notice_start_again(where: Place, program: Ids) -> None:
    """A compiled program came to a breakpoint_if before it wrote memory."""
    _notice(
        f"{_place(where)}: program {program} has come to this breakpoint; it has written nothing yet, so Python starts "
        "it again and stops there, while all others stay compiled"
    )


def notice_all_eager(fn: Any) -> None:
    """A kernel with a breakpoint_if whose programs wait for each other."""
    from tiletwin.launch import eager_launch

    if id(fn) in eager_launch._noticed:
        return
    eager_launch._noticed.add(id(fn))
    _notice(
        f"{fn.__name__} runs in Python, operation by operation: it calls breakpoint_if, and its programs wait for each "
        "other, so none of them may stand still alone"
    )


def deliver_break(program: Ids, values: tuple, view: tuple[str, dict, tuple] | None, where: Place) -> tuple:
    """A compiled program came to a breakpoint_if after it had written memory: a look at its variables there.

    Args:
        view: the function's name, its globals, the variables' names.

    Returns:
        The frame to run: code, globals, locals.
    """
    from tiletwin.launch.look import frame_at

    _notice(
        f"{_place(where)}: program {program} has come to this breakpoint after it had written memory, so it cannot "
        "start again: these are its variables at that line, to look at; the program goes on compiled. "
        f"TILETWIN_PROGRAM={','.join(map(str, program))} TILETWIN_BREAK={_place(where)} runs it in Python instead"
    )
    function, scope, names = view or ("kernel", {}, tuple(f"value{i}" for i in range(len(values))))
    return frame_at(*where, function, names, values, scope)
