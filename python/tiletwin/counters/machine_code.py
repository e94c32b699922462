"""What ptxas makes of a text: machine code beside the lines of PTX, and how often it runs by what was counted.

Here:      the code of an entry with lines of PTX, an estimate of smsp__inst_executed, accesses that ptxas has changed.
Not here:  running ptxas and the disassembler (tiletwin/cuda).
Idea:      an instruction of machine code runs as often as the line of PTX that it comes from. Where ptxas has unrolled
           a loop, each copy runs a part of that: instructions that are one to one, such as loads, tell how many copies
           a block has.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator

from tiletwin.counters.counts import Instruction, Launch
from tiletwin.cuda import ptxas, sass
from tiletwin.errors import PTXASError
from tiletwin.machine import listing
from tiletwin.machine.listing import Instruction as Code

_LOCATION = re.compile(r"\s*\.(?:loc|file)\b")
_STATEMENT = re.compile(r"\s*(?:\{\s*)?(?:@!?%\w+\s+)?[a-z][\w.:]*[\s;]")
_DEBUG = re.compile(r"\.section\s+\.debug[^{]*\{[^}]*\}")
_LABEL = re.compile(r"\s*\$?\w+:")
_JUMP = re.compile(r"\b(?:bra|brx)\b")
_ONE_TO_ONE = {
    "ld.global": "LDG", "st.global": "STG", "ld.shared": "LDS", "st.shared": "STS", "shfl": "SHFL", "mma": "HMMA",
    "ldmatrix": "LDSM", "bar.sync": "BAR", "atom.global": "ATOM", "red.global": "RED", "ex2": "MUFU",
    "cp.async.c": "LDGSTS", "fma.rn.f32": "FFMA",
}  # fmt: skip
"""Beginnings of instructions of PTX, and of the instruction that ptxas makes of each."""
_ACCESSES = ("ld.global", "ld.shared", "st.global", "st.shared")


def with_lines(text: str) -> str:
    """The text with each of its own lines as the place of its instructions, in place of the source's."""
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if _LOCATION.match(line):
            line = ""
        elif _STATEMENT.match(line) and ";" in line:
            lines.append(f"\t.loc 1 {number} 0")
        lines.append(line)
    return _DEBUG.sub("", "\n".join(lines)) + '\n.file 1 "kernel.ptx"\n'


def read(text: str, entry: str) -> list[Code]:
    """The code of an entry in what nvdisasm prints, but for ways that only calls reach, which are for rare numbers.
    Errors: ValueError, the entry is not there."""
    code = listing.read(text, entry).instructions
    exits = [at for at, one in enumerate(code) if one.opcode == "EXIT"]
    return code[: exits[-1] + 1] if exits and any(one.opcode == "CALL" for one in code) else code


def of(text: str, target: str, entry: str) -> list[Code] | None:
    """The machine code of an entry; None where ptxas or nvdisasm is not found, or does not take the text."""
    tool = ptxas.find()
    if tool is None:
        return None
    try:
        made = tool.assemble(with_lines(text), target, options=["-lineinfo"])
        return read(sass.disassemble(made.cubin, lines=True), entry)
    except (RuntimeError, ValueError, PTXASError):
        return None


def _family(text: str) -> str:
    return next((made for begin, made in _ONE_TO_ONE.items() if text.startswith(begin)), "")


def _own(launch: Launch) -> Iterator[Instruction]:
    """Instructions of the entry itself: ptxas may have put functions that it calls anywhere."""
    return (one for one in launch.instructions if one.function == launch.name)


def _blocks(text: str) -> dict[int, int]:
    """The number of the block that each line of PTX is in."""
    found, block = {}, 0
    for number, line in enumerate(text.split("\n"), 1):
        block += bool(_LABEL.match(line))
        found[number] = block
        block += bool(_JUMP.search(line))
    return found


def _copies(launch: Launch, code: list[Code]) -> Counter[int]:
    """How many instructions of its own each line of PTX has, of those that are one to one."""
    families = {one.ptx_line: _family(one.text) for one in _own(launch)}
    own = (one.line for one in code if families.get(one.line) and one.opcode.startswith(families[one.line]))
    return Counter(own)


def executed(launch: Launch, code: list[Code]) -> int:
    """About how many instructions of machine code the launch's warps ran: ncu's smsp__inst_executed.sum."""
    blocks, copies = _blocks(launch.ptx), _copies(launch, code)
    of_block: dict[int, list[int]] = {}
    for line, number in copies.items():
        of_block.setdefault(blocks[line], []).append(number)
    unrolled = {block: max(1, statistics.median_low(numbers)) for block, numbers in of_block.items()}
    all_of, on_of = Counter[int](), Counter[int]()
    for one in _own(launch):
        all_of[one.ptx_line] = max(all_of[one.ptx_line], one.executed)
        on_of[one.ptx_line] = max(on_of[one.ptx_line], one.executed_on)
    # Where ptxas has made a jump of a predicate, no warp without a lane comes by.
    return round(sum(
        (on_of if one.guard is None else all_of)[one.line] / unrolled.get(blocks.get(one.line, -1), 1) for one in code
    ))  # fmt: skip


def changed(launch: Launch, code: list[Code]) -> list[Instruction]:
    """Loads and stores that ptxas has not kept as they are: they have no instruction of their own, because it has
    dropped them or made one of several, or it has put them behind a condition."""
    copies, text = _copies(launch, code), launch.ptx.split("\n")
    free = {one.line for one in code if one.guard is None}
    return [
        one
        for one in _own(launch)
        if one.executed_on
        and one.text.startswith(_ACCESSES)
        and (not copies[one.ptx_line] or (one.ptx_line not in free and "@" not in text[one.ptx_line - 1]))
    ]
