"""`tiletwin trace`: which launch, program and step is meant, and what is printed or opened.

Here:      the options' meaning, plain text for scripts, the choice between terminal, text and HTML.
Not here:  the parsing of the command line (cli.py), the texts (text.py), the viewers (app.py, html.py).
Invariant: whatever is wrong with options or files is one message on stderr and exit status 2.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from tiletwin.trace.model import Launch, Program, Step, Trace
from tiletwin.trace.model import open as open_trace
from tiletwin.trace.reader import TraceError
from tiletwin.trace.text import details, list_text, step_text


def chosen_launch(trace: Trace, number: int | None) -> Launch:
    """The launch of that number in the list; the first with a recorded program. Errors: TraceError."""
    launches = trace.launches
    if not launches:
        raise TraceError(f"{trace.place}: nothing was recorded: no launch took place")
    if number is None:
        return next((launch for launch in launches if launch.programs), launches[0])
    if not 0 <= number < len(launches):
        raise TraceError(f"--launch {number}: there are launches 0 to {len(launches) - 1}; --list shows them")
    return launches[number]


def chosen_program(launch: Launch, ids: str | None) -> Program:
    """The program of that id ("3,0,0"); without one the failed one, else the first. Errors: TraceError."""
    if not launch.programs:
        raise TraceError(f"no program of launch {launch.number} ({launch.kernel}) was recorded")
    if ids is None:
        return next((p for p in launch.programs if p.status == "error"), launch.programs[0])
    parts = ids.replace("(", "").replace(")", "").split(",")
    if len(parts) > 3 or not all(part.strip().isdigit() for part in parts):
        raise TraceError(f"--program {ids}: write the program's id, such as 3,0,0")
    return launch.program(*map(int, parts))


def chosen_step(program: Program, at: str | None) -> Step:
    """Step "12", "last", "error", or the first time line ":22" ran. Errors: TraceError."""
    steps = program.steps
    if not len(steps):
        raise TraceError(f"program {program.id} has no steps: the record ended before")
    if at is None:
        return steps[0]
    if at == "last":
        return steps[-1]
    if at == "error":
        if program.error is None:
            raise TraceError(f"--at error: program {program.id} did not fail")
        return program.error
    _, colon, line = at.rpartition(":")
    if colon and line.isdigit():
        numbers = program.at_line(int(line))
        if not numbers:
            raise TraceError(f"--at {at}: line {line} did not run in program {program.id}")
        return steps[numbers[0]]
    if not at.isdigit():
        raise TraceError(f"--at {at}: write a step's number, :LINE, last or error")
    if int(at) >= len(steps):
        raise TraceError(f"--at {at}: program {program.id} has steps 0 to {len(steps) - 1}")
    return steps[int(at)]


def shown(step: Step, names: list[str], full: bool) -> str:
    """The variables of these names, with all their elements if `full`. Errors: TraceError."""
    variables = step.variables
    for name in names:
        if name not in variables:
            have = ", ".join(variables) or "none"
            raise TraceError(f"--show {name}: no such variable after step {step.number}; there are {have}")
    return "\n".join(details(name, variables[name], step.program.launch, full) for name in names)


def run(
    place: str,
    *,
    listing: bool = False,
    launch: int | None = None,
    program: str | None = None,
    at: str | None = None,
    show: list[str] | None = None,
    full: bool = False,
    html: str | None = None,
    fail: Callable[[str], NoReturn],
) -> None:
    """Does what the options say. fail(message): ends the command."""
    try:
        with open_trace(place) as trace:
            if listing:
                print(list_text(trace))
                return
            if html is not None:
                from tiletwin.trace.html import export

                programs = _programs_for_html(trace, launch, program)
                print(export(trace, programs, html))
                return
            if full and not show:
                raise TraceError("--full: of which variable? Name it with --show NAME")
            if at is not None or show:
                step = chosen_step(chosen_program(chosen_launch(trace, launch), program), at)
                print(shown(step, show, full) if show else step_text(step))
                return
            chosen = None
            if launch is not None or program is not None:
                chosen = chosen_program(chosen_launch(trace, launch), program)
            if not sys.stdout.isatty():
                print(list_text(trace))
                return
            _terminal(trace, chosen, fail)
    except TraceError as error:
        fail(str(error))
    except BrokenPipeError:
        sys.stderr.close()


def _programs_for_html(trace: Trace, launch: int | None, program: str | None) -> list[Program]:
    if program is not None:
        return [chosen_program(chosen_launch(trace, launch), program)]
    launches = trace.launches if launch is None else [chosen_launch(trace, launch)]
    programs = [p for one in launches for p in one.programs if p.count]
    if not programs:
        raise TraceError(f"{trace.place}: no program was recorded")
    return programs


def _terminal(trace: Trace, chosen: Program | None, fail: Callable[[str], NoReturn]) -> None:
    try:
        from tiletwin.trace.app import TraceApp
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "textual":
            raise
        fail(
            "the viewer in the terminal needs textual: pip install 'tiletwin[trace]'. Without it there are --list, "
            "--at with --show, and --html"
        )
    TraceApp(trace, chosen).run()
