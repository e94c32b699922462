"""The Python examples of docs/simulator.md run as they are printed, one after the other."""

from __future__ import annotations

import pathlib
import re

import children

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "simulator.md").read_text(), re.DOTALL | re.MULTILINE)


def test_the_examples_run():
    assert len(EXAMPLES) == 4
    done = children.run("-c", "\n".join(EXAMPLES), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    counted, described, failed = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ instructions of warps", counted) and int(counted.split()[0]) > 100
    assert described.startswith("<tensor map: dtype='float16', sizes=(256, 512), strides=(512,), box=(64, 128)")
    assert failed == "OutOfBoundsError []"


def test_what_the_table_of_checks_says():
    from tiletwin.sim import CHECKS, DEFAULT_CHECKS

    rows = re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \|.*\| (on )?\|$", (ROOT / "docs" / "simulator.md").read_text(), re.M)
    assert [word for word, _ in rows] == list(CHECKS) and [word for word, on in rows if on] == list(DEFAULT_CHECKS)
