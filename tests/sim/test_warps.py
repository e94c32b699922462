"""What lanes of an H200 exchanged by shfl, vote, match, redux and elect: the simulator gives the same."""

from __future__ import annotations

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import record_warps  # noqa: E402


def test_every_form():
    """Lanes and widths of all sorts, teams that each name themselves as members."""
    assert record_warps.differences(ROOT / "tests" / "data" / "sim" / "warps_h200.npz") == []
