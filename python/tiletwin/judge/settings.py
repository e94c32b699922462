"""What a verdict may cost and what is asked of a submission beside right results.

Here:      Settings, budgets by name.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import msgspec

from tiletwin.judge.sandbox import USUAL, Limits

_TIMES_REFERENCE = 10.0


@dataclass(frozen=True)
class Settings:
    """targets: GPUs that have to take the kernels (devices.DEVICES), and "sim", which runs their code on the simulator.
    seconds: for all cases; they and those below are processor time, of the judge and the submission together.
    case: only this one; -1: all. most: number of cases; 0: no limit. load_seconds, case_seconds: after which loading,
    and one case, does not end in time."""

    seconds: float = 10.0
    seed: int = 0
    case: int = -1
    most: int = 0
    entry: str = ""
    targets: tuple[str, ...] = ()
    limits: Limits = USUAL
    load_seconds: float = 60.0
    case_seconds: float = 20.0

    def call_seconds(self, of_reference: float) -> float:
        """What a call may take of a processor where the reference takes so much, however large the files' own sizes
        are."""
        return max(self.case_seconds, self.seconds, _TIMES_REFERENCE * of_reference)

    def as_options(self) -> dict[str, Any]:
        """What is not as it is by default, as plain data."""
        return {
            field.name: msgspec.to_builtins(getattr(self, field.name)) for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        }  # fmt: skip


DEFAULT = Settings()

BUDGETS: dict[str, dict[str, Any]] = {
    "quick": {"seconds": 0.4, "most": 24, "load_seconds": 20.0, "case_seconds": 5.0},
    "usual": {},
    "thorough": {"seconds": 60.0, "load_seconds": 120.0, "case_seconds": 60.0},
}
"""Settings by name. Of quick: a second of one core for a usual elementwise kernel."""


def settings_of(budget: str = "", **options: Any) -> Settings:
    """A budget's settings with others in place of some, as plain data. Errors: ValueError says what they may be."""
    if budget not in ("", *BUDGETS):
        raise ValueError(f"there is no budget {budget!r}; there are {', '.join(BUDGETS)}")
    try:
        return msgspec.convert(BUDGETS.get(budget, {}) | options, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"settings: {error}") from None
