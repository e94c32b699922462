"""What nvdisasm prints, as instructions.

Here:      Instruction, Code, reading a listing.
Not here:  operands (operands.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiletwin.machine.operands import Operand, parse

_LINE = re.compile(r'\s*//## File "[^"]*", line (\d+)')
_SECTION = re.compile(r"\s*\.section\s+(\.\S+?),")
_CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P[\dT])\s+)?(\S+?)(?:\s+([^;]*?))?\s*;")
_LABEL = re.compile(r"([.$\w]+):\s*$")
_TARGET = re.compile(r"`\(([.$\w]+)\)")
_SYMBOL = re.compile(r"\s*/\*[0-9a-f]+\*/\s+\.dword\s+([\w$]+)")
_REMARK = re.compile(r"\s*\(\*.*?\*\)")


@dataclass
class Instruction:
    """opcode: IMAD. words: what stands behind points, WIDE, U32. line: of the text that ptxas read, 0: not known."""

    opcode: str
    words: tuple[str, ...]
    operands: list[Operand]
    guard: Operand | None
    target: str
    """A label, of a jump."""
    line: int
    text: str


@dataclass
class Code:
    """A kernel. labels: the instruction that each stands at. symbols: of constant bank 4, every 8 bytes one."""

    instructions: list[Instruction]
    labels: dict[str, int]
    symbols: list[str]


def _split(text: str) -> list[str]:
    return [part for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def read(listing: str, entry: str) -> Code:
    """The code of an entry without what fills its end. Errors: ValueError, the entry is not there."""
    section, line = "", 0
    found = Code([], {}, [])
    for text in listing.splitlines():
        if match := _SECTION.match(text):
            section, line = match[1], 0
        elif match := _LINE.match(text):
            line = int(match[1])
        elif section == ".nv.constant4" and (match := _SYMBOL.match(text)):
            found.symbols.append(match[1])
        elif section != f".text.{entry}":
            continue
        elif match := _LABEL.match(text):
            found.labels[match[1]] = len(found.instructions)
        elif match := _CODE.match(text):
            found.instructions.append(_instruction(match, line))
    if not found.instructions:
        raise ValueError(f"nvdisasm lists no code of {entry}")
    while found.instructions[-1].opcode == "NOP" or _jumps_to_itself(found):
        found.instructions.pop()
    return found


def _jumps_to_itself(code: Code) -> bool:
    last = len(code.instructions) - 1
    return code.instructions[last].opcode == "BRA" and code.labels.get(code.instructions[last].target) == last


def _instruction(match: re.Match[str], line: int) -> Instruction:
    opcode, *words = match[3].split(".")
    rest = _REMARK.sub("", match[4] or "")
    target = _TARGET.search(rest)
    operands = [parse(one) for one in _split(_TARGET.sub("", rest))]
    guard = parse(match[2]) if match[2] else None
    return Instruction(opcode, tuple(words), operands, guard, target[1] if target else "", line, match[0].strip())
