"""Results as SARIF 2.1.0 (OASIS), with what GitHub's code scanning asks for.

Sources:   the standard, sections 3.13 (log), 3.14 (run), 3.20 (invocation), 3.27 (result), 3.29 (physical location),
           3.33 (logical location); GitHub's page "SARIF support for code scanning".
Invariant: a file below the root is named relative to %SRCROOT%, so that results of all machines meet the repository's
           files; a region has all four numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tiletwin.findings.json_text import WELL, Ended
from tiletwin.findings.results import Place, Result, relative
from tiletwin.findings.rules import Rule, rule_of
from tiletwin.version import TILETWIN_VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"


def log(results: Sequence[Result], notes: Sequence[str], root: str, ended: Ended = WELL) -> dict[str, Any]:
    """A whole log with one run. root: an absolute folder; notes: what was not looked at."""
    rules = list(dict.fromkeys(rule_of(result.rule) for result in results))
    seen: Counter[str] = Counter()
    driver = {
        "name": "tiletwin",
        "version": TILETWIN_VERSION,
        "semanticVersion": TILETWIN_VERSION,
        "rules": [_rule(rule) for rule in rules],
    }
    invocation: dict[str, Any] = {"executionSuccessful": ended.successful}
    if ended.code is not None:
        invocation["exitCode"] = ended.code
    if notes:
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": note}} for note in notes]
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "originalUriBaseIds": {ROOT: {"uri": Path(root).as_uri() + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(result, rules, root, seen) for result in results],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text},
        "help": {"text": f"{rule.text} See {rule.page} of tiletwin."},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["triton", "gpu"]},
    }


def _result(result: Result, rules: list[Rule], root: str, seen: Counter[str]) -> dict[str, Any]:
    rule = rule_of(result.rule)
    fingerprint = result.fingerprint(root)
    seen[fingerprint] += 1
    location: dict[str, Any] = {"logicalLocations": _logical(result)} if result.kernel or result.program else {}
    if physical := _physical(result.place, root):
        location["physicalLocation"] = physical
    related = [
        {"id": number, "physicalLocation": physical, "message": {"text": other.text or "see also"}}
        for number, other in enumerate(result.related, 1)
        if (physical := _physical(other, root))
    ]
    # Beside "program" and "test", and away from "tags", which the standard keeps for itself (3.8.2).
    properties: dict[str, Any] = {"facts": result.facts} if result.facts else {}
    if result.program is not None:
        properties["program"] = list(result.program)
    if result.test:
        properties["test"] = result.test
    made: dict[str, Any] = {
        "ruleId": rule.id,
        "ruleIndex": rules.index(rule),
        "level": rule.level,
        "message": {"text": _message(result)},
        "locations": [location] if location else [],
        "partialFingerprints": {
            "primaryLocationLineHash": f"{fingerprint}:{seen[fingerprint]}",
            "tiletwin/v1": fingerprint,
        },
        "properties": properties,
    }
    return {**made, "relatedLocations": related} if related else made


def _message(result: Result) -> str:
    """Brackets would begin a link."""
    who = f"program {result.program}: " if result.program else ""
    text = f"{who}{result.message}" + (f". What to do: {result.advice}" if result.advice else "")
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _logical(result: Result) -> list[dict[str, str]]:
    """The kernel, and the program of its grid."""
    found = []
    kernel = result.kernel or "kernel"
    if result.kernel:
        found.append({"name": kernel, "fullyQualifiedName": kernel, "kind": "function"})
    if result.program:
        name = f"program{result.program}"
        found.append({"name": name, "fullyQualifiedName": f"{kernel}.{name}", "kind": "program"})
    return found


def _physical(place: Place, root: str) -> dict[str, Any] | None:
    if not place.file:
        return None
    name = relative(place.file, root)
    artifact = {"uri": Path(name).as_uri()} if name.startswith("/") else {"uri": quote(name), "uriBaseId": ROOT}
    found: dict[str, Any] = {"artifactLocation": artifact}
    if place.line:
        column = place.column or 1
        region: dict[str, Any] = {
            "startLine": place.line,
            "startColumn": column,
            "endLine": place.line,
            "endColumn": max(len(place.source), column) + 1,
        }
        if place.source:
            region["snippet"] = {"text": place.source}
        found["region"] = region
    return found
