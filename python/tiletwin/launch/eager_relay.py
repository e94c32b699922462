"""Programs that wait for each other in eager mode: each that waits keeps its own thread, and one thread runs at a time.

Here:      who runs next, the end of it all: errors, interrupts, deadlocks.
Not here:  noticing that a program waits (python/src/EagerWait.cpp), what a program calls (eager_launch.py), the loop
           that calls it (python/src/EagerRun.cpp).
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
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from tiletwin import _C
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
        self.session: Any = None
        self.recording: Any = None
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


def users_part(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the package's frames in front."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
        traceback = traceback.tb_next
    return traceback


class Relay:
    """Hands out programs, one at a time.

    programs: ids, in the order in which they begin. grid: of the launch.
    """

    def __init__(self, programs: Iterator[int], grid: tuple[int, int, int]) -> None:
        self._programs = programs
        self._grid = grid
        self.total = grid[0] * grid[1] * grid[2]
        self._next: int | None = None
        self._exhausted = False
        self._waiting: deque[_Runner] = deque()
        self.main = _Runner()
        self._threads: list[threading.Thread] = []
        self._error: BaseException | None = None
        self._changed = time.monotonic()

    def ids(self, program: int) -> tuple[int, int, int]:
        """The program's id on each axis."""
        x, y, _ = self._grid
        return program % x, program // x % y, program // (x * y)

    def next_program(self, runner: _Runner) -> int | None:
        """The program that this thread runs now; None: it has nothing more to do."""
        self._changed = time.monotonic()
        if self._error is not None or not self._begin():
            return None
        program, self._next = self._next, None
        assert program is not None
        runner.program = program
        return program

    def fail(self, error: BaseException) -> bool:
        """A program has failed. True if it is the first one, with which the launch fails."""
        if self._error is not None or isinstance(error, _Abandoned):
            return False
        self._error = error
        return True

    def wait_for_all(self) -> BaseException | None:
        """Goes on with programs that wait until all have ended. Returns the first failing one's error, a
        DeadlockError, a KeyboardInterrupt, or None."""
        if self._error is None and self._waiting:
            try:
                self._waiting.popleft().wake()
                self.main.sleep()
            except BaseException as error:  # Ctrl-C, which may come between any two of these steps
                self._error = self._error or error
        if self._error is not None:
            self._stop()
        return self._error

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

    def _thread(self, runner: _Runner, trace: Any) -> None:
        try:
            _C.eager_work(self, runner, trace)
        except BaseException as error:  # of the package itself
            self.fail(error)
        # This thread ends: the baton goes to one that waits, or back to the launching thread.
        if self._error is not None:
            self.main.wake()
        elif self._waiting:
            self._waiting.popleft().wake()
        else:
            self.main.wake()

    # ---- inside a program ----

    def wait(self, runner: _Runner, wrote: bool, operation: str, trace: Any) -> None:
        """Lets others run. Returns when it is this program's turn to look again. trace: a debugger's trace function."""
        runner.place, runner.operation = _user_place(), operation
        now = time.monotonic()
        if wrote:
            self._changed = now
        self._check()
        if len(self._waiting) + 1 < MOST_PROGRAMS and self._begin():
            self._waiting.append(runner)
            self._threads.append(threading.Thread(target=self._thread, args=(_Runner(), trace), daemon=True))
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
        waiting = [(self.ids(r.program), *r.place) for r in runners]
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
