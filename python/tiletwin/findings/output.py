"""Where results go: TILETWIN_FINDINGS=findings.sarif, and the options --format and --output of the commands.

Here:      names and formats of files, what this process has found, writing at its end.
Not here:  what other processes of the run have found (store.py), the formats (sarif.py, json_text.py); pytest, which
           knows tests (pytest_results.py).
Invariant: a file that was asked for is written by the process that began the run, with nothing in it if nothing was
           found, and whole at any moment.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any

from tiletwin import checks, variables, whole_files
from tiletwin.findings import json_text, sarif, store
from tiletwin.findings.results import Result, of_error, of_finding, without_repeats

VARIABLE = "TILETWIN_FINDINGS"
FORMATS = ("text", "json", "sarif")
SUFFIXES = {".sarif": "sarif", ".json": "json", ".txt": "text"}
FOUND, NOT_WRITTEN, NOT_CHECKED = 1, 2, 4
"""Exit codes: something was found; a file that was asked for could not be written; checks that were asked for did not
look at a kernel."""

_added: list[Result] = []
_began = False
_hands_over = False
"""Somebody else in this process writes the file."""
_names_a_file = False
"""The run has a file of its own; else it adds to that of the run around it."""
_ended = json_text.WELL
_written: Any = None
"""What the file holds; None: it was not written yet."""
_told: tuple[int, set[tuple]] = (0, set())
"""Findings that this process has told the run; with its number, because copies of it have told none."""
_late: list[Result] = []
"""Found when the run had ended."""


def format_of(path: str, wanted: str = "") -> str:
    """The format of a file: what is wanted, else what its name says. Errors: ValueError."""
    if wanted:
        if wanted not in FORMATS:
            raise ValueError(f"{wanted} is no format of a file of findings: expected one of: {', '.join(FORMATS)}")
        return wanted
    found = SUFFIXES.get(os.path.splitext(path)[1].lower())
    if found is None:
        raise ValueError(
            f"{path}: its name says no format; end it in {', '.join(SUFFIXES)}, or put one in front: sarif:{path}"
        )
    return found


def target(text: str, form: str = "", folder: str = "") -> tuple[str, str]:
    """(format, absolute path) that TILETWIN_FINDINGS or --output names: findings.json, sarif:report. form: what
    --format says. folder: where relative names begin; default: here. Errors: ValueError, it cannot be written."""
    word, colon, rest = text.partition(":")
    form, name = (form or word, rest) if colon and word in FORMATS else (form, text)
    path = os.path.abspath(os.path.join(folder, name))
    if not os.path.isdir(os.path.dirname(path)):
        raise ValueError(f"{name}: there is no folder {os.path.dirname(path)}")
    form = format_of(name, form)
    if why := whole_files.problem(path):
        raise ValueError(f"{name}: {why}")
    return form, path


def begin(path: str = "", form: str = "", own: bool = False) -> None:
    """From now on results of this process, and of those that it starts, go to a file when they end. Without `path`
    TILETWIN_FINDINGS names it. own: the results are wanted here in any case (`everything`), file or not. Errors:
    ValueError, the name or format is none that can be written; OSError."""
    global _began, _names_a_file
    if path:
        variables.put(VARIABLE, ":".join(target(path, form)))
        _names_a_file = True
    elif variables.get(VARIABLE) and not _tells():
        variables.put(VARIABLE, ":".join(target(variables.get(VARIABLE))))  # the script may go to another folder
    if path or own or not store.path():
        store.begin()
    if not _began:
        _began = True
        atexit.register(at_exit)
        _note_errors()


def begin_by_variable() -> None:
    """As `begin`, when the package is imported. Ends the process where the file cannot be written: nothing has run yet,
    and what would be found had nowhere to go."""
    try:
        begin()
    except (OSError, ValueError) as error:
        print(f"tiletwin: {VARIABLE}={variables.get(VARIABLE)}: {error}", file=sys.stderr)
        raise SystemExit(NOT_WRITTEN) from None


def _note_errors() -> None:
    """What a launch raised and nobody caught is a result, too, in whichever thread."""
    shown, shown_of_thread = sys.excepthook, threading.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if not issubclass(kind, SystemExit):
            ended(None, False)
        add([found] if (found := of_error(error)) else [])
        shown(kind, error, trace)

    def hook_of_thread(said: Any) -> None:
        add([found] if said.exc_value is not None and (found := of_error(said.exc_value)) else [])
        shown_of_thread(said)

    sys.excepthook, threading.excepthook = hook, hook_of_thread


def hand_over() -> None:
    """Somebody else in this process writes the file."""
    global _hands_over
    _hands_over = True


def ended(code: int | None, successful: bool) -> None:
    """How the run has ended, for the file. code: of the process, if that is known."""
    global _ended
    _ended = json_text.Ended(code, successful)


# ---- what was found ----


def _tells() -> bool:
    """Whether this process is one of a run that another one began, and is to tell that."""
    return bool(store.path()) and not store.is_own()


def _tell(results: Sequence[Result] = (), notes: Sequence[str] = (), comparisons: Sequence[dict] = ()) -> None:
    try:
        if store.tell(results, notes, comparisons):
            return
        _late.extend(results)
        if results and variables.get(VARIABLE):  # what began the run has ended, and its file is complete
            form, path = target(variables.get(VARIABLE))
            stem, suffix = os.path.splitext(path)
            own = f"{stem}-{os.getpid()}{suffix}"
            whole_files.write(own, rendered(form, without_repeats(_late), list(notes)))
            print(f"tiletwin: findings of a process that outlived its run are in {own}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"tiletwin: findings of process {os.getpid()} were not written: {error}", file=sys.stderr)


def add(results: list[Result]) -> None:
    """Results that no check found: errors of launches, differences."""
    _added.extend(results)
    if results and _tells():
        _tell(results)


def add_findings(findings: Sequence[Any]) -> None:
    """Called by the checks with what a launch had."""
    global _told
    if _tells():
        if _told[0] != os.getpid():
            _told = (os.getpid(), set())
        new = {finding.key: finding for finding in findings if finding.key not in _told[1]}
        _told[1].update(new)
        if new:
            _tell([of_finding(finding) for finding in new.values()])


def add_note(note: str) -> None:
    """Called by the checks with what they could not look at."""
    if _tells():
        _tell(notes=[note])


checks.listen(add_findings, add_note)


def add_comparison(said: dict[str, Any]) -> None:
    """Called by the tester: a comparison of this process, for the counts of the run."""
    if _tells():
        _tell(comparisons=[said])


def collected() -> list[Result]:
    """What this process has found."""
    return without_repeats([*map(of_finding, checks.findings()), *_added])


def notes() -> list[str]:
    return list(checks.unchecked().values())


def everything() -> store.Heard:
    """What all processes of the run have found until now."""
    heard = store.hear() if store.is_own() else store.Heard()
    heard.results = without_repeats([*heard.results, *collected()])
    heard.notes = list(dict.fromkeys([*heard.notes, *notes()]))
    return heard


def root() -> str:
    """What file names are relative to: the repository in GitHub's runners, else the current folder."""
    return os.path.abspath(variables.get("GITHUB_WORKSPACE") or os.getcwd())


