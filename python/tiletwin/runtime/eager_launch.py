"""Launches whose programs, or some of them, run in CPython.

Here:      which programs are eager (TILETWIN_PROGRAM), the loop over them, the notice, the compiled rest.
Not here:  why a kernel is eager (eager/decide.py), its rewritten body (eager/rewriter.py), operations (python/src).
Invariant: programs run in the order of their linear id, x fastest; eager ones one at a time on the calling thread.
"""

from __future__ import annotations

import ast
import copy
import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin import _C
from tiletwin.backends.compiler import DEFAULT_TARGET
from tiletwin.eager import eager_function, reason_for_eager
from tiletwin.eager.decide import is_python_only, plain_call, reachable, static_reason
from tiletwin.runtime.eager_relay import Relay
from tiletwin.runtime.jit import JITFunction
from tiletwin.runtime.options import parse_options
from tiletwin.runtime.source import FunctionSource


def wants_eager(fn: JITFunction) -> bool:
    """Whether this launch is to go through `launch` below."""
    return bool(os.environ.get("TILETWIN_PROGRAM", "").strip()) or reason_for_eager(fn) is not None


def _axis(text: str, size: int, what: str) -> range:
    """One part of a program id: "3", "2-5" or "*"."""
    text = text.strip()
    if text in ("*", ""):
        return range(size)
    low, dash, high = text.partition("-")
    if not low.isdigit() or (dash and not high.isdigit()):
        raise ValueError(f"TILETWIN_PROGRAM is {what!r}: {text!r} is not a number, a range like 2-5, or *")
    first, last = int(low), int(high) if dash else int(low)
    return range(first, min(last + 1, size))


def selected_programs(text: str, grid: tuple[int, int, int]) -> list[int]:
    """Linear ids (x fastest, ascending) that a value of TILETWIN_PROGRAM names in a grid.

    "3,0,0": one program (missing parts are 0); "0-7": a range; "*,2": a row; several are joined by ";";
    "random:8": that many at random. Programs outside the grid are left out.
    Errors: ValueError, text that is none of these.
    """
    x, y, z = grid
    total = x * y * z
    chosen: set[int] = set()
    for item in filter(None, (part.strip() for part in text.split(";"))):
        kind, colon, count = item.partition(":")
        if kind == "random" and colon:
            if not count.isdigit():
                raise ValueError(f"TILETWIN_PROGRAM is {text!r}: random:N needs a number")
            chosen.update(random.sample(range(total), min(int(count), total)))
            continue
        parts = item.split(",")
        if len(parts) > 3:
            raise ValueError(f"TILETWIN_PROGRAM is {text!r}: a program id has at most three parts")
        parts += ["0"] * (3 - len(parts))
        axes = [_axis(part, size, text) for part, size in zip(parts, grid)]
        chosen.update(
            a + x * (b + y * c) for c in axes[2] for b in axes[1] for a in axes[0] if a < x and b < y and c < z
        )
    return sorted(chosen)


class _Stripper(ast.NodeTransformer):
    """Drops statements that only call Python; a block that loses all of them keeps a `pass`."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if not isinstance(block, list) or not block:
                continue
            kept = [s for s in block if not is_python_only(s, self.scope)]
            if len(kept) < len(block):
                setattr(node, field, kept or ([ast.copy_location(ast.Pass(), block[0])] if field == "body" else []))
        return node


class StrippedFunction(JITFunction):
    """A jit function without the statements that only call Python, for programs that run compiled."""

    def __init__(self, original: JITFunction, known: dict[int, JITFunction]) -> None:
        super().__init__(
            original.fn,
            do_not_specialize=original.do_not_specialize,
            do_not_specialize_on_alignment=original.do_not_specialize_on_alignment,
            debug=original.debug,
            noinline=original.noinline,
        )
        known[id(original)] = self
        self._original = original
        self._known = known
        source = original._source
        node = _Stripper(original.globals).visit(copy.deepcopy(source.node))
        self.__dict__["_source"] = FunctionSource(source.file, source.first_line, source.lines, node)

    @property
    def globals(self) -> dict[str, Any]:
        return {
            name: stripped(value, self._known) if isinstance(value, JITFunction) else value
            for name, value in self._original.globals.items()
        }

    def used_globals(self, seen: set[int] | None = None) -> list[tuple[dict, str, Any]]:
        return []


def stripped(fn: JITFunction, known: dict[int, JITFunction] | None = None) -> JITFunction:
    """`fn` without statements that only call Python; `fn` itself if there are none in it or in what it calls."""
    known = {} if known is None else known
    if id(fn) in known:
        return known[id(fn)]
    if static_reason(fn) is None:
        return fn
    return StrippedFunction(fn, known)


def _compiled_rest(fn: JITFunction) -> JITFunction | None:
    """The function that programs which are not chosen run, or None if the kernel cannot do without Python's results."""
    variant = fn.__dict__.get("_stripped")
    if variant is None:
        variant = fn.__dict__["_stripped"] = stripped(fn)
    for function in reachable(variant):
        if plain_call(function) is not None:
            return None
    return variant


_noticed: set[int] = set()


def _notice(fn: JITFunction, text: str) -> None:
    if id(fn) not in _noticed:
        _noticed.add(id(fn))
        print(f"tiletwin: {fn.__name__} runs in Python, operation by operation: {text}", file=sys.stderr)


def launch(fn: JITFunction, arguments: dict[str, Any], options: dict[str, Any], grid: tuple, session: Any) -> Any:
    """Runs a launch that `wants_eager`. Returns the compiled kernel if part of it ran compiled, else None."""
    import tiletwin.language  # noqa: F401  registers the types of the language

    x, y, z = grid
    total = x * y * z
    reason = reason_for_eager(fn)
    wanted = os.environ.get("TILETWIN_PROGRAM", "").strip()
    if wanted:
        chosen: Any = selected_programs(wanted, grid)
        reason = f"program {wanted} was asked for" + (f", and {reason}" if reason else "")
    else:
        chosen = range(total)
    kernel = None
    rest = None
    if len(chosen) < total:
        rest = _compiled_rest(fn)
        if rest is None:
            chosen = range(total)
    if rest is not None:
        args, kwargs = rest.as_call(arguments)
        kernel = rest._launcher.prepare(*args, **kwargs, **options)
    if len(chosen):
        _notice(fn, reason or "")
    session.set_options(parse_options(options, DEFAULT_TARGET, fn.debug, launched=True))
    function = eager_function(fn)
    args, kwargs = fn.as_call(session.arguments())
    done = 0

    def ids(program: int) -> tuple[int, int, int]:
        return program % x, program // x % y, program // (x * y)

    def programs() -> Iterator[int]:
        nonlocal done
        for program in chosen:
            if kernel is not None and program > done:
                session.run_compiled(kernel.module, done, program)
            done = program + 1
            yield program

    def run_program(program: int, wait: Callable[[bool, str], None]) -> None:
        own = session.fork(wait)
        own.enter(*ids(program))
        _C.eager_reset()
        try:
            function(*args, **kwargs)
        finally:
            own.leave()

    Relay(run_program, programs(), ids).run()
    if kernel is not None and done < total:
        session.run_compiled(kernel.module, done, total)
    return kernel
