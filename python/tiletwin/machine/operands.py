"""Operands as nvdisasm writes them.

Here:      Operand and what it is parsed from.
Not here:  how PTX reads and writes them (writer.py).
Source:    listings of nvdisasm 13.0 for sm_90a.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

REGISTER, PREDICATE, NUMBER, CONSTANT, ADDRESS, DESCRIPTOR, SPECIAL = (
    "register", "predicate", "number", "constant", "address", "descriptor", "special",
)  # fmt: skip
ZERO = -1
"""The number of RZ and URZ, and of PT and UPT."""

_REGISTER = re.compile(r"(U?)R(\d+|Z)((?:\.\w+)*)$")
_PREDICATE = re.compile(r"(U?)P(\d|T)$")
_CONSTANT = re.compile(r"c\[(0x[0-9a-f]+)\]\[(.*)\]((?:\.\w+)*)$")
_DESCRIPTOR = re.compile(r"gdesc\[UR(\d+)\]((?:\.\w+)*)$")
_ADDRESS = re.compile(r"(?:desc\[UR\d+\])?\[(.*)\]$")
_TERM = re.compile(r"(-?0x[0-9a-f]+)|(U?)R(\d+|Z)((?:\.\w+)*)")


@dataclass
class Operand:
    """kind: REGISTER, ... number: of the register or predicate, or the number as it is. uniform: of a warp."""

    kind: str
    text: str
    number: int = 0
    uniform: bool = False
    words: tuple[str, ...] = ()
    """What stands behind points: H0_H0, 64, tnspB."""
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    """~ of a register, ! of a predicate."""
    terms: list[tuple[bool, int, bool]] = field(default_factory=list)
    """Of an address or a constant: registers (uniform, number, 64 bits)."""
    bank: int = 0
    offset: int = 0

    @property
    def is_zero(self) -> bool:
        """RZ or URZ."""
        return self.kind == REGISTER and self.number == ZERO


def _number(text: str) -> int:
    return ZERO if text in "ZT" else int(text)


def _sum(text: str, found: Operand) -> Operand:
    """Reads what stands in the brackets of an address."""
    for offset, uniform, number, words in _TERM.findall(text):
        if offset:
            found.offset += int(offset, 16)
        elif number != "Z":
            found.terms.append((bool(uniform), int(number), ".64" in words))
    return found


def parse(text: str) -> Operand:
    """One operand. What is no register, predicate, address or constant is a NUMBER or SPECIAL, with its text."""
    text = text.strip()
    if match := _DESCRIPTOR.match(text):
        return Operand(DESCRIPTOR, text, int(match[1]), True, tuple(match[2].split(".")[1:]))
    if match := _ADDRESS.match(text):
        return _sum(match[1], Operand(ADDRESS, text))
    plain, found = text, Operand(NUMBER, text)
    while plain[:1] in ("-", "~", "!", "|") and not re.match(r"-(0x|\d|INF|QNAN)", plain):
        found.negative |= plain[0] == "-"
        found.inverted |= plain[0] in "~!"
        found.absolute |= plain[0] == "|"
        plain = plain[1:].replace("|", "") if plain[0] == "|" else plain[1:]
    plain = plain.replace(".reuse", "")
    if match := _CONSTANT.match(plain):
        found.kind, found.bank, found.words = CONSTANT, int(match[1], 16), tuple(match[3].split(".")[1:])
        return _sum(match[2], found)
    if match := _REGISTER.match(plain):
        found.kind, found.uniform, found.number = REGISTER, bool(match[1]), _number(match[2])
        found.words = tuple(match[3].split(".")[1:])
    elif match := _PREDICATE.match(plain):
        found.kind, found.uniform, found.number = PREDICATE, bool(match[1]), _number(match[2])
    elif re.match(r"-?0x[0-9a-f]+$", plain):
        found.number = int(plain, 16)
    elif not re.match(r"[-+]?(\d|INF|QNAN)", plain):
        found.kind = SPECIAL
    found.text = plain
    return found
