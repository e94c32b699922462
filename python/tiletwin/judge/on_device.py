"""References whose arguments lie on the device "cuda": they get them there, and everybody else has them on the host.

Here:      the same problem for arguments of the host.
Not here:  inputs made of examples (inputs.py), TritonBench's functions, which launch kernels (tritonbench.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from tiletwin.judge.inputs import tensors_of
from tiletwin.judge.problem import Problem


def copies(
    tree: Any, to: Callable[[torch.Tensor], torch.Tensor]
) -> tuple[Any, list[tuple[torch.Tensor, torch.Tensor]]]:
    """A tree with other tensors, one for each, and pairs of both."""
    known: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return known.setdefault(id(value), (value, to(value)))[1]

    return tree_map(one, tree), list(known.values())


def for_host(problem: Problem) -> Problem:
    """The problem with examples on the host, where they lie on a device. Its functions get them there if they do not
    take them on the host: what rounding does to them is followed more closely there."""
    examples, there = problem.examples, [False]

    def on_host(seed: int) -> list[Any]:
        made = examples(seed)
        if not any(value.is_cuda for value in tensors_of(made)):
            return made
        made = copies(made, lambda value: value.cpu())[0]
        there[0] = there[0] or not _takes(problem.call, copies(made, torch.Tensor.clone)[0])
        return made

    problem.examples = on_host
    problem.call, problem.exact = _called(problem.call, there), _called(problem.exact, there)
    return problem


def _takes(function: Callable[..., Any], args: list[Any]) -> bool:
    try:
        with torch.no_grad():
            function(*args)
    except Exception:
        return False
    return True


def _called(function: Callable[..., Any], there: list[bool]) -> Callable[..., Any]:
    """there: whether the function wants its arguments on the device."""

    def run(*args: Any, **named: Any) -> Any:
        if not there[0]:
            return function(*args, **named)
        if isinstance(function, torch.nn.Module):
            function.cuda()
        (placed, its), pairs = copies((list(args), named), lambda value: value.cuda())
        before = [device._version for _, device in pairs]
        result = function(*placed, **its)
        for (host, device), version in zip(pairs, before):
            if device._version != version:
                host.copy_(device)
        return result

    run.__wrapped__ = function  # type: ignore[attr-defined]  # its signature, with defaults
    return run
