"""Conditions of breakpoints: `block==3 && thread==5 && x > 0`.

Here:      the part of a condition that the engine tests by itself, so that threads that are not meant do not stop.
Not here:  what an expression is (expressions.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PART = re.compile(r"\s*(block|thread|warp)\s*==\s*(?:(\d+)|\(\s*(\d+(?:\s*,\s*\d+){1,2})\s*\))\s*")


@dataclass
class Condition:
    """where: block, thread and warp as the engine takes them, "" for any; rest: what is left to evaluate."""

    text: str = ""
    where: dict[str, str] = field(default_factory=lambda: {"block": "", "thread": "", "warp": ""})
    rest: str = ""

    @staticmethod
    def of(text: str) -> Condition:
        condition = Condition(text.strip())
        if not condition.text:
            return condition
        if "||" in text:
            condition.rest = condition.text
            return condition
        left = []
        for part in text.split("&&"):
            found = _PART.fullmatch(part)
            if found and not condition.where[found[1]]:
                condition.where[found[1]] = re.sub(r"\s", "", found[2] or found[3])
            else:
                left.append(part.strip())
        condition.rest = " && ".join(left)
        return condition
