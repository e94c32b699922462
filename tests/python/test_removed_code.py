"""Warnings about code that compilers remove, though its author may have meant it."""

from __future__ import annotations

import warnings

import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch


@triton.jit
def wait_plainly(flag_ptr, o_ptr):
    while tl.load(flag_ptr) == 0:
        pass
    tl.store(o_ptr, 1)


@triton.jit
def wait_with_a_variable(flag_ptr, o_ptr):
    ready = tl.load(flag_ptr)
    tries = 0
    while ready == 0:
        tries += 1
        ready = tl.load(flag_ptr)
    tl.store(o_ptr, 1)


@triton.jit
def _spin(flag_ptr):
    while tl.load(flag_ptr) == 0:
        pass


@triton.jit
def wait_in_a_function(flag_ptr, o_ptr):
    _spin(flag_ptr)
    tl.store(o_ptr, 1)


@triton.jit
def wait_volatile(flag_ptr, o_ptr):
    while tl.load(flag_ptr, volatile=True) == 0:
        pass
    tl.store(o_ptr, 1)


@triton.jit
def wait_atomically(flag_ptr, o_ptr):
    while tl.atomic_cas(flag_ptr, 1, 1) == 0:
        pass
    tl.store(o_ptr, 1)


@triton.jit
def count_rounds(flag_ptr, o_ptr):
    rounds = 0
    while tl.load(flag_ptr + rounds) == 0:
        rounds += 1
    tl.store(o_ptr, rounds + 1)


@triton.jit
def sum_nobody_wants(flag_ptr, o_ptr):
    i = 0
    total = 0
    while i < 1:
        total += tl.load(flag_ptr + i)
        i += 1
    tl.store(o_ptr, 1)


@triton.jit
def sum_by_functions(flag_ptr, o_ptr):
    i = 0
    while tl.cdiv(i, 4) < 1:
        i += 4
    tl.store(o_ptr, 1)


@triton.jit
def _is_ready(flag_ptr):
    return tl.load(flag_ptr) != 0


@triton.jit
def wait_for_a_function(flag_ptr, o_ptr):
    while not _is_ready(flag_ptr):
        pass
    tl.store(o_ptr, 1)


@triton.jit
def load_as_statement(flag_ptr, o_ptr):
    tl.load(flag_ptr)
    tl.store(o_ptr, 1)


@triton.jit
def load_with_a_name(flag_ptr, o_ptr):
    unused = tl.load(flag_ptr)  # noqa: F841
    tl.store(o_ptr, 1)


def warnings_of(kernel) -> list[warnings.WarningMessage]:
    flag, o = torch.ones(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[(1,)](flag, o)
    assert o.item() == 1
    return [w for w in caught if "compilers remove it" in str(w.message)]


def line_of(kernel, offset: int) -> int:
    return kernel.fn.__code__.co_firstlineno + offset


@pytest.mark.parametrize(("kernel", "line", "load"), [
    (wait_plainly, line_of(wait_plainly, 2), line_of(wait_plainly, 2)),
    (wait_with_a_variable, line_of(wait_with_a_variable, 4), line_of(wait_with_a_variable, 6)),
    (wait_in_a_function, line_of(_spin, 2), line_of(_spin, 2)),
    (wait_for_a_function, line_of(wait_for_a_function, 2), line_of(wait_for_a_function, 2)),
])  # fmt: skip
def test_a_loop_that_waits(kernel, line: int, load: int) -> None:
    (warning,) = warnings_of(kernel)
    assert (warning.filename, warning.lineno, warning.category) == (__file__, line, UserWarning)
    assert f"the load in line {load}" in str(warning.message)
    assert "volatile=True" in str(warning.message)


@pytest.mark.parametrize(
    "kernel",
    [wait_volatile, wait_atomically, count_rounds, sum_nobody_wants, sum_by_functions, load_with_a_name],
)
def test_loops_that_stay_or_waited_for_nothing(kernel) -> None:
    assert warnings_of(kernel) == []


def test_a_load_that_is_a_statement() -> None:
    (warning,) = warnings_of(load_as_statement)
    assert warning.lineno == line_of(load_as_statement, 2)
    assert "nothing uses what tl.load reads here" in str(warning.message)


def test_said_once() -> None:
    """Another signature compiles the kernel again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for dtype in (torch.int8, torch.int16, torch.int64):
            wait_plainly[(1,)](torch.ones(1, dtype=dtype), torch.zeros(1))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="this loop waits for memory"):
            wait_plainly[(1,)](torch.ones(1, dtype=torch.float64), torch.zeros(1))


@triton.jit
def wait_where_nobody_comes(flag_ptr, o_ptr, stride, ATOMIC: tl.constexpr):
    if stride * 0 != 0:
        if ATOMIC:
            while tl.atomic_add(flag_ptr, 0) == 0:
                pass
        else:
            while tl.load(flag_ptr, volatile=True) == 0:
                pass
    tl.store(o_ptr, 1)


@pytest.mark.parametrize("atomic", [False, True])
def test_what_is_never_reached_is_not_said_to_be_removed(atomic: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flag, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        wait_where_nobody_comes[(1,)](flag, out, 7, ATOMIC=atomic)
    assert out.item() == 1
