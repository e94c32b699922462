"""Statements and expressions of kernels: what they become in the IR, and what errors say and point at."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError, UnsupportedLanguageConstruct

LIMIT = tl.constexpr(4)
PLAIN = 4


def source(fn, types: str, **constexprs) -> str:
    names = [name for name in fn.arg_names if name not in constexprs]
    signature = dict(zip(names, types.split())) | dict.fromkeys(constexprs, "constexpr")
    return triton.compile(triton.compiler.ASTSource(fn, signature, constexprs)).asm["source"]


def line_of(text: str) -> int:
    """Number of the only line of this file that holds `text`."""
    with open(__file__) as file:
        lines = [number for number, line in enumerate(file, 1) if text in line and "line_of" not in line]
    assert len(lines) == 1, (text, lines)
    return lines[0]


def rejected(fn, types: str, **constexprs) -> CompilationError:
    with pytest.raises(CompilationError) as caught:
        source(fn, types, **constexprs)
    assert caught.value.file == __file__
    return caught.value


@triton.jit
def locations(o_ptr, n):
    total = n + 1
    tl.store(o_ptr, total)


def test_values_carry_name_and_place() -> None:
    text = source(locations, "*i32 i32")
    line = line_of("total = n + " + "1")
    assert f'test_walker.py":{line}:13)' in text
    assert 'loc("total"(' in text and 'loc("o_ptr"(' in text


@triton.jit
def add_one(x):
    return x + 1  # in the callee


@triton.jit
def calls_with_a_string(o_ptr):
    tl.store(o_ptr, add_one("text"))  # at the call


def test_callee_errors_are_chained() -> None:
    error = rejected(calls_with_a_string, "*i32")
    assert error.line == line_of("# at the " + "call")
    assert error.__cause__.line == line_of("# in the " + "callee")
    assert "add_one" in str(error)


@triton.jit
def swap_in_loop(o_ptr, n):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    tl.store(o_ptr, a)


def test_loop_carries_what_its_body_assigns() -> None:
    text = source(swap_in_loop, "*i32 i32")
    assert text.count("scf.for") == 1 and "-> (i32, i32)" in text


@triton.jit
def loop_in_pruned_branch(o_ptr, n, DOUBLE: tl.constexpr):
    a = 1.0
    for _ in range(n):
        if DOUBLE:
            a = a * 2
        else:
            a = 7
    tl.store(o_ptr, a)


def test_pruned_assignments_do_not_count() -> None:
    assert "-> (f32)" in source(loop_in_pruned_branch, "*fp32 i32", DOUBLE=True)
    assert "Loop-carried variable a has initial type fp32" in str(
        rejected(loop_in_pruned_branch, "*fp32 i32", DOUBLE=False)
    )


@triton.jit
def constant_of(flag: tl.constexpr):
    if flag:
        return 2
    return 2


@triton.jit
def two_constants(k):
    if k > 0:
        return 1
    return 2


@triton.jit
def weak_returns(x_ptr, o_ptr, k):
    x = tl.load(x_ptr)
    tl.static_assert((x + constant_of(True)).dtype == tl.int8)
    tl.static_assert((x + two_constants(k)).dtype == tl.int32)
    tl.store(o_ptr, x)


def test_the_same_constant_from_every_return_stays_weak() -> None:
    source(weak_returns, "*i8 *i8 i32")


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor = 3


@triton.jit
def named_tuples(o_ptr, a):
    p = Pair(a)
    q = Pair(p.second, p.first)
    first, second = q
    if a > 0:
        q = Pair(second, first)
    tl.store(o_ptr, q.first + q[1])


def test_named_tuples_keep_their_class() -> None:
    assert "scf.if" in source(named_tuples, "*i32 i32")


@triton.jit
def strings(o_ptr, N: tl.constexpr, MODE: tl.constexpr):
    name: tl.constexpr = f"{MODE}-{N:03d}-{MODE!r}"
    tl.static_assert(name == "fast-007-'fast'")
    tl.static_assert(MODE in ("fast", "slow"))
    tl.static_assert(not (MODE not in ("fast", "slow")))
    tl.static_assert(MODE.upper() == "FAST")
    tl.static_assert(len((1, 2, 3)[1:]) == 2)
    tl.static_assert([x * 2 for x in (1, 2, 3) if x != 2][1] == 6)
    tl.static_assert((None if N == 7 else 1) is None)
    tl.store(o_ptr, LIMIT if N else 0)


def test_compile_time_values() -> None:
    source(strings, "*i32", N=7, MODE="fast")


@triton.jit
def none_or_pointer(x_ptr, bias_ptr, o_ptr):
    x = tl.load(x_ptr)
    if bias_ptr is not None:
        x += tl.load(bias_ptr)
    tl.store(o_ptr, x)


def test_none_argument() -> None:
    assert source(none_or_pointer, "*fp32 *fp32", bias_ptr=None).count("tt.load") == 1
    assert source(none_or_pointer, "*fp32 *fp32 *fp32").count("tt.load") == 2


@triton.jit
def early(x, k):
    if k == 0:
        return x
    elif k == 1:
        x = x * 2
    else:
        x = -x
    return x + 1


@triton.jit
def calls_early(o_ptr, k):
    tl.store(o_ptr, early(1.5 * k, k))


def test_early_return_makes_blocks() -> None:
    text = source(calls_early, "*fp32 i32")
    assert "cf.cond_br" in text and "scf.if" in text and "no predecessors" not in text


@triton.jit
def type_in_both_branches(o_ptr, k):
    if k > 0:
        v = 1
    else:
        v = 1.5
    tl.store(o_ptr, v)


@triton.jit
def only_one_branch(o_ptr, k):
    if k > 0:
        lonely = 1
    tl.store(o_ptr, lonely)


@triton.jit
def inside_loop(o_ptr, k):
    for i in range(k):
        inner = i
    tl.store(o_ptr, inner)


@triton.jit
def plain_global(o_ptr):
    tl.store(o_ptr, PLAIN)


def host_helper(x):
    return x


@triton.jit
def calls_python(o_ptr, k):
    tl.store(o_ptr, host_helper(k))


@triton.jit
def breaks(o_ptr, k):
    for i in range(k):
        if i == 3:
            break


@triton.jit
def returns_value(o_ptr):
    return 1


@triton.jit
def bad_step(o_ptr, k):
    for i in range(0, k, 0):
        tl.store(o_ptr, i)


MESSAGES = [
    (
        type_in_both_branches,
        "*i32 i32",
        "Mismatched type for v: it is int32 after one branch of this `if` and fp32 after the other",
    ),
    (only_one_branch, "*i32 i32", "lonely is not defined here: it gets a value in one branch of an `if` only"),
    (inside_loop, "*i32 i32", "inner is not defined here: it gets its value inside the loop"),
    (plain_global, "*i32", "PLAIN = tl.constexpr(...)"),
    (calls_python, "*i32 i32", "host_helper() is a plain Python function, which a kernel cannot call"),
    (breaks, "*i32 i32", "`break` is not supported in kernels: use `while`"),
    (returns_value, "*i32", "a kernel cannot return a value"),
    (bad_step, "*i32 i32", "the step of a loop must not be 0"),
]


@pytest.mark.parametrize(("fn", "types", "message"), MESSAGES, ids=lambda v: getattr(v, "__name__", None))
def test_messages(fn, types: str, message: str) -> None:
    error = rejected(fn, types)
    assert message in str(error)
    assert "^" in str(error) and error.source_line.strip()


def test_unsupported_has_its_own_class() -> None:
    assert isinstance(rejected(breaks, "*i32 i32"), UnsupportedLanguageConstruct)
