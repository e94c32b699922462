"""Signatures as text, and what ASTSource makes of them."""

from __future__ import annotations

import pytest
import tiletwin as triton
import tiletwin.language as tl
from stage_doubles import SIGNATURE, scale
from tiletwin.compiler import ASTSource
from tiletwin.compiler.signatures import parse_signature, split_types

TYPES = {"x_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "factor": "fp32", "BLOCK": "constexpr"}
DIVISIBLE = [["tt.divisibility", 16]]


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("*fp32, i32", ["*fp32", "i32"]),
        ("*fp32 i32 ", ["*fp32", "i32"]),
        ("*fp32:16,i32:1,", ["*fp32:16", "i32:1"]),
        ("tensordesc<fp16[64, 32]>, i32", ["tensordesc<fp16[64, 32]>", "i32"]),
        ("(i32, *fp32), i64", ["(i32, *fp32)", "i64"]),
        ("", []),
    ],
)
def test_entries(text: str, types: list[str]) -> None:
    assert split_types(text) == types


@pytest.mark.parametrize("text", ["(i32", "i32)", "tensordesc<fp16[64>"])
def test_brackets_have_to_match(text: str) -> None:
    with pytest.raises(ValueError, match=r"brackets do not match"):
        split_types(text)


@pytest.mark.parametrize(
    "signature",
    [
        "*fp32, *fp32, i32, fp32",
        "*fp32 *fp32 i32 fp32",
        "*fp32, *fp32, i32, fp32, 64",
        "*fp32, *fp32, i32, fp32, constexpr",
        ["*fp32", "*fp32", "i32", "fp32"],
        {name: kind for name, kind in TYPES.items() if name != "BLOCK"},
        {0: "*fp32", 1: "*fp32", 2: "i32", 3: "fp32"},
    ],
    ids=str,
)
def test_forms_of_one_signature(signature) -> None:
    source = ASTSource(scale, signature)
    assert (source.signature, source.constants, source.attrs) == (TYPES, {(4,): 64}, {})
    assert source.hash() == ASTSource(scale, TYPES, {"BLOCK": 64}).hash()


def test_hints_and_values() -> None:
    source = ASTSource(scale, "*fp32:16, *fp32, i32:1, 2.5", {"BLOCK": 128})
    assert source.signature == {**TYPES, "n": "constexpr", "factor": "constexpr"}
    assert source.constants == {(2,): 1, (3,): 2.5, (4,): 128} and source.attrs == {(0,): DIVISIBLE}
    text = triton.compile(source).asm["ttir"]
    assert text.count("tt.divisibility = 16") == 1 and "2.5" in text and "%n: i32" not in text
    given = ASTSource(scale, SIGNATURE, {"BLOCK": 64}, {"n": DIVISIBLE})
    assert given.attrs == {(0,): DIVISIBLE, (1,): DIVISIBLE, (2,): DIVISIBLE}


def test_annotated_parameters_may_be_left_out() -> None:
    @triton.jit
    def annotated(o_ptr, n: tl.int32, value: "fp64"):  # noqa: F821, UP037
        tl.store(o_ptr + n, value)

    assert ASTSource(annotated, "*fp64").signature == {"o_ptr": "*fp64", "n": "i32", "value": "fp64"}


def test_tuples() -> None:
    @triton.jit
    def of_tuple(pair, o_ptr):
        tl.store(o_ptr, pair[0] + pair[1])

    types, _, _ = parse_signature(of_tuple, "(i32, (i64, *fp32)), *i64", {})
    assert types == {"pair": ("i32", ("i64", "*fp32")), "o_ptr": "*i64"}
    assert "i64" in triton.compile(ASTSource(of_tuple, "(i32, i64), *i64")).asm["ttir"]


@pytest.mark.parametrize(
    ("signature", "constants", "message"),
    [
        ("*fp32", {}, r"gives 1 types \(\*fp32\); scale needs one for each of x_ptr, o_ptr, n, factor$"),
        ("*fp32, *fp32, i32, fp32, i32", {}, r"BLOCK is tl.constexpr: give its value, not the type i32"),
        ("*fp32, *fp32, i32:8, fp32", {}, r"i32:8: after a colon stands 16 \(a multiple of 16\) or 1"),
        ("*fp32, i32, fp32", {"n": 3, "BLOCK": 8, "z": 1}, r"scale has no parameter 'z'"),
    ],
)
def test_what_does_not_fit(signature: str, constants: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ASTSource(scale, signature, constants)


@pytest.mark.parametrize(
    ("signature", "constants", "error", "message"),
    [
        (None, {}, TypeError, r"the signature of scale must be a dict .* or a list of such words, not None"),
        (["*fp32", tl.float32, "i32", "fp32"], {}, TypeError, r"the signature of scale must be a dict .* not \["),
        ({0: "*fp32", 1: "*fp32", 2: "i32", 9: "fp32"}, {}, ValueError, r"scale has no parameter number 9; it has"),
        ("*fp32 *fp32 i32 fp32", {9: 1}, ValueError, r"scale has no parameter number 9; it has"),
        ("*fp32 *fp32 i32 fp32", [128], TypeError, r"constexprs of scale must be a dict, as {'BLOCK': 128}, not a"),
    ],
)  # fmt: skip
def test_what_is_no_signature(signature, constants, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        ASTSource(scale, signature, constants)


def test_a_constexpr_needs_a_value() -> None:
    @triton.jit
    def needs(o_ptr, BLOCK: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, BLOCK), 1)

    with pytest.raises(ValueError, match=r"needs needs a value for its tl.constexpr parameter 'BLOCK'"):
        ASTSource(needs, "*fp32")
    assert ASTSource(needs, "*fp32, 8").constants == {(1,): 8}
