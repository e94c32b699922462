"""Opens the extensions that not every build has to have. `_C` is in every build and not opened here.

Invariant: what is missing is an error that says how to get it, never a part of tiletwin that is silently absent. An
           extension is opened when it is first asked for.
"""

from __future__ import annotations

import functools
import importlib
from importlib.util import find_spec
from typing import Any


@functools.cache
def opened(name: str, what: str) -> Any:
    """The extension of that full name; errors call it `what`. Errors: RuntimeError, it is not there or cannot be
    loaded."""
    if find_spec(name) is None:
        raise RuntimeError(
            f"this build of tiletwin has no {name}, which is {what}: `make build` in the source tree builds "
            "it, and every wheel has it; kernels run on the CPU without it"
        )
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RuntimeError(f"{name}, which is {what}, cannot be loaded: {error}") from None


def code_generator() -> Any:
    """tiletwin._codegen. Errors: RuntimeError, as opened()."""
    return opened("tiletwin._codegen", "the code generator for GPUs")


def cuda() -> Any:
    """tiletwin._cuda. It needs no driver to be opened; its functions do. Errors: RuntimeError, as opened()."""
    return opened("tiletwin._cuda", "what runs kernels on NVIDIA GPUs")


def simulator() -> Any:
    """tiletwin._sim. Errors: RuntimeError, this CPU has no AVX2, or as opened()."""
    from tiletwin import _C

    _C.instruction_set()  # says what is missing
    return opened("tiletwin._sim", "the simulator")
