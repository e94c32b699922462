"""A plugin for pytest: launches run twice, on copies of the arguments with TILETWIN_CHECK, and as they are.

Both must leave the same bytes, and the checks must find nothing: `pytest -p launch_checked tests/kernels`.

Here:      which launches are compared, what is allowed to be found.
Not here:  copying and comparing (tests/eager/launch_twice.py), which tests run (test_kernels_unchanged.py).
Invariant: a kernel with the same types and compile-time values is looked at once; programs of both launches run in the
           order of their ids.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "eager"))
from launch_twice import compared, eager_launch, is_new, launched, replace_launches
from tiletwin import checks
from tiletwin.runtime.jit import JITFunction

WORDS = os.environ.get("LAUNCH_CHECKED_WORDS", "undefined,nan,overflow,promises")
# Kernels that do on purpose what a check is about: words that may be found, and why.
ALLOWED: dict[str, tuple[str, str]] = {
    "_split_k": ("order", "float sums by atomics"),
    "_lookup_bwd": ("order", "float sums by atomics"),
    "_layer_norm_bwd_locked": ("order", "rows are summed in the order in which they get the lock"),
    "_compact": ("order", "numbers are kept in the order of programs' arrival"),
    "_softmax_row": ("nan", "a test hands it rows with infinities"),
    "_persistent": ("promises", "rows and columns behind the last are 0, 0, ...: no run, and their results go nowhere"),
}


def launch_checked(fn: JITFunction, grid: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    launch = fn._launcher.bind(grid)
    if not is_new(fn, args, kwargs):
        return launch(*args, **kwargs)
    checks.clear()
    copier = eager_launch(launch, args, kwargs, {"TILETWIN_CHECK": WORDS})
    found = checks.findings()
    checks.clear()
    kernel = launch(*args, **kwargs)
    differences = copier.differences()
    assert not differences, f"{fn.__name__}: checks changed the results: {differences}"
    allowed = ALLOWED.get(fn.__name__, ("", ""))[0].split()
    unexpected = [str(finding) for finding in found if finding.check not in allowed]
    assert not unexpected, "\n".join(unexpected)
    return kernel


def pytest_configure() -> None:
    replace_launches(launch_checked)


def pytest_unconfigure() -> None:
    print(f"\nlaunch_checked: {len(compared)} launches of {len(launched)} kernels compared", file=sys.__stdout__)
