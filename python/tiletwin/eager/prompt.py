"""The language at a prompt, in a notebook, in a debugger: outside launches, operations give values at once.

Here:      pointers to arrays, program ids by hand, jit functions called directly.
Not here:  evaluation (python/src), launches (runtime/).
Invariant: memory that a pointer made here leads to is known exactly as long as its array lives.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import operator
import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from tiletwin import _C, memory

_known: dict[int, int] = {}  # id of an array that is registered -> address of its storage
_uses: dict[int, int] = {}  # address of a storage -> arrays that are registered for it


def pointer(array: Any, name: str | None = None) -> Any:
    """A pointer to the first element of an array, as a kernel gets one for an argument.

    `tl.load(tiletwin.pointer(x) + tl.arange(0, 8))`. The array's memory is known, and checked, while the array lives.

    Args:
        array: a tensor or array in host memory.
        name: what the pointer's text and errors call it; default: the caller's variable.

    Raises:
        ValueError: memory that is not the host's.
        TypeError: no array, or elements of a type that kernels lack.
    """
    import tiletwin.language  # noqa: F401  registers the types of the language

    made = _C.eager_pointer(array)
    if id(array) not in _known:
        if name is None:
            name = _variable(array, sys._getframe(1))
        address = _C.register_memory(array, name)
        try:
            weakref.finalize(array, _forget, id(array), address).atexit = False
        except TypeError:  # an object without weak references stays known
            pass
        _known[id(array)] = address
        _uses[address] = _uses.get(address, 0) + 1
    return made


def _variable(array: Any, frame: Any) -> str:
    """The name of the variable that holds `array` where a frame calls. Its f_locals would keep the array alive."""
    for name, value in list(frame.f_globals.items()):
        if value is array and not name.startswith("_"):
            return name
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, begin, end = positions
    if first is None or first != last or begin is None:
        return "array"
    line = linecache.getline(frame.f_code.co_filename, first).encode()[begin:end].decode(errors="replace")
    try:
        called = ast.parse(line.strip(), mode="eval").body
    except SyntaxError:
        return "array"
    argument = called.args[0] if isinstance(called, ast.Call) and called.args else None
    return argument.id if isinstance(argument, ast.Name) else "array"


def _forget(key: int, address: int) -> None:
    _known.pop(key, None)
    _uses[address] = _uses.get(address, 1) - 1
    if _uses[address] <= 0:
        del _uses[address]
        if address not in {registered for _, registered in memory._registered.values()}:
            _C.unregister_memory(address)


def _three(value: int | Sequence[int], fill: int, what: str) -> tuple[int, int, int]:
    parts: tuple[Any, ...] = (value,) if isinstance(value, (int, _C.tensor)) else tuple(value)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{what} has one to three numbers, got {value!r}")
    numbers = [operator.index(part) for part in parts] + [fill] * (3 - len(parts))
    return numbers[0], numbers[1], numbers[2]


@contextlib.contextmanager
def program(pid: int | Sequence[int] = 0, grid: int | Sequence[int] | None = None) -> Iterator[None]:
    """Operations inside the `with` belong to program `pid` of a grid: tl.program_id, tl.num_programs.

    Args:
        grid: default is that of the launch at hand (in a debugger), else the smallest one with such a program.

    Raises:
        ValueError: the grid has no such program.
    """
    import tiletwin.language  # noqa: F401

    ids = _three(pid, 0, "a program id")
    now = _C.eager_program()
    if grid is not None:
        extents = _three(grid, 1, "a grid")
    elif now is not None:
        extents = now[1]
    else:
        extents = (ids[0] + 1, ids[1] + 1, ids[2] + 1)
    if any(i < 0 or i >= n for i, n in zip(ids, extents)):
        raise ValueError(f"a grid of {extents} has no program {ids}")
    _C.eager_enter_program(*ids, *extents)
    try:
        yield
    finally:
        _C.eager_leave_program()


def call(fn: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What fn(*args, **kwargs) gives, evaluated at once. fn: a JITFunction."""
    import tiletwin.language  # noqa: F401
    from tiletwin.eager.function import eager_function

    for value in (*args, *kwargs.values()):
        if hasattr(value, "data_ptr") or hasattr(value, "__array_interface__"):
            raise RuntimeError(
                f"{fn.__name__} is a kernel: launch it with a grid, {fn.__name__}[grid](...), "
                "or call it in another kernel"
            )
    return eager_function(fn)(*args, **kwargs)
