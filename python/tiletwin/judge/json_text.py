"""A verdict as JSON (docs/verdict.schema.json), and as results of tiletwin's findings, which SARIF is made of.

Invariant: a change that readers cannot follow raises VERSION.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from tiletwin.findings import results
from tiletwin.findings.results import Result
from tiletwin.judge.verdicts import Facts, Reason
from tiletwin.version import TILETWIN_VERSION

FORMAT, VERSION = "tiletwin verdict", 1


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinities: null stands for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def as_json(verdict: Facts) -> dict[str, Any]:
    """What docs/verdict.schema.json describes."""
    said = msgspec.to_builtins(verdict)
    return {
        "format": FORMAT,
        "version": VERSION,
        "tiletwin": TILETWIN_VERSION,
        "verdict": said.pop("word"),
        **_plain(said),
    }


def of_reason(reason: Reason) -> Result:
    """A reason as a finding; what gives no verdict is a note."""
    facts = {
        "verdict": reason.verdict, "rule": reason.rule, "case": reason.case, "inputs": reason.inputs,
        "element": list(reason.element), "command": reason.command,
    }  # fmt: skip
    program = (*reason.program, 0, 0, 0)[:3] if reason.program else None
    return Result(
        rule=reason.rule if reason.verdict else "judge-note",
        message=reason.text,
        advice="",
        # The file may be a name that the submission has made up: its line is the reason's, none is read here.
        place=results.Place(reason.file or None, reason.line or None, None, "", reason.source),
        kernel=reason.kernel or None,
        program=program,  # type: ignore[arg-type]
        facts=facts,
    )
