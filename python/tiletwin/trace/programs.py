"""What a recording holds of one program: Program, Step.

Here:      what a step's variables are, who wrote a variable, the way from step to step.
Not here:  launches and files (model.py), values and accesses (moment.py).
Invariant: objects are made of rows and never change; values are read from the file when they are asked for.
"""

from __future__ import annotations

import bisect
import functools
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tiletwin.trace.format import CALL, ERROR, ITERATION, RETURNED, STEP_KINDS
from tiletwin.trace.moment import Access, Function, Shown, Value


class Step(Shown):
    """One statement of one program, after it has run."""

    __slots__ = ("_caller", "frame", "function", "kind_number", "line", "loops", "number", "program")

    def __init__(self, program: Program, row: tuple) -> None:
        self.program = program
        self.number, self.kind_number, self.frame, function, self.line, self._caller, loops = row
        try:
            if self.kind_number not in range(len(STEP_KINDS)):
                raise IndexError(f"step kind {self.kind_number}")
            self.function: Function = program.launch.recording.functions[function]
            pairs = [part.split(":") for part in loops.split(";")] if loops else []
            self.loops: tuple[tuple[int, int], ...] = tuple((int(line), int(count)) for line, count in pairs)
            """(line, iteration) of the loops around it, outermost first; iterations count from 0."""
        except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
            raise program.launch.recording.file.fail(f"step {self.number} is damaged: {error!r}") from None

    @property
    def kind(self) -> str:
        """ "line", "call", "return", "iteration", "loop end", "true", "false" (of an if), "error"."""
        return STEP_KINDS[self.kind_number]

    @property
    def file(self) -> str:
        return self.function.file

    @property
    def source(self) -> str:
        """The source line, without line break."""
        return self.function.line(self.line).rstrip("\n")

    @property
    def place(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def depth(self) -> int:
        """Calls around it: 0 in the kernel itself."""
        return self.program.depth(self.frame)

    @property
    def changes(self) -> dict[str, Value | None]:
        """Variables that the statement gave a value; None: it was deleted."""
        value = self.program.launch.recording.value
        changes = self.program._changes.get(self.number, {})
        return {name: None if at is None else value(at) for name, at in changes.items()}

    @property
    def variables(self) -> dict[str, Value]:
        """The variables of the function after the statement, in order of their first value."""
        program, found = self.program, {}
        for name in program._history.get(self.frame, {}):
            writer = program.writer_of(name, self)
            if writer is not None and (name != RETURNED or writer.number == self.number):
                number = program._changes[writer.number][name]
                if number is not None:
                    found[name] = program.launch.recording.value(number)
        return found

    @property
    def values(self) -> Mapping[str, Any]:
        """The variables as Python has them: arrays, numbers, tuples."""
        return {name: value.python() for name, value in self.variables.items()}

    def __getitem__(self, name: str) -> Any:
        """One variable as Python has it.

        Raises:
            KeyError: no variable has this name at this step.
        """
        return self.variables[name].python()

    @property
    def accesses(self) -> list[Access]:
        return [Access(self, row) for row in self.program._accesses.get(self.number, [])]

    @property
    def stack(self) -> list[Step]:
        """The steps that called this function, outermost first, and this one."""
        stack: list[Step] = [self]
        program, frame = self.program, self.frame
        while program._callers.get(frame, 0) and len(stack) <= len(program._callers):
            frame = program._callers[frame]
            stack.append(program._site(frame, self.number))
        return stack[::-1]

    def __repr__(self) -> str:
        return f"<step {self.number}: {self.place} {self.kind}>"


class Program(Shown):
    """One recorded program of a launch."""

    def __init__(self, launch: Any, row: tuple) -> None:
        self.launch = launch  # model.Launch
        self.number, x, y, z, self.status, self.message = row
        self.id: tuple[int, int, int] = (x, y, z)
        """status: "done", "error", or "running": the record ends here."""

    def _rows(self, query: str, kinds: str) -> list[Any]:
        return self.launch.recording.file.rows(query, kinds, (self.number,))

    @functools.cached_property
    def steps(self) -> tuple[Step, ...]:
        rows = self._rows(
            "SELECT number, kind, frame, function, line, caller, loops FROM step WHERE program = ? ORDER BY number",
            "iiiiiit",
        )
        steps = tuple(Step(self, row) for row in rows)
        for index, step in enumerate(steps):
            if step.number != index:
                raise self.launch.recording.file.fail(f"step {index} of program {self.id} is missing")
        return steps

    @functools.cached_property
    def _changes(self) -> dict[int, dict[str, int | None]]:
        found: dict[int, dict[str, int | None]] = {}
        for step, name, value in self._rows(
            "SELECT step, name, value FROM change WHERE program = ? ORDER BY step, number", "itI"
        ):
            found.setdefault(step, {})[name] = value
        return found

    @functools.cached_property
    def _history(self) -> dict[int, dict[str, list[int]]]:
        """Frame -> name -> steps that gave it a value."""
        found: dict[int, dict[str, list[int]]] = {}
        for number, names in self._changes.items():
            if 0 <= number < len(self.steps):
                own = found.setdefault(self.steps[number].frame, {})
                for name in names:
                    own.setdefault(name, []).append(number)
        return found

    @functools.cached_property
    def _steps_of(self) -> dict[int, list[int]]:
        """Frame -> its steps."""
        found: dict[int, list[int]] = {}
        for step in self.steps:
            found.setdefault(step.frame, []).append(step.number)
        return found

    @functools.cached_property
    def count(self) -> int:
        """How many steps it has, without reading them."""
        ((number,),) = self._rows("SELECT COUNT(*) FROM step WHERE program = ?", "i")
        return number

    @functools.cached_property
    def _accesses(self) -> dict[int, list[tuple]]:
        found: dict[int, list[tuple]] = {}
        rows = self._rows(
            "SELECT step, operation, detail, addresses, mask, value, old, done FROM access WHERE program = ? "
            "ORDER BY step, number",
            "ittiIIIi",
        )
        for step, *row in rows:
            found.setdefault(step, []).append(tuple(row))
        return found

    @functools.cached_property
    def _callers(self) -> dict[int, int]:
        """frame -> frame that called it; 0: the kernel's own."""
        return {step.frame: step._caller for step in self.steps if step.kind_number == CALL}

    def depth(self, frame: int) -> int:
        depth = 0
        while self._callers.get(frame, 0) and depth < len(self._callers):
            frame = self._callers[frame]
            depth += 1
        return depth

    @property
    def accesses(self) -> Iterator[Access]:
        """All accesses, in order."""
        for number in sorted(self._accesses):
            if 0 <= number < len(self.steps):
                yield from self.steps[number].accesses

    def _site(self, frame: int, number: int) -> Step:
        """The step of `frame` in which the call happens that step `number` belongs to: the next one of that frame."""
        numbers = self._steps_of.get(frame, [])
        if not numbers:
            raise self.launch.recording.file.fail(f"call {frame} of program {self.id} has no steps")
        return self.steps[numbers[min(bisect.bisect_right(numbers, number), len(numbers) - 1)]]

    # ---- finding steps ----

    def at_line(self, line: int, file: str | None = None) -> list[int]:
        """Numbers of the steps of a line."""
        steps = (s for s in self.steps if s.line == line and s.kind_number != CALL)
        return [s.number for s in steps if file is None or s.file == file]

    def written(self, name: str, frame: int) -> list[int]:
        """Numbers of the steps that gave a variable of a call (Step.frame) a value."""
        return self._history.get(frame, {}).get(name, [])

    def writer_of(self, name: str, step: Step) -> Step | None:
        """The step that gave the variable the value it has at `step`."""
        numbers = self.written(name, step.frame)
        index = bisect.bisect_right(numbers, step.number)
        return self.steps[numbers[index - 1]] if index else None

    def iteration(self, step: Step, direction: int) -> Step | None:
        """The next (1) or previous (-1) iteration of the innermost loop around `step`."""
        if not step.loops:
            return None
        line, count = step.loops[-1]
        outer = step.loops[:-1]
        for other in self._from(step, direction):
            if other.frame != step.frame:
                continue
            if other.loops[: len(outer)] != outer:
                return None
            if other.kind_number == ITERATION and other.line == line and other.loops[len(outer) :] != ((line, count),):
                return other if len(other.loops) == len(outer) + 1 else None
        return None

    def over(self, step: Step, direction: int) -> Step | None:
        """The next (1) or previous (-1) step that is not inside a function which is called here."""
        depth = step.depth
        return next((other for other in self._from(step, direction) if other.depth <= depth), None)

    def _from(self, step: Step, direction: int) -> tuple[Step, ...]:
        """The steps after this one (1), or before it (-1), the nearest first."""
        return self.steps[step.number + 1 :] if direction > 0 else self.steps[: step.number][::-1]

    @property
    def error(self) -> Step | None:
        """The step that failed."""
        last = self.steps[-1] if len(self.steps) else None
        return last if last is not None and last.kind_number == ERROR else None

    def __repr__(self) -> str:
        return f"<program {self.id} of {self.launch.kernel}: {self.status}>"
