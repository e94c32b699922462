"""What the command line shows of a program that stands.

Here:      stops, stacks, registers, memory, blocks, warps, threads, source, PTX, who wrote a byte.
Not here:  commands that change something (command_line.py).
"""

from __future__ import annotations

import os
import re
from typing import Any, Protocol

from tiletwin.debugger import show_tiles, value_text, values
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.expressions import Address, Evaluation
from tiletwin.debugger.session import Session, Stop
from tiletwin.debugger.thread import Frame, Thread


class Looking(Protocol):
    """Who looks: the command line."""

    session: Session
    frame: int
    listed: tuple[str, int] | None
    """What `list` goes on with: a file, and its next line."""

    @property
    def thread(self) -> Thread: ...


REASONS = {"trap": "the kernel has failed", "deadlock": "the kernel hangs", "pause": "interrupted"}


def short(path: str) -> str:
    """A path as seen from here, if that is shorter."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return relative if len(relative) < len(path) and not relative.startswith("..") else path


def triple(sizes: Any) -> str:
    return "(" + ",".join(map(str, sizes)) + ")"


def place(address: Address) -> str:
    text = f"0x{address.at:x}" if address.space == "generic" else f"@{address.space} 0x{address.at:x}"
    return f"{address.name} ({text})" if address.name else text


def _who(facts: dict[str, Any]) -> str:
    return (
        f"block {triple(facts['block'])}, thread {triple(facts['thread'])}, warp {facts['warp']}, lane {facts['lane']}"
    )


def _where(facts: dict[str, Any]) -> str:
    """`reduce at reduce.cu:12`."""
    lines = facts.get("lines") or []
    if not lines:
        return f"{facts.get('function', '?')}, PTX line {facts.get('ptx', '?')}"
    return f"{lines[0]['function'] or facts['function']} at {short(lines[0]['file'])}:{lines[0]['line']}"


def stop(line: Looking, at: Stop, changed: bool) -> None:
    """changed: the function, or the thread, is another than at the last stop."""
    facts, session = at.facts, line.session
    if at.reason == "breakpoint":
        print(f"\nBreakpoint {', '.join(map(str, facts['breakpoints']))}, {_where(facts)}")
    elif at.reason == "watchpoint":
        print(f"\nWatchpoint {facts['watch']}: {session.watches.get(facts['watch'], '')}\n")
        print(f"Old value: {_bytes(facts['old'])}\nNew value: {_bytes(facts['new'])}")
        print(writer(facts["writer"]) if facts["writer"] else "who wrote it is not recorded")
    elif at.reason in REASONS:
        print(f"\n{REASONS[at.reason]}: {facts['message']}" if "message" in facts else f"\n{REASONS[at.reason]}")
    if at.reason != "step" or changed:
        if at.reason in ("step", "watchpoint", "pause") and "function" in facts:
            print(_where(facts))
        if "focus" in facts:
            print(f"[{_who(facts['focus'])}]")
    _source(line, facts)


def _source(line: Looking, facts: dict[str, Any]) -> None:
    lines = facts.get("lines") or []
    if not lines:
        return
    text = line.session.sources.line(lines[0]["file"], lines[0]["line"])
    print(f"{lines[0]['line']}\t{text}" if text else f"{lines[0]['line']}\tin {lines[0]['file']}")


def _bytes(data: str) -> str:
    raw = bytes.fromhex(data)
    if len(raw) in (1, 2, 4, 8):
        bits = int.from_bytes(raw, "little")
        shown = f"0x{bits:0{2 * len(raw)}x}  {values.as_signed(bits, len(raw))}"
        kind = {2: "f16", 4: "f32", 8: "f64"}.get(len(raw))
        return f"{shown}  {values.as_float(bits, kind):.6g}" if kind else shown
    return raw.hex(" ", 4)


def focus(line: Looking) -> None:
    stopped = line.session.stop
    if stopped is None or "focus" not in stopped.facts:
        raise Refused("no kernel runs")
    print(f"[{_who(stopped.facts['focus'])}]")
    if "function" in stopped.facts:
        print(_where(stopped.facts))
        _source(line, stopped.facts)
    else:
        print("the thread has ended")


def frame(line: Looking, at: Frame, number: int) -> None:
    print(f"#{number}  {at.function} at {short(at.file)}:{at.line}")
    if text := line.session.sources.line(at.file, at.line):
        print(f"{at.line}\t{text}")


def stack(line: Looking, rest: str) -> None:
    for number, at in enumerate(line.thread.frames()):
        print(f"#{number}  {at.function} at {short(at.file)}:{at.line}")


# ---- Values ----------------------------------------------------------------------------------------------------------


def _form(rest: str, default: str) -> tuple[str, str]:
    """The letters behind `/`, and the expression."""
    found = re.match(r"/(\S*)\s*(.*)", rest)
    return (found[1] or default, found[2]) if found else (default, rest)


def value(line: Looking, rest: str) -> None:
    form, text = _form(rest, "")
    if not text:
        raise Refused("print what?")
    thread = line.thread
    print(value_text.of(thread, Evaluation(thread).of(text), form))


def memory(line: Looking, rest: str) -> None:
    letters, text = _form(rest, "")
    found = re.fullmatch(r"(\d*)([xdufcs]?)([bhwg]?)|(\d*)([bhwg])([xdufcs])", letters)
    if found is None or not text:
        raise Refused("x/8fw ADDRESS: a number, one of x d u f c s, one of b h w g")
    count = int(found[1] or found[4] or 1)
    form, letter = found[2] or found[6] or "x", found[3] or found[5] or "w"
    size = 1 if form == "c" else values.SIZES[letter]
    address = Evaluation(line.thread).address(text)
    data = line.thread.memory(address, 64 if form == "s" else count * size)
    prefix = "" if address.space == "generic" else f"@{address.space} "
    print("\n".join(values.dump(data, address.at, form, size, prefix)))


def writers(line: Looking, rest: str) -> None:
    expression, comma, count = rest.rpartition(",")
    if not comma or not count.strip().isdigit():
        expression, count = rest, "1"
    address = Evaluation(line.thread).address(expression)
    found = line.session.ask("writers", address.space, address.at, count)
    for one in found["writers"]:
        print(writer(one))
        _source(line, one)
    if not found["writers"]:
        print(f"no thread of this launch has written {place(address)}")
    if len(found["writers"]) < int(count) and found["forgotten"]:
        print("older writes are not kept")
    if not found["recorded"]:
        print("`set record off` has ended the recording")


def writer(facts: dict[str, Any]) -> str:
    where = _where(facts)
    return f"written by {_who(facts)}: {where} (PTX line {facts['ptx']}, {facts['instruction']}), step {facts['time']}"


# ---- Source ----------------------------------------------------------------------------------------------------------


def listing(line: Looking, rest: str) -> None:
    if rest:
        file, _, number = rest.rpartition(":")
        if not number.isdigit():
            raise Refused("list 12, or list kernel.py:12")
        first = max(1, int(number) - 5)
        file = file or line.thread.frames()[line.frame].file
    elif line.listed:
        file, first = line.listed
    else:
        at = line.thread.frames()[line.frame]
        file, first = at.file, max(1, at.line - 5)
    lines = line.session.sources.lines(file)
    if not lines:
        raise Refused(f"{file} is not there")
    for number in range(first, min(first + 10, len(lines) + 1)):
        print(f"{number}\t{lines[number - 1]}")
    line.listed = file, first + 10


def instructions(line: Looking, rest: str) -> None:
    at = line.thread.frames()[line.frame].ptx
    name = line.session.launch["file"]
    lines = line.session.sources.lines(name)
    around = int(rest) if rest.isdigit() else 8
    for number in range(max(1, at - around), min(at + around, len(lines)) + 1):
        if lines[number - 1].startswith("// tiletwin."):  # what the debugger itself reads
            continue
        print(f"{'=>' if number == at else '  '} {number}\t{lines[number - 1].strip()}")


# ---- info ------------------------------------------------------------------------------------------------------------


def info(line: Looking, rest: str) -> None:
    words = rest.replace("cuda ", "").split()
    found = [name for name in _INFO if words and name.startswith(words[0])]
    if len(found) != 1 and (not words or words[0] not in _INFO):
        raise Refused(f"info {', '.join(_INFO)}")
    _INFO[words[0] if words[0] in _INFO else found[0]](line, words[1:])


def _breakpoints(line: Looking, words: list[str]) -> None:
    session = line.session
    if not session.breakpoints and not session.watches:
        print("no breakpoints or watchpoints")
    for number, one in session.breakpoints.items():
        at = f"at {short(one.at[0])}:{one.at[1]}" if one.at[0] else "waits for its kernel"
        print(f"{number:<4}breakpoint  {one}, {at}, hit {one.hits} times")
    for number, text in session.watches.items():
        print(f"{number:<4}watchpoint  {text}")


def _lanes(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def _spans(numbers: list[int]) -> str:
    """ "0-15, 31"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def _rows(line: Looking) -> list[dict[str, Any]]:
    return line.session.ask("warps")["warps"]


