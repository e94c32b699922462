"""What a first launch looks at: no more of a function than it must, and the same answers as a look at all of it."""

from __future__ import annotations

import types

import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.eager import decide


def user_function(x):
    return x


inner = types.ModuleType("inner")
inner.function = user_function  # type: ignore[attr-defined]
outer = types.ModuleType("outer")
outer.inner, outer.number, outer.bit = inner, 3, tl.math  # type: ignore[attr-defined]
lazy = types.ModuleType("lazy")
lazy.__getattr__ = lambda name: user_function  # type: ignore[method-assign]


@triton.jit
def plain(x_ptr):
    tl.store(x_ptr, tl.math.sqrt(tl.load(x_ptr)))


@triton.jit
def through_a_module(x_ptr):
    tl.store(x_ptr, inner.function(tl.load(x_ptr)))


@triton.jit
def through_two_modules(x_ptr):
    tl.store(x_ptr, outer.inner.function(tl.load(x_ptr)))


@triton.jit
def through_a_module_that_makes_names(x_ptr):
    tl.store(x_ptr, lazy.anything(tl.load(x_ptr)))


@triton.jit
def by_name(x_ptr):
    tl.store(x_ptr, user_function(tl.load(x_ptr)))


@triton.jit
def within_a_comprehension(x_ptr):
    for value in tl.static_range(2):
        _ = [outer.inner.function(n) for n in (1, value)]


@triton.jit
def modules_of_numbers(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + outer.number + outer.bit.sqrt(2.0))


@pytest.mark.parametrize(
    ("kernel", "called"),
    [
        (plain, None),
        (modules_of_numbers, None),
        (by_name, "user_function"),
        (through_a_module, "inner.function"),
        (through_two_modules, "outer.inner.function"),
        (through_a_module_that_makes_names, "lazy.anything"),
        (within_a_comprehension, "outer.inner.function"),
    ],
)
def test_plain_functions_are_found_below_modules(kernel, called) -> None:
    assert decide.plain_call(kernel) == called


def test_the_text_of_a_kernel_that_knows_only_the_language_is_not_walked(monkeypatch) -> None:
    def walked(node):
        raise AssertionError("the text was walked")

    monkeypatch.setattr(decide.ast, "walk", walked)
    assert decide.plain_call(plain) is None
    with pytest.raises(AssertionError, match="was walked"):
        decide.plain_call(through_two_modules)


def test_parameters_are_looked_at_when_somebody_asks() -> None:
    def add(x_ptr, n: tl.int32, BLOCK: tl.constexpr = 8):
        pass

    kernel = triton.jit(add, do_not_specialize=["n"])
    assert not {"signature", "params", "arg_names"} & vars(kernel).keys()
    assert kernel.arg_names == ["x_ptr", "n", "BLOCK"] and kernel.constexprs == [2] and kernel.defaults == {"BLOCK": 8}
    assert [p.do_not_specialize for p in kernel.params] == [False, True, False]


def test_keyword_parameters_are_refused_at_once() -> None:
    def add(x_ptr, **more):
        pass

    with pytest.raises(TypeError, match=r"cannot have the parameter \*\*more"):
        triton.jit(add)
