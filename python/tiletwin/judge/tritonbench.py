"""TritonBench's convention: a script is kernels, a line of #, and tests, which are run on the submission as they are.

Here:      the tests' results with the reference, the calls that they make of its functions.
Not here:  other conventions (conventions.py), the same tests in the worker's process (worker.py).
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import time
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tiletwin import knobs
from tiletwin.judge.on_device import copies
from tiletwin.judge.problem import Known, Problem
from tiletwin.judge.schema import DENSE, BadProblem, schema_of
from tiletwin.judge.scripts import results_of_tests
from tiletwin.judge.watching import Operations

MOST_CALLS = 8
"""Of one function, that become examples."""


def _own_functions(module: ModuleType) -> dict[str, Any]:
    return {n: v for n, v in vars(module).items() if isinstance(v, FunctionType) and v.__module__ == module.__name__}


@contextlib.contextmanager
def _filled_memory() -> Iterator[None]:
    """Memory that nobody has written holds NaN, as in the worker."""
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    # torch.use_deterministic_algorithms imports inductor as well, which takes seconds.
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(was[0], warn_only=was[1])


def _on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors of the device, for tensors of the host, which it writes too."""

    def run(*args: Any) -> Any:
        placed, pairs = copies(list(args), lambda value: value.detach().cuda())
        with _filled_memory():
            result = function(*placed)
        for host, device in pairs:
            host.copy_(device)
        return tree_map(lambda v: v.detach().cpu() if isinstance(v, torch.Tensor) else v, result)

    return run


class _Calls:
    """Records the calls that tests make of a module's functions."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.functions = module, _own_functions(module)
        self.made: list[tuple[str, list[Any]]] = []
        self.launching: list[str] = []
        """Functions of which a call has launched a kernel, in their order."""
        self._depth, self._launches = 0, 0

    def _count(self, _: Any) -> None:
        self._launches += 1

    def __enter__(self) -> _Calls:
        knobs.runtime.launch_enter_hook.add(self._count)
        vars(self.module).update({name: self._recording(name, f) for name, f in self.functions.items()})
        return self

    def __exit__(self, *_: object) -> None:
        knobs.runtime.launch_enter_hook.remove(self._count)
        vars(self.module).update(self.functions)

    def _recording(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if not self._depth and sum(called == name for called, _ in self.made) < MOST_CALLS:
                self._record(name, function, args, kwargs)
            self._depth, before = self._depth + 1, self._launches
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if not self._depth and self._launches > before and name not in self.launching:
                    self.launching.append(name)

        return run

    def _record(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        with contextlib.suppress(TypeError):  # the call says what is wrong with it
            bound = inspect.signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            values = list(bound.args)
            leaves = tree_leaves(values)
            plain = all(
                leaf is None or isinstance(leaf, (torch.Tensor, torch.dtype, bool, int, float, str)) for leaf in leaves
            )
            if not bound.kwargs and plain and any(isinstance(leaf, torch.Tensor) for leaf in leaves):
                self.made.append((name, copies(values, lambda value: value.detach().cpu().clone())[0]))


def problem_of(module: ModuleType, entry: str) -> Problem:
    """Runs the tests once. Errors: BadProblem, they fail."""
    schema = schema_of(vars(module).get("JUDGE", {}), DENSE)
    text, file = vars(module)["__tests__"], str(module.__file__)
    operations = Operations(file, only_own=True)
    torch.manual_seed(0)
    started = time.process_time()
    try:
        with _Calls(module) as calls, operations, _filled_memory(), contextlib.redirect_stdout(io.StringIO()):
            results = results_of_tests(text, vars(module), file)
    except Exception as error:
        raise BadProblem(f"the reference's tests fail: {type(error).__name__}: {error}") from error
    spent = time.process_time() - started
    tensors = [leaf.detach().cpu().clone() for leaf in tree_leaves(results) if isinstance(leaf, torch.Tensor)]
    work = sum(row[3] for row in operations.rows())
    recorded = [called for called, _ in calls.made if called in calls.launching]
    name = schema.reference or next(iter(recorded), "")
    made = Problem("tritonbench", name or "its tests", _none, _none, lambda seed: [], schema)
    made.known, made.tests = Known(tensors, work, spent), text
    examples = [args for called, args in calls.made if called == name]
    if examples:
        run = _on_device(calls.functions[name])
        made.calls = Problem(
            "tritonbench", entry or schema.entry or name, run, run,
            lambda seed: copy.deepcopy(examples[seed % len(examples)]), schema,
        )  # fmt: skip
    return made


def _none(*_: Any) -> None:
    """The results of tests are known."""
