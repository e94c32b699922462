"""Whether files of findings are what they say: SARIF 2.1.0 by OASIS's schema and GitHub's demands, JSON by ours.

Not here:  who wrote them (test_*.py).
Source of what GitHub demands: "SARIF support for code scanning" in its documentation, the columns marked as required.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def _validator(path: str) -> Any:
    schema = json.loads((ROOT / path).read_text())
    return jsonschema.validators.validator_for(schema)(schema)


def checked_json(data: Any) -> Any:
    """Errors: ValidationError."""
    _validator("docs/findings.schema.json").validate(data)
    return data


def checked_sarif(data: Any) -> list[dict[str, Any]]:
    """The results of a log. Errors: ValidationError, AssertionError."""
    _validator("tests/data/sarif/sarif-schema-2.1.0.json").validate(data)
    assert data["version"] == "2.1.0" and data["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = data["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "tiletwin"
    for rule in driver["rules"]:
        assert all(rule[part]["text"] for part in ("shortDescription", "fullDescription", "help"))
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    seen = set()
    for result in run["results"]:
        rule = driver["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"] and rule["defaultConfiguration"]["level"] == result["level"]
        assert result["message"]["text"]
        fingerprint = result["partialFingerprints"]["primaryLocationLineHash"]
        assert fingerprint not in seen
        seen.add(fingerprint)
        for location in [*result["locations"], *result.get("relatedLocations", ())]:
            for physical in filter(None, [location.get("physicalLocation")]):
                region, uri = physical.get("region"), physical["artifactLocation"]["uri"]
                assert uri.startswith("file:///") or not uri.startswith("/")
                if region:
                    assert region["startLine"] <= region["endLine"] and region["startColumn"] < region["endColumn"]
        for related in result.get("relatedLocations", ()):
            assert related["message"]["text"] and related["id"]
    return run["results"]
