"""Every planted mistake is found within 2000 programs and shown by a kernel of at most 15 lines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import planting
import pytest
from tiletwin.diff import DIFFERENT
from tiletwin.fuzz import judges
from tiletwin.fuzz.work import Settings, Worker

PROGRAMS, LINES = 2000, 15
QUICK = ("promotion", "mask", "order of a scan")
"""In the usual run; the others take longer."""


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator:
    monkeypatch.setenv("TILETWIN_CACHE_DIR", "")
    made: list[Worker] = []

    def make(*names: str) -> Worker:
        for variable in ("TILETWIN_INTERPRET", "TILETWIN_NUM_THREADS"):
            monkeypatch.setenv(variable, "1")
        made.append(Worker(Settings(names, shrink_seconds=120)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def first_difference(worker: Worker, judge: str) -> tuple[int, dict]:
    for seed in range(PROGRAMS):
        for item in worker.run(seed)["findings"]:
            if (item["judge"], item["kind"]) == (judge, DIFFERENT):
                return seed, item
    pytest.fail(f"not found within {PROGRAMS} programs")


def check(item: dict) -> None:
    assert item["lines"] <= LINES, item["text"]
    assert item["text"].count("@triton.jit") >= 1 and "test_judges_agree" in item["text"]


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in planting.TEXT_MISTAKES]
)
def test_mistakes_of_the_interpreter(name: str, worker, monkeypatch: pytest.MonkeyPatch, record_property) -> None:
    planted = planting.Planted(planting.TEXT_MISTAKES[name])
    monkeypatch.setitem(judges.MAKERS, "planted", lambda: planted)
    seed, item = first_difference(worker("interp", "planted"), "planted")
    record_property("summary", f"{name}: program {seed + 1}, {item['lines']} lines, {item['place']}")
    assert planted.changed
    check(item)


@pytest.mark.slow
@pytest.mark.parametrize("name", planting.CODE_MISTAKES)
def test_mistakes_of_the_code_generator(name: str, worker, record_property) -> None:
    import miscompiler

    with contextlib.ExitStack() as stack:
        stack.enter_context(miscompiler.planted(planting.CODE_MISTAKES[name]))
        seed, item = first_difference(worker("interp", "sim:90"), "sim:90")
    record_property("summary", f"{name}: program {seed + 1}, {item['lines']} lines, {item['place']}")
    check(item)
