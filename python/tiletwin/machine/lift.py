"""A kernel of machine code as PTX.

Here:      Lifted, lift.
Not here:  opcodes (integers.py, floats.py, halves.py, conversions.py, memory.py, control.py, products.py).
Idea:      each instruction becomes a few of PTX on the same registers, under the same guard. Results, jumps and
           accesses are those of the machine code; who runs both texts on the same memory sees whether that is so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tiletwin.machine import control, conversions, floats, halves, integers, listing, memory, products
from tiletwin.machine.control import label
from tiletwin.machine.operands import ZERO
from tiletwin.machine.writer import BANK_ALIGNMENT, PARAMETERS, Unknown, Writer

SYSTEM_SHARED = 1024
"""Bytes of shared memory in front of a CTA's own, from sm_90 on."""
_FRONT = PARAMETERS % BANK_ALIGNMENT
_MEANINGS = {
    opcode: put
    for part in (integers, floats, halves, conversions, memory, control, products)
    for opcode, put in part.TABLE.items()
}
_VARIABLE = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)?\.(?:global|const)\s[^;]*;", re.MULTILINE)
_NEEDS = re.compile(r"^\s*\.(?:reqntid|maxntid|minnctapersm|reqnctapercluster|explicitcluster)\b[^\n{]*", re.MULTILINE)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[a-z](\d+)\s[^,)]*?([\w$]+)\s*(?:\[(\d+)\])?\s*(?:,|$|\))")


class Lifted(NamedTuple):
    """text: PTX. instructions: the machine code. lines: of each instruction its first line of the text, from 1.

    places: of each parameter where it was, where it is, and its bytes; its block has `parameter_bytes`.
    """

    text: str
    instructions: list[listing.Instruction]
    lines: list[int]
    places: list[tuple[int, int, int]]
    parameter_bytes: int

    def parameters(self, block: bytes) -> bytes:
        """The block of this kernel from the block of the PTX that the code was made of."""
        made = bytearray(self.parameter_bytes)
        for old, new, size in self.places:
            made[new : new + size] = block[old : old + size]
        return bytes(made)


def _meaning(opcode: str) -> Callable[[Writer], None] | None:
    """What writes an opcode. One of uniform registers has a U in front."""
    if opcode in _MEANINGS:
        return _MEANINGS[opcode]
    return _MEANINGS.get(opcode[1:]) if opcode[:1] == "U" else None


def _stack(code: listing.Code) -> int:
    """Bytes that the code takes of the stack, if each function is called once within the others."""
    taken = [0]
    for one in code.instructions:
        if one.opcode in ("IADD3", "VIADD") and [part.text for part in one.operands[:2]] == ["R1", "R1"]:
            taken.append(-((one.operands[2].number & 0xFFFFFFFF ^ 0x80000000) - 0x80000000))
    return _aligned(sum(taken), 16)


def _aligned(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def _places(header: str) -> tuple[list[tuple[int, int, int]], int]:
    """Where PTX and where the constant bank has each parameter of an entry, and the bytes of the latter."""
    found, old, new = [], 0, PARAMETERS
    for alignment, bits, _, count in _PARAMETER.findall(header):
        size = int(bits) // 8
        step = int(alignment or size)
        old, new = _aligned(old, step), _aligned(new, step)
        size *= int(count or 1)
        found.append((old, new - PARAMETERS + _FRONT, size))
        old, new = old + size, new + size
    return found, _aligned(new - PARAMETERS + _FRONT, 8)


def lift(ptx: str, entry: str, shared: int, code: listing.Code) -> Lifted:
    """ptx: what the code was made of; its variables stay. shared: bytes of static shared memory.

    Errors: ValueError, with an instruction that has no meaning here yet.
    """
    header = re.search(rf"\.entry\s+{re.escape(entry)}\s*(\([^)]*\))?", ptx)
    if header is None:
        raise ValueError(f"the text has no entry {entry}")
    places, parameter_bytes = _places(header[1] or "")
    stack = _stack(code)
    writer = Writer(parameter_bytes, stack, code.symbols)
    first = _body(writer, code)
    head = _head(ptx, entry, header, writer, (parameter_bytes, stack, shared))
    offset = head.count("\n") + 1
    text = head + "\n".join(writer.lines) + "\n}\n"
    return Lifted(text, code.instructions, [offset + at for at in first], places, parameter_bytes)


def _body(writer: Writer, code: listing.Code) -> list[int]:
    """Writes all instructions; the first line of each."""
    writer.opcodes = {one.opcode for one in code.instructions}
    writer.returns = [at + 1 for at, one in enumerate(code.instructions) if one.opcode == "CALL"]
    names: dict[int, list[str]] = {at: [f"$return_{at}"] for at in writer.returns}
    for name, at in code.labels.items():
        names.setdefault(at, []).append(label(name))
    first = []
    for number, one in enumerate(code.instructions):
        writer.lines.extend(f"{name}:" for name in names.pop(number, ()))
        first.append(len(writer.lines))
        put = _meaning(one.opcode)
        try:
            if put is None:
                raise Unknown(one.opcode)
            writer.begin(one)
            if one.guard is not None and one.guard.inverted and one.guard.number == ZERO:
                writer.mark()  # it never runs
            else:
                put(writer)
        except Exception as error:  # operands of another form than the meaning knows end in any of them
            raise ValueError(f"no meaning yet of {one.text} ({error})") from error
    writer.guard = ""
    writer.lines.extend(f"{name}:" for several in names.values() for name in several)
    writer.put("exit")
    return first


def _head(ptx: str, entry: str, header: re.Match[str], writer: Writer, sizes: tuple[int, int, int]) -> str:
    parameter_bytes, stack, shared = sizes
    version, target = re.search(r"\.version[^\n]*\n", ptx), re.search(r"\.target[^\n]*\n", ptx)
    if version is None or target is None:
        raise ValueError("the text has no .version or no .target")
    variables = "\n".join(_VARIABLE.findall(ptx[: header.start()]))
    needs = "\n".join(_NEEDS.findall(ptx[header.end() : ptx.index("{", header.end())]))
    local = f".local .align 16 .b8 stack[{stack}];\n" if stack else ""
    return (
        f"{version[0]}{target[0]}.address_size 64\n{variables}\n.extern .shared .align 16 .b8 dynamic[];\n"
        f".visible .entry {entry}(.param .align {BANK_ALIGNMENT} .b8 bank[{parameter_bytes}])\n{needs}\n{{\n"
        f".shared .align 1024 .b8 system[{SYSTEM_SHARED + shared}];\n{local}{writer.declarations()}\n"
        "\tsetp.eq.u32 %true, 0, 0;\n"
    )
