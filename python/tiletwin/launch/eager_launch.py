"""Launches whose programs, or some of them, run in CPython.

Here:      which programs are eager, what the extension's loop over them calls, the notice, the compiled rest.
Not here:  why a kernel is eager (eager/decide.py), TILETWIN_PROGRAM (program_selection.py), waiting (eager_relay.py),
           the rewritten body (eager/rewriter.py), the loop itself and operations (python/src).
Invariant: programs run in the order of their linear id, x fastest; eager ones one at a time on the calling thread.
"""

from __future__ import annotations

import ast
import copy
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin import _C, variables
from tiletwin.eager import stops
from tiletwin.eager.decide import (
    current_stops,
    has_python_only,
    is_forced,
    is_python_only,
    plain_call,
    reachable,
    reason_for_eager,
    static_reason,
)
from tiletwin.eager.function import eager_function
from tiletwin.errors import CompilationError, TileTwinError
from tiletwin.gpu_target import DEFAULT_TARGET
from tiletwin.kernels.jit import JITFunction
from tiletwin.kernels.options import parse_options
from tiletwin.kernels.source import FunctionSource
from tiletwin.launch import compilable
from tiletwin.launch.eager_relay import Relay, users_part
from tiletwin.launch.program_selection import selected_programs


def wants_eager(fn: JITFunction) -> bool:
    """Whether this launch is to go through `launch` below."""
    if variables.text("TILETWIN_PROGRAM") or reason_for_eager(fn) is not None:
        return True
    record = recorder()
    return (record is not None and record.wants(fn)) or stops.is_stepping()


def recorder() -> Any | None:
    """The module that records programs, where TILETWIN_RECORD asks for that."""
    if not variables.text("TILETWIN_RECORD"):
        return None
    from tiletwin.trace import recorder

    return recorder


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
    """`fn` without statements that only call Python; `fn` itself if neither it nor what it calls has any."""
    known = {} if known is None else known
    if id(fn) in known:
        return known[id(fn)]
    if not has_python_only(fn) and static_reason(fn) is None:
        return fn
    return StrippedFunction(fn, known)


def _compiled_rest(fn: JITFunction) -> JITFunction | None:
    """The function that programs which are not chosen run, or None if the kernel cannot do without Python's results or
    has no text."""
    if not all(function.has_text for function in reachable(fn)):
        return None
    variant = fn.__dict__.get("_stripped")
    if variant is None:
        variant = fn.__dict__["_stripped"] = stripped(fn)
    for function in reachable(variant):
        if plain_call(function) is not None:
            return None
    return variant


_noticed: set[int] = set()


def _notice(fn: JITFunction, text: str, partly: bool = False) -> None:
    if id(fn) not in _noticed:
        _noticed.add(id(fn))
        what = " (programs that can stop; the others compiled)" if partly else ", operation by operation"
        print(f"tiletwin: {fn.__name__} runs in Python{what}: {text}", file=sys.stderr)


class _Kept:
    """What an error keeps alive, so that a debugger finds the program's memory; copies in other processes do not."""

    def __init__(self, *objects: Any) -> None:
        self.objects = objects

    def __reduce__(self) -> Any:
        return _Kept, ()


