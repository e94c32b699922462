"""A program as the text of a Python file.

Here:      the kernel with its helpers; a file with inputs and launch around it.
Not here:  what a file of a finding says and does beyond that (findings.py).
Invariant: the text of a kernel is what the front ends read; nothing about a program is kept outside of it and of its
           arguments.
"""

from __future__ import annotations

from typing import Any

from tiletwin.fuzz.tree import For, Helper, If, Leave, Let, Op, Program, While

HEAD = "import triton\nimport triton.language as tl\n"
_INDENT = "    "


def _statement(statement: Any, indent: str) -> list[str]:
    if isinstance(statement, Op):
        text = statement.template.format(*(value.text for value in statement.operands))
        left = ", ".join(value.text for value in statement.results)
        lines = (f"{left} = {text}" if left else text).split("\n")
        return [indent + line for line in lines]
    if isinstance(statement, Let):
        return [f"{indent}{statement.target.text} = {statement.source.text}"]
    if isinstance(statement, Leave):
        return [f"{indent}if {statement.condition.text}:", f"{indent}{_INDENT}return"]
    if isinstance(statement, If):
        lines = [f"{indent}if {statement.condition.text}:", *_block(statement.then, indent + _INDENT)]
        if statement.otherwise:
            lines += [f"{indent}else:", *_block(statement.otherwise, indent + _INDENT)]
        return lines
    if isinstance(statement, For):
        head = f"{indent}for {statement.index.text} in {statement.how}({statement.count}):"
        return [head, *_block(statement.body, indent + _INDENT)]
    assert isinstance(statement, While)
    counter = statement.counter.text
    return [
        f"{indent}{counter} = 0",
        f"{indent}while {counter} < {statement.limit}:",
        *_block(statement.body, indent + _INDENT),
        f"{indent}{_INDENT}{counter} += 1",
    ]


def _block(body: list[Any], indent: str) -> list[str]:
    return [line for statement in body for line in _statement(statement, indent)] or [f"{indent}pass"]


def _function(name: str, parameters: list[str], lines: list[str], decorator: str = "@triton.jit") -> list[str]:
    head = f"def {name}({', '.join(parameters)}):"
    if len(head) > 110:
        head = f"def {name}(\n{_INDENT}{f',{chr(10)}{_INDENT}'.join(parameters)},\n):"
    return ["", "", decorator, head, *lines]


def _helper(helper: Helper) -> list[str]:
    decorator = "@triton.jit(noinline=True)" if helper.noinline else "@triton.jit"
    lines = [_INDENT + line for line in helper.lines] or [
        *(line for statement in helper.body for line in _statement(statement, _INDENT)),
        f"{_INDENT}return {', '.join(value.text for value in helper.results)}",
    ]
    return _function(helper.name, [value.text for value in helper.parameters], lines, decorator)


def parameters(program: Program) -> list[str]:
    """Names of the kernel's parameters, as its head has them."""
    named = [*(b.name for b in program.buffers), *(d.name for d in program.descriptors)]
    named += [*(b.name for b in program.extra), *program.scalars]
    return [*named, *(f"{name}: tl.constexpr" for name in program.constants)]


def _program_number(program: Program) -> list[str]:
    number = "tl.program_id(0)"
    if len(program.grid) > 1:
        number += " + tl.num_programs(0) * tl.program_id(1)"
    if len(program.grid) > 2:
        number += " + tl.num_programs(0) * tl.num_programs(1) * tl.program_id(2)"
    uses = any("pid" in line for statement in program.body for line in _statement(statement, ""))
    return [f"{_INDENT}pid = {program.pid.format(pid=number)}"] if uses else []


def kernel_lines(program: Program) -> list[str]:
    """The kernel and its helpers, without imports."""
    lines = [line for helper in program.helpers for line in _helper(helper)]
    body = [*_program_number(program), *_block(program.body, _INDENT)]
    return [*lines, *_function("kernel", parameters(program), body)]


def kernel_text(program: Program) -> str:
    """A module with the kernel."""
    lines = kernel_lines(program)
    more = "from triton.language.extra import libdevice\n" if any("libdevice." in line for line in lines) else ""
    return HEAD + more + "\n".join(lines) + "\n"
