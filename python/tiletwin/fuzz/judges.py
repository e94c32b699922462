"""Who judges a program: ways to run its launch, each a backend of the tester.

Here:      the table of judges by name; what each is known not to do like the others.
Not here:  verdicts and bounds (tiletwin.diff), twins (twins.py), campaigns (campaign.py).
Invariant: a judge keeps what is costly to start (another Python, a GPU) until close().
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tiletwin import checks
from tiletwin.diff import backends
from tiletwin.diff.backends import Backend, InterpBackend, Outcome, SimBackend, Traits
from tiletwin.diff.launches import Launch, rebuilt
from tiletwin.fuzz.tree import Op, Program, ops


@contextlib.contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Environment variables while something runs."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


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
        with environment(TILETWIN_EAGER="1"), contextlib.redirect_stderr(io.StringIO()):
            return super().run(launch)


class Ieee(InterpBackend):
    """The interpreter with every operation rounded correctly."""

    name = "ieee"
    can_tap = False
    traits = Traits(keeps_tf32=True)  # type: ignore[assignment]

    def run(self, launch: Launch) -> Outcome:
        with environment(TILETWIN_NUMERICS="ieee"):
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
AVOIDED: dict[str, tuple[tuple[str, str], ...]] = {
    "triton": (
        (r"bfloat16", "Triton's interpreter computes with the bits of bfloat16, and casts to it by dropping bits"),
        (r"^dot_scaled:", "Triton's interpreter takes operands through float16, and rounds no scale"),
        (r"to\(tl\.float8", "Triton's interpreter loses the carry where it rounds to 8-bit floats"),
        (r": float8\w+( \w+)*: \{\}\.to\(tl\.b?float", "Triton's interpreter misreads special and tiny 8-bit floats"),
        (r"^dot: float8", "Triton's interpreter takes the NaN of 8-bit floats for a number in dots"),
        (r"rounding='rtz'", "Triton's interpreter makes NaN of what passes the largest float16"),
        (r"tl\.(full|zeros)\(.*tl\.float8", "Triton's interpreter takes numbers for the bits of 8-bit floats"),
        (r"^not:", "Triton's interpreter takes `and`, `or` and `not` of a tile as Python takes them"),
        (r"^arithmetic of 8-bit floats:", "Triton's interpreter computes with the bits of 8-bit floats"),
        (r"^descriptor atomic:", "Triton's interpreter has no reductions through descriptors"),
        (r"tl\.associative_scan\(.*, -\d, ", "Triton's interpreter takes 0 for what came before along a negative axis"),
    ),
    "triton:sim": (
        (r": float8e5( \w+)*: \{\}\.to\(tl\.bfloat16", "Triton's code makes numbers of special float8e5 in bfloat16"),
        (r"^rounding to whole numbers: float32", "Triton's code takes tiny numbers for 0 in floor and ceil"),
        (r"tl\.clamp\(\{\}, -1\.0, 1\.0\)", "Triton's code for sm_90 takes a NaN's sign between bounds of one size"),
        (r"^arithmetic of 8-bit floats:", "Triton's compiler has no arithmetic of 8-bit floats"),
        (r"\(by_bits|, by_bits", "Triton's compiler cannot combine 8-bit floats"),
        (r"^rounding mode: float64", "Triton's compiler rounds float64 to the nearest only"),
    ),
}
"""By judge: what it is known to do wrong, as a pattern of `form: types: text` of a statement, and in words. It is not
asked about programs that have such a statement. docs/triton_differences.md tells more."""
DEFAULT = "interp,twins,eager,sim:80,sim:90"


def _line(op: Op) -> str:
    """A statement as patterns see it: form, element types of operands and results, text."""
    return f"{op.form}: {' '.join(value.type.element for value in (*op.operands, *op.results))}: {op.template}"


def avoided(judge: str, program: Program) -> str:
    """Why a judge is not asked about a program; empty: it is."""
    known = AVOIDED.get(judge, ())
    for op in ops(program) if known else ():
        line = _line(op)
        for pattern, why in known:
            if re.search(pattern, line):
                return why
    return ""


def names() -> list[str]:
    return [*MAKERS, "twins", *backends.NAMES, "triton:gpu", "triton:sim", "triton:sim:sm_80"]


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
        return backends.make(name)
    except ValueError as error:
        raise ValueError(f"{error}; judges are {', '.join(dict.fromkeys(names()))}") from None
