"""The backend triton:sim: real Triton's compiler, its launches on the simulator. What a launch gives to a GPU reaches
the kernel: numbers of every type, specialised arguments, descriptors, options.

Not here:  all kernels of the tests (test_triton_sim_corpus.py).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import sim_kernels as kernels
import tiletwin as triton
import tiletwin.language as tl
import torch
from legitimate_kernels import CASES
from tiletwin import diff
from tiletwin.diff import replay, triton_process, triton_sim
from tiletwin.language.extra import libdevice
from tiletwin.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)

X = np.random.default_rng(0).standard_normal(4096).astype(np.float32)


def compared(kernel: Any, grid: tuple, args: Any, *, backend: str = "triton:sim", **options: Any) -> diff.Report:
    return diff.compare(kernel, grid, args, backends=["interp", backend], **options)


def same(*args: Any, **options: Any) -> diff.Report:
    report = compared(*args, **options)
    assert report.verdict == diff.SAME, report
    return report


def ptx_of(kernel: Any, grid: tuple, args: Any, **options: Any) -> str:
    return triton_sim.TritonSimBackend()._answer(diff.launch_of(kernel, grid, args, **options))["ptx"]


@pytest.mark.parametrize("name", CASES)
def test_kernels_of_many_kinds(name: str) -> None:
    assert not same(*CASES[name]()).findings


@pytest.mark.parametrize("n", [1, 16, 17, 100])
@pytest.mark.parametrize("first", [0, 1, 4])
def test_arguments_are_specialised_by_value_and_alignment(n: int, first: int) -> None:
    """Triton writes wide accesses for what is divisible by 16, and drops what is 1."""
    o = np.zeros(256, np.float32)
    same(kernels.copied, (2,), {"x": X[first:], "o": o[first:], "n": n, "B": 64})


def test_alignment_makes_wide_accesses() -> None:
    wide, narrow = (ptx_of(kernels.copied, (1,), [X[i:], np.zeros(1024, np.float32), 1024, 1024]) for i in (0, 1))
    assert "ld.global.v4" in wide and "ld.global.v4" not in narrow


def test_options_reach_the_compiler() -> None:
    for warps in (1, 8):
        args = [X, np.zeros(1024, np.float32), 1024, 1024]
        same(kernels.copied, (1,), args, num_warps=warps)
        assert f".reqntid {32 * warps}" in ptx_of(kernels.copied, (1,), args, num_warps=warps)


def test_numbers_of_every_type() -> None:
    args = [np.zeros(5, np.float32), 1.5, 2.25, 0.1, 1e-3, True, -7, 1 << 30, (1 << 62) + 5, None, tl.bfloat16]
    same(kernels.numbers, (1,), args)


def test_tuples_and_functions() -> None:
    same(kernels.pairs, (1,), [(X[:64], 3), np.zeros(64, np.float32), 64])
    for function in (kernels.doubled, tl.abs, tl.sigmoid, libdevice.tanh):
        same(kernels.applied, (1,), [X[:64], np.zeros(64, np.float32), function, 64])


def test_functions_of_a_module() -> None:
    """The other process has neither the module nor its file."""
    report = same(kernels.through_a_module, (1,), [X[:64], np.zeros(64, np.float32), 64])
    assert sorted(report.launch.sources) == ["kernel_0_sim_kernels", "kernel_1_sim_helpers"]


def test_any_number_of_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A 1 is a constant, also in a tuple."""
    o = np.zeros(1, np.int32)
    launch = diff.launch_of(kernels.of_many, (1,), [o, 7, 1, 2, 3], scale=2)
    report = diff.compare_launch(launch, ["interp", "sim", "triton:sim"])
    assert report.verdict == diff.SAME and report.outcomes[0].memory[0].view(np.int32)[0] == 14246, report
    for name, module in (("triton", triton), ("triton.language", tl)):
        monkeypatch.setitem(sys.modules, name, module)
    assert replay.run_source(launch)[0].view(np.int32)[0] == 14246


@pytest.mark.parametrize("backend", ["triton:sim", "triton:sim:sm_80"])
@pytest.mark.parametrize("kind", [torch.float16, torch.float32])
def test_descriptors(kind: torch.dtype, backend: str) -> None:
    x, o = torch.randn(64, 64).to(kind), torch.zeros(64, 64, dtype=kind)
    descriptors = [TensorDescriptor(x, [64, 64], [64, 1], [32, 64]), TensorDescriptor(o, [64, 64], [64, 1], [64, 32])]
    same(kernels.transposed, (2,), [*descriptors, 32, 64], backend=backend)
    same(kernels.moved, (2,), [x, o, 50, 64, 32, 64], backend=backend)


def test_several_ctas_a_program() -> None:
    args = [X, np.zeros(2048, np.float32), 2048, 1024]
    assert ".reqnctapercluster" in ptx_of(kernels.copied, (2,), args, num_ctas=2)
    same(kernels.copied, (2,), args, num_ctas=2)


def test_one_process_compiles_many_kernels_once() -> None:
    args = {"x": X[:128], "o": np.zeros(128, np.float32), "n": 128, "B": 64}
    launch = diff.launch_of(kernels.copied, (2,), args)
    backend = triton_sim.TritonSimBackend()
    first, again = backend._answer(launch), backend._answer(launch)
    assert first["ptx"] == again["ptx"] and again["seconds"] < 0.1


def test_a_failing_assertion_is_a_failure() -> None:
    x = np.arange(64, dtype=np.float32)
    report = compared(kernels.asserting, (1,), [x, np.zeros(64, np.float32), 64], debug=True)
    assert [bool(outcome.error) for outcome in report.outcomes] == [True, True], report
    assert report.verdict == diff.SAME


def test_what_triton_does_not_compile_is_not_comparable() -> None:
    report = compared(kernels.to_fp8, (1,), [X[:64], np.zeros(64, np.float32), 64], backend="triton:sim:sm_80")
    assert report.verdict == diff.NOT_COMPARABLE and not report.rows, report
    assert "type fp8e4nv not supported in this architecture" in report.notes[0], report


def test_a_difference_is_followed_to_its_first_value() -> None:
    """The tester's own kernel goes to Triton as TTIR."""
    args = [X, np.zeros(4096, np.float32), np.zeros(4096, np.float32), 1024]
    report = compared(kernels.reversed_rows, (4,), args)
    assert report.verdict == diff.DIFFERENT, report
    assert any("races" in text and "sim_kernels.py" in text for text in report.findings), report
    assert report.finding is not None and report.finding.variable == "back", report


def test_other_backends_of_triton_are_not_there() -> None:
    for name in ("triton:other", "triton:sim:sm_70", "triton:gpu:sm_80"):
        with pytest.raises(ValueError, match="there is no backend 'triton:"):
            diff.compare(kernels.copied, (1,), [X, X, 1, 64], backends=["interp", name])
