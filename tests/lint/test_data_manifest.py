"""tests/data/MANIFEST.toml says of every file of that folder how it was made, and names tools that exist.

Not here:  what is in the files (tests/data/README.md).
"""

from __future__ import annotations

import datetime
import fnmatch
import pathlib
import re
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
ENTRIES = tomllib.loads((DATA / "MANIFEST.toml").read_text())["recording"]
KINDS = {
    "files": list,
    "made": str,
    "tools": list,
    "device": str,
    "versions": str,
    "date": datetime.date,
    "again": bool,
}


def tracked(folder: str) -> list[str]:
    words = ["git", "ls-files", "-co", "--exclude-standard", folder]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def test_each_file_has_one_entry() -> None:
    names = [name.removeprefix("tests/data/") for name in tracked("tests/data")]
    assert len(names) > 50
    patterns = [pattern for entry in ENTRIES for pattern in entry["files"]]
    matching = {name: [pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)] for name in names}
    assert {name: found for name, found in matching.items() if len(found) != 1} == {}
    assert [pattern for pattern in patterns if not fnmatch.filter(names, pattern)] == []


def test_entries_say_everything() -> None:
    for entry in ENTRIES:
        kinds = KINDS if entry.get("again") else {**KINDS, "why": str}
        assert {key: type(value) for key, value in entry.items()} == kinds, entry["files"]
        assert all(value for key, value in entry.items() if key not in ("tools", "again")), entry["files"]


def test_tools_exist_and_are_described() -> None:
    named = {tool for entry in ENTRIES for tool in entry["tools"]}
    assert [tool for tool in named if not (ROOT / tool).is_file()] == []
    for entry in ENTRIES:
        assert not entry["again"] or entry["tools"], f"{entry['files']}: made again by what?"
    tools = [name for name in tracked("tools") if name != "tools/README.md"]
    assert [tool for tool in tools if tool not in named] == []
    described = (ROOT / "tools" / "README.md").read_text()
    assert [tool for tool in tools if f"`{pathlib.Path(tool).name}`" not in described] == []


def test_recording_tools_do_not_stand_among_tests() -> None:
    names = [name for name in tracked("tests") if re.search(r"/(record|generate|make|convert)_\w+\.(py|cu)$", name)]
    assert names == []
