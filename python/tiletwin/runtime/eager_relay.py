"""Programs that wait for each other in eager mode: each that waits keeps its own thread, and one thread runs at a time.

Here:      who runs next, the end of it all: errors, interrupts, deadlocks.
Not here:  noticing that a program waits (python/src/EagerWait.cpp), running one program (eager_launch.py).
Idea:      the launching thread runs programs in order of their id. If one waits, its thread stops inside the operation
           and another goes on: a new one with the programs that are left, or else one that stopped before.
Invariant: exactly one thread holds the baton and touches this object; threads other than the launching one are started
           only if a program waits.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin.errors import DeadlockError

PATIENCE_SECONDS = 5.0  # nothing written and no program ended for so long while all wait: a deadlock
STOP_SECONDS = 5.0  # that a failed launch waits for its other programs to end
MOST_PROGRAMS = 132 * 16  # as many as an H200 holds at a time
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class _Abandoned(BaseException):
    """Unwinds a program that waits in a launch which has failed."""


class _Runner:
    """A thread's place: its lock is free while it may run."""

    def __init__(self) -> None:
        self._baton = threading.Lock()
        self._baton.acquire()
        self.program = -1
        self.place: tuple[str | None, int | None] = (None, None)
        self.operation = ""

    def sleep(self) -> None:
        self._baton.acquire()

    def wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # it runs already: its launch has failed
            self._baton.release()


def _user_place() -> tuple[str | None, int | None]:
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return (None, None) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


class Relay:
    """Runs programs, one at a time.

    run_program(program, wait): runs one program to its end on the calling thread; `wait(wrote, operation)` is what it
    calls while it waits for another one.
    programs: ids, in the order in which they begin.
    ids: (x, y, z) of a program, for messages.
    """

    def __init__(
        self,
        run_program: Callable[[int, Callable[[bool, str], None]], None],
        programs: Iterator[int],
        ids: Callable[[int], tuple[int, int, int]],
    ) -> None:
        self._run_program = run_program
        self._programs = programs
        self._ids = ids
        self._next: int | None = None
        self._exhausted = False
        self._waiting: deque[_Runner] = deque()
        self._main = _Runner()
        self._threads: list[threading.Thread] = []
        self._error: BaseException | None = None
        self._changed = time.monotonic()

    def run(self) -> None:
        """Runs all programs. Raises what the first failing one raised; DeadlockError; KeyboardInterrupt."""
        self._work(self._main)
        if self._error is None and self._waiting:
            try:
                self._waiting.popleft().wake()
                self._main.sleep()
            except BaseException as error:  # Ctrl-C, which may come between any two of these steps
                self._error = self._error or error
        if self._error is not None:
            self._stop()
            raise self._error

    def _stop(self) -> None:
        """Ends the other programs: those that wait at once, one that runs at its next operation that waits."""
        for runner in list(self._waiting):
            runner.wake()
        end = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    # ---- the threads ----

    def _begin(self) -> bool:
        """Whether a program can begin; it is then self._next."""
        if self._next is None and not self._exhausted:
            self._next = next(self._programs, None)
            self._exhausted = self._next is None
        return self._next is not None

    def _work(self, runner: _Runner) -> None:
        while self._error is None:
            try:
                if not self._begin():  # runs compiled programs that come before, which may fail
                    return
                program, self._next = self._next, None
                assert program is not None
                runner.program = program
                self._run_program(program, lambda wrote, operation: self._wait(runner, wrote, operation))
            except _Abandoned:
                return
            except BaseException as error:
                self._error = self._error or error
            self._changed = time.monotonic()

    def _thread(self, runner: _Runner) -> None:
        self._work(runner)
        # This thread ends: the baton goes to one that waits, or back to the launching thread.
        if self._error is not None:
            self._main.wake()
        elif self._waiting:
            self._waiting.popleft().wake()
        else:
            self._main.wake()

    # ---- inside a program ----

    def _wait(self, runner: _Runner, wrote: bool, operation: str) -> None:
        """Lets others run. Returns when it is this program's turn to look again."""
        runner.place, runner.operation = _user_place(), operation
        now = time.monotonic()
        if wrote:
            self._changed = now
        self._check()
        if len(self._waiting) + 1 < MOST_PROGRAMS and self._begin():
            self._waiting.append(runner)
            self._threads.append(threading.Thread(target=self._thread, args=(_Runner(),), daemon=True))
            self._threads[-1].start()
        elif self._waiting:
            if now - self._changed > PATIENCE_SECONDS:
                raise self._deadlock(runner)
            other = self._waiting.popleft()
            self._waiting.append(runner)
            other.wake()
        else:  # alone: another thread of the process may end the wait, or the program itself
            if now - self._changed > PATIENCE_SECONDS:
                raise self._deadlock(runner)
            time.sleep(0.0005)
            return
        runner.sleep()
        self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise _Abandoned

    def _deadlock(self, runner: _Runner) -> DeadlockError:
        runners = sorted([runner, *self._waiting], key=lambda r: r.program)
        waiting = [(self._ids(r.program), *r.place) for r in runners]
        lines = [
            f"  {file}:{line}: program {program} in {r.operation}"
            for r, (program, file, line) in zip(runners[:12], waiting)
        ]
        if len(runners) > 12:
            lines.append(f"  and {len(runners) - 12} more")
        if self._begin():
            lines.append(
                f"  more programs have not begun: {MOST_PROGRAMS} can be on the GPU at the same time, "
                "and all of them wait"
            )
        text = "deadlock: every program that is left waits for another one\n"
        return DeadlockError(text + "\n".join(lines), waiting)
