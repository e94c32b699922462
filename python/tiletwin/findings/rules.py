"""The kinds of results: their ids, what they mean, how bad they are.

Invariant: ids never change: code scanning recognises by them what it has seen before. Every check has a rule of its
           name.
"""

from __future__ import annotations

from typing import NamedTuple

PREFIX = "tiletwin/"


class Rule(NamedTuple):
    """level: "error", "warning" or "note", as SARIF has them. page: of the documentation."""

    name: str
    level: str
    title: str
    text: str
    page: str

    @property
    def id(self) -> str:
        return PREFIX + self.name


RULES = {
    rule.name: rule
    for rule in (
        Rule("undefined", "error", "Undefined lanes are used",
             "Lanes that a load masked off without `other` reach memory, an address, a branch or a reduction.",
             "docs/checks.md#undefined"),
        Rule("nan", "warning", "NaN or infinity is made and stored",
             "A result is NaN or infinite where no operand is, and is stored.", "docs/checks.md#nan"),
        Rule("overflow", "warning", "An integer does not fit",
             "Integers wrap around, a cast loses the value, or a divisor is zero.", "docs/checks.md#overflow"),
        Rule("promises", "error", "A promise to the compiler does not hold",
             "tl.multiple_of, tl.max_contiguous, tl.max_constancy, tl.assume or divisibility is wrong.",
             "docs/checks.md#promises"),
        Rule("bounds", "error", "An access leaves the view",
             "A load or store leaves the view that was passed, and stays in its storage.", "docs/checks.md#bounds"),
        Rule("uninitialized", "error", "Memory is read that nobody has written",
             "A kernel reads memory which neither it nor anybody else has written.", "docs/checks.md#uninitialized"),
        Rule("races", "error", "Programs race",
             "Programs access the same bytes, at least one of them writes, and nothing orders them.",
             "docs/checks.md#races"),
        Rule("order", "warning", "Results depend on the order of programs",
             "Running the programs in another order leaves other bits.", "docs/checks.md#order"),
        Rule("device", "error", "The GPU refuses the kernel",
             "The named GPU has less memory, threads or element types than the kernel needs.",
             "docs/checks.md#devicename"),
        Rule("barriers", "error", "A barrier is misused",
             "Part of a warp comes to a barrier, counts do not agree, or an mbarrier is misused.", "docs/simulator.md"),
        Rule("async", "error", "An asynchronous result is used too early",
             "The result of a copy or product is used before it is waited for, or a fence is missing.",
             "docs/simulator.md"),
        Rule("compile", "error", "A GPU's compiler refuses the kernel",
             "The kernel runs in Python here; compiled for a GPU it is an error.", "docs/checks.md#devicename"),
        Rule("error", "error", "A launch failed",
             "A launch raised an error: an access out of bounds, a failed assertion, a deadlock.", "README.md"),
        Rule("difference", "error", "Backends differ",
             "Two backends give results that two right implementations of the kernel cannot both give.",
             "docs/differential.md"),
        *(
            Rule(f"judge-{name}", "note" if name == "note" else "error", title, f"{title}.", "docs/howto/judge.md")
            for name, title in {
                "value": "Results are wrong", "relation": "A relation of the reference is broken",
                "input-written": "An input is written",
                "no-kernel": "No kernel is launched", "untraced": "Results were written by no kernel",
                "library": "Library calls do the work", "hidden-work": "A kernel is given what nothing explains",
                "remembered": "Results are remembered", "patch": "Functions of others are replaced",
                "harness": "The submission looks into its caller", "file": "Files are read or written",
                "network": "The network is used", "process": "Processes are started",
                "environment": "The environment is read", "busy": "The machine is too busy",
                "load": "The submission cannot be loaded",
                "error": "The submission fails", "time": "The submission does not end in time",
                "output": "The submission prints too much", "memory": "Memory grows",
                "crash": "The submission's process crashes", "exit": "The submission's process ends",
                "message": "The submission answers what is no answer", "problem": "The reference cannot be used",
                "unproved": "It is not known whether kernels made the results",
                "note": "What the judge has seen",
            }.items()
        ),
        Rule("not-comparable", "note", "Backends could not be compared",
             "A backend could not run a launch, or its result has no bound.", "docs/differential.md"),
    )
}  # fmt: skip
"""By name."""


def rule_of(name: str) -> Rule:
    """The rule of a check or another producer; a check without one gets a rule of its name."""
    return RULES.get(name) or Rule(name, "error", name, f"Found by the check {name}.", "docs/checks.md")
