"""The kernels of tests/kernels leave the same bits in both modes: their tests run with each new launch done twice.

Sums by atomics depend on the order of programs, so these runs have one thread.
"""

from __future__ import annotations

import re
from pathlib import Path

import children
import pytest

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
REPLACE_LAUNCHES = {"test_repeated_launches", "test_debug_plan"}
"""They launch the other modules' kernels in ways of their own."""
FILES = sorted(path for path in KERNELS.glob("test_*.py") if path.stem not in REPLACE_LAUNCHES)


def compared(file: Path, programs: int) -> tuple[int, int]:
    """(launches, kernels) that the tests of `file` compared; they must pass."""
    printed = children.run_tests(
        file, "-x", "-p", "launch_twice", paths=[HERE], LAUNCH_TWICE_PROGRAMS=str(programs), TILETWIN_NUM_THREADS="1",
        TILETWIN_EAGER="0",
    )  # fmt: skip
    found = re.search(r"launch_twice: (\d+) launches of (\d+) kernels compared", printed)
    assert found, printed
    return int(found[1]), int(found[2])


def test_a_sample_of_kernels() -> None:
    launches, kernels = compared(KERNELS / "test_prefix_sums.py", programs=4)
    assert launches >= 10 and kernels >= 3


def test_a_difference_is_noticed(tmp_path: Path) -> None:
    """A kernel whose compiled and eager results differ by design: it counts how often it was read."""
    text = (
        "import torch, tiletwin as triton, tiletwin.language as tl\n"
        "calls = []\n"
        "@triton.constexpr_function\n"
        "def number():\n"
        "    calls.append(0)\n"
        "    return len(calls)\n"
        "@triton.jit\n"
        "def kernel(o_ptr):\n"
        "    tl.store(o_ptr, number())\n"
        "def test_it():\n"
        "    kernel[(1,)](torch.zeros(4, dtype=torch.int32))\n"
    )
    file = tmp_path / "test_differs.py"
    file.write_text(text)
    with pytest.raises(AssertionError, match="eager mode differs from compiled mode"):
        compared(file, programs=4)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_all_kernels(file: Path) -> None:
    launches, kernels = compared(file, programs=16)
    assert launches >= kernels >= 1
