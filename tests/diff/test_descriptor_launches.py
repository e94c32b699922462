"""Launches with tensor descriptors as arguments: kept in files, run again on backends, compared, localised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from other_backends import Correct, Rewritten
from tiletwin import diff
from tiletwin.diff import replay
from tiletwin.diff.backends import SimBackend
from tiletwin.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def soft_blocks(x, out, M, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    v = x.load([row, 0])
    e = tl.exp(v)  # exp
    out.store([row, 0], e / tl.sum(e, 1)[:, None])


@triton.jit
def row_scales(x, out, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(out + i, tl.sum(tl.exp(x.load([tl.program_id(0) * BM, 0])), 1))


ROWS, COLUMNS, BM, BN = 40, 64, 16, 64
X = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)


def launch_of(**options: object) -> diff.Launch:
    x = TensorDescriptor(torch.from_numpy(X), [ROWS, COLUMNS], [COLUMNS, 1], [BM, BN], **options)
    out = TensorDescriptor(torch.zeros(ROWS, COLUMNS), [ROWS, COLUMNS], [COLUMNS, 1], [BM, BN])
    return diff.launch_of(soft_blocks, (3,), [x, out, ROWS, BM, BN])


def scales_of(padding: str) -> diff.Launch:
    """The last block hangs over the tensor's end: sums of its rows are made of what is read there."""
    x = TensorDescriptor(torch.from_numpy(X), [ROWS, COLUMNS], [COLUMNS, 1], [BM, BN], padding)
    return diff.launch_of(row_scales, (3,), [x, np.zeros(48, np.float32), BM, BN])


class PlainAccesses(SimBackend):
    """Code for a GPU before tensor maps: a descriptor is its address."""

    name = "sm_80"
    capability = 80


OTHERS = {"ieee": Correct, "sm_90a": SimBackend, "sm_80": PlainAccesses}


@pytest.mark.parametrize("other", OTHERS)
def test_backends_agree(other: str) -> None:
    report = diff.compare_launch(launch_of(), ["interp", OTHERS[other]()])
    row = next(row for row in report.rows if row.argument == "out")
    assert report.verdict == diff.SAME and row.within > 100, report
    expected = np.exp(X.astype(np.float64))
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(row.values[1].reshape(X.shape), expected, rtol=1e-5)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_what_lies_outside(padding: str, other: str) -> None:
    report = diff.compare_launch(scales_of(padding), ["interp", OTHERS[other]()])
    assert report.verdict == diff.SAME, report
    sums = report.outcomes[1].memory[1].view(np.float32)
    outside = np.isnan(sums[ROWS:]) if padding == "nan" else sums[ROWS:] == COLUMNS
    assert outside.all() and np.isfinite(sums[:ROWS]).all()


def test_files_keep_descriptors(tmp_path: Path) -> None:
    launch = launch_of(padding="nan", round_f32_to_tf32=True)
    launch.outputs["interp"] = diff.BACKENDS["interp"]().run(launch).memory
    again = diff.read(diff.write(launch, tmp_path / "blocks.twlaunch"))
    assert again.arguments == launch.arguments
    assert again.arguments["x"].padding == "nan" and again.arguments["x"].round_f32_to_tf32
    report = diff.compare_launch(again, ["recorded:interp", "interp", "sim", PlainAccesses()])
    assert report.verdict == diff.SAME, report
    assert all(row.equal == row.elements for row in report.rows[:2]), report
    assert diff.compare_launch(again, "recorded:interp, interp").verdict == diff.SAME
    assert replay.replay(again, ["sim"]).verdict == diff.SAME


@pytest.mark.parametrize("backend", ["interp", "sim"])
def test_the_first_value_is_found_behind_descriptors(backend: str) -> None:
    wrong = Rewritten(lambda text: text.replace("math.exp ", "math.exp2 "))
    report = diff.compare_launch(launch_of(), [backend, wrong])
    first = report.first()
    assert first.argument == "out" and first.index == "[0, 0]" and first.program == (0, 0, 0), report
    assert report.finding.variable == "e" and report.finding.operation == "math.exp", report
