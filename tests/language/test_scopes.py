"""Names, branches, loops and their ranges, in both modes.

Also: what kernels may do here that Triton 3.9 does not take, and the few things that are refused here and not there.
"""

from __future__ import annotations

import numpy as np
import pytest
import scope_kernels as k
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError

CASES = [
    (k.shadowed, (5, 3), [503, 6, 53, 13, 3]),
    (k.values_of_branches, (5, 3), [10, 5, 3, 40, 36, -1, 6]),
    (k.values_of_branches, (2, 9), [-1, 9, 9, -1, 93, -1, 3]),
    (k.values_of_branches, (4, 1), [8, 4, 1, 30, 41, 4, -1]),
    (k.carried_objects, (5, 3), [853, 47]),
    (k.ranges, (5, 3), [5, 5, 5, 8, 831, 840]),
    (k.compile_time_tests, (5, "abc", 3), [1, 1, 1, 9, 9, 53]),
    (k.compile_time_tests, (5, "xyz", 0), [2, 2, 1, 9, 9, 5]),
]


@pytest.mark.parametrize("eager", ["0", "1"], ids=["compiled", "eager"])
@pytest.mark.parametrize(("kernel", "arguments", "expected"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_scope(kernel, arguments, expected, eager, monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    o = np.full(8, -1)
    kernel[(1,)](o, *arguments)
    assert list(o[: len(expected)]) == expected


@triton.jit
def sq(x):
    return x * x


@triton.jit
def cube(x):
    return x * x * x


@triton.jit
def beyond_triton(o_ptr, n, B: tl.constexpr):
    chosen = sq if B == 4 else cube
    both = (sq, cube)
    language = tl
    tl.store(o_ptr, chosen(n) + both[0](n) + language.abs(-n))
    tl.store(o_ptr + 1, tl.int64(n) + bool(B) + max((1, 2, 3)))
    tl.static_assert(f"{B:03d} {n.dtype} {B!s}" == "008 int32 8")
    more = (*both, n)
    tl.store(o_ptr + 2, +more[2])
    while B > 10:
        tl.store(o_ptr + 2, 0)
    if "text" and (n, B) and not ():
        tl.store(o_ptr + 3, tuple(x + n for x in (1, 2))[1])
    if n > 3:
        w: tl.constexpr = 4
    else:
        w: tl.constexpr = 4
    tl.store(o_ptr + 4, tl.sum(tl.full((w,), 1, tl.int32)))


@pytest.mark.parametrize("eager", ["0", "1"], ids=["compiled", "eager"])
def test_what_triton_does_not_take(eager: str, monkeypatch) -> None:
    """Each has one meaning only; kernels for other versions of Triton use some of them."""
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    o = np.full(5, -1)
    beyond_triton[(1,)](o, 5, 8)
    assert list(o) == [125 + 25 + 5, 5 + 1 + 3, 5, 7, 4]


@triton.jit
def range_with_keyword(o_ptr, n):
    for i in range(0, n, step=2):
        tl.store(o_ptr + i, i)


@triton.jit
def value_of_kernel(o_ptr, n):
    tl.store(o_ptr, 1)
    return n


@triton.jit
def exchanged_constant(o_ptr, n):
    crate = k.Crate(k.Box(n), (n, 3))
    for _ in range(3):
        crate = k.Crate(k.Box(n), (crate.rest[1], crate.rest[0]))
    tl.store(o_ptr, crate.rest[0])


@triton.jit
def used_after_branch(o_ptr, n):
    x = None
    if n > 3:
        x = n
    tl.store(o_ptr, 1 if x is None else 2)


REFUSED_HERE = [
    # Triton ignores the keyword and runs with a step of 1.
    (range_with_keyword, "range() takes no keyword arguments, and this one has 'step'"),
    # Triton drops the value, or fails when it makes the GPU's code.
    (value_of_kernel, "a kernel cannot return a value"),
    # Triton carries the tensor only and keeps the tuple's order of before the loop.
    (exchanged_constant, "a variable that a loop carries must keep its type"),
    # Triton goes on with None, whatever n is.
    (used_after_branch, "it is the compile-time value None before the `if` of line"),
]


@pytest.mark.parametrize(("kernel", "message"), REFUSED_HERE, ids=lambda v: getattr(v, "__name__", None))
def test_what_only_triton_takes(kernel, message: str) -> None:
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](np.zeros(8, np.int64), 5)
    assert message in str(caught.value)


@triton.jit
def step_of_zero(o_ptr, n, step):
    for i in range(0, n, step):
        tl.store(o_ptr, i)


@pytest.mark.parametrize("eager", ["0", "1"], ids=["compiled", "eager"])
def test_a_loop_that_would_never_end(eager: str, monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    for step in (0, -2):
        with pytest.raises(ValueError, match=f"the step of this loop is {step}, so it would never end"):
            step_of_zero[(1,)](np.zeros(1, np.int64), 5, step)
        out = np.full(1, 7, np.int64)
        step_of_zero[(1,)](out, 0, step)  # no iteration
        assert out[0] == 7
    out = np.zeros(1, np.int64)
    step_of_zero[(1,)](out, 5, 3)
    assert out[0] == 3
