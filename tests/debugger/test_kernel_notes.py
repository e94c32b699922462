"""What comments of the PTX say at an instruction: texts written by hand, a line for each case."""

from __future__ import annotations

import pytest
from tiletwin.debugger.kernel_notes import KernelNotes, Place

NOTES = """
// tiletwin.note: 0|x||int32|i32|scalar
// tiletwin.note: 1|y||int32|i32|scalar
// tiletwin.note: 2|x||int32|i32|scalar
// tiletwin.note: 3|z|9:4|int32|i32|scalar
// tiletwin.note: 4|z|12:4|int32|i32|scalar
// tiletwin.line: k.py:2 -
// tiletwin.line: k.py:5 0,1,2
// tiletwin.line: k.py:20 3,4
"""


def known(code: str, mark: str = "here", source: int = 5) -> dict[str, str]:
    """By variable the register, `?` if it is nowhere, `-` if the assignment was not reached: at the line `// here`."""
    lines = code.strip().splitlines() + NOTES.strip().splitlines()
    at = next(number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}"))
    notes = KernelNotes(lines)
    found = {}
    for name, note in notes.at(at, "k.py", source).items():
        place = notes.place(note, 0, at) if note else None
        found[name] = "-" if note is None else str(place.operands[0]) if place else "?"
    return found


X, Y = "// tiletwin.var: 0 0x1\n// tiletwin.var: 0.0 %r1", "// tiletwin.var: 1 0x1\n// tiletwin.var: 1.0 %r2"
AGAIN = "// tiletwin.var: 2 0x1\n// tiletwin.var: 2.0 %r3"


@pytest.mark.parametrize(
    "code, expected",
    [
        (f"mov.u32 %r1, 1;\n{X}\nret; // here", {"x": "%r1", "y": "-"}),
        (f"{X}\nmov.u32 %r1, 2;\nret; // here", {"x": "?", "y": "-"}),
        (f"{X}\n@%p2 ld.global.v2.b32 {{%r5, %r1}}, [%rd1];\nret; // here", {"x": "?", "y": "-"}),
        (f"{X}\nst.global.b32 [%rd1], %r1;\nret; // here", {"x": "%r1", "y": "-"}),
        (f"{X}\n{{ .reg .pred p; setp.eq.b32 p, %r9, 0; @p mov.b32 %r1, 0; }}\nret; // here", {"x": "?", "y": "-"}),
        (f"{X}\n{AGAIN}\nret; // here", {"x": "%r3", "y": "-"}),
        (f"{X}\n// tiletwin.var: 0.0 ?\nret; // here", {"x": "?", "y": "-"}),
        # Ways that meet: what holds on both.
        (f"{X}\n@%p1 bra $L;\n{Y}\n$L:\nret; // here", {"x": "%r1", "y": "-"}),
        (f"{X}\n@%p1 bra $L;\nmov.u32 %r1, 3;\n$L:\nret; // here", {"x": "?", "y": "-"}),
        (f"{X}\n@%p1 bra $L;\n{AGAIN}\n$L:\nret; // here", {"x": "-", "y": "-"}),
        # A loop: the round before does not count, not even if the first round stands in front of the loop.
        (f"{X}\n$L:\nadd.u32 %r8, %r8, 1; // here\n{Y}\n@%p1 bra $L;\nret;", {"x": "%r1", "y": "-"}),
        (f"{X}\n{Y}\n$L:\nadd.u32 %r8, %r8, 1; // here\n{Y}\n@%p1 bra $L;\nret;", {"x": "%r1", "y": "-"}),
        (f"{X}\n$L:\n{Y}\nadd.u32 %r8, %r8, 1; // here\n@%p1 bra $L;\nret;", {"x": "%r1", "y": "%r2"}),
        # Its own last value is gone when the assignment comes once more, until the code says where it is.
        (f"{Y}\n$L:\n// tiletwin.var: 1 0x1\nmov.u32 %r9, 1; // here\n@%p1 bra $L;\nret;", {"x": "-", "y": "?"}),
        ("mov.u32 %r1, 1; // here\nbra.uni $L;\n$M:\nret;\n$L:\nbra $M;", {"x": "-", "y": "-"}),
    ],
)
def test_what_holds(code, expected):
    assert known(code) == expected


def test_lines_and_functions():
    assert known(f"{X}\nret; // here", source=6) == {"x": "%r1", "y": "-"}  # of a statement that goes on
    assert known(f"{X}\nret; // here", source=3) == {}  # in front of the function's first statement
    first = "// tiletwin.var: 3 0x1\n// tiletwin.var: 3.0 %r1"
    second = "// tiletwin.var: 4 0x1\n// tiletwin.var: 4.0 %r2"
    assert known(f"{first}\nret; // here", source=20) == {"z": "%r1"}
    assert known(f"{first}\n{second}\nret; // here", source=20) == {"z": "%r2"}  # inlined once more


def test_places():
    text = "// tiletwin.var: 0 0x1\n// tiletwin.var: 0.0+16 %r1,0x10 LLVM_arg 0 LLVM_arg 1 plus\nret; // here"
    lines = text.splitlines() + NOTES.strip().splitlines()
    notes = KernelNotes(lines)
    place = Place(("%r1", 16), ("LLVM_arg", "0", "LLVM_arg", "1", "plus"), 16)
    assert notes.place(notes.notes[0], 0, 3) == place and notes.is_reached(notes.notes[0], 3)
    assert not KernelNotes(["ret;"]).is_there
