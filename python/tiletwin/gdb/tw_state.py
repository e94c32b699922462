"""What the program that is debugged says about its launch: the state that tiletwin_gdb.so exports, in its memory.

The layout is that of GdbState in interp/debug/jit/Jit.h. Runs inside gdb.
"""

import json
import struct

import gdb

LAYOUT = struct.Struct("<IIqqq3i3iQQQQ")
OFFSET_OF_LOADED = 4
OFFSET_OF_WANTED = 8
NEXT = -2  # wanted: whichever program comes next
VERSION = 2


class Problem(gdb.GdbError):
    """A text for the user."""


class State:
    """One look at the state; `current` is -1 while no kernel runs."""

    def __init__(self, address):
        memory = gdb.selected_inferior().read_memory(address, LAYOUT.size).tobytes()
        fields = LAYOUT.unpack(memory)
        self.address = address
        self.version, self.loaded, self.wanted, self.current, self.total = fields[:5]
        self.program, self.grid = fields[5:8], fields[8:11]
        self._texts = {"launch": fields[11:13], "kernel": fields[13:15]}
        if self.version != VERSION:
            raise Problem("tw: these commands and tiletwin_gdb.so are from different versions; reinstall tiletwin")

    def text(self, which):
        """`launch` or `kernel`, as interp/debug/DebugText.h describes them."""
        address, size = self._texts[which]
        return json.loads(gdb.selected_inferior().read_memory(address, size).tobytes().decode()) if address else {}

    def want(self, number):
        gdb.selected_inferior().write_memory(self.address + OFFSET_OF_WANTED, struct.pack("<q", number))

    def linear(self, program):
        x, y, z = program
        return x + self.grid[0] * (y + self.grid[1] * z)


def address():
    """Of the state, or None if the program has not loaded it."""
    try:
        return int(gdb.parse_and_eval("(unsigned long)&tiletwin_gdb_state"))
    except gdb.error:
        return None


def mark_loaded():
    """Tells the program that it need not advise on how to load these commands."""
    at = address()
    if at is not None:
        try:
            gdb.selected_inferior().write_memory(at + OFFSET_OF_LOADED, struct.pack("<I", 1))
        except gdb.MemoryError:
            pass


def read():
    """The state; a Problem if no kernel runs."""
    try:
        pid = gdb.selected_inferior().pid
    except gdb.error:
        pid = 0
    if not pid:
        raise Problem("tw: no program runs; start it with `run`")
    at = address()
    state = State(at) if at is not None else None
    if state is None or state.current < 0:
        raise Problem(
            "tw: no kernel is running here. Set a breakpoint in one (break kernel.py:8) and `run` or `continue`; "
            "the program needs TILETWIN_GDB=1 and TILETWIN_INTERPRET=1"
        )
    return state


def triple(program):
    return "(" + ", ".join(map(str, program)) + ")"


def kernel_frame(kernel):
    """The innermost frame of the kernel or of a function that it called, as (frame, line table entry); or a Problem."""
    names = {f["name"] for f in kernel["functions"]}
    frame = gdb.selected_frame()
    while frame is not None:
        place = frame.find_sal()
        if frame.name() in names and place.symtab is not None:
            return frame, place
        frame = frame.older()
    raise Problem(
        f"tw: this is not a frame of {kernel['name']}. `frame` and `up` choose one, `tw program` runs to a program"
    )
