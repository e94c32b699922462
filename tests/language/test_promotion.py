"""Element types of results, rules 1 to 13 and 37 to 38: every pair of types, every operator, Python scalars, literals.

Accepted combinations are checked by static assertions, a row of a table in one kernel; each rejected combination must
fail to compile. Not every rejected one is tried unless TILETWIN_TEST_ALL is set.
"""

from __future__ import annotations

import math
import os
from typing import Any

import promotion_kernels as kernels
import pytest
import triton
import triton.language as tl
from kernel_cases import load_json
from triton.compiler.errors import CompilationError

TABLE = load_json("promotion.json")
TYPES = TABLE["types"]
SCALARS = [math.inf if text == "inf" else eval(text) for text in TABLE["scalars"]]
SAMPLE = 1 if os.environ.get("TILETWIN_TEST_ALL") else 7


def dtype_named(name: str) -> tl.dtype:
    return tl.core.str_to_ty(name)


def compile_kernel(kernel: Any, **constants: Any) -> None:
    signature = {"p": "*i8", **{name: "constexpr" for name in constants}}
    triton.compile(triton.compiler.ASTSource(kernel, signature, constants))


def rows(section: str) -> list:
    return [pytest.param(op, a, id=f"{op}-{a}") for op, table in TABLE[section].items() for a in table]


def rejected(section: str, others: list) -> list:
    """Every SAMPLE-th rejected combination."""
    found = []
    for op, table in TABLE[section].items():
        for a, row in table.items():
            found += [(op, a, b) for b, result in zip(others, row.split()) if result.startswith("!") or "!v" in result]
    return [pytest.param(*item, id="-".join(map(str, item))) for item in found[::SAMPLE]]


def accepted(section: str, op: str, a: str, others: list) -> tuple[tuple, tuple]:
    """(right operands, wanted types) of a row."""
    pairs = [(b, result) for b, result in zip(others, TABLE[section][op][a].split()) if "!" not in result]
    return tuple(b for b, _ in pairs), tuple(dtype_named(result) for _, result in pairs)


def operator(name: str) -> Any:
    return getattr(kernels, f"op_{name}")


@pytest.mark.parametrize(("op", "a"), rows("tensor_tensor"))
@pytest.mark.parametrize("block", [True, False], ids=["block", "scalar"])
def test_tensor_tensor(op: str, a: str, block: bool) -> None:
    names, want = accepted("tensor_tensor", op, a, TYPES)
    types = tuple(dtype_named(name) for name in names)
    if types:
        compile_kernel(kernels.tensor_tensor, OP=operator(op), A=dtype_named(a), B=types, WANT=want, BLOCK=block)


@pytest.mark.parametrize(("op", "a", "b"), rejected("tensor_tensor", TYPES))
def test_tensor_tensor_rejected(op: str, a: str, b: str) -> None:
    with pytest.raises(CompilationError) as caught:
        compile_kernel(
            kernels.tensor_tensor,
            OP=operator(op),
            A=dtype_named(a),
            B=(dtype_named(b),),
            WANT=(tl.void,),
            BLOCK=True,
        )
    assert "static assertion failed" not in root_text(caught.value)


def root_text(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error)


@pytest.mark.parametrize(("op", "a"), rows("tensor_scalar"))
def test_tensor_scalar(op: str, a: str) -> None:
    values, want = accepted("tensor_scalar", op, a, SCALARS)
    if values:
        compile_kernel(kernels.tensor_scalar, OP=operator(op), A=dtype_named(a), B=values, WANT=want)


@pytest.mark.parametrize(("op", "a"), rows("scalar_tensor"))
def test_scalar_tensor(op: str, a: str) -> None:
    values, want = accepted("scalar_tensor", op, a, SCALARS)
    if values:
        compile_kernel(kernels.scalar_tensor, OP=operator(op), A=dtype_named(a), B=values, WANT=want)


@pytest.mark.parametrize(("op", "a", "value"), rejected("tensor_scalar", SCALARS))
def test_tensor_scalar_rejected(op: str, a: str, value: Any) -> None:
    with pytest.raises(CompilationError) as caught:
        compile_kernel(kernels.tensor_scalar, OP=operator(op), A=dtype_named(a), B=(value,), WANT=(tl.void,))
    assert "static assertion failed" not in root_text(caught.value)


@pytest.mark.parametrize("op", list(TABLE["unary"]))
def test_unary(op: str) -> None:
    pairs = [(a, result) for a, result in zip(TYPES, TABLE["unary"][op].split()) if "!" not in result]
    types = tuple(dtype_named(a) for a, _ in pairs)
    compile_kernel(kernels.unary, OP=operator(op), A=types, WANT=tuple(dtype_named(result) for _, result in pairs))


@pytest.mark.parametrize(
    ("op", "a"),
    [(op, a) for op, row in TABLE["unary"].items() for a, result in zip(TYPES, row.split()) if "!" in result],
)
def test_unary_rejected(op: str, a: str) -> None:
    with pytest.raises(CompilationError) as caught:
        compile_kernel(kernels.unary, OP=operator(op), A=(dtype_named(a),), WANT=(tl.void,))
    assert op == "xor_sum" or "static assertion failed" not in root_text(caught.value)


@pytest.mark.parametrize("text", list(TABLE["literal"]))
def test_literal(text: str) -> None:
    value = {"inf": math.inf, "nan": math.nan}[text] if text in ("inf", "nan") else eval(text)
    want = TABLE["literal"][text]
    if want == "!":
        with pytest.raises(CompilationError):
            compile_kernel(kernels.literal, VALUE=value, WANT=tl.void)
    else:
        compile_kernel(kernels.literal, VALUE=value, WANT=dtype_named(want))
