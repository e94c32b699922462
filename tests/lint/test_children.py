"""Tests take the environment of their children from tests/children.py, so that one list says what children see."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = re.compile(r"os\.environ \||\*\*os\.environ|os\.environ\.(?:items|copy)\(|\bin (?:list\()?os\.environ\b(?!\.)")
MAY = {
    "tests/children.py",
    "tests/fuzz/test_campaign_ends.py",  # what a worker has done to them
    "tests/python/test_knobs.py",  # what a knob has
    "tests/python/test_pytest_plugin.py",  # scripts that look at theirs
}


def test_environments_are_made_in_one_place() -> None:
    listed = subprocess.run(["git", "ls-files", "tests/*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = {name: (ROOT / name).read_text() for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    found = {name for name, text in texts.items() if OWN.search(text) and not name.startswith("tests/lint/")}
    assert found == MAY


@pytest.mark.parametrize(
    "text",
    [
        'env=os.environ | {"A": "1"}',
        "{**os.environ, **more}",
        "{k: v for k, v in os.environ.items()}",
        "for name in list(os.environ):",
        "env = os.environ.copy()",
    ],
)
def test_such_a_place_is_noticed(text: str) -> None:
    assert OWN.search(text)
