"""Twelve mistakes, each in another part of the product, planted into what that part has made.

Here:      changes of TTIR for the interpreter; the code generator's come from tests/diff/miscompiler.py.
Not here:  what has to be found (test_planted.py).
Idea:      a wrong rule is wrong in every program; so a mistake is a change of text wherever the text allows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tiletwin.diff.backends import InterpBackend, Outcome
from tiletwin.diff.launches import Launch

Change = Callable[[str], str]


def replaced(pattern: str, by: str) -> Change:
    return lambda text: re.sub(pattern, by, text)


def wrong_fold(text: str) -> str:
    """A remainder by a power of two becomes a mask, also for negative numbers."""
    constants = dict(re.findall(r"(?m)^ *(%\S+) = arith\.constant dense<(\d+)> : ", text))
    scalars = dict(re.findall(r"(?m)^ *(%\S+) = arith\.constant (\d+) : i32", text))
    out = []
    for line in text.splitlines():
        match = re.match(r"( *)(%\S+) = arith\.remsi (%\S+), (%\S+) : (\S+)(.*)", line)
        number = int({**constants, **scalars}.get(match.group(4), "0")) if match else 0
        if match is None or number < 1 or number & (number - 1):
            out.append(line)
            continue
        indent, result, left, _, type_, rest = match.groups()
        value = f"dense<{number - 1}>" if type_.startswith("tensor") else str(number - 1)
        out.append(f"{indent}{result}_mask = arith.constant {value} : {type_}{rest}")
        out.append(f"{indent}{result} = arith.andi {left}, {result}_mask : {type_}{rest}")
    return "\n".join(out)


def lost_start(text: str) -> str:
    """Ranges begin at 0."""
    return re.sub(
        r"tt\.make_range \{end = (\d+) : i32, start = (\d+) : i32\}",
        lambda m: f"tt.make_range {{end = {int(m.group(1)) - int(m.group(2))} : i32, start = 0 : i32}}",
        text,
    )


def wrong_join(text: str) -> str:
    """A branch that is not taken gives what the other arm gives, where that was known before the branch."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not re.match(r" *%\S+ = scf\.if ", line):
            continue
        indent = len(line) - len(line.lstrip())
        ends = [i for i in range(number + 1, len(lines)) if re.match(rf" {{{indent}}}\}}", lines[i])]
        if len(ends) < 2 or "else" not in lines[ends[0]]:
            continue
        first, second = ends[0] - 1, ends[1] - 1
        a, b = (re.match(r" *scf\.yield (.*?) : ", lines[i]) for i in (first, second))
        if a is None or b is None:
            continue
        before = "\n".join(lines[:number])
        values = [
            x if re.search(rf"{re.escape(x.split('#')[0])}\b", before) else y
            for x, y in zip(a.group(1).split(", "), b.group(1).split(", "))
        ]
        lines[second] = lines[second].replace(b.group(1), ", ".join(values), 1)
    return "\n".join(lines)


def wrong_scan(text: str) -> str:
    """Scans from the other end."""
    return re.sub(r"reverse = (true|false)", lambda m: f"reverse = {'false' if m.group(1) == 'true' else 'true'}", text)


TEXT_MISTAKES: dict[str, Change] = {
    "promotion": replaced(r"arith\.extui", "arith.extsi"),
    "fold": wrong_fold,
    "recognised form": replaced(r"arith\.(max|min)numf", r"arith.\1imumf"),
    "mask": replaced(r"tt\.load (%\S+), %\S+, %\S+ ", r"tt.load \1 "),
    "affine form": lost_start,
    "join of branches": wrong_join,
    "bound": replaced(r"arith\.cmpi slt", "arith.cmpi sle"),
    "order of a scan": wrong_scan,
    "cast": replaced(r"arith\.sitofp", "arith.uitofp"),
}
CODE_MISTAKES = {"layout": "swapped layout bit", "shuffle": "wrong shuffle", "predicate": "dropped mask of a store"}


class Planted(InterpBackend):
    """The interpreter, given a text that was changed."""

    name = "planted"

    def __init__(self, change: Change) -> None:
        self.change = change
        self.changed = 0

    def run(self, launch: Launch) -> Outcome:
        text = self.change(launch.ttir)
        self.changed += text != launch.ttir
        outcome = super().run(replace(launch, ttir=text))
        outcome.backend = self.name
        return outcome
