"""Triton's own words stand in the messages: what users search for, beside what the value was and what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError
from triton.runtime.errors import InterpreterError

GLOBAL = 42


@triton.must_use_result("Assign it.")
@triton.jit
def cube(x):
    return x * x * x


@triton.jit
def two_types(x):
    if x > 0:
        return x
    return x.to(tl.float32)


@triton.jit(noinline=True)
def doubled(x):
    return x * 2


def kernel_of(body: str, names: dict[str, Any] | None = None) -> Any:
    """A kernel with this body; p: *fp32, i: *i32, c: a pointer to constant fp32, n: i32, x: 8 values at p."""
    lines = ["@triton.jit", "def kernel(p, i, c: tl.const, n):", "    x = tl.load(p + tl.arange(0, 8))"]
    text = "\n".join([*lines, *("    " + line for line in body.splitlines())])
    scope = {"triton": triton, "tl": tl, "cube": cube, "two_types": two_types, "doubled": doubled, "GLOBAL": GLOBAL}
    exec(text, scope | (names or {}), made := {})
    return made["kernel"]


def launch(body: str) -> None:
    kernel_of(body)[(1,)](torch.zeros(8), torch.zeros(8, dtype=torch.int32), torch.zeros(8), 3)


WORDS = {
    "x & x": "invalid operands of type <\\[8\\], fp32> and",
    "x << 1": "invalid operands of type",
    "p * 2": "invalid operands of type",
    "p + 1.5": "invalid operands of type",
    "x // x": "unexpected type fp32",
    "x.to(tl.float8e5) + n": "unexpected type fp8e5 and int32",
    "n / n.to(tl.uint32)": "Cannot use .* because they have different signedness",
    "n.to(tl.int8) + 128": "Scalar 128 is out of range for type int8",
    "n.to(tl.uint8) + -1": "Cannot perform a binary operation between an unsigned tensor and a negative scalar",
    "n + 2**64": "Nonrepresentable integer 18446744073709551616",
    "tl.expand_dims(x, -3)": "invalid axis -3",
    "tl.expand_dims(x, (0, -3))": r"duplicate axes, normalized axes = \[0, 0\]",
    "tl.sum(x, 1)": "invalid axis 1",
    "tl.program_id(20)": "program_id axis must be 0, 1, or 2 but got 20",
    "tl.num_programs(-1)": "num_programs axis must be 0, 1, or 2 but got -1",
    "tl.arange(2, 7)": "arange's range must be a power of 2",
    "tl.full((33,), 0, tl.int64)": "Shape element 0 must be a power of 2",
    "x[10:]": "unsupported tensor index: 10:",
    "p[10:]": "unsupported tensor index: 10:",
    "x[:, :]": "too many indices for tensor of rank 1",
    "tl.make_tensor_descriptor(p, [8, 8], [8, 1], [1, 2])": "Descriptor block shape must have at least 16 bytes",
    "a = GLOBAL": "Cannot access global variable GLOBAL from within @jit'ed function",
    "cube(x)": r"The result of cube is not being used\. Assign it\.",
    "two_types(n)": "Return type mismatch: ",
    "y = n\nfor k in range(n):\n    y = x": "Loop-carried variable y has initial type int32 but is re-assigned to",
    "if n > 0:\n    y = n\nelse:\n    y = x\ntl.store(p, tl.sum(y, 0))": "Mismatched type for y",
    "y = n\nif n > 0:\n    y = x": "Mismatched type for y",
    "y = n if n > 0 else x": "Ternary expression with dynamic condition has inconsistent type",
    "tl.store(p, 1.0) if n > 0 else n": "Ternary expression with dynamic condition has inconsistent type",
    "if x > 0:\n    pass": "Boolean value of Tensor with more than one value is ambiguous",
    "tl.store(c, 1.0)": "Cannot store to a constant pointer",
    "tl.load(p, mask=x > 0)": "Mask argument cannot be block type if pointer argument is not a block",
    "tl.load(p, mask=n > 0, other=x)": "Other argument cannot be block type if pointer argument is not a block",
    "tl.store(p, x)": "Value argument cannot be block type if pointer argument is not a block",
    "tl.load(p, mask=n)": "Mask must have boolean scalar type",
    "tl.load(p, other=0.0)": "`other` cannot be provided without `mask`",
    "tl.load(n)": "Unsupported ptr type",
    "x.reshape(4, 4)": r"reshape\(\) cannot change total number of elements in tensor",
    "def f(): pass": "nested function definitions are not allowed inside a",
    "for k in range(n):\n    return": "Cannot have `return` statements inside `while` or `for` statements in triton",
    "a = tl.zeros((64, 64), tl.float8e5)\ntl.dot(a, a, max_num_imprecise_acc=128)": r"\(128\) must be <= K \(64\)",
}


@pytest.mark.parametrize("body", WORDS)
def test_words(body: str) -> None:
    with pytest.raises(CompilationError) as caught:
        launch(body)
    message = str(caught.value)
    assert re.search(WORDS[body], message), message
    assert isinstance(caught.value, InterpreterError)


def test_a_result_that_must_be_used_in_eager_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    with pytest.raises(CompilationError, match=r"The result of cube is not being used\. Assign it\."):
        launch("cube(x)")


def test_scale_factors_of_a_scaled_dot() -> None:
    body = """a = tl.zeros((32, 64), tl.uint8)
