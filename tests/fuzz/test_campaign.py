"""Campaigns: workers that die or hang, Ctrl-C, results in the database, reports, files of findings."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import NoReturn

import children
import pytest
from tiletwin.fuzz import command, generator, judging, report
from tiletwin.fuzz.campaign import Campaign, Limits
from tiletwin.fuzz.pools import LocalPool
from tiletwin.fuzz.results import NoDatabase, Results
from tiletwin.fuzz.work import Settings

HERE = Path(__file__).resolve().parent
BAD = Settings(("interp", "bad"), shrink_seconds=20, judge_modules=("bad_judges",))


@pytest.fixture(autouse=True)
def workers_find_this_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))


def campaign(settings: Settings, folder: Path | None, count: int, *, jobs: int = 1, timeout: float = 60) -> Results:
    results = Results(folder / "campaign.duckdb" if folder else "")
    pool = LocalPool(settings, jobs, timeout)
    try:
        list(Campaign(settings, results, folder, 0, Limits(programs=count)).run(pool))
    finally:
        pool.close()
    results.flush()
    return results


def test_a_worker_that_dies_loses_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BAD_JUDGE", "dies at 3")
    results = campaign(BAD, None, 6)
    assert results.programs == 6 and results.statuses["ran"] == 5 and results.statuses["died"] == 1
    (kept,) = results.findings.values()
    assert (kept.kind, kept.seed, kept.place) == ("died", 3, "SIGKILL") and "def kernel(" in kept.text


def test_a_worker_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD_JUDGE", "hangs at 1")
    results = campaign(BAD, None, 3, timeout=8)
    assert results.statuses["ran"] == 2 and results.statuses["hangs"] == 1
    (kept,) = results.findings.values()
    assert (kept.kind, kept.seed) == ("hangs", 1)


def test_an_error_of_a_judge_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD_JUDGE", "raises at 2")
    results = campaign(BAD, None, 3)
    (kept,) = results.findings.values()
    assert (kept.kind, kept.judge, kept.seed) == ("broken", "bad", 2) and "ZeroDivisionError" in kept.key


def test_an_error_in_a_report_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(report: object) -> str:
        raise ZeroDivisionError("in a report")

    import bad_judges

    monkeypatch.setenv("BAD_JUDGE", "changes a byte at 2")
    monkeypatch.setattr(judging, "short_text", fails)
    panel = judging.Panel(("interp",))
    panel.shares["bad"], panel.judges = 1, [*panel.judges, bad_judges.Bad()]
    (found,) = panel.judge(generator.program(2)).findings
    assert found.kind == "broken" and "in a report" in found.message


def test_findings_results_and_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.setenv("BAD_JUDGE", "changes a byte at 2")
    results = campaign(BAD, tmp_path, 3)
    results.close()
    (path,) = tmp_path.glob("finding_*.py")
    facts = report.read(tmp_path / "campaign.duckdb")
    assert facts.programs == 3 and len(facts.findings) == 1
    judges = {row["name"]: row for row in facts.judges}
    assert judges["bad"]["different"] == 1 and judges["bad"]["same"] == 2 and judges["interp"]["ran"] == 3
    text, page = report.text(facts), report.page(facts)
    assert "bad | different" in text and "operations by element type" in text
    assert "tt.load" in page and "<script" not in page and "http" not in page
    assert 'name="viewport" content="width=device-width' in page
    compile(path.read_text(), str(path), "exec")


def test_a_file_of_a_finding_runs_by_itself(tmp_path: Path) -> None:
    from tiletwin.fuzz import findings
    from tiletwin.fuzz.judging import Finding

    program = generator.program(3)
    text = findings.file_text(Finding("eager", "different", "stored fp32", ""), program, ["interp", "eager"])
    path = tmp_path / "finding.py"
    path.write_text(text)
    done = children.run(path, cwd=tmp_path)
    assert done.returncode == 0 and "kernel[" in done.stdout and ": same" in done.stdout, done.stderr
    path.write_text(text.replace("judges='interp,eager'", "judges='interp,bad'").replace(
        "import triton\n", f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport bad_judges\nimport triton\n", 1
    ))  # fmt: skip
    done = children.run(path, cwd=tmp_path, BAD_JUDGE="changes a byte at 0")
    assert done.returncode == 1 and "different" in done.stdout, done.stdout + done.stderr


def test_twins_findings_have_both_kernels() -> None:
    from tiletwin.fuzz import findings
    from tiletwin.fuzz.judging import Finding

    text = findings.file_text(Finding("twin: opaque lanes", "different", "", ""), generator.program(3), ["interp"])
    assert "def kernel(" in text and "def twin(" in text and "iota_ptr" in text
    compile(text, "finding", "exec")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_all(number: signal.Signals, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    started = children.start("-m", "tiletwin", "fuzz", "--judges", "interp,ieee", "--out", tmp_path)
    assert started.stderr is not None and "1 programs" in started.stderr.readline()
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    assert "stopped after" in out and started.returncode in (0, 1), out + err
    assert report.read(tmp_path / "campaign.duckdb").programs > 0


def test_a_judge_with_a_share_sees_every_so_many_programs() -> None:
    results = campaign(Settings(("interp", "launch/2", "twins/3"), shrink_seconds=0), None, 7)
    seen = Counter[str]()
    for (judge, _, _), count in results.verdicts.items():
        seen[judge] += count
    assert (seen["interp"], seen["launch"], seen["twin: opaque lanes"]) == (7, 4, 3)


def test_no_database_without_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(NoDatabase, match=r"pip install 'tiletwin\[fuzz\]'"):
        Results(tmp_path / "campaign.duckdb")
    Results().close()


@pytest.mark.parametrize(
    "judges, forms, expected",
    [
        ("interp,oracle", "", "there is no judge 'oracle'"),
        ("twins", "", "cannot be 'twins'"),
        ("interp/2,sim:90", "", "sees every program"),
        ("interp,sim:90/many", "", "which part of the programs it sees, as in sim:90/8"),
        ("interp,sim:90/0", "", "which part of the programs it sees"),
        ("interp,sim:90,sim:90/4", "", "a judge stands twice"),
        ("interp,ieee", "summ", "there is no form 'summ'"),
    ],
)
def test_words_that_are_wrong(judges: str, forms: str, expected: str) -> None:
    def fail(message: str) -> NoReturn:
        raise SystemExit(message)

    with pytest.raises(SystemExit, match=expected):
        command.settings(judges, None, 0.0, forms, fail)
