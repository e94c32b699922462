"""Checks of options: each takes an option's name and value, and gives the value to use.

Not here:  which option has which check (options.py, amd_options.py).
Errors of a check: OptionError, which names the option and the values that there are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tiletwin.errors import OptionError


def integer(value: Any) -> int | None:
    """Python's and NumPy's integers as an int; None for bools and everything else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def power_of_two(name: str, value: Any) -> int:
    number = integer(value)
    if number is None or number < 1 or number & (number - 1):
        raise OptionError(f"{name} must be a power of 2, at least 1, not {value!r}")
    return number


def not_negative(name: str, value: Any) -> int:
    number = integer(value)
    if number is None or number < 0:
        raise OptionError(f"{name} must be an int >= 0, not {value!r}")
    return number


def optional_positive(name: str, value: Any) -> int | None:
    number = integer(value)
    if value is not None and (number is None or number < 1):
        raise OptionError(f"{name} must be None or an int >= 1, not {value!r}")
    return number


def flag(name: str, value: Any) -> bool:
    if isinstance(value, str) or not (value is True or value is False or integer(value) in (0, 1)):
        # NumPy's bools are neither.
        if type(value).__name__ not in ("bool", "bool_"):
            raise OptionError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def among(*values: Any, told: str = "") -> Callable[[str, Any], Any]:
    """A check that takes these values. told: how errors list them."""
    wanted = told or f"one of {', '.join(map(str, values))}"

    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise OptionError(f"{name} must be {wanted}, not {value!r}")
        return type(values[0])(value)

    return check


def anything(name: str, value: Any) -> Any:
    return value