b = tl.zeros((64, 32), tl.uint8)
s = tl.zeros((32, 4), tl.uint8)
t = tl.zeros((32, 2), tl.uint8)
tl.dot_scaled(a, s, "e5m2", b, t, "e5m2")"""
    with pytest.raises(CompilationError, match=r"Operands must have the same scale factor; \(lhs: 16 vs rhs: 32\)"):
        launch(body)


def test_a_method_whose_result_must_be_used() -> None:
    @triton.aggregate
    class Square:
        x: tl.tensor

        @triton.constexpr_function
        def __init__(self, x):
            self.x = x

        @triton.must_use_result
        @triton.jit
        def area(self):
            return self.x * self.x

    @triton.jit
    def unused(p):
        square = Square(tl.load(p))
        square.area()

    @triton.jit
    def used(p):
        square = Square(tl.load(p))
        tl.store(p, square.area())

    x = torch.full((1,), 3.0)
    used[(1,)](x)
    assert x.item() == 9
    with pytest.raises(CompilationError, match=r"The result of square\.area is not being used\.$"):
        unused[(1,)](x)


def test_a_constant_that_is_not_to_be_specialized() -> None:
    @triton.jit(do_not_specialize=["N"])
    def kernel(N: tl.constexpr):
        pass

    with pytest.raises(CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        kernel[(1,)](5)


@pytest.mark.parametrize("eager", ["0", "1"])
def test_a_conditional_expression_of_two_calls_without_a_value(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)

    @triton.jit
    def kernel(p, n):
        tl.store(p, 1.0) if n > 2 else tl.store(p + 1, 2.0)

    for n, want in ((3, [1.0, 0.0]), (2, [0.0, 2.0])):
        x = torch.zeros(2)
        kernel[(1,)](x, n)
        assert x.tolist() == want


@pytest.mark.parametrize("eager", ["0", "1"])
def test_tuples_have_a_type(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)

    @triton.jit
    def kernel(given: tl.constexpr, n):
        literal: tl.constexpr = (5, 6, 7)
        tl.static_assert(literal.type == tl.constexpr_type((5, 6, 7)))
        tl.static_assert(given.type == tl.constexpr_type((5, 6, 7)))
        tl.static_assert(given.type != tl.constexpr_type((5, 6, 8)))
        tl.static_assert((n, n + 1.0).type == tl.tuple_type([tl.int32, tl.float32]))
        tl.static_assert(n.type == tl.int32)

    kernel[(1,)]((5, 6, 7), 2)


@pytest.mark.parametrize("eager", ["0", "1"])
def test_a_scalar_gains_dimensions(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)

    @triton.jit
    def kernel(p, s):
        tl.static_assert(s[None, :].shape == [1])
        tl.static_assert(s[:, None].shape == [1])
        tl.static_assert(s[None, None, :].shape == [1, 1])
        tl.store(p[None, :] + tl.arange(0, 2), s[:, None] + tl.arange(0, 2))

    x = torch.zeros(2)
    kernel[(1,)](x, 5)
    assert x.tolist() == [5, 6]


def test_a_block_in_a_function_that_is_not_inlined() -> None:
    kernel = kernel_of("tl.store(i + tl.arange(0, 8), doubled(tl.arange(0, 8)))")
    x = torch.zeros(8, dtype=torch.int32)
    with pytest.warns(UserWarning, match=r"doubled\(\) is marked noinline .* GPUs refuse that; here it is inlined"):
        kernel[(1,)](torch.zeros(8), x, torch.zeros(8), 3)
    assert x.tolist() == list(range(0, 16, 2))
    signature = {"p": "*fp32", "i": "*i32", "c": "*kfp32", "n": "i32"}
    with pytest.raises(CompilationError, match="is marked noinline and can take scalars only"):
        triton.compile(triton.compiler.ASTSource(kernel, signature, {}))


def test_shifts_keep_the_sign_of_what_they_shift() -> None:
    @triton.jit
    def kernel(x_ptr, y_ptr, o_ptr):
        k = tl.arange(0, 4)
        tl.store(o_ptr + k, tl.load(x_ptr + k) >> tl.load(y_ptr + k))

    x = torch.tensor([-128, -1, 100, -7], dtype=torch.int8)
    y = torch.tensor([1, 7, 2, 0], dtype=torch.uint8)
    o = torch.zeros(4, dtype=torch.int8)
    kernel[(1,)](x, y, o)
    assert o.tolist() == [-64, -1, 25, -7]
