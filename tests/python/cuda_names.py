"""Prints, as JSON, what each name of torch.cuda and its like is: run with and without the emulated CUDA.

Of a class: its bases and members; of a function: its parameters with kinds and defaults.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
import types

import torch

ROOTS = ("torch.cuda", "torch.accelerator", "torch.backends.cuda", "torch.amp", "torch.nn.parallel")


def modules() -> list[str]:
    names = list(ROOTS)
    for root in ROOTS:
        names += [f"{root}.{m.name}" for m in pkgutil.iter_modules(importlib.import_module(root).__path__)]
    return names


def _bases(value: type) -> list[str]:
    """Without the base of classes that pybind11 makes, which a build without CUDA does not have."""
    return [base.__name__ for base in value.__mro__ if base.__name__ != "pybind11_object"]


def parameters(value: object) -> list[str] | None:
    try:
        found = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return [f"{p.kind.name} {p.name} {'' if p.default is p.empty else type(p.default).__name__}" for p in found]


def describe(value: object) -> object:
    made_in_c = type(value).__name__ in (
        "tensortype",
        "CudaTensorType",
    )  # torch.cuda.FloatTensor
    if isinstance(value, type) and (made_in_c or not value.__module__.startswith(ROOTS)):
        return ["class", _bases(value)]
    if isinstance(value, type):
        own = {n: parameters(v) if callable(v) else type(v).__name__ for n, v in vars(value).items() if n[:1] != "_"}
        return ["class", _bases(value), own]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if callable(value):
        return ["function", parameters(value)]
    return ["value"]


def main() -> None:
    found = {}
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for attribute, value in vars(module).items():
            if not attribute.startswith("__"):
                found[f"{name}.{attribute}"] = describe(value)
    json.dump({"cuda": torch.cuda.is_available(), "names": found}, sys.stdout)


if __name__ == "__main__":
    main()
