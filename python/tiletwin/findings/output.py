"""Where results go: TILETWIN_FINDINGS=findings.sarif, and the options --format and --output of the commands.

Here:      names and formats of files, what this process has found, writing at its end, joining what other processes of
           the same run have written.
Not here:  the formats (sarif.py, json_text.py); pytest, which knows tests (pytest_plugin.py).
Invariant: a file that was asked for is written, with nothing in it if nothing was found, and whole at any moment.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import sys
import tempfile
from typing import Any

from tiletwin.findings import json_text, sarif
from tiletwin.findings.results import Result, of_error, of_finding, without_repeats

VARIABLE, RUN = "TILETWIN_FINDINGS", "TILETWIN_FINDINGS_RUN"
FORMATS = ("text", "json", "sarif")
SUFFIXES = {".sarif": "sarif", ".json": "json", ".txt": "text"}

_added: list[Result] = []
_owner: int | None = None
"""The process that is to write at its end; None: nobody, or somebody else does it."""
_first = os.getpid()
_store = ""
"""Where the processes of a run that began here keep what they found, for each other."""


def format_of(path: str, wanted: str = "") -> str:
    """The format of a file: what is wanted, else what its name says. Errors: ValueError."""
    if wanted:
        if wanted not in FORMATS:
            raise ValueError(f"--format {wanted}: expected one of: {', '.join(FORMATS)}")
        return wanted
    found = SUFFIXES.get(os.path.splitext(path)[1].lower())
    if found is None:
        raise ValueError(
            f"{path}: its name says no format; end it in {', '.join(SUFFIXES)}, or put one in front: sarif:{path}"
        )
    return found


def target(text: str) -> tuple[str, str]:
    """(format, absolute path) that TILETWIN_FINDINGS names. Errors: ValueError."""
    word, colon, rest = text.partition(":")
    form, path = (word, rest) if colon and word in FORMATS else ("", text)
    path = os.path.abspath(path)
    if not os.path.isdir(os.path.dirname(path)):
        raise ValueError(f"{VARIABLE}={text}: there is no folder {os.path.dirname(path)}")
    return format_of(path, form), path


def begin(path: str = "", form: str = "") -> None:
    """From now on results of this process, and of those that it starts, go to a file when they end. Without `path`
    TILETWIN_FINDINGS names it. Errors: ValueError, the name or format is none that can be written."""
    global _owner, _store
    if path:
        os.environ[VARIABLE] = f"{format_of(path, form)}:{os.path.abspath(path)}"
    target(os.environ[VARIABLE])
    if path or not os.environ.get(RUN):
        descriptor, _store = tempfile.mkstemp(prefix="tiletwin-findings-", suffix=".json")
        os.close(descriptor)
        os.environ[RUN] = _store
    if _owner is None:
        atexit.register(at_exit)
        _note_errors()
    _owner = os.getpid()


def _note_errors() -> None:
    """What a launch raised and nobody caught is a result, too."""
    shown = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        found = of_error(error)
        add([] if found is None else [found])
        shown(kind, error, trace)

    sys.excepthook = hook


def hand_over() -> None:
    """Somebody else in this process writes the file."""
    global _owner
    _owner = None


def add(results: list[Result]) -> None:
    """Results that no check found: errors of launches, differences."""
    _added.extend(results)


def in_child() -> None:
    """Called when something was found: processes of multiprocessing leave without atexit."""
    global _owner
    if _owner is None or _owner == os.getpid() or not os.environ.get(VARIABLE):
        return
    from multiprocessing import util

    _owner = os.getpid()
    util.Finalize(None, at_exit, exitpriority=0)


def collected() -> list[Result]:
    """What this process has found."""
    from tiletwin import checks

    return without_repeats([*map(of_finding, checks.findings()), *_added])


def notes() -> list[str]:
    from tiletwin import checks

    return list(checks.unchecked().values())


def root() -> str:
    """What file names are relative to: the repository in GitHub's runners, else the current folder."""
    return os.path.abspath(os.environ.get("GITHUB_WORKSPACE") or os.getcwd())


def at_exit() -> None:
    if _owner != os.getpid() or not os.environ.get(VARIABLE):
        return
    try:
        form, path = target(os.environ[VARIABLE])
        write(path, form, collected(), notes())
    except (OSError, ValueError) as error:
        print(f"tiletwin: findings were not written: {error}", file=sys.stderr)
    if _store and os.getpid() == _first:
        with contextlib.suppress(OSError):
            os.unlink(_store)


def rendered(form: str, results: list[Result], said: list[str]) -> str:
    """A whole file."""
    base = root()
    if form == "text":
        return json_text.text(results, said)
    data = sarif.log(results, said, base) if form == "sarif" else json_text.document(results, said, base)
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def write(path: str, form: str, results: list[Result], said: list[str]) -> None:
    """Writes a file, with what other processes of this run have found before. Errors: OSError."""
    store = os.environ.get(RUN, "")
    if not store:
        _replace(path, rendered(form, results, said))
    elif os.path.exists(store):
        with open(store, "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = file.read()
            before = json.loads(text) if text else {"results": [], "notes": []}
            results = without_repeats([*json_text.results_of(before), *results])
            said = list(dict.fromkeys([*before["notes"], *said]))
            _replace(path, rendered(form, results, said))
            file.seek(0)
            file.truncate()
            json.dump(json_text.document(results, said, root()), file)
    elif results:  # what began the run has ended, and its file is complete
        stem, suffix = os.path.splitext(path)
        own = f"{stem}-{os.getpid()}{suffix}"
        _replace(own, rendered(form, results, said))
        print(f"tiletwin: findings of a process that outlived its run are in {own}", file=sys.stderr)


def _replace(path: str, text: str) -> None:
    """Readers see the old file or the new one."""
    with tempfile.NamedTemporaryFile(
        "w", dir=os.path.dirname(path), prefix=".tiletwin-", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
