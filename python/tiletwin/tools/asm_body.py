"""The body of a PTX function as an asm statement of CUDA C++.

Here:      names that must not meet the compiler's (registers, labels), returns, places where operands come in.
Not here:  the function around it, what operands are (cuda_export.py).
Invariant: an instruction is left as it is but for names; what is loaded from a parameter is moved from an operand.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tiletwin.tools.ptx_parts import Function

_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)[^\n]*$", re.MULTILINE)
_REG = re.compile(r"\.reg\s+\.\w+\s+([^;]+);")
_LABEL = re.compile(r"^\s*([\w$]+)\s*:", re.MULTILINE)
_RETURN = re.compile(r"\bret(?:\.uni)?\s*;")
_NAME = r"[\w$%]"
END = "end"


def _word(name: str) -> str:
    """The pattern of a name that is no part of a longer one."""
    return rf"(?<!{_NAME}){re.escape(name)}(?!{_NAME})"


class Operand(NamedTuple):
    """An operand of an asm statement."""

    name: str
    """Of the register that holds it in the assembly."""
    bits: int
    constraint: str
    value: str
    """The C++ expression."""


def _register_names(body: str) -> tuple[list[str], list[str]]:
    """(prefixes of %prefix<n>, whole names) of declared registers that begin with a percent sign."""
    ranges, singles = [], []
    for declaration in _REG.findall(body):
        for name in (part.strip() for part in declaration.split(",")):
            if not name.startswith("%"):
                continue
            prefix, bracket, _ = name[1:].partition("<")
            (ranges if bracket else singles).append(prefix)
    return ranges, singles


def _free_prefix(body: str, words: list[str]) -> str:
    """Underscores that make of every word a name that does not occur."""
    prefix = "_"
    while any(re.search(rf"(?<!{_NAME}){prefix}{re.escape(word)}\d*\b", body) for word in words):
        prefix += "_"
    return prefix


def _renamed_registers(body: str) -> tuple[str, str]:
    """The body with %r1 as _r1: the compiler has an %r1 of its own, which an operand may stand for."""
    ranges, singles = _register_names(body)
    prefix = _free_prefix(body, ranges + singles)
    for names, end in ((ranges, r"(?=\d|<)"), (singles, r"(?![\w$])")):
        for name in dict.fromkeys(names):
            body = re.sub(rf"%{re.escape(name)}{end}", f"{prefix}{name}", body)
    return body, prefix


def _renamed_labels(body: str) -> str:
    """Labels that something refers to get names of their own, with a number that differs from copy to copy of the
    statement; the others go."""
    for label in dict.fromkeys(_LABEL.findall(body)):
        pattern = _word(label)
        if len(re.findall(pattern, body)) == 1:
            body = re.sub(rf"^\s*{re.escape(label)}\s*:", "", body, flags=re.MULTILINE)
        else:
            new = re.sub(r"\W", "_", label.removeprefix("$L__").removeprefix("$"))
            body = re.sub(pattern, lambda _, new=new: f"{new}_%=", body)
    return body


def _returns(body: str) -> str:
    """A return in the middle becomes a branch to the end, the last one goes."""
    body = body.rstrip()
    last = re.search(r"(?:^|[\s;}])(ret(?:\.uni)?\s*;)$", body)
    before = body[: last.start(1)].rstrip() if last else ""
    if last and not re.search(r"@!?[\w%$]+$", before):
        body = body[: last.start(1)].rstrip()
    changed = _RETURN.sub(f"bra {END}_%=;", body)
    return changed if changed == body else f"{changed}\n{END}_%=:"


def _widths(body: str) -> dict[str, int]:
    """Bits of the registers, by their name without its number."""
    widths = {}
    for type_, names in re.findall(r"\.reg\s+\.([bsuf]\d+)\s+([^;]+);", body):
        for name in names.split(","):
            widths[name.strip().partition("<")[0]] = int(type_[1:])
    return widths


def _loads_as_moves(body: str, operands: dict[str, Operand], registers: dict[str, str]) -> str:
    """Loads of whole parameters become moves from their operands, or conversions to a wider register. What is read
    otherwise, such as a part of a structure, is read by the parameter's name, which the compiler's function has too."""
    widths = _widths(body)
    for name, operand in operands.items():
        bits, register = operand.bits, registers[operand.name]
        whole = rf"\[\s*{re.escape(name)}(?:\+0)?\s*\]"

        def moved(match: re.Match, bits: int = bits, register: str = register) -> str:
            sign, space, target = match[1], match[2], match[3].strip()
            wide = widths.get(target, widths.get(target.rstrip("0123456789"), bits))
            if wide == bits:
                return f"mov.b{bits}{space}{target}, {register}"
            sign = "s" if sign == "s" else "u"
            return f"cvt.{sign}{wide}.{sign}{bits}{space}{target}, {register}"

        body = re.sub(rf"ld\.param(?:::entry|::func)?\.([busf]){bits}(\s+)([^,;{{]+),\s*{whole}", moved, body)
    return body


def _addresses(body: str, variables: dict[str, Operand], registers: dict[str, str]) -> str:
    """Variables of the module become registers that hold their addresses."""
    for name, operand in variables.items():
        register = registers[operand.name]
        whole = _word(name)

        def moved(match: re.Match, operand: Operand = operand, register: str = register) -> str:
            bits, target, offset = int(match[1]), match[2], match[3]
            step = f" add.u{bits} {target}, {target}, {offset};" if offset else ""
            if bits == operand.bits:
                return f"mov.b{bits} {target}, {register};{step}"
            return f"cvt.u{bits}.u{operand.bits} {target}, {register};{step}"

        body = re.sub(rf"mov\.[bus](32|64)\s+([^,;]+),\s*{whole}\s*(?:\+\s*(\d+))?\s*;", moved, body)
        body = re.sub(whole, register, body)
    return body


def _as_result(body: str, result: tuple[str, Operand] | None, registers: dict[str, str]) -> str:
    """The store of a function's result becomes a move to the operand %0, that of a structure a store to its address."""
    if result is None:
        return body
    name, operand = result
    if operand.value:
        place = rf"st\.param(?:::func)?((?:\.v[24])?\.[busf]\d+\s+\[\s*){re.escape(name)}(?!{_NAME})"
        return re.sub(place, lambda m: f"st{m[1]}{registers[operand.name]}", body)
    pattern = rf"st\.param(?:::func)?\.[busf]\d+\s+\[\s*{re.escape(name)}(?:\+0)?\s*\]\s*,"
    return re.sub(pattern, f"mov.b{max(16, operand.bits)} %0,", body)


