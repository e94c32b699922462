"""The simulator as a backend for tools that compare backends: a kernel that misbehaves is an outcome, no exception.

Here:      Backend, Outcome, BACKEND; whose fault an error is.
Not here:  launches (modules.py); the same for C++ (sim/SimBackend.h).
Invariant: what run() raises is the caller's mistake: text that cannot be run, arguments or sizes that do not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiletwin import checks
from tiletwin.errors import TileTwinError
from tiletwin.sim.modules import Ran, load


def misbehaved(error: BaseException) -> bool:
    """True of an error that a kernel made while it ran, false of a launch or an argument that is refused."""
    return isinstance(error, TileTwinError) or bool(getattr(error, "operation", None))


@dataclass(frozen=True)
class Outcome:
    """How a launch ended. What it wrote is in its arrays."""

    error: Exception | None = None
    """What the kernel did wrong; None: every thread ran to its end."""
    printed: str = ""
    findings: list[checks.Finding] = field(default_factory=list)
    ran: Ran | None = None
    """Counts of instructions; None after an error."""


class Backend:
    """Something that runs kernels.

    name: "sim". takes: the kind of code that run() gets. capabilities: what it can do beside running: "checks"
    (finds mistakes), "limit" (stops after a number of instructions), "print" (gives what kernels print), "tensor maps"
    (takes them as arguments).
    """

    name = "sim"
    takes = "ptx"
    capabilities = frozenset({"checks", "limit", "print", "tensor maps"})

    def run(
        self,
        ptx: str,
        entry: str,
        arguments: Sequence[Any] | Mapping[str, Any] = (),
        *,
        grid: int | Sequence[int],
        contract: bool = True,
        **options: Any,
    ) -> Outcome:
        """Runs an entry of a PTX text to its end, or to its first trap.

        Args:
            arguments: in order, or by name.
            contract: of `tiletwin.sim.load`.
            options: of `tiletwin.sim.Kernel`, but print.

        Raises:
            PtxError: the text cannot be run.
            KeyError: there is no such entry.
            TypeError: the launch or an argument does not fit.
            ValueError: the launch or an argument does not fit.
        """
        kernel = load(ptx, contract=contract)[entry]
        by_name = dict(arguments) if isinstance(arguments, Mapping) else {}
        printed: list[str] = []
        before = {finding.key: finding.launches for finding in checks.findings()}
        error, ran = None, None
        try:
            ran = kernel(*(() if by_name else arguments), grid=grid, print=printed.append, **options, **by_name)
        except Exception as raised:
            if not misbehaved(raised):
                raise
            error = raised
        found = [f for f in checks.findings() if f.launches > before.get(f.key, 0)]
        return Outcome(error, "".join(printed), found, ran)


BACKEND = Backend()
"""The one that tools look up by its name."""
