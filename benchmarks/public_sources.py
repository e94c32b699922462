"""Public repositories whose kernels are timed: where each comes from, and how a module of one is imported alone.

Here:      the table of repositories, `module`, `Case`, the list of cases.
Not here:  the cases (public_rows*.py), the clock (public_kernels.py).
Invariant: nothing of these repositories is part of this one. They are cloned beside it and run as they are.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORIES = {
    "Liger-Kernel": "https://github.com/linkedin/Liger-Kernel ead96b618e",
    "flash-linear-attention": "https://github.com/fla-org/flash-linear-attention bc3b101dcb",
    "attorch": "https://github.com/BobMcDear/attorch 67c2772baf",
    "mamba": "https://github.com/state-spaces/mamba e9594ce1c7",
    "flash-attention": "https://github.com/Dao-AILab/flash-attention 0251105a2f",
    "applied-ai": "https://github.com/pytorch-labs/applied-ai 4f8c39eb70",
    "bitsandbytes": "https://github.com/bitsandbytes-foundation/bitsandbytes 95f9af309d",
    "kernels": "https://github.com/triton-lang/kernels eeeebdd8be",
    "LeetCUDA": "https://github.com/xlite-dev/LeetCUDA cb6a0497e8",
    "lightllm": "https://github.com/ModelTC/lightllm fc72ffab9a",
    "kernl": "https://github.com/ELS-RD/kernl 91e2cd92db",
    "TritonBench": "https://github.com/thunlp/TritonBench 603e28a505",
}
"""Folder, address and commit. The cases were written for these commits."""

# Packages whose own __init__ imports more than their kernels need: module name -> folder of the clone.
PACKAGES = {
    "liger_kernel": "Liger-Kernel/src/liger_kernel",
    "fla": "flash-linear-attention/fla",
    "fla.ops": "flash-linear-attention/fla/ops",
    "fla.modules": "flash-linear-attention/fla/modules",
    "attorch": "attorch/attorch",
    "mamba_ssm": "mamba/mamba_ssm",
    "mamba_ssm.ops": "mamba/mamba_ssm/ops",
    "mamba_ssm.utils": "mamba/mamba_ssm/utils",
    "mamba_ssm.ops.triton": "mamba/mamba_ssm/ops/triton",
    "flash_attn": "flash-attention/flash_attn",
    "flash_attn.ops": "flash-attention/flash_attn/ops",
    "flash_attn.ops.triton": "flash-attention/flash_attn/ops/triton",
    "bnb_triton": "bitsandbytes/bitsandbytes/backends/triton",
    "triton_kernels_of_triton": "kernels/kernels",
}

# Modules that must be imported before any other of a package, whose imports go in a circle.
FIRST = {"fla": "fla.ops.backends"}


@dataclass(frozen=True)
class Case:
    """A call of a public kernel."""

    name: str
    repository: str
    make: Callable[[], Callable[[], Any]]
    """Makes the arguments and returns the call, which returns a tensor or a tuple of tensors."""


CASES: dict[str, Case] = {}
SMALL = os.environ.get("PUBLIC_KERNELS_SMALL") == "1"


def case(repository: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Adds a function that makes a call to the list."""

    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        CASES[make.__name__] = Case(make.__name__, repository, make)
        return make

    return add


def size(full: int, small: int) -> int:
    """A size of a case: the second one where cases are only tried (`--small`)."""
    return small if SMALL else full


def root() -> Path:
    return Path(os.environ["PUBLIC_KERNELS_AT"])


def module(name: str) -> Any:
    """A module of one of the packages, without the packages' own __init__."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        package = ".".join(parts[:end])
        if package in PACKAGES and package not in sys.modules:
            made = types.ModuleType(package)
            made.__path__ = [str(root() / PACKAGES[package])]
            made.__spec__ = importlib.machinery.ModuleSpec(package, None, is_package=True)
            made.__spec__.submodule_search_locations = made.__path__
            made.__dict__["__version__"] = "0"
            sys.modules[package] = made
    first = FIRST.get(parts[0])
    if first and first != name and first not in sys.modules:
        module(first)
    return importlib.import_module(name)


def script(path: str) -> Any:
    """A file of the clones as a module of its own."""
    name = "public_" + path.replace("/", "_").removesuffix(".py").replace("-", "_")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, root() / path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
