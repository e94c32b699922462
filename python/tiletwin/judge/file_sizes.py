"""Sizes that are constants of a reference's file, as in KernelBench: the same file with others.

Here:      which constants are sizes, what a model of given ones costs, which are small enough, problems made of them.
Not here:  the convention (conventions.py), cases (inputs.py).
Idea:      files are written for GPUs: batch_size = 32768. The text is loaded with other numbers, so weights, shapes and
           ranges of inputs follow as the file says. On the device "meta", which has no memory, torch tells what they
           cost and whether they fit each other.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tiletwin.judge.work import Work

Sizes = tuple[tuple[Any, int], ...]
"""New numbers by names; "shape[1]" is in a tuple. In their order."""
LEAST = 16
"""Smaller constants are no sizes that are made smaller."""
WORK = 64
"""Units of work for one element that may be spent."""
AS_IT_IS, SHRUNK = 1 << 20, 1 << 18
"""Elements of inputs and weights: up to which the file's own sizes are run, and of larger files made smaller."""


def _is_constant(value: ast.expr) -> bool:
    kinds = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(part, kinds) for part in ast.walk(value))


def _constants(tree: ast.Module) -> dict[str, int]:
    """Integers that a file's text gives names to, by name."""
    found: dict[str, int] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not _is_constant(node.value):
            continue
        value = eval(compile(ast.Expression(node.value), "<constant>", "eval"), {"__builtins__": {}})
        target = node.targets[0]
        if isinstance(target, ast.Name):
            named = {f"{target.id}[{i}]": item for i, item in enumerate(value)} if isinstance(value, tuple) else {}
            found |= {name: item for name, item in (named or {target.id: value}).items() if type(item) is int}
    return found


class FileSizes:
    """The constants of one file. load: makes a module of a changed text. values: all constants as the file has them."""

    def __init__(self, text: str, load: Callable[[ast.Module], ModuleType]) -> None:
        self._tree, self._load = ast.parse(text), load
        self.values = _constants(self._tree)
        self._costs: dict[Sizes, tuple[int, float] | None] = {}
        self._failed: dict[Sizes, str] = {}
        whole = self.cost(())
        self.names = [] if whole is None else [n for n, v in self.values.items() if v > 4 and self._is_size(n, whole)]
        """Of the constants that are sizes: other numbers cost something else."""
        self.note = self._noted()
        """Which constants are not varied because the file fails, and how; empty: none."""

    def module(self, sizes: Sizes) -> ModuleType:
        """The file with other constants. Errors: what it raises."""
        new, tree = dict(sizes), copy.deepcopy(self._tree)
        for node in tree.body:
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            if name in new:
                node.value = ast.copy_location(ast.Constant(new[name]), node.value)
            elif isinstance(node.value, ast.Tuple):
                for number, item in enumerate(node.value.elts):
                    if f"{name}[{number}]" in new:
                        node.value.elts[number] = ast.copy_location(ast.Constant(new[f"{name}[{number}]"]), item)
        return self._load(tree)

    def cost(self, sizes: Sizes) -> tuple[int, float] | None:
        """Elements of inputs and weights, and the work of one call, in units. None: the file does not take them, or
        its model asks for numbers, which this device has not; `note` tells of constants for which that is so."""
        sizes = tuple(sorted(sizes))
        if sizes not in self._costs:
            try:
                self._costs[sizes] = self._cost(sizes)
            except Exception as error:  # the file's own code, which may raise anything
                self._costs[sizes] = None
                self._failed[sizes] = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return self._costs[sizes]

    def _noted(self) -> str:
        if () in self._failed:
            return f"the file's sizes are not varied: without memory for its numbers it fails: {self._failed[()]}"
        failed = {name: self._failed.get(((name, value // 2),)) for name, value in self.values.items()}
        kept = [f"{name} ({why})" for name, why in failed.items() if why and name not in self.names]
        return f"constants that stay as they are, as the file fails with others: {', '.join(kept)}" if kept else ""

    def _cost(self, sizes: Sizes) -> tuple[int, float]:
        with torch.device("meta"), torch.no_grad():
            module, work = self.module(sizes), Work()
            inputs = module.get_inputs()
            model = module.Model(*constructor_arguments(module))
            if any(not value.numel() for value in model.parameters()):
                raise ValueError("its weights have no elements")
            with work:
                model(*inputs)
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        return sum(value.numel() for value in (*tensors, *model.parameters())), work.total

    def _is_size(self, name: str, whole: tuple[int, float]) -> bool:
        other = self.cost(((name, self.values[name] // 2),)) or self.cost(((name, self.values[name] * 2),))
        return other is not None and other != whole

    def fits(self, sizes: Sizes, most: int) -> bool:
        """Whether they need so many elements at most, and little work for each."""
        cost = self.cost(sizes)
        return cost is not None and cost[0] <= most and cost[1] <= WORK * most

    def smaller(self, most: int, declared: Any = ()) -> Sizes:
        """Sizes that fit, as near to the file's as halving gets; odd ones stay odd. declared: numbers that stay."""
        now: dict[Any, int] = {}
        free = [name for name in self.names if self.values[name] not in declared]
        while not self.fits(tuple(now.items()), most) and free:
            name = max(free, key=lambda n: now.get(n, self.values[n]))
            old = now.get(name, self.values[name])
            new = max(old // 2 | old & 1, LEAST)
            if new >= old or self.cost(tuple({**now, name: new}.items())) is None:
                free.remove(name)
            else:
                now[name] = new
        return tuple(now.items())

    def first(self, declared: Any = ()) -> Sizes:
        """Of the example."""
        return () if self.fits((), AS_IT_IS) else self.smaller(SHRUNK, declared)

    def said(self, sizes: Sizes) -> str:
        """ "batch_size 4096 → 512"."""
        return ", ".join(f"{name} {self.values[name]} → {new}" for name, new in sizes)


def constructor_arguments(module: ModuleType) -> list[Any]:
    """What a file of KernelBench's kind makes its model of."""
    given = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
    return [] if len(given) == 1 and isinstance(given[0], (list, tuple)) and not given[0] else given
