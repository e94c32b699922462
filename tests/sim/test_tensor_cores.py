"""What an H200's tensor cores made of edge values: the simulator gives the same bits."""

from __future__ import annotations

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import record_tensor_cores  # noqa: E402

DATA = ROOT / "tests" / "data" / "sim"


def test_edge_values():
    """Subnormals, infinities, NaNs, integers at their limits, and where descriptors of matrices lead."""
    assert record_tensor_cores.differences(DATA / "tensor_cores_h200.npz") == []


def test_the_other_shapes_and_pairs_of_types():
    assert record_tensor_cores.differences(DATA / "tensor_cores_rest_h200.npz") == []
