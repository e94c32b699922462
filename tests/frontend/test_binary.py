"""Every binary operator on every pair of types and on numbers gives the operation that real Triton's front end gives.

tests/data/binary_ttir.json holds what Triton 3.9 makes of them (tools/record_binary.py); what it turns down has to be
turned down here too, with its own words in the message.
"""

from __future__ import annotations

import json
import linecache
import os
import re
from pathlib import Path
from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
from binary_rows import NUMBERS, OPERATORS, TYPES, expressions, numbers, tensors
from tiletwin.compiler.compiler import ASTSource
from tiletwin.errors import CompilationError

TABLE = json.loads((Path(__file__).resolve().parent.parent / "data" / "binary_ttir.json").read_text())
SAMPLE = 1 if os.environ.get("TILETWIN_TEST_ALL") else 9
WORDS = (
    "because they have different signedness",
    "Cannot perform a binary operation between an unsigned tensor and a negative scalar",
    "invalid operands of type",
)
"""What tests and users look for in the longer messages of Triton; the others have to be there as a whole."""


def comparable(expression: str) -> str:
    """fp8 numbers are rounded while compiling here, and by an operation there: which number it is, is left out."""
    expression = re.sub(r"truncf\(\S+ f32\) (f8\w+)", r"number \1", expression)
    return re.sub(r"(?<=[( ])[-\w.+]+ (f8\w+)", r"number \1", expression)


def differs(section: str, x: str, i: int) -> bool:
    """Triton writes a number for bf16 with six decimals and reads them again, so 1e-7 becomes 0. Here it is rounded."""
    return section != "tensors" and x == "bf16" and NUMBERS[i] == "1e-40"


def takes_any_number(x: str, i: int) -> bool:
    """Triton wants an int to fit 64 bits, even if it becomes a float."""
    return NUMBERS[i] == "18446744073709551616" and x.startswith(("f", "bf"))


def wanted(section: str, operator: str, x: str) -> list[str]:
    return [TABLE["expressions"][int(number)] for number in TABLE[section][operator][x].split()]


def source(text: str, signature: dict[str, str]) -> list[str]:
    """Expressions of the kernel in a text."""
    scope: dict[str, Any] = {"triton": triton, "tl": tl}
    file = "<row>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), scope)
    return expressions(triton.compile(ASTSource(scope["row"], signature, {})).asm["source"])


def row(section: str, operator: str, x: str, which: list[int]) -> list[str]:
    """What tiletwin makes of these places of a row."""
    if section == "tensors":
        text, parameters = tensors(operator, len(which))
        types = [x, *(TYPES[i] for i in which)]
    else:
        text, parameters = numbers(operator, [NUMBERS[i] for i in which], section == "number_left")
        types = [x]
    return source(text, dict(zip(parameters, types)))


def test_table_is_of_these_rows() -> None:
    assert TABLE["types"] == TYPES and TABLE["numbers"] == NUMBERS


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("section", ["tensors", "number_right", "number_left"])
def test_accepted(section: str, operator: str) -> None:
    for x in TYPES:
        want = wanted(section, operator, x)
        accepted = [i for i, expression in enumerate(want) if expression[0] != "!" and not differs(section, x, i)]
        if accepted:
            got = row(section, operator, x, accepted)
            differ = [(w, g) for w, g in zip((want[i] for i in accepted), got) if comparable(w) != comparable(g)]
            assert not differ, (x, differ)


def phrase(message: str) -> str:
    found = next((words for words in WORDS if words in message), None)
    return found or message.removeprefix("! ").rstrip(".")


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("section", ["tensors", "number_right", "number_left"])
def test_rejected(section: str, operator: str) -> None:
    cases = [
        (x, i, text)
        for x in TYPES
        for i, text in enumerate(wanted(section, operator, x))
        if text[0] == "!" and (section == "tensors" or not takes_any_number(x, i))
    ]
    for x, i, text in cases[:: SAMPLE if len(cases) > SAMPLE else 1]:
        with pytest.raises(CompilationError) as caught:
            row(section, operator, x, [i])
        assert phrase(text) in str(caught.value.__cause__), (x, i)


def test_expressions_are_read_as_they_stand() -> None:
    text = """
      tt.func public @row(%x: i8 loc("a"), %y0: i32) attributes {noinline = false} {
        %a = arith.extsi %x : i8 to i32 loc(#loc1)
        %r0 = arith.cmpi slt, %a, %y0 : i32 loc(#loc2)
        %0 = tt.get_program_id x : i32
        %t = arith.constant true
        %c = arith.constant -1.500000e+00 : f32
        %p = tt.get_program_id x : i32
    """
    assert expressions(text) == ["cmpi(slt, extsi(x) i32, y) i32", "-1.5 f32"]
    read = [expression for expression in TABLE["expressions"] if expression[0] != "!"]
    assert not any(re.search(r"%|loc", expression) for expression in read)
