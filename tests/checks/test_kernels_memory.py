"""The kernels of tests/kernels under checks of memory: their own tests pass, with findings as errors.

Results that depend on the order of programs are expected of the kernels that launch_checked.py lists.
"""

from __future__ import annotations

import re
from pathlib import Path

import children
import pytest
from test_kernels_unchanged import compared

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
# These replace the launch itself, and launch kernels of the other files.
OTHER = ("test_repeated_launches", "test_debug_plan")
FILES = sorted(path.stem for path in KERNELS.glob("test_*.py") if path.stem not in OTHER)


def passes(name: str, words: str) -> int:
    """How many tests of a file pass with TILETWIN_CHECK=words; none may fail."""
    printed = children.run_tests(
        KERNELS / f"{name}.py", "-p", "no:xdist", TILETWIN_CHECK=f"{words},raise", TILETWIN_EAGER="0"
    )
    found = re.search(r"(\d+) passed", printed)
    assert found, printed
    return int(found[1])


def test_a_sample() -> None:
    assert passes("test_rotary", "bounds,uninitialized,races,barriers") >= 2


def test_a_finding_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_race.py"
    file.write_text(
        "import torch, tiletwin as triton, tiletwin.language as tl\n"
        "@triton.jit\n"
        "def kernel(o_ptr):\n"
        "    tl.store(o_ptr, tl.program_id(0))\n"
        "def test_it():\n"
        "    kernel[(4,)](torch.zeros(1, dtype=torch.int32))\n"
    )
    with pytest.raises(AssertionError, match="nothing orders the two"):
        passes(str(file.with_suffix("")), "races")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FILES)
def test_all(name: str) -> None:
    assert passes(name, "bounds,uninitialized,races,barriers") >= 1


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FILES)
def test_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAUNCH_CHECKED_WORDS", "order")
    launches, kernels = compared(KERNELS / f"{name}.py")
    assert launches >= kernels >= 1
