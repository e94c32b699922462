"""The kernels of tests/kernels under checks of values: the same bits as without, and no findings.

Their own tests run with each new launch done twice (launch_checked.py), on one thread, so that sums by atomics agree.
"""

from __future__ import annotations

import re
from pathlib import Path

import children
import pytest

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
# These replace the launch itself, as the runs here do.
OTHER = ("test_repeated_launches", "test_debug_plan")
FILES = sorted(path for path in KERNELS.glob("test_*.py") if path.stem not in OTHER)


def compared(file: Path) -> tuple[int, int]:
    """(launches, kernels) that the tests of `file` compared; they must pass."""
    printed = children.run_tests(
        file, "-p", "launch_checked", paths=[HERE], TILETWIN_NUM_THREADS="1", TILETWIN_EAGER="0"
    )
    found = re.search(r"launch_checked: (\d+) launches of (\d+) kernels compared", printed)
    assert found, printed
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("name", ["test_norms", "test_prefix_sums"])
def test_a_sample_of_kernels(name: str) -> None:
    launches, kernels = compared(KERNELS / f"{name}.py")
    assert launches >= kernels >= 2


def test_a_finding_is_noticed(tmp_path: Path) -> None:
    text = (
        "import torch, tiletwin as triton, tiletwin.language as tl\n"
        "@triton.jit\n"
        "def kernel(x_ptr, o_ptr):\n"
        "    tl.store(o_ptr, tl.load(x_ptr) * 65536)\n"
        "def test_it():\n"
        "    kernel[(1,)](torch.full((4,), 65536, dtype=torch.int32), torch.zeros(4, dtype=torch.int32))\n"
    )
    file = tmp_path / "test_overflows.py"
    file.write_text(text)
    with pytest.raises(AssertionError, match="does not fit int32"):
        compared(file)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_all_kernels(file: Path) -> None:
    launches, kernels = compared(file)
    assert launches >= kernels >= 1
