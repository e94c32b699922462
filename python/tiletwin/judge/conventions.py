"""Reads a problem: what is called, with which examples, and what the submission's file has to have.

Here:      the conventions, loading the reference (which the judge's user trusts).
Not here:  inputs made of the examples (inputs.py), the submission, whose text is read and never run here.
Conventions:
           functions    reference.py has a function and get_inputs() (or INPUTS); submission.py has one of its name
           kernelbench  Model, get_inputs(), get_init_inputs(); the submission has ModelNew
           tritonbench  two scripts, each kernels, a line of #, and functions test_* (tritonbench.py)
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import os
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import torch

from tiletwin.judge import on_device, tritonbench
from tiletwin.judge.file_sizes import FileSizes, constructor_arguments
from tiletwin.judge.problem import Problem
from tiletwin.judge.schema import ALL, DENSE, BadProblem, schema_of
from tiletwin.judge.scripts import divided
from tiletwin.judge.text_checks import parsed


def defined(text: str) -> dict[str, int]:
    """Names that a text defines at its top level, with their lines."""
    found: dict[str, int] = {}
    for node in parsed(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node.lineno
        elif isinstance(node, ast.Assign):
            found |= {target.id: node.lineno for target in node.targets if isinstance(target, ast.Name)}
    return found


def load(path: str) -> ModuleType:
    """The reference's file as a module; of a TritonBench script the part in front of its tests, which stand in
    `__tests__`. Errors: BadProblem."""
    module = ModuleType(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = os.path.abspath(path)
    try:
        with open(path) as file:
            text = file.read()
        text, tests = divided(text)
        if tests:
            module.__dict__["__tests__"] = tests
        module.__dict__["__text__"] = text
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
    names = defined(submission)
    if isinstance(getattr(module, "Model", None), type):
        return _kernelbench(module, module.__dict__["__text__"], entry)
    if "__tests__" in module.__dict__:
        return tritonbench.problem_of(module, entry)
    return on_device.for_host(_functions(module, names, entry, submission))


def _examples(module: ModuleType) -> Callable[[int], list[Any]]:
    if hasattr(module, "INPUTS"):
        return lambda seed: copy.deepcopy(list(module.INPUTS))
    if not callable(getattr(module, "get_inputs", None)):
        raise BadProblem("the reference's file says no inputs: it needs get_inputs(), a list of arguments")

    def examples(seed: int) -> list[Any]:
        torch.manual_seed(seed)
        try:
            made = module.get_inputs()
        except Exception as error:
            hint = (
                ""
                if "CUDA" not in str(error)
                else "; `tiletwin judge` emulates the device, and so does TILETWIN_INTERPRET=1"
            )
            raise BadProblem(f"the reference's get_inputs() fails: {type(error).__name__}: {error}{hint}") from error
        if isinstance(made, (dict, torch.Tensor)):
            raise BadProblem(f"the reference's get_inputs() gives a {type(made).__name__}, not a list of arguments")
        return list(made)

    return examples


def _kernelbench(module: ModuleType, text: str, entry: str) -> Problem:
    schema = schema_of(getattr(module, "JUDGE", {}), DENSE)
    file = str(module.__file__)

    def load_tree(tree: ast.Module) -> ModuleType:
        made = ModuleType(module.__name__)
        exec(compile(tree, file, "exec"), made.__dict__)
        return made

    sizes = FileSizes(text, load_tree) if "sizes" in schema.vary else None

    def problem(module: ModuleType) -> Problem:
        makes = constructor_arguments(module)
        torch.manual_seed(0)
        try:
            model = module.Model(*makes)
        except Exception as error:
            raise BadProblem(f"Model cannot be made: {type(error).__name__}: {error}") from error
        exact = copy.deepcopy(model).double()
        return on_device.for_host(Problem(
            "kernelbench", entry or schema.entry or "ModelNew", model, exact, _examples(module), schema, makes,
            {name: value.detach().clone() for name, value in model.state_dict().items()},
        ))  # fmt: skip

    if sizes is None or not sizes.names:
        made = problem(module)
        made.note = "" if sizes is None else sizes.note
        return made
    made = problem(sizes.module(sizes.first(schema.sizes)))
    made.note = sizes.note
    made.sizes, made.at = sizes, lambda new: problem(sizes.module(new))
    return made


def _own_functions(module: ModuleType) -> list[str]:
    """Names of the functions of Python that a module defines."""
    return [
        name for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name != "get_inputs"
    ]  # fmt: skip


def _functions(module: ModuleType, names: dict[str, int], entry: str, submission: str) -> Problem:
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
    examples = _examples(module)
    defaults = _common_defaults(function, submission, wanted, examples)
    return Problem("functions", wanted, function, function, examples, schema, defaults=defaults)


def _common_defaults(function: Callable[..., Any], submission: str, entry: str, examples: Any) -> list[Any]:
    """Defaults of arguments behind the examples', as far as the submission has arguments of these names there."""
    made = next((n for n in parsed(submission).body if isinstance(n, ast.FunctionDef) and n.name == entry), None)
    if made is None or made.args.vararg is not None:
        return []
    known = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if all(one.default is one.empty for one in known):
        return []
    names, given = [one.arg for one in made.args.posonlyargs + made.args.args], len(examples(0))
    both = itertools.takewhile(lambda pair: pair[0].name == pair[1], zip(known[given:], names[given:]))
    return [one.default for one, _ in both]