def _is_focus(line: Looking, row: dict[str, Any]) -> bool:
    now = line.session.stop.facts.get("focus") if line.session.stop else None
    return bool(now) and now["block"] == row["block"] and now["warp"] == row["warp"]


def _state(group: dict[str, Any]) -> str:
    return group["state"] + (f": {group['waits']}" if group.get("waits") else "")


def _blocks(line: Looking, words: list[str]) -> None:
    found = line.session.ask("blocks")
    x, y, z = line.session.launch["grid"]
    print(f"{found['ended']} of {x * y * z} blocks have ended, {x * y * z - found['begun']} have not begun; these run:")
    now = line.thread.block
    for row in found["blocks"]:
        mark = "*" if tuple(row["block"]) == now else " "
        print(
            f"{mark} {triple(row['block']):<12}{row['live']} of {row['threads']} threads, {row['shared']} bytes shared"
        )


def _warps(line: Looking, words: list[str]) -> None:
    print("  block       warp  lanes         where, and what it does")
    for row in _rows(line):
        mark = "*" if _is_focus(line, row) else " "
        for group in row["groups"]:
            lanes = "all" if group["lanes"] == 0xFFFFFFFF else _spans(_lanes(group["lanes"]))
            print(f"{mark} {triple(row['block']):<12}{row['warp']:<6}{lanes:<14}{_where(group)}, {_state(group)}")
        if not row["groups"]:
            print(f"{mark} {triple(row['block']):<12}{row['warp']:<6}{'none':<14}has ended")


