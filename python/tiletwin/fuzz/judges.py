"""Who judges a program: ways to run its launch, each a backend of the tester.

Here:      the table of judges by name.
Not here:  what each is known not to do like the others (avoided.py), verdicts and bounds (tiletwin.diff),
           twins (twins.py), campaigns (campaign.py).
Invariant: a judge keeps what is costly to start (another Python, a GPU) until close().
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiletwin import checks, variables
from tiletwin.diff import backend_names, backends
from tiletwin.diff.backends import Backend, InterpBackend, Outcome, SimBackend, Traits
from tiletwin.diff.launches import Launch, rebuilt


class Launcher(Backend):
    """The interpreter by way of an ordinary launch of the kernel, with specialization and the launcher's caches."""

    name = "launch"

    def run(self, launch: Launch) -> Outcome:
        if launch.function is None:
            return Outcome(self.name, unsupported="the launch has no function in this process")
        memory = launch.copies()
        values = {name: rebuilt(value, memory) for name, value in launch.arguments.items()}
        options = {name: launch.options[name] for name in ("num_warps", "num_stages") if name in launch.options}
        return backends._measured(self.name, memory, lambda: launch.function[launch.grid](**values, **options))


class Eager(Launcher):
    """The interpreter, stepped by Python operation by operation."""

    name = "eager"

    def run(self, launch: Launch) -> Outcome:
        with variables.Changes(TILETWIN_EAGER="1"), contextlib.redirect_stderr(io.StringIO()):
            return super().run(launch)


class Ieee(InterpBackend):
    """The interpreter with every operation rounded correctly."""

    name = "ieee"
    can_tap = False
    traits = Traits(keeps_tf32=True)  # type: ignore[assignment]

    def run(self, launch: Launch) -> Outcome:
        with variables.Changes(TILETWIN_NUMERICS="ieee"):
            outcome = super().run(launch)
        outcome.backend = self.name
        return outcome


class Sim(SimBackend):
    """The simulator with all of its checks, on code for one architecture."""

    def __init__(self, capability: int) -> None:
        self.name = f"sim:{capability}"
        self.capability = capability

    def run(self, launch: Launch) -> Outcome:
        with checks.aside(), np.errstate(all="ignore"):
            return self._outcome(launch, checks="all")

    def examine(self, launch: Launch) -> list[Any]:
        return []  # run() has


MAKERS = {
    "interp": InterpBackend,
    "launch": Launcher,
    "eager": Eager,
    "ieee": Ieee,
    "sim:80": lambda: Sim(80),
    "sim:90": lambda: Sim(90),
}
DEFAULT = "interp,twins,eager,sim:80,sim:90"


def names() -> list[str]:
    return [*MAKERS, "twins", *backend_names.NAMES, "triton:gpu", "triton:sim", "triton:sim:sm_80"]


def shared(word: str) -> tuple[str, int]:
    """The judge of a word like "triton:sim/8", and how many seeds there are for each one that it sees.

    Errors: ValueError, the number is none.
    """
    name, stroke, number = word.partition("/")
    if stroke and not (number.isdecimal() and int(number)):
        raise ValueError(f"judge {word!r}: behind the stroke stands which part of the programs it sees, as in {name}/8")
    return name, int(number or 1)


def of_seed(words: Sequence[str], seed: int) -> list[str]:
    """The judges that see the program of a seed."""
    return [name for name, every in map(shared, words) if seed % every == 0]


def make(name: str) -> Backend:
    """A judge by name, or a backend of the tester. Errors: ValueError, an unknown name."""
    if name in MAKERS:
        return MAKERS[name]()
    try:
        return backend_names.make(name)
    except ValueError as error:
        raise ValueError(f"{error}; judges are {', '.join(dict.fromkeys(names()))}") from None
