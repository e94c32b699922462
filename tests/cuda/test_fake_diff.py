"""The tester's backend for a GPU on a fake driver: what it compiles for and hands over, faults, and GPUs that refuse.

Not here:  the tester itself (tests/diff); the same on a GPU (its scripts run there).
"""

from __future__ import annotations

import pytest
from fake_driver import run_fake

PRELUDE = """
os.environ["TILETWIN_INTERPRET"] = "1"
import fake_kernels
from tiletwin import diff
x, y, out = (np.arange(100, dtype=np.float32) + v for v in (1, 2, 0))
def compared(kernel=fake_kernels.add, args=(x, y, out, 100, 128)):
    return diff.compare(kernel, (1,), list(args), backends=["interp", "cuda"])
"""


def run(text: str, **environment: str) -> str:
    """Without ptxas: the fake driver takes PTX, and runs entries by their names."""
    return run_fake(PRELUDE + text, PATH="/nowhere", **environment)


@pytest.mark.parametrize("capability, target", [("80", "sm_80"), pytest.param("90", "sm_90a", marks=pytest.mark.slow)])
def test_a_launch_runs_on_the_gpu_that_is_here(capability: str, target: str) -> None:
    said = run(
        """
setting(capability=int(os.environ["WANTED"]))
report = compared()
print(report.verdict, [(row.argument, row.equal, row.verdict) for row in report.rows])
print(calls("cuLaunchKernel"), len(calls("cuMemcpyHtoDAsync_v2")), len(calls("cuMemcpyDtoHAsync_v2")))
print((out == np.arange(100)).all(), fake.fake_allocations())
from tiletwin.diff.backends import CudaBackend
launch = diff.launch_of(fake_kernels.add, (1,), [x, y, out, 100, 128])
print(next(line for line in CudaBackend()._code(launch)[0].splitlines() if line.startswith(".target")))
""",
        WANTED=capability,
    )
    assert "same [('x', 100, 'same'), ('y', 100, 'same'), ('out', 100, 'same')]" in said, said
    assert "cuLaunchKernel(add, 1 1 1, 128 1 1, 0, " in said and said.splitlines()[1].endswith(" 3 3"), said
    assert "True 0" in said and f".target {target}" in said, said  # the user's memory stays as it was


def test_arrays_without_dimensions_are_copied_to_the_gpu() -> None:
    said = run("""
report = compared(args=(x, np.array(2, np.float32), np.array(0, np.float32), 0, 128))  # it looks at the addresses
print(report.verdict, report.notes)
print(calls("cuLaunchKernel"), len(calls("cuMemcpyHtoDAsync_v2")), len(calls("cuMemcpyDtoHAsync_v2")))
""")
    assert said.splitlines()[0] == "same []" and said.splitlines()[1].endswith(" 3 3"), said


def test_what_a_kernel_does_wrong_is_a_difference() -> None:
    said = run("""
failing("cuStreamSynchronize", 700)
report = compared()
print(report.verdict, report.ended)
print(report)
""")
    assert said.startswith("different different\n") and "cuda: CudaError:" in said, said
    assert "interp: every program ran to its end" in said, said


def test_launches_after_a_lost_context_are_not_comparable() -> None:
    said = run("""
print(compared().verdict)
first, later = compared(fake_kernels.fault, (x,)), compared()
print(first.verdict, first.outcomes[1].error)
print(later.verdict, later.ended, later.outcomes[1].error, list(later.reasons))
""").splitlines()
    assert said[0] == "same"
    assert said[1].startswith("different ") and "CUDA_ERROR_ILLEGAL_ADDRESS" in said[1], said
    assert said[-1] == (
        'not comparable not comparable  ["cuda cannot run a launch: an earlier launch, fault #0, failed and lost the '
        "GPU's context; it takes a new process to use that GPU again\"]"
    )


def test_a_context_that_somebody_else_lost() -> None:
    said = run("""
setting(pending=700)
report = compared()
print(report.verdict, list(report.reasons))
""")
    assert said.startswith("not comparable ") and "an earlier launch of the process failed and lost the GPU's" in said
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said, said


@pytest.mark.parametrize(
    "make",
    [
        'failing("cuLaunchKernel", 701)',
        pytest.param('failing("cuMemAlloc_v2", 2)', marks=pytest.mark.slow),
        pytest.param('failing("cuModuleLoadDataEx", 218)', marks=pytest.mark.slow),
    ],
)
def test_a_gpu_that_refuses_is_not_comparable(make: str) -> None:
    said = run(f"{make}\nreport = compared()\nprint(report.verdict, len(report.rows))\nprint(report)\n")
    assert said.startswith("not comparable 0\n") and "cuda cannot run this launch: " in said, said


def test_without_a_gpu() -> None:
    said = run("report = compared()\nprint(report.verdict)\nprint(report)\n", FAKE_CUDA_devices="0")
    assert said.startswith("not comparable\n") and "cuda cannot run this launch: " in said, said
