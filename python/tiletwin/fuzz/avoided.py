"""What judges are known to do wrong: programs that they are not asked about.

Here:      AVOIDED, and how a program is compared with it.
Not here:  the judges (judges.py). docs/triton_differences.md tells more of each mistake.
"""

from __future__ import annotations

import re
from typing import Any

from tiletwin.fuzz.tree import For, Let, Op, Program, While, blocks, walk

AVOIDED: dict[str, tuple[tuple[str | tuple[str, ...], str], ...]] = {
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
        (r"^cum(sum|prod): bfloat16", "Triton's running sums of bfloat16 are rounded at each step"),
        (
            (r"tl\.(reshape|ravel|squeeze)|\.reshape", r"^(argmax|max with its index|reduce a pair):"),
            "Triton's compiler reorders a reshaped tile, and not the numbers of its places",
        ),
        (
            (r"^\w[\w ]*: int\d+( \w+)*: \{\}\.to\(tl\.uint(32|64)", r": uint(32|64) \w+: \{\}\.to\(tl\.b?float"),
            "Triton's vectorised code converts negative numbers of few bits as unsigned numbers of these bits",
        ),
        (
            (
                r"tl\.arange",
                r"(^whole division: int|arange).* (//|%) (2|4|8|10|16|64|100|1000)\b",
                r": (\w+ )*int1: |pointer|tl\.(load|store|atomic)",
            ),
            "Triton's compiler takes quotients of a run below zero for those of a run above",
        ),
    ),
}
"""By judge: what it is known to do wrong, and in words. A pattern is searched for in `form: types: text` of each
statement, types being those of operands and results. Several patterns stand for statements of which each one uses,
perhaps by way of others, what the one before has made. A judge is not asked about a program that has them."""
TWO_NAMES = "Triton's front end loses a name that a loop binds to what another name of the same value was before it"
TWO_LOOPS = "Triton's compiler may make an endless loop of the second of two loops with constant counts"
"""Mistakes of all judges that compile by Triton."""


def line(op: Op) -> str:
    """A statement as patterns see it: form, element types of operands and results, text."""
    return f"{op.form}: {' '.join(value.type.element for value in (*op.operands, *op.results))}: {op.template}"


def has(program: Program, patterns: str | tuple[str, ...]) -> bool:
    """Whether a program has statements that fit the patterns."""
    chain = (patterns,) if isinstance(patterns, str) else patterns
    reached: dict[str, int] = {}  # by variable: how many patterns its value has met
    for body in (program.body, *(helper.body for helper in program.helpers)):
        for statement in [*walk(body)] * 2:  # what a round of a loop leaves reaches the next one
            if isinstance(statement, Let):
                target, source = statement.target.text, statement.source.text
                reached[target] = max(reached.get(target, 0), reached.get(source, 0))
            elif isinstance(statement, Op):
                level = max((reached.get(value.text, 0) for value in statement.operands), default=0)
                if not level and any(re.search(chain[0], value.text) for value in statement.operands):
                    level = 1  # text in the place of a variable
                while level < len(chain) and re.search(chain[level], line(statement)):
                    level += 1
                if level == len(chain):
                    return True
                if "tl.load(" in statement.template:
                    level = 0  # what is loaded is not made of its address
                reached.update((value.text, max(level, reached.get(value.text, 0))) for value in statement.results)
    return False


def binds_two_names(body: list[Any], before: dict[str, str] | None = None) -> bool:
    """Whether a loop binds a name to another one that stood for the same value before the loop."""
    roots = dict(before or {})
    for statement in body:
        if isinstance(statement, Let):
            roots[statement.target.text] = roots.get(statement.source.text, statement.source.text)
        elif isinstance(statement, (For, While)):
            lets = [let for let in walk(statement.body) if isinstance(let, Let)]
            carried = {let.target.text for let in lets}
            for target, source in ((let.target.text, let.source.text) for let in lets):
                if source in carried - {target} and roots.get(target, target) == roots.get(source, source):
                    return True
        if any(binds_two_names(block, roots) for block in blocks(statement)):
            return True
        for inner in (let for block in blocks(statement) for let in walk(block) if isinstance(let, Let)):
            roots[inner.target.text] = inner.target.text
    return False


def reason(judge: str, program: Program) -> str:
    """Why a judge is not asked about a program; empty: it is."""
    for patterns, why in AVOIDED.get(judge, ()):
        if has(program, patterns):
            return why
    if judge.startswith(("triton:sim", "triton:gpu")):
        if binds_two_names(program.body):
            return TWO_NAMES
        counted = [s for s in walk(program.body) if isinstance(s, While) and s.limit.isdecimal()]
        return TWO_LOOPS if len(counted) > 1 else ""
    return ""
