"""Values of a thread as text: what an expression gave, and `info locals`.

Not here:  where they are shown (show.py, dap.py), bits as numbers (values.py).
"""

from __future__ import annotations

import re
from typing import Any

from tiletwin.debugger import values
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.dwarf import Variable
from tiletwin.debugger.expressions import Address, Parted
from tiletwin.debugger.kernel_variables import KernelVariables
from tiletwin.debugger.located import Located
from tiletwin.debugger.session import Session
from tiletwin.debugger.thread import Thread
from tiletwin.debugger.values import Register


def of(thread: Thread, found: Any, form: str = "") -> str:
    """What an expression gave, as text. form: x, d, f or empty."""
    if isinstance(found, Register):
        return _register_value(found, thread.lane, form)
    if isinstance(found, Parted):
        if form not in ("x", "d", "u"):
            return found.text()
        found = found.number()
    if isinstance(found, Address):
        return _address_value(thread, found)
    if form == "x" and isinstance(found, int):
        return hex(found)
    return values.text(found) if isinstance(found, (int, float)) else str(found)


def _register_value(register: Register, lane: int, form: str) -> str:
    bits = register.lanes[lane]
    if form == "x":
        return hex(bits)
    if form == "f":
        return values.text(values.as_float(bits, {2: "f16", 4: "f32", 8: "f64"}[register.size]))
    if form == "d":
        return str(values.as_signed(bits, register.size))
    return register.show(lane)


def _address_value(thread: Thread, at: Address) -> str:
    """What a variable of memory holds: its first elements."""
    shown = 8
    size = {"pred": 1}.get(at.kind, int(re.sub(r"\D", "", at.kind.partition("x")[0]) or 8) // 8)
    count = min(max(at.size // size, 1), shown)
    data = thread.memory(at, count * size)
    numbers = [
        values.text(values.number(int.from_bytes(data[i : i + size], "little"), at.kind, size))
        for i in range(0, len(data), size)
    ]
    if at.size <= size:
        return numbers[0]
    return "{" + ", ".join(numbers) + (", ..." if at.size > count * size else "") + f"}}  {at.kind}[{at.size // size}]"


def locals_of(session: Session, thread: Thread) -> list[tuple[str, str]]:
    """Parameters and local variables of the thread, with their values as text."""
    if (found := thread.kernel_variables) is not None:
        return [(name, _kernel_text(found, name)) for name in found.names()]
    try:
        variables = {one.name: one for one in thread.variables() if one.is_local}
    except Refused as error:
        return [("variables", f"<{error}>"), *_locals_of_ptx(session, thread)]
    if not variables:
        why = [("variables", f"<{thread.why_unnamed}>")] if thread.why_unnamed else []
        return why + _locals_of_ptx(session, thread)
    return [(name, _text_or_reason(one, thread)) for name, one in variables.items()]


def _kernel_text(variables: KernelVariables, name: str) -> str:
    try:
        variable = variables.variable(name)
        return variable.short_text() if variable else "<none>"
    except Refused as error:
        return f"<{error}>"


def _text_or_reason(variable: Variable, thread: Thread) -> str:
    try:
        return Located.of(variable, thread).text()
    except Refused as error:
        return f"<{error}>"


def _locals_of_ptx(session: Session, thread: Thread) -> list[tuple[str, str]]:
    kernel = session.launch["kernel"]
    return [
        (name.removeprefix(f"{kernel}_"), _address_value(thread, at))
        for name, at in thread.symbols().items()
        if at.space in ("param", "local")
    ]
