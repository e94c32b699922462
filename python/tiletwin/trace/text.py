"""Recordings as plain text: lists, steps, values, tables; what `tiletwin trace` prints to scripts.

Here:      every text that does not depend on a terminal.
Not here:  the terminal's viewer (app.py), which shows these texts too; numbers (elements.py), options (command.py).
Invariant: a value's text names its type and shape, and a pointer's the buffer and the offsets in elements.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tiletwin.elements import ITEM_SIZES, is_pointer, item_size, number_text, pointee_of, statistics
from tiletwin.trace.model import Access, Launch, Program, Step, Trace, Value

WIDTH = 110


def type_text(value: Value) -> str:
    """ "fp32[16, 8]", "int32", "constexpr int", "pointer<fp32>[128]"."""
    if value.is_tensor:
        return value.type + (f"[{', '.join(map(str, value.shape))}]" if value.shape else "")
    return f"constexpr {value.type}" if value.kind == "number" else value.type


def pointer_parts(value: Value, launch: Launch | None) -> tuple[str, Any]:
    """(buffer's name or "", offsets in elements, or addresses where no buffer holds them all)."""
    addresses = value.numpy().reshape(-1).astype(np.int64)
    pointee = pointee_of(value.type)
    size = item_size(pointee) if pointee in ITEM_SIZES or is_pointer(pointee) else 1
    if launch is not None and addresses.size:
        for buffer in launch.buffers:
            holds = buffer.begin <= int(addresses[0]) < buffer.begin + max(buffer.size, 1)
            if buffer.name == value.origin if value.origin is not None else holds:
                return buffer.name, (((addresses - buffer.first) // size).reshape(value.shape))
    return "", addresses.reshape(value.shape)


def elements(value: Value, launch: Launch | None = None) -> Any:
    """What is shown of a tensor, in its shape: numbers; of pointers the offsets in elements."""
    return pointer_parts(value, launch)[1] if value.is_pointer else value.numpy()


def _inside(array: Any, most: int = 6) -> str:
    flat = np.asarray(array).reshape(-1)
    shown = [number_text(v) for v in flat[:most]]
    return "[" + ", ".join(shown) + (", ..." if flat.size > most else "") + "]"


def one_line(value: Value | None, launch: Launch | None = None) -> str:
    """A value in one line: type, first elements, statistics of large tiles."""
    if value is None:
        return "(deleted)"
    if value.is_tensor:
        if value.is_pointer:
            name, offsets = pointer_parts(value, launch)
            if not value.shape:
                at = int(offsets)
                return f"{value.type} {name} + {at}" if name else f"{value.type} 0x{at:x}"
            prefix = f"{name} + " if name else ""
            return f"{type_text(value)} {prefix}{_inside(offsets)}"
        array = value.numpy()
        if not value.shape:
            return f"{value.type} {number_text(array[()])}"
        more = f"  {statistics(array)}" if array.size > 6 else ""
        return f"{type_text(value)} {_inside(array)}{more}"
    if value.kind in ("tuple", "object"):
        parts = [f"{name}={one_line(p, launch)}" if value.kind == "object" else one_line(p, launch)
                 for name, p in value.parts().items()]  # fmt: skip
        return f"{value.type}({', '.join(parts)})"
    return f"{type_text(value)} {value.python()!r}" if value.kind == "number" else str(value.python())


def details(name: str, value: Value, launch: Launch | None = None, full: bool = False) -> str:
    """A value in several lines: type and statistics, then the elements (all of them, or the corners)."""
    if not value.is_tensor or not value.shape:
        lines = [f"{name}: {one_line(value, launch)}"]
        lines += [details(f"  {name}.{part}", v, launch, full) for part, v in value.parts().items() if v.shape]
        return "\n".join(lines)
    head = f"{name}: {type_text(value)}"
    if value.is_pointer:
        buffer, array = pointer_parts(value, launch)
        head += f", offsets in elements of {buffer}" if buffer else ", addresses"
    else:
        array = value.numpy()
    head += f"  ({statistics(array)})"
    shown = array.astype(np.uint8) if array.dtype == bool else array
    threshold = shown.size + 1 if full else 400
    body = np.array2string(
        shown, threshold=threshold, edgeitems=4, max_line_width=WIDTH, precision=6, separator=" ",
        formatter={"float_kind": number_text},
    )  # fmt: skip
    return head + "\n" + body


def access_text(access: Access) -> str:
    """ "store: out_ptr[0 .. 127], 128 of 128 elements"; one buffer after another."""
    active = access.active()
    parts = []
    touched_parts = access.touched()
    known = next((t.buffer for t in touched_parts if t.buffer is not None), None)
    for buffer in access.step.program.launch.buffers:
        if buffer.name == access.addresses.origin:
            known = buffer
    for touched in touched_parts:
        low, high = int(touched.offsets.min()), int(touched.offsets.max())
        outside = touched.buffer is None and known is not None
        if outside and known is not None:
            low, high = ((n - known.first) // max(known.item_size, 1) for n in (low, high))
        where = f"{low}" if low == high else f"{low} .. {high}"
        if outside and known is not None:
            parts.append(f"{known.name}[{where}] outside of its memory")
        elif touched.buffer is None:
            parts.append(f"addresses 0x{low:x} .. 0x{high:x}")
        else:
            parts.append(f"{touched.buffer.name}[{where}]")
    count = int(active.sum())
    text = f"{access.name}: {', '.join(parts) or 'nothing'}, {count} of {active.size} elements"
    if access.writes and access.old is not None and access.value is not None and access.value.shape == access.old.shape:
        old, new = access.old.raw(), access.value.raw()
        if access.operation in ("store", "atomic_store", "descriptor_store") and len(old) == len(new):
            size = max(len(old) // max(active.size, 1), 1)
            differs = (np.frombuffer(old, np.uint8) != np.frombuffer(new, np.uint8)).reshape(-1, size).any(1)
            text += f", {int((differs & active.reshape(-1)).sum())} of them changed"
    return text if access.done else text + "  ** failed **"


def loops_text(step: Step) -> str:
    """ "iteration 2 of line 14, iteration 0 of line 20"."""
    return ", ".join(f"iteration {count} of line {line}" for line, count in step.loops)


def kind_text(step: Step) -> str:
    return {
        "call": f"enters {step.function.name}",
        "line": "",
        "iteration": "next iteration",
        "loop end": "the loop has ended",
        "true": "condition holds",
        "false": "condition does not hold",
        "return": f"leaves {step.function.name}",
        "error": "** failed **",
    }[step.kind]


def step_head(step: Step) -> str:
    """ "step 12 of 40   kernel.py:22   iteration 1 of line 15"."""
    parts = [f"step {step.number} of {len(step.program.steps)}", f"{step.place} in {step.function.name}"]
    parts += [text for text in (loops_text(step), kind_text(step)) if text]
    return "   ".join(parts)


def step_text(step: Step) -> str:
    """Where a step is, what it changed, the other variables, what it touched."""
    launch = step.program.launch
    lines = [step_head(step), f"    {step.source.strip()}", *(f"  {origin}" for origin in launch.origins)]
    if step.depth:
        lines += [f"  called from {s.place}: {s.source.strip()}" for s in step.stack[:-1]]
    if step.kind == "error":
        lines.append(f"  {step.program.message}")
    changes = step.changes
    lines += [f"* {name} = {one_line(value, launch)}" for name, value in changes.items()]
    lines += [f"  {name} = {one_line(v, launch)}" for name, v in step.variables.items() if name not in changes]
    lines += [f"  {access_text(access)}" for access in step.accesses]
    return "\n".join(lines)


def program_text(program: Program) -> str:
    status = {"done": "", "running": "  the record ends here", "error": f"  failed: {program.message}"}
    first_line = (status.get(program.status) or "").split("\n")[0]
    x, y, z = program.id
    return f"program {x},{y},{z}  {program.count} steps{first_line}"


def list_text(trace: Trace) -> str:
    """Launches and their programs, what cannot be read, why records end early."""
    lines = []
    for number, launch in enumerate(trace.launches):
        when = time.strftime("%H:%M:%S", time.localtime(launch.started))
        lines.append(f"launch {number}: {launch.kernel}, grid {launch.grid}, launch {launch.count} of it, at {when}")
        lines += [f"  {origin}" for origin in launch.origins]
        lines += [f"  {program_text(program)}" for program in launch.programs]
    if not lines:
        lines.append("nothing was recorded: no launch took place")
    lines += [f"note: {text}" for text in trace.endings]
    lines += [f"unreadable: {text}" for text in trace.problems]
    return "\n".join(lines)