def _threads(line: Looking, words: list[str]) -> None:
    """Threads at one line together, block by block."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row in _rows(line):
        for group in row["groups"]:
            key = triple(row["block"]), _where(group)
            groups.setdefault(key, []).extend(32 * row["warp"] + lane for lane in _lanes(group["lanes"]))
    for (block, where), threads in groups.items():
        print(f"block {block}, threads {_spans(sorted(threads))}: {where}")


def _lane_rows(line: Looking, words: list[str]) -> None:
    thread = line.thread
    for row in _rows(line):
        if not _is_focus(line, row):
            continue
        for lane in range(row["threads"]):
            group = next((g for g in row["groups"] if g["lanes"] >> lane & 1), None)
            mark = "*" if lane == thread.lane else " "
            number = 32 * row["warp"] + lane
            where = f"{_where(group)}, {_state(group)}" if group else "has ended"
            print(f"{mark} lane {lane:<4}thread {number:<5}{where}")


def _registers(line: Looking, words: list[str]) -> None:
    thread = line.thread
    if words:
        found = [Evaluation(thread).of(word if word.startswith("$") else f"${word.lstrip('%')}") for word in words]
        for register in found:
            for lane in range(32):
                print(f"{'*' if lane == thread.lane else ' '} {register.name} lane {lane:<4}{register.show(lane)}")
        return
    for register in thread.registers():
        print(f"{register.name:<12}{register.kind:<6}{register.show(thread.lane)}")


def _symbols(line: Looking, words: list[str]) -> None:
    for name, at in line.thread.symbols().items():
        print(f"{name:<32}@{at.space} 0x{at.at:x}, {at.size} bytes, {at.kind}")


def _launch(line: Looking, words: list[str]) -> None:
    now = line.session.launch
    if not now or line.session.stop is None:
        raise Refused("no kernel runs")
    print(
        f"launch {now['launch']}: {now['kernel']} of {now['file']}, grid {triple(now['grid'])}, block "
        f"{triple(now['block'])}, cluster {triple(now['cluster'])}, {now['shared']} bytes of shared memory"
    )


def _locals(line: Looking, words: list[str]) -> None:
    for name, text in value_text.locals_of(line.session, line.thread):
        print(f"{name} = {text}")


def _shared(line: Looking, words: list[str]) -> None:
    print("\n".join(show_tiles.shared(line.session, line.thread, words)))


def _tensor_maps(line: Looking, words: list[str]) -> None:
    print("\n".join(show_tiles.tensor_maps(line.session, line.thread, words)))


_INFO = {
    "breakpoints": _breakpoints, "blocks": _blocks, "warps": _warps, "threads": _threads, "lanes": _lane_rows,
    "registers": _registers, "locals": _locals, "symbols": _symbols, "launch": _launch,
    "shared": _shared, "tensormaps": _tensor_maps,
}  # fmt: skip
