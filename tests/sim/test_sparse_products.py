"""What an H200's tensor cores made of mma.sp and wgmma.mma_async.sp: the simulator gives the same bits."""

from __future__ import annotations

import pathlib
import sys

import pytest
import tiletwin.sim

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import record_sparse  # noqa: E402
import record_sparse_wgmma  # noqa: E402

DATA = ROOT / "tests" / "data" / "sim"


def test_every_form():
    """Numbers of all sizes, infinities and NaNs; every selector."""
    assert record_sparse.differences(DATA / "sparse_h200.npz") == []


def test_narrow_formats_and_any_metadata():
    """fp8, bytes and 4 bits in all pairs; saturated sums; metadata that name elements twice or in the wrong order."""
    assert record_sparse.differences(DATA / "sparse_narrow_h200.npz", narrow=True) == []


def test_warpgroups():
    """A in shared memory and in registers; B by every swizzle, along k and across."""
    assert record_sparse_wgmma.differences(DATA / "sparse_wgmma_h200.npz") == []


@pytest.mark.parametrize("old, new, message", [
    (", %e, 0;", ", %e, 4;", "the selector is to be below 4"),
    ("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.col.row.f32.f16.f16.f32", "wants .row.col"),
    ("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k32.row.col.f32.e4m3.e4m3.f32", "mma.sp has no .m16n8k32 of .e4m3"),
    ("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k256.row.col.s32.b1.b1.s32", "mma.sp has no .m16n8k256 of .b1"),
    ("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k64.row.col.f16.e4m3.e4m3.f16", "no accumulators of .f16 and .f16"),
    ("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f16.f16.f16.f32", "has no accumulators of .f16 and .f32"),
    (".sync.aligned", ".sync.aligned.satfinite", ".satfinite is for integer products"),
])  # fmt: skip
def test_refused(old, new, message):
    _, text, operands, sums, _ = record_sparse.FORMS[0]
    entry = record_sparse.kernel(text, operands, sums, 0)
    assert entry.count(old) == 1
    with pytest.raises(Exception, match=message.replace(".", r"\.")):
        tiletwin.sim.load(entry.replace(old, new))
