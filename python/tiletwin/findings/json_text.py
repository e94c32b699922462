"""Results as JSON of our own and back, and as text. docs/findings.schema.json is the schema of the JSON.

Invariant: `results_of(document(x)) == x`. A change that readers cannot follow raises VERSION.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from tiletwin.findings.results import Result
from tiletwin.findings.rules import rule_of
from tiletwin.version import TILETWIN_VERSION

FORMAT, VERSION = "tiletwin findings", 1


class Ended(NamedTuple):
    """How a run ended. code: the exit code; None: it is not known. successful: what was to run did run to its end; what
    it found says nothing about that."""

    code: int | None = None
    successful: bool = True


WELL = Ended()


def document(results: Sequence[Result], notes: Sequence[str], root: str, ended: Ended = WELL) -> dict[str, Any]:
    """notes: what was not looked at. root: what file names are relative to."""
    levels = [result.level for result in results]
    return {
        "format": FORMAT,
        "version": VERSION,
        "tiletwin": TILETWIN_VERSION,
        "root": root,
        "successful": ended.successful,
        "exit_code": ended.code,
        "counts": {level: levels.count(level) for level in ("error", "warning", "note")},
        "notes": list(notes),
        "results": [_result(result, root) for result in results],
    }


def _result(result: Result, root: str) -> dict[str, Any]:
    parts = msgspec.json.decode(msgspec.json.encode(result))
    return {**parts, "level": result.level, "fingerprint": result.fingerprint(root)}


def results_of(data: dict[str, Any]) -> list[Result]:
    """The results of a document. Errors: KeyError, msgspec.ValidationError, it is none."""
    return msgspec.convert(data["results"], list[Result])


def text(results: Sequence[Result], notes: Sequence[str]) -> str:
    """A few lines for each, as compilers write them."""
    lines = []
    for result in results:
        where = ":".join(str(part) for part in (result.place.file, result.place.line, result.place.column) if part)
        who = "".join(
            [f" [{result.kernel}]" if result.kernel else "", f" program {result.program}" if result.program else ""]
        )
        lines.append(f"{where or 'unknown place'}: {result.level}: {rule_of(result.rule).id}:{who} {result.message}")
        lines += [f"  {place.file}:{place.line}: {place.text}" for place in result.related if place.file]
        if result.advice:
            lines.append(f"  what to do: {result.advice}")
        if result.test:
            lines.append(f"  in {result.test}")
    lines += [f"note: {note}" for note in notes]
    return "\n".join(lines) + "\n" if lines else "nothing was found\n"