class EagerRun(Relay):
    """A launch some or all of whose programs Python runs, as the extension's loop goes through it (EagerRun.h)."""

    def __init__(
        self,
        fn: JITFunction,
        session: Any,
        grid: tuple[int, int, int],
        chosen: Iterator[int],
        rest: Any,
        recorded: Any,
        afterwards: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(chosen, grid)
        self._afterwards = afterwards
        self._session, self._rest, self._recorded = session, rest, recorded
        self._fn, self._function = fn, eager_function(fn)
        self._untraced: set[int] = set()
        self._args, self._kwargs = fn.as_call(session.arguments())

    def begin(self, runner: Any) -> tuple | None:
        """What the next program on this thread calls: (function, args, kwargs, session, ids, whether a debugger sees
        it); None: there is none."""
        program = self.next_program(runner)
        if program is None:
            return None
        if runner.session is None:
            runner.session = self._session.fork(
                lambda wrote, operation, trace: self.wait(runner, wrote, operation, trace)
            )
        if self._recorded is not None:
            runner.recording = self._recorded.begin_program(program, self.ids(program), runner.session)
        _C.eager_reset()
        function, is_traced = self._function, program not in self._untraced
        if not is_traced:
            self._untraced.remove(program)
            function = eager_function(_compiled_rest(self._fn))
        return function, self._args, self._kwargs, runner.session, self.ids(program), is_traced

    def run_others_too(self) -> None:
        """Programs that are not handed out run in Python, too, without what only calls Python and out of a debugger's
        sight: they may wait for the others, and these for them."""
        chosen, self._rest = self._programs, None

        def programs() -> Iterator[int]:
            done = 0
            for program in itertools.chain(chosen, [self.total]):
                self._untraced.update(range(done, program))
                yield from range(done, min(program + 1, self.total))
                done = program + 1

        self._programs = programs()

    def ended(self, runner: Any, error: BaseException | None) -> None:
        """A program has come to its end, or failed."""
        if runner.recording is not None:
            recording, runner.recording = runner.recording, None
            recording.end(error)
        if error is not None and self.fail(error) and runner.session is not None:
            runner.session.failed()
            error.__dict__["_tiletwin_session"] = _Kept(runner.session, self._session)

    def finish(self) -> tuple[Any, BaseException | None]:
        """Waits for programs on other threads, runs what is left. Returns the compiled kernel of the rest, if there is
        one, and the first error of a program."""
        error = self.wait_for_all()
        if error is None and self._rest is not None:
            try:
                self._rest.run_to(self.total)
            except BaseException as caught:
                error = caught
        if error is None:
            try:
                self._afterwards()
            except BaseException as caught:
                error = caught
        if isinstance(error, TileTwinError) and error.__traceback__ is not None:
            error.__traceback__ = users_part(error.__traceback__)
        return (None if self._rest is None else self._rest.kernel), error


class Rest:
    """The programs of a launch that run compiled, in order of their ids.

    compile: makes the compiled kernel, when it is first needed.
    """

    def __init__(self, session: Any, compile: Callable[[], Any]) -> None:
        self.kernel: Any = None
        self._compile = compile
        self._session = session
        self._done = 0

    def run_to(self, end: int) -> None:
        """Runs those before program `end` that have not run."""
        if end > self._done and (kernel := self.ready()) is not None:  # None: a hook prevents its compilation
            self._session.run_compiled(kernel.module, self._done, end)
        self._done = max(self._done, end)

    def skip(self, program: int) -> None:
        """Program `program`, the next one, is run by Python."""
        self._done = program + 1

    def may_wait(self) -> bool:
        """Whether programs of the kernel may wait for each other."""
        try:
            kernel = self.ready()
        except CompilationError:
            return False
        return kernel is not None and bool(kernel.module.plan()["may_wait"])

    def ready(self) -> Any:
        """The compiled kernel. Errors: CompilationError."""
        if self.kernel is None:
            self.kernel = self._compile()
        return self.kernel


class StoppingPrograms:
    """Ids of the programs that can stop, or look at something, in Python; found while the launch goes on, because
    breakpoints come and go meanwhile. All programs, if the others cannot be compiled."""

    def __init__(self, fn: JITFunction, session: Any, grid: tuple[int, int, int], rest: Rest) -> None:
        self._fn, self._session, self._grid, self._rest = fn, session, grid, rest
        self._functions = list(reachable(fn))
        self._selector: stops.Selector | None = None
        self.stepping = stops.is_stepping()

    def __iter__(self) -> Iterator[int]:
        total = self._grid[0] * self._grid[1] * self._grid[2]
        program = 0
        if self.stepping and total:
            yield 0
            program = 1
        while program < total:
            found = self._next_from(program, total)
            if found > program and not self._compiles():
                found = program
            if found < total:
                yield found
            program = found + 1

    def _compiles(self) -> bool:
        try:
            self._rest.ready()
        except CompilationError:  # Python may well run what does not compile
            return False
        return True

    def _next_from(self, program: int, total: int) -> int:
        """The first program from `program` on that can stop; `total` if none can."""
        now = current_stops(self._functions, self._fn is not _compiled_rest(self._fn))
        if not now:
            return total
        if self._selector is None or self._selector.stops != now:
            self._selector = stops.Selector(self._fn, self._session, now)
        x, y, _ = self._grid
        can_stop = self._selector.can_stop
        while program < total and not can_stop((program % x, program // x % y, program // (x * y))):
            program += 1
        return program


def launch(fn: JITFunction, arguments: dict[str, Any], options: dict[str, Any], grid: tuple, session: Any) -> EagerRun:
    """Prepares a launch that `wants_eager`; the extension goes through the run that this returns."""
    import tiletwin.language  # noqa: F401  registers the types of the language

    total = grid[0] * grid[1] * grid[2]
    reason = reason_for_eager(fn)
    wanted = variables.text("TILETWIN_PROGRAM")
    record = recorder()
    recording = record.current() if record is not None else None
    recorded = recording.launch(fn, grid) if recording is not None else None
    only_recorded = recording is not None and reason is None  # Python runs what is recorded, and nothing else
    session.set_options(parse_options(options, DEFAULT_TARGET, fn.debug, launched=True))
    kept: Any = selected_programs(wanted, grid) if wanted and record is not None else []
    if record is not None and not wanted:
        kept = record.default_programs(grid)
    rest = None
    others = _compiled_rest(fn)
    if others is not None:
        args, kwargs = others.as_call(arguments)
        rest = Rest(session, lambda: others._launcher.prepare(*args, **kwargs, **options))
    chosen: Any = range(total)
    if only_recorded and recorded is None:
        chosen = []
    elif wanted:
        chosen = kept if record is not None else selected_programs(wanted, grid)
        reason = f"program {wanted} was asked for" + (f", and {reason}" if reason else "")
    elif only_recorded:
        chosen = kept
        reason = "some of its programs are recorded"
    elif not is_forced() and recorded is None and rest is not None:
        chosen = StoppingPrograms(fn, session, grid, rest)
        reason = reason or "a debugger steps into it"
    if rest is None:
        chosen, only_recorded = range(total), False
    elif isinstance(chosen, list) and len(chosen) < total:
        rest.ready()
        if only_recorded and recorded is not None and rest.may_wait():
            chosen, rest, only_recorded = range(total), None, False  # compiled programs cannot wait for one in Python
    if recording is not None and recorded is not None:
        recorded.begin(arguments, session, kept)
        recording.notice(chosen_by_default=not wanted)
    elif isinstance(chosen, StoppingPrograms) or len(chosen):
        _notice(fn, reason or "", isinstance(chosen, StoppingPrograms))
    if variables.text("TILETWIN_CHECK") and (isinstance(chosen, StoppingPrograms) or len(chosen)):
        from tiletwin import checks

        checks.notice_unchecked(fn.__name__, reason or "", all(function.has_text for function in reachable(fn)))

    may_wait = rest is not None and not isinstance(chosen, range) and rest.may_wait()

    def programs() -> Iterator[int]:
        for program in chosen:
            if only_recorded and recording is not None and recording.writer.ended is not None:
                continue  # there is nothing to keep of it: it runs compiled
            if rest is not None and not may_wait:
                rest.run_to(program)
                rest.skip(program)
            yield program

    def afterwards() -> None:
        variant = fn.__dict__.get("_stripped")  # None: there is no text that a compiler could look at
        if variant is not None and (rest is None or rest.kernel is None):
            compilable.look(fn, variant, arguments, options)

    run = EagerRun(fn, session, grid, programs(), rest, recorded, afterwards)
    if may_wait:
        run.run_others_too()
    return run
