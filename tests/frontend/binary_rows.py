"""Every binary operator on every pair of types and on numbers, as kernels of one row each, and what their IR says.

Here:      the operands, the texts of the kernels, expressions read out of IR. tools/record_binary.py uses them with
           real Triton and test_binary.py with tiletwin; this file imports neither.
Invariant: an expression names operations, types and operands, and no printer's style: "shrsi(extsi(x) i32, y) i32".
"""

from __future__ import annotations

import re

TYPES = "i1 i8 u8 i16 u16 i32 u32 i64 u64 fp8e5 fp8e4nv fp16 bf16 fp32 fp64".split()
OPERATORS = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%"},
    **{"and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"},
    **{"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="},
}
NUMBERS = """True False 0 3 -1 127 128 -128 -129 255 256 -32769 40000 65536 2147483647 2147483648 -2147483649 4294967296
9223372036854775808 18446744073709551616 -0.0 1.5 1e-40 1e39 1e400""".split()
"""As they stand in a kernel's text; the last is an infinity."""

_HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef row({parameters}):\n"


def text(expressions: list[str], parameters: list[str]) -> str:
    """A file with the kernel `row`, whose statements compute the expressions; program_id stands between them."""
    lines = [f"    r{i} = {expression}\n    tl.program_id(0)\n" for i, expression in enumerate(expressions)]
    return _HEAD.format(parameters=", ".join(parameters)) + "".join(lines)


def tensors(operator: str, count: int) -> tuple[str, list[str]]:
    """x OP y of `count` different y: text and parameters."""
    names = [f"y{i}" for i in range(count)]
    return text([f"x {OPERATORS[operator]} {name}" for name in names], ["x", *names]), ["x", *names]


def numbers(operator: str, given: list[str], left: bool) -> tuple[str, list[str]]:
    """x OP number, or number OP x if `left`."""
    symbol = OPERATORS[operator]
    return text([f"({n}) {symbol} x" if left else f"x {symbol} ({n})" for n in given], ["x"]), ["x"]


_RESULT = re.compile(r"^\s*%([\w.#-]+) = ([\w.]+) (.*)$")


def expressions(ir: str) -> list[str]:
    """What stands in front of each program_id of the kernel, as one expression over x and y."""
    known: dict[str, str] = {}
    header = next(line for line in ir.splitlines() if "tt.func" in line)
    for i, name in enumerate(re.findall(r"%([\w.-]+): ", header)):
        known[name] = "x" if i == 0 else "y"
    found, last = [], "nothing"
    for line in ir.splitlines():
        match = _RESULT.match(re.sub(r" loc\(.*$", "", line))
        if match is None:
            continue
        name, operation, rest = match.groups()
        if operation == "tt.get_program_id":
            found.append(last)
            last = "nothing"
            continue
        last = known[name] = _expression(operation.rpartition(".")[2], rest, known)
    return found


def _expression(operation: str, rest: str, known: dict[str, str]) -> str:
    if operation == "constant" and " : " not in rest:
        return f"{rest.strip()} i1"
    body, _, types = rest.rpartition(" : ")
    body = re.sub(r"\{.*?\}|<.*?>", "", body)
    kind = types.split(" to ")[-1].split(" -> ")[-1].strip()
    if operation == "constant":
        value = body.strip()
        return f"{float(value) if kind.startswith(('f', 'bf')) and not value.startswith('0x') else value} {kind}"
    words = [word.strip() for word in body.split(",")]
    operands = [known[w.removeprefix("%")] if w.startswith("%") else w for w in words if w]
    if operation == "bitcast":  # to the other signedness, which the IR does not know
        return operands[0]
    return f"{operation}({', '.join(operands)}) {kind}"
