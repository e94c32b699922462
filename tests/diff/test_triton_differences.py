"""The differences of docs/triton_differences.md: what each side gives, and that there is none beside them.

Not here:  what Triton's interpreter does wrong (test_real_triton.py).
"""

from __future__ import annotations

from typing import Any

import difference_kernels as kernels
import numpy as np
import pytest
from tiletwin import diff
from tiletwin.diff import triton_process

pytest.importorskip("tiletwin._sim", reason="the simulator is not part of this build")
pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)


def both(kernel: Any, args: list, backend: str = "triton:sim") -> list[np.ndarray]:
    """What the interpreter and Triton's code leave in the argument o."""
    launch = diff.launch_of(kernel, (1,), args)
    report = diff.compare_launch(launch, ["interp", backend], localise=False)
    assert not any(outcome.unsupported or outcome.error for outcome in report.outcomes), report
    array = launch.arguments["o"]
    dtype = {"fp32": np.float32, "i32": np.int32}[array.type]
    return [outcome.memory[array.storage].view(dtype).reshape(array.shape) for outcome in report.outcomes]


def test_nan_between_two_bounds_of_one_size() -> None:
    x = np.array([np.nan, -np.nan, 5, -5, 0.5, np.inf, -np.inf, 0], np.float32)
    ours, theirs = both(kernels.clamped, [x, np.zeros(8, np.float32), -1.0, 1.0, 8])
    assert np.array_equal(ours, [-1, -1, 1, -1, 0.5, 1, -1, 0])
    assert np.array_equal(theirs[2:], ours[2:]) and sorted(theirs[:2]) == [-1, 1]
    for low, high, backend in ((-1.0, 2.0, "triton:sim"), (-1.0, 1.0, "triton:sim:sm_80")):
        ours, theirs = both(kernels.clamped, [x, np.zeros(8, np.float32), low, high, 8], backend)
        assert np.array_equal(ours, theirs) and ours[0] == low


def test_allow_tf32_that_is_a_constexpr_of_none() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 16, 16)).astype(np.float32)
    exact = a.astype(np.float64) @ b
    apart = {}
    for allow in (None, True, False):
        found = both(kernels.product, [a, b, np.zeros((16, 16), np.float32), allow, 16])
        apart[allow] = [bool(np.abs(side - exact).max() > 1e-4) for side in found]  # operands of tf32
    assert apart == {None: [True, False], True: [True, True], False: [False, False]}


@pytest.mark.parametrize("backend", ["triton:sim", "triton:sim:sm_80"])
def test_sums_of_int8_products(backend: str) -> None:
    a = np.full((32, 32), 127, np.int8)
    c = np.full((32, 32), 2**31 - 1, np.int32)
    ours, theirs = both(kernels.sums_of_products, [a, a, c, np.zeros((32, 32), np.int32), 32], backend)
    assert (ours == np.int64(2**31 - 1 + 32 * 127 * 127 - 2**32)).all()
    assert (theirs == 2**31 - 1).all()
