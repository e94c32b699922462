"""Opens the extensions that not every build has to have. `_C` is in every build and not opened here.

Invariant: what is missing is an error that says how to get it, never a part of tiletwin that is silently absent.
"""

from __future__ import annotations

import functools
import importlib
from importlib.util import find_spec
from types import ModuleType


@functools.cache
def opened(name: str, what: str) -> ModuleType:
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
