"""Findings that are known already: TILETWIN_BASELINE=known.json, and the options --baseline.

Here:      reading such a file, and saying of a finding whether it is in it.
Not here:  who asks and leaves the finding out (checks.py), writing the file: --output does that (output.py).
Invariant: a finding is known by its fingerprint, so it stays known while code around it is edited. Errors that launches
           raise are never left out: what should have run has not.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import Any

from tiletwin import checks, variables
from tiletwin.findings import json_text, output
from tiletwin.findings.results import of_finding

VARIABLE = "TILETWIN_BASELINE"
_met: set[str] = set()
"""Fingerprints of known findings that this process has left out."""


def fingerprints(path: str) -> set[str]:
    """The findings of a file that --output wrote. Errors: ValueError, it is missing, or has another format."""
    hint = "; a run with --output known.json writes one"
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}{hint}") from None
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}{hint}") from None
    if not isinstance(data, dict) or data.get("format") != json_text.FORMAT:
        raise ValueError(f"{path} is no file of findings in tiletwin's JSON{hint}")
    if data.get("version") != json_text.VERSION:
        raise ValueError(f"{path} has version {data.get('version')} of the format, and this is {json_text.VERSION}")
    return {result["fingerprint"] for result in data["results"]}


def begin(path: str) -> None:
    """From now on what the file lists is left out, in this process and in those that it starts. Errors: ValueError."""
    path = os.path.abspath(path)
    known, root = fingerprints(path), output.root()

    def is_known(finding: Any) -> bool:
        found = of_finding(finding).fingerprint(root)
        if found not in known:
            return False
        _met.add(found)
        return True

    variables.put(VARIABLE, path)  # the script may go to another folder
    checks.leave_out(is_known)
    atexit.unregister(_say_at_exit)
    atexit.register(_say_at_exit)


def begin_by_variable() -> None:
    """As `begin`, when the package is imported. Ends the process where the file cannot be read: nothing has run yet."""
    try:
        begin(variables.get(VARIABLE))
    except ValueError as error:
        print(f"tiletwin: {VARIABLE}: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def _say_at_exit() -> None:
    if _met:
        count = len(_met)
        name = os.path.relpath(variables.get(VARIABLE))
        print(f"tiletwin: {count} known mistake{'s are' if count > 1 else ' is'} not shown ({name})", file=sys.stderr)
