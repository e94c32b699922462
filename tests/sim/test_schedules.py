"""Which warp runs when, and when copies land: a seed decides, always alike. Kernels without races do not see it.

The judges: outputs of an H200 for these very texts, and the texts of `bugs`, which have races.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import tiletwin.checks
import tiletwin.sim
from bug_cases import BUGS, Bug
from cuda_recorded import aligned
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ptx_cases import all_cases, differences, run

PIPELINED = ("attention_loop_fp16", "mm_loop_fp8e4nv", "mm_loop_stages1", "mm_loop_fp32", "mm_persistent_desc_fp16")
SEEDS = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize("name", PIPELINED)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=SEEDS, copies=st.sampled_from(["late", "early", "drawn"]))
@example(seed=0, copies="drawn")
@example(seed=1, copies="late")
def test_no_seed_changes_a_result(name: str, seed: int, copies: str) -> None:
    case = all_cases("sm_90")[name]
    tiletwin.checks.clear()
    assert not differences(case, run(case, schedule=f"seed:{seed},copies={copies}"))
    assert not tiletwin.checks.findings()


def _bug(name: str) -> Bug:
    return next(bug for bug in BUGS if bug.name == name)


@functools.cache
def _loaded(text: str) -> Any:
    return tiletwin.sim.load(text)["k"]


def outcome(text: str, bug: Bug, schedule: str) -> bytes:
    """What the arrays of a text of `bugs` hold after a launch with no check that reports."""
    arrays = [aligned((np.arange(size) % 251).astype(np.uint8)) for size in bug.sizes]
    kernel = _loaded(text)
    kernel(*arrays, grid=bug.grid, block=bug.block, cluster=bug.cluster, checks=(), threads=1, schedule=schedule)
    return b"".join(array.tobytes() for array in arrays)


RACY = ("missing_barrier", "missing_second_barrier", "missing_cluster_barrier")


@pytest.mark.parametrize("name", RACY)
def test_seeds_show_what_a_race_may_do(name: str) -> None:
    """The same kernel without the mistake gives one result under all of these seeds."""
    bug = _bug(name)
    schedules = ["turns", *(f"seed:{i}" for i in range(40))]
    assert len({outcome(bug.text, bug, schedule) for schedule in schedules}) > 1
    assert len({outcome(bug.twin, bug, schedule) for schedule in schedules}) == 1


def test_a_seed_gives_the_same_every_time() -> None:
    bug = _bug("missing_barrier")
    for seed in range(40):
        assert outcome(bug.text, bug, f"seed:{seed}") == outcome(bug.text, bug, f"seed:{seed}")


def test_deadlocks_are_found_under_every_seed() -> None:
    bug = _bug("mbarrier_wrong_bytes")
    for seed in range(5):
        with pytest.raises(tiletwin.DeadlockError, match="misses 128 bytes"):
            outcome(bug.text, bug, f"seed:{seed}")


def test_the_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    bug = _bug("missing_barrier")
    want = [outcome(bug.text, bug, f"seed:{seed}") for seed in range(40)]
    got = []
    for seed in range(40):
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", f"seed:{seed}")
        got.append(outcome(bug.text, bug, ""))
    assert got == want and len(set(got)) > 1
    monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", " turns ")
    assert outcome(bug.text, bug, "") == outcome(bug.text, bug, "turns")


@pytest.mark.parametrize("name", ["missing_wait_group", "wrong_wait_group"])
def test_when_copies_land(name: str) -> None:
    """Who does not wait reads what was there before, or what is copied; who waits does not see a difference."""
    bug = _bug(name)
    drawn = [f"seed:{i},copies=drawn" for i in range(20)]
    late, early = (outcome(bug.text, bug, f"turns,copies={copies}") for copies in ("late", "early"))
    assert late == outcome(bug.text, bug, "turns") != early
    assert {outcome(bug.text, bug, schedule) for schedule in drawn} >= {late, early}
    same = {outcome(bug.twin, bug, schedule) for schedule in ("turns", "copies=early", *drawn)}
    assert len(same) == 1 and same <= {late, early}


RACES = {
    "missing_wait_group": "reads shared memory that an asynchronous copy writes",
    "wrong_wait_group": "reads shared memory that an asynchronous copy writes",
    "source_written_again": "writes shared memory that an asynchronous copy reads",
    "stage_released_early": "",
}


@pytest.mark.parametrize("name", RACES)
def test_races_with_copies_are_found_under_every_schedule(name: str) -> None:
    """The check follows what is issued and waited for, not when copies happen to land."""
    bug = _bug(name)
    for schedule in ("turns", "copies=early", *(f"seed:{i},copies=drawn" for i in range(10))):
        for text in (bug.text, bug.twin):
            tiletwin.checks.clear()
            arrays = [aligned(np.zeros(size, np.uint8)) for size in bug.sizes]
            _loaded(text)(*arrays, grid=bug.grid, block=bug.block, checks="races", threads=1, schedule=schedule)
            findings = tiletwin.checks.findings()
            assert bool(findings) == (text == bug.text), schedule
            assert all(finding.check == "races" and RACES[name] in str(finding) for finding in findings)
    tiletwin.checks.clear()


def test_a_wait_for_the_wrong_phase() -> None:
    """It lets the thread go on until the copy has landed, and holds it for ever from then on."""
    bug = _bug("missing_bulk_wait")
    assert outcome(bug.text, bug, "copies=late") != outcome(bug.twin, bug, "copies=late")
    with pytest.raises(tiletwin.DeadlockError, match=r"try_wait.*misses 1 of 1 arrivals"):
        outcome(bug.text, bug, "copies=early")
    assert outcome(bug.twin, bug, "copies=early") == outcome(bug.twin, bug, "copies=late")


def test_a_source_that_changes_too_early() -> None:
    """Of a bulk copy to global memory, which reads shared memory when it lands."""
    bug = _bug("source_written_again")
    results = {outcome(bug.text, bug, f"copies={copies}") for copies in ("late", "early")}
    assert len(results) == 2
    assert len({outcome(bug.twin, bug, f"copies={copies}") for copies in ("late", "early")}) == 1


WRONG = {
    "seed": "'seed' is no word of it",
    "seed:": "'seed:' is no word of it",
    "seed:-1": "'seed:-1' is no word of it",
    "seed:1.5": "'seed:1.5' is no word of it",
    "seed:18446744073709551616": "'seed:18446744073709551616' is no word of it",
    "seed:1 2": "'seed:1 2' is no word of it",
    "random": "'random' is no word of it",
    "seed:1,copies=soon": "'copies=soon' is no word of it",
    "seed:1,,copies=late": "'' is no word of it",
    "seed:1,turns": "'turns' says again what another word has said",
    "copies=late,copies=early": "'copies=early' says again what another word has said",
    "copies=drawn": "copies=drawn wants a seed",
    "turns,copies=drawn": "copies=drawn wants a seed",
}


@pytest.mark.parametrize("value", WRONG)
def test_values_that_are_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    bug = _bug("missing_barrier")
    monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", value)
    with pytest.raises(ValueError) as caught:
        outcome(bug.text, bug, "")
    assert str(caught.value).startswith(
        f"TILETWIN_SIM_SCHEDULE={value}: {WRONG[value]}; expected words joined by commas"
    )
    assert "seed:N" in str(caught.value) and "0 to 18446744073709551615" in str(caught.value)
