"""What several backends leave in the argument `o` of a launch, for test_triton_*.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from tiletwin import diff
from tiletwin.diff.launches import Descriptor

_NUMPY = {"fp16": np.float16, "fp32": np.float32, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def sides(kernel: Any, args: list, *backends: str, grid: tuple[int, ...] = (1,), **options: int) -> list[np.ndarray]:
    """One array a backend. Errors: AssertionError, one of them did not run."""
    launch = diff.launch_of(kernel, grid, args, **options)
    report = diff.compare_launch(launch, list(backends), localise=False)
    assert not any(outcome.unsupported or outcome.error for outcome in report.outcomes), report
    array = launch.arguments["o"]
    array = array.base if isinstance(array, Descriptor) else array
    return [outcome.memory[array.storage].view(_NUMPY[array.type]).reshape(array.shape) for outcome in report.outcomes]


def refusal(kernel: Any, args: list, backend: str) -> str:
    """Why a backend does not run a launch. Errors: AssertionError, it does, or the interpreter does not."""
    launch = diff.launch_of(kernel, (1,), args)
    first, other = diff.compare_launch(launch, ["interp", backend], localise=False).outcomes
    assert not (first.unsupported or first.error)
    assert other.unsupported or other.error
    return str(other.unsupported or other.error)
