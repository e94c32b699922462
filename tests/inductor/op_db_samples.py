"""torch's databases of operators and of modules: what can be compiled, and inputs for it.

Here:      the list of entries, their samples, calling one, with gradients where torch has them.
Not here:  compiling and comparing (op_db_case.py), processes and files of results (op_db.py).
Invariant: two calls of a sample get equal inputs, the same random numbers, and a module in the same state.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map_only

LOOKED_AT = 40
"""Inputs of an operator among which some are chosen."""


@dataclass(frozen=True)
class Sample:
    """What is called with what."""

    function: Callable[..., Any]
    """An operator, or a torch.nn.Module."""
    args: tuple
    kwargs: dict[str, Any]

    def without_gradients(self) -> Sample:
        def detached(values: Any) -> Any:
            return tree_map_only(torch.Tensor, lambda x: x.detach(), values)

        function = self.function
        if isinstance(function, torch.nn.Module):
            function = copy.deepcopy(function).requires_grad_(False)
        return replace(self, function=function, args=detached(self.args), kwargs=detached(self.kwargs))


@dataclass(frozen=True)
class Entry:
    """An operator or a module, in one type."""

    name: str
    make: Callable[[bool], Iterable[Sample]]
    """Its samples; True: with tensors that want gradients."""
    gradients: bool
    """Whether torch defines gradients in this type."""

    def samples(self, count: int) -> list[Sample]:
        """Some of the samples, from the first to the last."""
        torch.manual_seed(0)
        found = list(itertools.islice(self.make(self.gradients), LOOKED_AT))
        count = min(count, len(found))
        return [found[round(i * (len(found) - 1) / max(count - 1, 1))] for i in range(count)]


def entries(device: str, dtypes: Iterable[torch.dtype]) -> Iterator[Entry]:
    """All operators, then all modules."""
    wanted = list(dtypes)
    for op in op_db:
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        supported, differentiable = op.supported_dtypes(device), op.supported_backward_dtypes(device)
        for dtype in wanted:
            if dtype in supported:
                yield Entry(f"{name} {_word(dtype)}", _of_operator(op, device, dtype), dtype in differentiable)
    for module in module_db:
        for dtype in wanted:
            if dtype in module.supported_dtypes(device):
                yield Entry(f"{module.name} {_word(dtype)}", _of_module(module, device, dtype), True)


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _of_operator(op: Any, device: str, dtype: torch.dtype) -> Callable[[bool], Iterable[Sample]]:
    def samples(gradients: bool) -> Iterator[Sample]:
        for sample in op.sample_inputs(device, dtype, requires_grad=gradients):
            yield Sample(op.get_op(), (sample.input, *sample.args), sample.kwargs)

    return samples


def _of_module(info: Any, device: str, dtype: torch.dtype) -> Callable[[bool], Iterable[Sample]]:
    def samples(gradients: bool) -> Iterator[Sample]:
        for given in info.module_inputs_func(info, device, dtype, requires_grad=gradients, training=True):
            made, forward = given.constructor_input, given.forward_input
            if forward is not None:
                module = info.module_cls(*made.args, **made.kwargs).to(device, dtype)
                yield Sample(module, forward.args, forward.kwargs)

    return samples


def call(sample: Sample, wrap: Callable[[Any], Any] = lambda function: function) -> tuple[Any, list[Any]]:
    """Results, a module's buffers among them, and gradients of all tensors that want them; wrap: the compiler."""
    torch.manual_seed(1)
    function = sample.function
    args, kwargs = tree_map_only(torch.Tensor, _copied, (sample.args, sample.kwargs))
    inputs, buffers = list(tree_leaves((args, kwargs))), []
    if isinstance(function, torch.nn.Module):
        function = copy.deepcopy(function)
        inputs += function.parameters()
        buffers = list(function.buffers())
        run = wrap(function)
    else:
        run = wrap(lambda *a, **k: function(*a, **k))
    results = run(*args, **kwargs)
    found = [x for x in tree_leaves(results) if isinstance(x, torch.Tensor) and x.requires_grad]
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    gradients: Iterable[Any] = ()
    if found and wanted:
        gradients = torch.autograd.grad(found, wanted, [_weights(x) for x in found], allow_unused=True)
    return tree_map_only(torch.Tensor, lambda x: x.detach().clone(), ([results, buffers], list(gradients)))


def _copied(x: torch.Tensor) -> torch.Tensor:
    return x.detach().clone().requires_grad_(x.requires_grad)


def _weights(x: torch.Tensor) -> torch.Tensor:
    """The gradient of a result: no two elements alike."""
    return torch.linspace(0.5, 1.5, x.numel(), device=x.device).reshape(x.shape).to(x.dtype)