def _aligned_as_passed(body: str) -> str:
    """Structures of calls at the alignment that the compiler gives them, which is 8 bytes at most."""
    return re.sub(r"\.param\s+\.align\s+(?:16|32|64|128)\b", ".param .align 8", body)


def _places(body: str, files: dict[int, str]) -> str:
    """.loc lines as marks that `_lines` makes comments of."""
    return _LOC.sub(lambda m: f"\0{files.get(int(m[1]), m[1])}:{m[2]}", body)


def _lines(body: str) -> list[str]:
    """The body as string literals, one a line; where the source line changes a comment says so."""
    lines, place, told = [], "", ""
    for line in body.splitlines():
        text = " ".join(line.split())
        if text.startswith("\0"):
            place = text[1:].rpartition("/")[2]
        elif text:
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            remark = f"  // {place}" if place != told else ""
            told = place
            lines.append(f'    "  {escaped}\\n"{remark}')
    return lines


def _escaped(body: str) -> str:
    """Percent signs of the text itself, apart from marks of labels and operands."""
    return re.sub(r"%(?!=|0\b)", "%%", body)


def asm_statement(
    function: Function,
    operands: dict[str, Operand],
    variables: dict[str, Operand],
    files: dict[int, str],
    result: tuple[str, Operand] | None,
) -> list[str]:
    """The lines of an asm statement that does what a function's body does.

    operands: by parameter; variables: addresses by variable of the module; result: name and operand of the function's
    result, an address if it has a value.
    """
    body = _places(function.body or "", files)
    body, prefix = _renamed_registers(body)
    address = result[1] if result and result[1].value else None
    inputs = [*operands.values(), *variables.values(), *([address] if address else [])]
    while any(re.search(rf"(?<!{_NAME}){prefix}in_", body) for _ in inputs):
        prefix += "_"
    registers = {operand.name: f"{prefix}in_{operand.name}" for operand in inputs}
    body = _loads_as_moves(body, operands, registers)
    for i, parameter in enumerate(function.parameters):
        body = re.sub(_word(parameter.name), f"{function.name}_param_{i}", body)
    inputs = [i for i in inputs if re.search(_word(registers[i.name]), body)
              or i in variables.values() or i is address]  # fmt: skip
    body = _aligned_as_passed(_addresses(body, variables, registers))
    body = _returns(_renamed_labels(_as_result(_escaped(body), result, registers)))
    moved = result if not address else None
    first = 1 if moved else 0
    entered = []
    for number, operand in enumerate(inputs, first):
        register, type_ = registers[operand.name], f"{'f' if operand.constraint in 'fd' else 'b'}{operand.bits}"
        entered.append(f'    "  .reg .b{operand.bits} {register};  mov.{type_} {register}, %{number};\\n"')
    given = ", ".join(f'"{operand.constraint}"({_cast(operand)})' for operand in inputs)
    out = f'"={moved[1].constraint}"(result)' if moved else ""
    return [
        "  asm volatile(",
        '    "{\\n"',
        *entered,
        *_lines(body),
        '    "}\\n"',
        f'    : {out} : {given} : "memory");',
    ]


def _cast(operand: Operand) -> str:
    """The C++ expression of an operand as asm statements take it."""
    return f"(unsigned short){operand.value}" if operand.constraint == "h" else operand.value
