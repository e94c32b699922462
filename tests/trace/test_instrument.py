"""Where the notes stand: plain Python functions give the same results with them, and the notes come in order."""

import ast
import sys

import pytest
from tiletwin.trace.format import CALL, FALSE, ITERATION, LINE, LOOP_END, RETURN, TRUE
from tiletwin.trace.instrument import instrument


def noted(text, *arguments):
    """(result, notes) of the function that the text defines; a note is (line, kind)."""
    node = ast.parse(text).body[0]

    def call(name, *args, at):
        made = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(args), keywords=[])
        return ast.copy_location(made, at)

    instrument(node, call)
    notes = []

    def record(line, kind, value=None):
        notes.append((line, kind))
        return value

    scope = {"record": record}
    exec(compile(ast.fix_missing_locations(ast.Module([node], [])), "noted.py", "exec"), scope)
    return scope[node.name](*arguments), notes


LOOP = """def f(n):
    '''Text.'''
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        elif i == 4:
            break
    while total > 1:
        total -= 2
    return total
"""


def test_a_loop_with_branches():
    result, notes = noted(LOOP, 3)
    assert result == 1
    assert notes == [
        (1, CALL), (3, LINE),
        (4, ITERATION), (5, FALSE), (7, FALSE),
        (4, ITERATION), (5, TRUE), (6, LINE),
        (4, ITERATION), (5, FALSE), (7, FALSE),
        (4, LOOP_END), (9, LOOP_END), (11, RETURN),
    ]  # fmt: skip


def test_break_and_while():
    result, notes = noted(LOOP, 9)
    assert result == 0
    assert notes[notes.index((7, TRUE)) :] == [
        (7, TRUE), (8, LINE), (4, LOOP_END),
        (9, ITERATION), (10, LINE), (9, ITERATION), (10, LINE), (9, LOOP_END), (11, RETURN),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text, result, notes",
    [
        ("def f():\n    pass", None, [(1, CALL), (2, LINE), (2, RETURN)]),
        ("def f():\n    return", None, [(1, CALL), (2, RETURN)]),
        ("def f():\n    x = (1 +\n         2)\n    return x", 3, [(1, CALL), (2, LINE), (4, RETURN)]),
        ("def f():\n    if 1:\n        return 5\n    return 6", 5, [(1, CALL), (2, TRUE), (3, RETURN)]),
        ("def f():\n    for _ in ():\n        pass\n", None, [(1, CALL), (2, LOOP_END), (3, RETURN)]),
        ("def f():\n    with open('/dev/null'):\n        x = 1\n", None, [(1, CALL), (3, LINE), (3, RETURN)]),
        ("def f():\n    try:\n        x = 1\n    finally:\n        y = 2\n    return x", 1,
         [(1, CALL), (3, LINE), (5, LINE), (6, RETURN)]),
    ],
)  # fmt: skip
def test_statements(text, result, notes):
    assert noted(text) == (result, notes)


def test_a_debugger_sees_the_same_lines():
    """Line events of a trace function, with and without notes."""

    def lines(function, *arguments):
        seen = []

        def trace(frame, event, _):
            if event == "line" and frame.f_code.co_filename == "noted.py":
                seen.append(frame.f_lineno)
            return trace

        sys.settrace(trace)
        try:
            function(*arguments)
        finally:
            sys.settrace(None)
        return seen

    text = "def f(n):\n    total = 0\n    for i in range(n):\n        if i:\n            total += i\n    return total\n"
    scope = {}
    exec(compile(text, "noted.py", "exec"), scope)
    node = ast.parse(text).body[0]
    instrument(
        node, lambda name, *args, at: ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(args), []), at)
    )
    other = {"record": lambda line, kind, value=None: value}
    exec(compile(ast.fix_missing_locations(ast.Module([node], [])), "noted.py", "exec"), other)
    with_notes, without = lines(other["f"], 3), lines(scope["f"], 3)
    assert [n for n, before in zip(with_notes, [None, *with_notes]) if n != before and n > 1] == [
        n for n, before in zip(without, [None, *without]) if n != before
    ]
