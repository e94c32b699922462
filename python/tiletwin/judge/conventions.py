"""Reads a problem: what is called, with which examples, and what the submission's file has to have.

Here:      the conventions, loading the reference (which the judge's user trusts).
Not here:  inputs made of the examples (inputs.py), the submission, whose text is read and never run here.
Conventions:
           functions    reference.py has a function and get_inputs() (or INPUTS); submission.py has one of its name
           kernelbench  Model, get_inputs(), get_init_inputs(); the submission has ModelNew
           tritonbench  two scripts, each kernels, a line of #, and functions test_*; arguments are what the reference's
                        tests call its function with
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from tiletwin.judge.schema import BadProblem, Schema, schema_of

ALL = ("sizes", "values", "strides", "offsets", "dtypes", "aliases", "special")
DENSE = ("sizes", "values", "special")
"""KernelBench's inputs are dense and do not alias."""


@dataclass
class Problem:
    """call: the reference on given arguments. exact: the reference whose own numbers are float64. examples: arguments
    for a seed. makes: arguments of a module's constructor; None: a function is called. weights: its state."""

    convention: str
    entry: str
    call: Callable[..., Any]
    exact: Callable[..., Any]
    examples: Callable[[int], list[Any]]
    schema: Schema
    makes: list[Any] | None = None
    weights: dict[str, torch.Tensor] = field(default_factory=dict)


def defined(text: str) -> dict[str, int]:
    """Names that a text defines at its top level, with their lines. Errors: SyntaxError."""
    found: dict[str, int] = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node.lineno
        elif isinstance(node, ast.Assign):
            found |= {target.id: node.lineno for target in node.targets if isinstance(target, ast.Name)}
    return found


_LINE = re.compile(r"^#{20,}\s*$", re.MULTILINE)
"""Ends the part of a TritonBench script that is judged."""


def load(path: str) -> ModuleType:
    """The reference's file as a module; of a TritonBench script the part in front of its tests, which stand in
    `__tests__`. Errors: BadProblem."""
    module = ModuleType(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = os.path.abspath(path)
    try:
        with open(path) as file:
            text = file.read()
        end = _LINE.search(text)
        if end is not None and re.search(r"^def test_", text[end.end() :], re.MULTILINE):
            tests = "\n" * text[: end.end()].count("\n") + text[end.end() :]
            module.__dict__["__tests__"], text = compile(tests, module.__file__, "exec"), text[: end.start()]
        exec(compile(text, module.__file__, "exec"), module.__dict__)
    except OSError as error:
        raise BadProblem(f"{path}: {error.strerror}") from None
    except Exception as error:
        raise BadProblem(f"{path}: the reference cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def problem_of(path: str, submission: str, entry: str = "") -> Problem:
    """The problem of a reference's file. submission: the other file's text. entry: what it has to define.

    Raises: BadProblem: it is none of the conventions, or something is missing.
    """
    module = load(path)
    try:
        names = defined(submission)
    except (SyntaxError, ValueError):
        names = {}
    if isinstance(getattr(module, "Model", None), type):
        return _kernelbench(module, entry)
    if "__tests__" in module.__dict__:
        return _tritonbench(module, entry)
    return _functions(module, names, entry)


def _examples(module: ModuleType) -> Callable[[int], list[Any]]:
    if hasattr(module, "INPUTS"):
        return lambda seed: copy.deepcopy(list(module.INPUTS))
    if not callable(getattr(module, "get_inputs", None)):
        raise BadProblem("the reference's file says no inputs: it needs get_inputs(), a list of arguments")

    def examples(seed: int) -> list[Any]:
        torch.manual_seed(seed)
        return list(module.get_inputs())

    return examples


def _kernelbench(module: ModuleType, entry: str) -> Problem:
    schema = schema_of(getattr(module, "JUDGE", {}), DENSE)
    given = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
    makes = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) and not given[0] else given
    torch.manual_seed(0)
    try:
        model = module.Model(*makes)
    except Exception as error:
        raise BadProblem(f"Model cannot be made: {type(error).__name__}: {error}") from error
    exact = copy.deepcopy(model).double()
    return Problem(
        "kernelbench", entry or schema.entry or "ModelNew", model, exact, _examples(module), schema, list(makes),
        {name: value.detach().clone() for name, value in model.state_dict().items()},
    )  # fmt: skip


def _on_host(value: Any) -> Any:
    return value.detach().cpu().clone() if isinstance(value, torch.Tensor) else value


def _own_functions(module: ModuleType) -> list[str]:
    """Names of the functions of Python that a module defines."""
    return [
        name for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name != "get_inputs"
    ]  # fmt: skip


def _tritonbench(module: ModuleType, entry: str) -> Problem:
    """Runs the tests once. The function that they call first is the one that is judged."""
    calls: list[tuple[str, list[Any]]] = []
    inside = [0]

    def recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if not inside[0]:
                bound = inspect.signature(function).bind(*args, **kwargs)
                calls.append((name, tree_map(_on_host, list(bound.args))))
                if bound.kwargs:
                    calls.pop()
            inside[0] += 1
            try:
                return function(*args, **kwargs)
            finally:
                inside[0] -= 1

        return run

    own = {name: getattr(module, name) for name in _own_functions(module)}
    module.__dict__.update({name: recording(name, function) for name, function in own.items()})
    try:
        exec(module.__dict__["__tests__"], module.__dict__)
    except Exception as error:
        raise BadProblem(f"the reference's tests fail: {type(error).__name__}: {error}") from error
    module.__dict__.update(own)
    schema = schema_of(module.__dict__.get("JUDGE", {}), DENSE)
    name = schema.reference or (calls[0][0] if calls else "")
    examples = [args for called, args in calls if called == name]
    if not examples:
        raise BadProblem("the reference's tests call none of its functions with arguments in order")
    function = own[name]
    return Problem(
        "tritonbench", entry or schema.entry or name, function, function,
        lambda seed: copy.deepcopy(examples[seed % len(examples)]), schema,
    )  # fmt: skip


def _functions(module: ModuleType, names: dict[str, int], entry: str) -> Problem:
    schema = schema_of(getattr(module, "JUDGE", {}), ALL)
    own = _own_functions(module)
    common = [name for name in own if name in names]
    reference = schema.reference or (common[0] if len(common) == 1 else "reference" if "reference" in own else "")
    reference = reference or (own[0] if len(own) == 1 else "")
    if not reference or not callable(getattr(module, reference, None)):
        found = f"it has {', '.join(own)}" if own else "it has no function"
        raise BadProblem(f"which function of the reference is meant? {found}; JUDGE = {{'reference': NAME}} says it")
    wanted = entry or schema.entry or (reference if reference in names else "")
    wanted = wanted or next((name for name in ("launch", "solution", "submission") if name in names), reference)
    function = getattr(module, reference)
    return Problem("functions", wanted, function, function, _examples(module), schema)
