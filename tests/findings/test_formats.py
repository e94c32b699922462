"""Results as SARIF and JSON: valid, whole, and the same from run to run."""

from __future__ import annotations

import json
import linecache
import os
from pathlib import Path

import pytest
from finding_formats import checked_json, checked_sarif
from hypothesis import given, settings
from hypothesis import strategies as st
from tiletwin.findings import json_text, output, sarif
from tiletwin.findings.results import Place, Result, place, relative, without_repeats
from tiletwin.findings.rules import RULES, rule_of

SOURCE = "import triton\n\ndef k():\n    x = tl.load(p)\n    tl.store(p, x + 1)\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    file = tmp_path / "my kernels" / "k.py"
    file.parent.mkdir()
    file.write_text(SOURCE)
    linecache.clearcache()
    return file


def race(file: Path, line: int = 5, **changes) -> Result:
    parts = dict(
        rule="races",
        message="writes element 0 of [p], which another program reads",
        advice="use tl.atomic_add",
        place=place(str(file), line, 5),
        kernel="k",
        program=(0, 1, 2),
        related=(place(str(file), line - 1, 9, "tl.load reads the same memory"),),
        facts={"operation": "tl.store", "programs": 3},
    )
    return Result(**{**parts, **changes})  # type: ignore[arg-type]


def test_a_result_in_sarif(source: Path) -> None:
    (result,) = checked_sarif(sarif.log([race(source)], ["k: not checked in gdb"], output.root()))
    location = result["locations"][0]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "my%20kernels/k.py", "uriBaseId": "%SRCROOT%"}
    region = location["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"]) == (5, 5, 5, 23)
    assert region["snippet"]["text"] == "    tl.store(p, x + 1)"
    assert [where["fullyQualifiedName"] for where in location["logicalLocations"]] == ["k", "k.program(0, 1, 2)"]
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 4
    assert result["ruleId"] == "tiletwin/races" and result["level"] == "error"
    assert result["properties"]["program"] == [0, 1, 2] and result["properties"]["facts"]["programs"] == 3
    assert r"\[p\]" in result["message"]["text"]  # brackets would be a link


def test_nothing_is_a_valid_log_too() -> None:
    assert checked_sarif(sarif.log([], [], "/somewhere")) == []
    assert checked_json(json_text.document([], [], "/somewhere"))["results"] == []


def test_facts_take_no_name_from_the_format(source: Path) -> None:
    facts = {"tags": 0, "program": "all", "test": 1}
    (result,) = checked_sarif(sarif.log([race(source, facts=facts)], [], output.root()))
    assert result["properties"] == {"facts": facts, "program": [0, 1, 2]}


def test_results_without_a_place(tmp_path: Path) -> None:
    bare = Result("difference", "they differ", "", Place(None, None, None))
    (result,) = checked_sarif(sarif.log([bare], [], str(tmp_path)))
    assert result["locations"] == []
    checked_json(json_text.document([bare], [], str(tmp_path)))


def test_fingerprints_survive_edits_above_and_other_values(source: Path) -> None:
    root = output.root()
    first = race(source).fingerprint(root)
    other = race(source, message="writes element 7 of p", program=(5, 0, 0), facts={"operation": "tl.store"})
    assert other.fingerprint(root) == first
    source.write_text("# a line above\n" + SOURCE)
    linecache.clearcache()
    assert race(source, line=6).fingerprint(root) == first
    source.write_text(SOURCE.replace("x + 1", "x + 2"))
    linecache.clearcache()
    assert race(source).fingerprint(root) != first
    assert race(source, rule="order").fingerprint(root) != race(source).fingerprint(root)


def test_equal_lines_get_fingerprints_of_their_own(source: Path) -> None:
    source.write_text(SOURCE + SOURCE)
    linecache.clearcache()
    results = [race(source, line=5), race(source, line=10)]
    assert len({r.fingerprint(output.root()) for r in results}) == 1
    marks = [r["partialFingerprints"] for r in checked_sarif(sarif.log(results, [], output.root()))]
    assert len({m["primaryLocationLineHash"] for m in marks}) == 2 and len({m["tiletwin/v1"] for m in marks}) == 1


def test_how_a_run_ended(tmp_path: Path) -> None:
    ended = json_text.Ended(2, False)
    log = sarif.log([], [], str(tmp_path), ended)
    assert checked_sarif(log) == []
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
    data = checked_json(json_text.document([], [], str(tmp_path), ended))
    assert (data["successful"], data["exit_code"]) == (False, 2)


def test_files_have_the_permissions_of_the_user(source: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        output.replace_file(str(tmp_path / "out.json"), "json", [race(source)], [], json_text.WELL)
    finally:
        os.umask(before)
    assert (tmp_path / "out.json").stat().st_mode & 0o777 == 0o600


def test_what_is_said_last_counts(source: Path) -> None:
    first, other, last = (
        race(source, facts={"launches": 1}),
        race(source, line=4),
        race(source, facts={"launches": 7}),
    )
    assert without_repeats([first, other, last]) == [last, other]


def test_every_check_has_a_rule() -> None:
    from tiletwin import checks

    everything = checks.parse("all,device:h100").checks
    assert {word for word in everything if word not in RULES} == set()
    assert rule_of("something new").id == "tiletwin/something new"


names = st.none() | st.text(max_size=8)
places = st.builds(Place, names, st.none() | st.integers(1, 9), st.none() | st.integers(1, 9), st.text(), st.text())
facts = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=3))
program = st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
results = st.builds(
    Result, st.sampled_from(sorted(RULES)), st.text(min_size=1), st.text(), places, names, program,
    st.lists(places, max_size=2).map(tuple), names, facts,
)  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(st.lists(results, max_size=3), st.lists(st.text(), max_size=2))
def test_whatever_is_found_is_valid_and_comes_back(found: list[Result], notes: list[str]) -> None:
    data = json.loads(json.dumps(checked_json(json_text.document(found, notes, "/base"))))
    assert json_text.results_of(data) == found and data["notes"] == notes
    checked_sarif(json.loads(json.dumps(sarif.log(found, [n for n in notes if n], "/base"))))
    assert json_text.text(found, notes)


@pytest.mark.parametrize(
    ("file", "shown"),
    [("a/b.py", "a/b.py"), ("/base/a.py", "a.py"), ("/baseed/a.py", "/baseed/a.py"), ("../a.py", "/a.py"), (None, "")],
)
def test_names_below_the_root_are_relative(file: str | None, shown: str) -> None:
    assert relative(file, "/base") == shown


def test_formats_and_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert output.target("out.sarif") == ("sarif", str(tmp_path / "out.sarif"))
    assert output.target("sarif:report") == ("sarif", str(tmp_path / "report"))
    assert output.format_of("x.JSON") == "json" and output.format_of("x.json", "text") == "text"
    assert output.target("sarif:x.foo") == output.target("x.foo", "sarif") == ("sarif", str(tmp_path / "x.foo"))
    assert output.target("json:x.foo", "text") == ("text", str(tmp_path / "x.foo"))
    (tmp_path / "inside").mkdir()
    assert output.target("x.txt", "", str(tmp_path / "inside")) == ("text", str(tmp_path / "inside" / "x.txt"))
    with pytest.raises(ValueError, match="it is a folder"):
        output.target("json:inside")
    for wrong in ("report", "report.xml", "nowhere/out.json"):
        with pytest.raises(ValueError, match=r"report|there is no folder"):
            output.target(wrong)
    with pytest.raises(ValueError, match="expected one of: text, json, sarif"):
        output.format_of("x.json", "xml")
