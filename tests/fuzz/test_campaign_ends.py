"""How campaigns end: a finding's file, judges that compared nothing, wrong words, folders that are left."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import children
import pytest
from tiletwin.diff.reports import NOT_COMPARABLE
from tiletwin.fuzz import command, generator, text, work
from tiletwin.fuzz.campaign import Campaign, Limits
from tiletwin.fuzz.pools import LocalPool, Loss
from tiletwin.fuzz.results import Results
from tiletwin.fuzz.work import Settings

SETTINGS = Settings(("interp", "sim:90"))


def record(seed: int, *, lines: int = 0, verdicts: tuple = ()) -> dict[str, Any]:
    found = {"key": "sim:90 | different | tt.load", "judge": "sim:90", "kind": "different", "place": "tt.load",
             "seed": seed, "lines": lines, "text": f"# {lines} lines", "message": ""}  # fmt: skip
    return {"seed": seed, "status": "ran", "seconds": 0.0, "verdicts": list(verdicts), "form": [], "operation": [],
            "findings": [found] if lines else []}  # fmt: skip


def test_the_file_of_a_finding_is_its_smallest_program(tmp_path: Path) -> None:
    campaign = Campaign(SETTINGS, Results(), tmp_path, 0, Limits(3))
    for item in (record(1, lines=40), record(2, lines=3), record(3, lines=20)):
        campaign.take(item)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["# 3 lines"]


def test_every_program_that_ends_a_worker_is_kept(tmp_path: Path) -> None:
    campaign = Campaign(SETTINGS, Results(), tmp_path, 0, Limits(3))
    for seed in (1, 2, 3):
        campaign.take(Loss(seed, "died", "SIGSEGV"))
    assert sorted(kept.seed for kept in campaign.results.findings.values()) == [1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 3


def test_judges_that_have_compared_nothing_are_known() -> None:
    results = Results()
    never, here = ("triton", NOT_COMPARABLE, "bfloat16", 0.0), ("triton", NOT_COMPARABLE, "not installed", 0.0)
    results.add(record(1, verdicts=(("interp", "ran", "", 0.0), never, ("sim:90", "same", "", 0.0))))
    for seed in (2, 3):
        results.add(record(seed, verdicts=(here, ("sim:90", NOT_COMPARABLE, "open", 0.0))))
    told = results.without_comparison(["triton", "sim:90", "eager"])
    assert told == {"triton": "not installed", "eager": "it was asked about no program"}


def fuzz(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return children.run_tiletwin("fuzz", "--quiet", *words, **variables)


def test_a_judge_that_is_not_here_is_said_and_ends_with_4(tmp_path: Path) -> None:
    done = fuzz("--programs", "2", "--judges", "interp,ieee,triton", TILETWIN_TRITON=str(tmp_path / "none"))
    assert done.returncode == 4, done.stdout + done.stderr
    assert "triton has compared nothing in 2 programs: " in done.stderr and "0 findings" in done.stdout


@pytest.mark.parametrize(
    "words, expected",
    [
        (["--judges", "interp"], "interp alone has nothing to be compared with"),
        (["--programs", "-1"], "numbers from 0 on"),
        (["--programs", "1", "--out", __file__], "name a folder that can be written"),
    ],
)
def test_words_that_make_no_campaign(words: list[str], expected: str) -> None:
    done = fuzz(*words)
    assert done.returncode == 2 and expected in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_forms_of_a_campaign_show_the_same_program(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(message: str) -> NoReturn:
        raise SystemExit(message)

    forms = command.chosen_forms("sum, cast", fail) if "sum" in command.FORMS else command.chosen_forms("cast", fail)
    command.show(5, None, forms)
    shown = capsys.readouterr().out
    assert shown == text.kernel_text(generator.program(5, None, forms)) != text.kernel_text(generator.program(5))


def test_a_worker_is_deaf_to_variables_that_change_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.setenv(name, os.environ[name])  # put back what the worker takes away
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    monkeypatch.setenv("TILETWIN_PTXAS", "/a/place")
    monkeypatch.setattr(work.running, "import_triton_as_tiletwin", lambda: None)
    work.Worker(Settings(("interp", "ieee"))).close()
    kept = {name for name in os.environ if name in ("TILETWIN_NUMERICS", "TILETWIN_EAGER", "TILETWIN_PTXAS")}
    assert kept == {"TILETWIN_PTXAS"}


def test_workers_leave_no_folders() -> None:
    pool = LocalPool(Settings(("interp", "ieee")), 1, 60)
    folder = Path(pool.folder)
    assert folder.is_dir()
    pool.close()  # while its worker starts: it is killed
    assert not folder.exists()
