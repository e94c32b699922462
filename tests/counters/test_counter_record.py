"""What the simulator counts for accesses of every form, beside what ncu counted on an H200.

Not here:  the kernels (counter_cases.py), how they were recorded (tools/record_counters.py).
"""

from __future__ import annotations

import functools
import json
import lzma
import pathlib
import struct
from typing import Any

import numpy as np
import pytest
from counter_cases import BUFFER_BYTES, FORMS, MOST_THREADS, ptx_text
from tiletwin import counters, sim
from tiletwin.counters.metrics import EXACT, Metric

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "data" / "sim" / "counters_h200.xz"
SHARED = "_mem_shared_op_"

INEXACT = {
    "cp_cg_16": "lanes that read the same sector into places far from each other share it now and then",
    "cp_cg_16_twice": "likewise",
    "cp_cg_16_zeros": "what is filled with zeros takes the way of cp.async.ca in part",
    "cp_cg_16_none": "likewise",
}
"""Forms that are compared within CLOSE where lanes are scattered, and why."""
SCATTERED = ("random_4k", "to_random_4k", "to_stride_128", "to_xor", "stride_128")
CLOSE = 0.4


@functools.cache
def recorded() -> dict[str, list[dict[str, Any]]]:
    """The cases by form."""
    found: dict[str, list[dict[str, Any]]] = {form: [] for form in FORMS}
    for case in json.loads(lzma.decompress(RECORD.read_bytes()))["cases"]:
        found[case["form"]].append(case)
    return found


@functools.cache
def _module() -> sim.Module:
    return sim.load(ptx_text(), file="cases.ptx")


@functools.cache
def _buffer() -> np.ndarray:
    room = np.zeros(BUFFER_BYTES + 256, np.uint8)
    start = -room.ctypes.data % 256
    return room[start : start + BUFFER_BYTES]


def counted(case: dict[str, Any]) -> dict[str, Metric]:
    lists = [list(case[name]) + [0] * (MOST_THREADS - len(case[name])) for name in "ab"]
    offsets = [struct.pack(f"<{MOST_THREADS}I", *numbers) for numbers in lists]
    with counters.collect() as launches:
        _module()[case["form"]](_buffer(), *offsets, grid=1, block=len(case["a"]), checks="bounds")
    (launch,) = launches
    return counters.metrics_of(launch)


def compared(case: dict[str, Any]) -> list[tuple[str, str, int, int]]:
    """(counter, accuracy, the simulator's, ncu's) of counters that were recorded and are not 0 for both."""
    ours = {name.removesuffix(".sum"): metric for name, metric in counted(case).items()}
    rows = [(name, ours[name].accuracy, ours[name].value, ncus) for name, ncus in case["ncu"].items()]
    return [row for row in rows if row[2] or row[3]]


@pytest.mark.parametrize("form", FORMS)
def test_exact_counters_are_ncus(form):
    assert recorded()[form], "record it by tools/record_counters.py"
    wrong = []
    for case in recorded()[form]:
        is_close = form in INEXACT and case["pattern"] in SCATTERED
        for name, accuracy, ours, ncus in compared(case):
            apart = abs(ours - ncus)
            if accuracy == EXACT and apart > (CLOSE * max(ours, ncus) if is_close else 0):
                wrong.append((case["pattern"], name, ours, ncus))
    assert not wrong


def test_the_page_says_how_many_agree():
    pairs = [row for cases in recorded().values() for case in cases for row in compared(case)]
    exact, others = ([row for row in pairs if (row[1] == EXACT) == wanted] for wanted in (True, False))
    alike = [sum(ours == ncus for *_, ours, ncus in some) for some in (exact, others)]
    assert alike[0] >= 0.95 * len(exact)
    page = " ".join((ROOT / "docs" / "profile.md").read_text().split())
    assert f"{alike[0]} of {len(exact)} agree (99 %); of the estimates of memory {alike[1]} of {len(others)}." in page


def test_estimates_are_near():
    """Of accesses to memory: what depends on the order in which lanes are served."""
    rows = [
        row
        for form, cases in recorded().items()
        for case in cases
        for row in compared(case)
        if row[1] != EXACT and form not in INEXACT
    ]
    assert len(rows) > 50
    apart = [abs(ours - ncus) / max(ours, ncus) for _, _, ours, ncus in rows]
    assert np.mean([one == 0 for one in apart]) > 0.75 and np.mean(apart) < 0.05


def test_every_form_has_its_instruction():
    text = ptx_text()
    for form in FORMS.values():
        assert all(part.strip() in text for part in form.body.split(";") if part.strip() and "cvta" not in part)
