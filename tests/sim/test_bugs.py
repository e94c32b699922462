"""Each planted mistake is reported at its line by the check that is there for it, and the twin without it is not."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tiletwin.checks
import tiletwin.sim
from bug_cases import BUGS, FOLDER, Bug
from cuda_recorded import aligned
from tiletwin.errors import DeadlockError, OutOfBoundsError, TileTwinError
from tiletwin.sim import modules

LIMIT = 1_000_000
TRAPS = {OutOfBoundsError: "bounds", DeadlockError: "barriers"}


def reports(bug: Bug, text: str) -> list[tuple[str, str, set[int]]]:
    """(check, text, lines that it names) of all that is said of a launch with every check.

    A trap of no check of its own, such as a misaligned access, is said to be of "bounds".
    """
    file = f"{bug.name}.ptx"
    tiletwin.checks.clear()
    arrays = [aligned(np.zeros(size, np.uint8)) for size in bug.sizes]
    said = []
    try:
        kernel = tiletwin.sim.load(text, file=file)["k"]
        kernel(*arrays, grid=bug.grid, block=bug.block, cluster=bug.cluster, checks=tiletwin.sim.CHECKS, limit=LIMIT)
    except tiletwin.sim.PtxError:
        raise
    except (TileTwinError, ValueError) as error:
        said.append((TRAPS.get(type(error), "bounds"), str(error)))
    said += [(finding.check, str(finding)) for finding in tiletwin.checks.findings()]
    tiletwin.checks.clear()
    return [(check, words, {int(n) for n in re.findall(rf"{re.escape(file)}:(\d+)", words)}) for check, words in said]


def test_products_that_are_not_recorded_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    modules._tell_of_products.cache_clear()
    bug = next(bug for bug in BUGS if bug.name == "tcgen05_before_wait")
    for _ in range(2):
        assert reports(bug, bug.twin) == []
    assert capsys.readouterr().err.count("sums of tcgen05.mma are not recorded on a GPU") == 1


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_mistake_is_reported_at_its_line(bug):
    wanted = f"the check {bug.check!r} has to report line {sorted(bug.lines('BUG'))} of {bug.name}.ptx"
    found = reports(bug, bug.text)
    assert found, f"nothing was reported: {wanted}"
    assert any(check == bug.check for check, _, _ in found), f"{wanted}; what was reported: {found}"
    allowed = bug.lines("BUG") | bug.lines("OTHER")
    for check, words, lines in found:
        assert lines <= allowed, f"{wanted}; nothing is wrong in lines {sorted(lines - allowed)}: {check}: {words}"
    named = set().union(*(lines for check, _, lines in found if check == bug.check))
    assert named & bug.lines("BUG"), f"{wanted}; what was reported: {found}"
    texts = "\n".join(words for check, words, _ in found if check == bug.check)
    assert re.search(bug.words, texts, re.IGNORECASE | re.DOTALL), f"no word of {bug.words!r} in: {texts}"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_twin_is_not_reported(bug):
    assert bug.twin != bug.text and not reports(bug, bug.twin)


def test_every_text_has_a_row():
    assert {path.stem for path in FOLDER.glob("*.ptx")} == {bug.name for bug in BUGS}
