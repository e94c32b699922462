"""What an H200's tensor cores made of edge values: the simulator gives the same bits."""

from __future__ import annotations

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import record_tensor_cores  # noqa: E402

RECORDED = ROOT / "tests" / "data" / "sim" / "tensor_cores_h200.npz"


def test_edge_values():
    """Subnormals, infinities, NaNs, integers at their limits, and where descriptors of matrices lead."""
    assert record_tensor_cores.differences(RECORDED) == []