# ---- the end ----


def finish(code: int, successful: bool = True) -> int:
    """The command has ended, with this exit code: writes the file. Returns the exit code, NOT_WRITTEN if that fails."""
    ended(code, successful)
    if not store.is_own():
        return code
    try:
        _write()
    except (OSError, ValueError) as error:
        print(f"tiletwin: findings were not written: {error}", file=sys.stderr)
        _forget()
        return NOT_WRITTEN
    return code


def exit_code() -> int:
    """What the run's exit code is by what all of its processes have found."""
    found = everything()
    if any(result.level != "note" for result in found.results):
        return FOUND
    return NOT_CHECKED if found.notes else 0


def give_up(code: int) -> None:
    """The command could not be run. Where nothing was found before there is no file."""
    found = everything()
    if found.results or found.notes:
        ended(code, False)
    else:
        _forget()


def _forget() -> None:
    global _hands_over
    _hands_over = True


def _write() -> None:
    """Errors: OSError; ValueError, TILETWIN_FINDINGS names nothing that can be written."""
    global _written
    found = everything()
    now = (found.results, found.notes, _ended)
    if _hands_over or now == _written:
        return
    if around := store.outer() if not _names_a_file else "":
        store.tell(found.results, found.notes, found.comparisons, to=around)
    elif variables.get(VARIABLE):
        form, path = target(variables.get(VARIABLE))
        replace_file(path, form, found.results, found.notes, _ended)
    _written = now


def at_exit() -> None:
    if not store.is_own():
        return
    try:
        _write()
    except (OSError, ValueError) as error:
        print(f"tiletwin: findings were not written: {error}", file=sys.stderr)
    store.end()


def replace_file(path: str, form: str, results: list[Result], said: list[str], end: json_text.Ended) -> None:
    """Writes a whole file. Errors: OSError."""
    whole_files.write(path, rendered(form, results, said, end))


def rendered(form: str, results: list[Result], said: list[str], end: json_text.Ended = json_text.WELL) -> str:
    """A whole file."""
    base = root()
    if form == "text":
        return json_text.text(results, said)
    data = sarif.log(results, said, base, end) if form == "sarif" else json_text.document(results, said, base, end)
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
