"""What an H200's tensor cores made of edge values: the simulator gives the same bits."""

from __future__ import annotations

import pathlib

import record_tensor_cores

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "sim" / "tensor_cores_h200.npz"


def test_edge_values():
    """Subnormals, infinities, NaNs, integers at their limits, and where descriptors of matrices lead."""
    assert record_tensor_cores.differences(RECORDED) == []
