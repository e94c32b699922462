"""The rewrite of eager mode: which calls it inserts, and that files, lines and local names stay the user's.

The inserted helpers are replaced by Python ones that log, so no kernel runs here.
"""

from __future__ import annotations

import dis
import itertools
import operator
import sys

import pytest
import tiletwin
import tiletwin.eager.rewriter as rewriting
import triton
import triton.language as tl
from tiletwin.eager.decide import reason_for_eager
from tiletwin.errors import UnsupportedLanguageConstruct


class Assigned:
    """What the logging `assign` makes of a value."""

    def __init__(self, value) -> None:
        self.value = value

    def __eq__(self, other) -> bool:
        return isinstance(other, Assigned) and self.value == other.value

    __hash__ = None

    def __add__(self, other):
        return self.value + other


@pytest.fixture
def log(monkeypatch):
    """Helpers that record (name, arguments) and behave as plain Python does."""
    calls: list[tuple] = []
    stack: list = []
    behave = {
        "assign": Assigned,
        "constant": lambda v: v,
        "parameter": lambda v: v,
        "unpack": lambda values, kept: [v if k else Assigned(v) for v, k in zip(values, kept)],
        "truth": bool,
        "not": lambda v: not v,
        "begin_and": lambda v: (stack.append(v), bool(v))[1],
        "begin_or": lambda v: (stack.append(v), not v)[1],
        "end_and": lambda v: (stack.pop(), v)[1],
        "end_or": lambda v: (stack.pop(), v)[1],
        "take": stack.pop,
        "begin_if": bool,
        "end_if": lambda v: v,
        "is": lambda a, b: a is b,
        "is_not": lambda a, b: a is not b,
        "in": lambda a, b: a in b,
        "not_in": lambda a, b: a not in b,
        "chain": lambda ops, *v: all(a < b for a, b in itertools.pairwise(v)),
        "plain": lambda v: v,
        "tuple": tuple,
        "returned": lambda v, *conditions: (v, conditions),
        "loop": lambda f, *a, **k: f(*a, **k),
        "rounds": lambda site, iterable: iterable,
        "enter_while": lambda site: None,
        "again": lambda site: True,
        "subscript": operator.getitem,
        "callee": lambda f: f,
        "method": getattr,
        "device_assert": lambda c, m="": None,
    }

    def logged(name):
        def helper(*args, **kwargs):
            calls.append((name, *args))
            return behave[name](*args, **kwargs)

        return helper

    monkeypatch.setattr(rewriting, "helpers", lambda: {name: logged(name) for name in behave})
    return calls


def names(log) -> list[str]:
    return [entry[0] for entry in log]


OUTSIDE = 10


def run(fn, *args):
    return rewriting.rewrite(fn)(*args)


@triton.jit
def assignments(a):
    x = 5
    y: tl.constexpr = 6
    z: tl.constexpr
    z = 7
    v: tl.constexpr
    v, w = 8, 9
    x2 = y + z
    return x, y, z, x2, v, w


def test_assignment(log) -> None:
    assert run(assignments, 0) == (Assigned(5), 6, 7, Assigned(13), 8, Assigned(9))
    assert ("parameter", 0) in log


@triton.jit
def boolean(a, b, c):
    return (a and b) or not c, a < b < c, a is b, 1 if a else 2


def test_boolean_operators(log) -> None:
    assert run(boolean, 1, 2, 3) == (2, True, False, 1)
    assert run(boolean, 0, 2, 3) == (False, True, False, 2)
    assert {"begin_and", "end_and", "begin_or", "take", "not", "chain", "is", "begin_if", "end_if"} <= set(names(log))


@triton.jit
def loops(n):
    total = 0
    for i in range(2, n):
        total = i
    while n > 8:
        n = 0
    return total


def test_loops(log) -> None:
    assert run(loops, 5) == Assigned(4)
    assert ("loop", range, 2, 5) in log and "truth" in names(log)
    sites = {entry[0]: entry[1] for entry in log if entry[0] in ("rounds", "enter_while", "again")}
    first = loops.ast.lineno
    line = loops.source_lines[first + 2 - loops.first_line]
    assert sites["rounds"] == (__file__, first + 2, 4, line, loops.first_line, (("total", first + 3),))
    assert sites["again"] is sites["enter_while"] and sites["again"][5] == (("n", first + 5),)


@triton.jit
def indices(x, i):
    return x[i], x[1:i], x[:, None, 2], x[None, :]


def test_indices(log) -> None:
    class Indexed:
        def __getitem__(self, index):
            return index

    every = slice(None)
    assert run(indices, Indexed(), 5) == (5, slice(1, 5, None), (every, None, 2), (None, every))
    assert names(log).count("subscript") == 4
    assert hash(rewriting.rewrite(indices).__code__)  # debuggers keep code objects in dicts


