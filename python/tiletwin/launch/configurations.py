"""Configurations of an autotuner on the CPU: the first that compiles; for TILETWIN_AUTOTUNE=all, all beside each other.

Here:      which one compiles; runs on copies of the arguments, what they wrote compared; the error where none is left.
Not here:  the choice by time (gpu_tuning.py), the choice by estimates (tuning_estimates.py).
"""

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from tiletwin._activate import backend
from tiletwin.errors import AutotunerError, CompilationError, DifferenceError, OutOfResources, PTXASError
from tiletwin.tools.tensor_descriptor import TensorDescriptor

_ROUNDING = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 2.0**-48}
"""Of one operation, relative to the largest value; others are float32's and narrower."""


def copied(value: Any) -> Any:
    """A copy of an array argument, or of a descriptor with its array; other values are returned as they are."""
    if isinstance(value, TensorDescriptor):
        return dataclasses.replace(value, base=copied(value.base))
    if hasattr(value, "data_ptr") and hasattr(value, "clone"):
        return value.clone()
    if hasattr(value, "__array_interface__") and hasattr(value, "copy"):
        return value.copy()
    return value


def _array_of(value: Any) -> Any:
    """The array that an argument is, or describes; None: neither."""
    if isinstance(value, TensorDescriptor):
        return value.base
    return value if hasattr(value, "data_ptr") or hasattr(value, "__array_interface__") else None


def _numbers(value: Any) -> Any:
    """An array argument as float64 or integer NumPy array, for comparison."""
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return (value.double() if value.is_floating_point() else value).numpy()
    value = numpy.asarray(value)
    return value.astype(numpy.float64) if value.dtype.kind not in "biu" else value


def _largest_difference(x: Any, y: Any) -> float:
    """The largest |x - y|; infinite where only one is NaN or the shapes differ."""
    import numpy

    a, b = _numbers(x), _numbers(y)
    if a.shape != b.shape:
        return float("inf")
    if a.size == 0:
        return 0.0
    if a.dtype.kind in "biu":
        return float(numpy.max(numpy.abs(a.astype(object) - b.astype(object))))
    only_one = numpy.isnan(a) != numpy.isnan(b)
    if only_one.any():
        return float("inf")
    same = (a == b) | numpy.isnan(a)
    with numpy.errstate(invalid="ignore"):
        return float(numpy.max(numpy.where(same, 0.0, numpy.abs(a - b))))


def _bound(value: Any) -> float:
    """How far two arrays of this type and size may differ by rounding."""
    import numpy

    numbers = _numbers(value)
    if numbers.dtype.kind in "biu":
        return 0.0
    largest = float(numpy.max(numpy.abs(numbers), initial=0.0, where=numpy.isfinite(numbers)))
    return largest * 8 * _ROUNDING.get(str(value.dtype).rpartition(".")[2], 2.0**-19)


def compare_all(tuner: Any, configs: list[Any], args: tuple, grid: Any, kwargs: dict[str, Any]) -> None:
    """Runs each configuration of an Autotuner on copies and compares what they wrote with the first one's.

    Raises:
        DifferenceError: two configurations differ by more than rounding explains.
    """
    reference: dict[str, Any] | None = None
    report = []
    for config in configs:
        trial_args = tuple(map(copied, args))
        trial_kwargs = {name: copied(value) for name, value in kwargs.items()}
        named = tuner._arguments(trial_args, trial_kwargs)
        tuner._default_pre_hook(named, reset_only=True)
        try:
            tuner._launch(config, trial_args, grid, trial_kwargs)
        except (CompilationError, OutOfResources) as error:
            print(f"tiletwin: {tuner.__name__}: configuration {config} does not compile: {error}", file=sys.stderr)
            continue
        arrays = {name: array for name, value in named.items() if (array := _array_of(value)) is not None}
        if reference is None:
            reference, first = arrays, config
            continue
        for name, value in arrays.items():
            worst = _largest_difference(reference[name], value)
            if worst > _bound(reference[name]):
                report.append((str(first), str(config), name, worst))
    if report:
        text = "\n".join(f"  [{a}] and [{b}] differ in {name}: largest error {worst:g}" for a, b, name, worst in report)
        raise DifferenceError(f"{tuner.__name__}: autotuner configurations give different results:\n{text}", report)


def first_that_compiles(tuner: Any, configs: list[Any], args: tuple, grid: Any, kwargs: dict[str, Any]) -> Any:
    """The first configuration that compiles, and fits where code for a GPU runs on the simulator. Warns of others.

    Raises:
        AutotunerError: none does; of a single one its own error.
    """
    failures: list[tuple[Any, Exception]] = []
    on_simulator = backend() == "sim"
    if on_simulator:  # which runs code for a GPU, that has to fit
        from tiletwin.compiler.kernel import CompiledKernel
        from tiletwin.launch import sim_launch
    for config in configs:
        tuner._call_config_hook(config, args, kwargs)
        try:
            kernel = tuner.fn.run(*args, grid=grid, warmup=True, **{**kwargs, **config.all_kwargs()})
            if on_simulator and isinstance(kernel, CompiledKernel):
                sim_launch.check(kernel)
        except (CompilationError, OutOfResources) as error:
            failures.append((config, error))
            continue
        if failures:
            warnings.warn(
                f"{tuner.__name__}: {len(failures)} of {len(configs)} autotuner configurations do not compile, "
                f"the first is {failures[0][0]}: {failures[0][1]}",
                stacklevel=4,
            )
        return config
    raise nothing_left(tuner, failures, "compiles")


def nothing_left(tuner: Any, failures: Iterable[tuple[Any, Exception]], can: str) -> Exception:
    """What is raised if no configuration is left: of a single one its own error. can: "compiles", which none does."""
    listed = list(failures)
    if len(listed) == 1:
        return listed[0][1]
    text = "\n".join(f"  {config}: {reason(error)}" for config, error in listed)
    made = AutotunerError(f"{tuner.__name__}: none of the configurations {can}:\n{text}")
    made.__cause__ = listed[0][1]
    return made


def reason(error: Exception) -> str:
    """An error in one line: a compiler says what is wrong under the source, a launch above it."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[-1 if isinstance(error, (CompilationError, PTXASError)) else 0]