@triton.jit
def control_flow(kind, values):
    x = 2
    for i in range(3):
        for value in values:
            if value == i:
                break  # Python's own loop: nothing to refuse
        if kind == "break":
            break
        if kind == "continue":
            continue
        if kind == "return":
            return 1
    if kind == "for":
        for _ in range(2):
            pass
        else:
            x = 3
    if kind == "while":
        while kind == "":
            pass
        else:
            x = 3
    return x


@pytest.mark.parametrize("kind", ["break", "continue", "return", "for", "while"])
def test_control_flow_that_kernels_do_not_have(log, kind: str) -> None:
    assert run(control_flow, "none", [1])[0] == Assigned(2)
    cls = tiletwin.errors.CompilationError if kind in ("for", "while") else UnsupportedLanguageConstruct
    words = r"is not supported in kernels|of a kernel is not supported|Cannot have `return` statements inside"
    with pytest.raises(cls, match=words) as caught:
        run(control_flow, kind, [1])
    assert caught.value.source_line[caught.value.column :].startswith(kind)
    assert caught.value.file == __file__ and f"{__file__}:{caught.value.line}:" in str(caught.value)


SHADOWED = 40


@triton.jit
def shadows(x):
    y = SHADOWED + x  # noqa: F823
    SHADOWED = y + 1
    return SHADOWED


def test_a_local_name_means_the_global_one_before_it_is_assigned(log) -> None:
    assert run(shadows, 2) == Assigned(43)


@triton.jit
def two_returns(k):
    if k:
        return 1
    return 2


@triton.jit
def same_returns(k):
    if k:
        return 1
    return 1


def test_returns_that_depend_on_conditions(log) -> None:
    assert run(two_returns, 3) == (1, (3,))
    assert run(two_returns, 0) == (2, (0,))
    assert run(same_returns, 0) == 1


def closure_kernel(captured):
    @triton.jit
    def kernel(x):
        return x + captured + OUTSIDE

    return kernel


def test_globals_and_closures(log) -> None:
    assert run(closure_kernel(100), 1) == 111


@triton.jit
def places(x):
    first = x
    if first:
        first = (
            x
            and x.missing
        )  # fmt: skip
    return first


def test_positions_and_names_are_the_users(log) -> None:
    function = rewriting.rewrite(places)
    code = function.__code__
    assert code.co_filename == __file__ and code.co_name == "places"
    assert (
        code.co_varnames == places.fn.__code__.co_varnames
        and code.co_names == places.fn.__code__.co_names[:0] + code.co_names
    )
    lines = {i.positions.lineno for i in dis.get_instructions(code) if i.positions and i.positions.lineno}
    original = {i.positions.lineno for i in dis.get_instructions(places.fn) if i.positions and i.positions.lineno}
    assert lines <= original | {places.ast.lineno}
    with pytest.raises(AttributeError) as caught:
        function(1)
    last = caught.traceback[-1]
    assert str(last.path) == __file__ and last.lineno + 1 == places.ast.lineno + 5


def test_a_tracer_sees_the_users_lines_only(log) -> None:
    function = rewriting.rewrite(loops)
    seen = []

    def trace(frame, event, argument):
        if frame.f_code is function.__code__ and event == "line":
            seen.append(frame.f_lineno - loops.ast.lineno)
            assert all(name in ("n", "total", "i") for name in frame.f_locals)
        return trace

    sys.settrace(trace)
    try:
        function(5)
    finally:
        sys.settrace(None)
    assert seen[:6] == [1, 2, 3, 2, 3, 2]


@triton.jit
def stops(x_ptr):
    breakpoint()
    tl.store(x_ptr, 1)


def helper(x):
    return x


@triton.jit
def calls_helper(x_ptr):
    tl.store(x_ptr, helper(1))


@triton.jit
def calls_calls_helper(x_ptr):
    calls_helper(x_ptr)


@triton.jit
def compiled_kernel(x_ptr, n):
    print("n", n)
    tl.store(x_ptr, min(n, 3) + triton.cdiv(8, 3))


def named(name: str):
    """A decorator of a library, made by a call."""
    return lambda function: function


@named("kernel")
@triton.jit
def decorated_kernel(x_ptr):
    tl.store(x_ptr, triton.cdiv(8, 3))


@triton.jit
def imports_inside(x_ptr):
    from code import interact

    interact(local=locals())
    tl.store(x_ptr, 1)


def test_a_kernel_that_imports_runs_in_python(monkeypatch) -> None:
    monkeypatch.delenv("TILETWIN_EAGER", raising=False)
    assert reason_for_eager(imports_inside) == "imports_inside imports a module"


def test_reasons(monkeypatch) -> None:
    monkeypatch.delenv("TILETWIN_EAGER", raising=False)
    assert reason_for_eager(compiled_kernel) is None
    assert reason_for_eager(decorated_kernel) is None
    assert "breakpoint" in reason_for_eager(stops)
    assert "helper" in reason_for_eager(calls_helper)
    assert "helper" in reason_for_eager(calls_calls_helper)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    assert "TILETWIN_EAGER" in reason_for_eager(compiled_kernel)
