"""What Triton turns down while compiling is turned down here, with the same class of error and a place in the file.

Cases that the front end accepts and only a GPU backend rejects are compiled here without complaint.
"""

from __future__ import annotations

import linecache

import pytest
import tiletwin
import triton
from kernel_cases import cases_of, load_json
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

REJECTED = load_json("rejected.json")
CLASSES = {
    "CompilationError": CompilationError,
    "CompileTimeAssertionFailure": CompileTimeAssertionFailure,
    "UnsupportedLanguageConstruct": UnsupportedLanguageConstruct,
    "RuntimeError": CompilationError,
    "TypeError": CompilationError,
}

# What Triton's front end turns down and tiletwin compiles, and why.
ACCEPTED_HERE = {
    "bad_block_ptr": "block pointers work: much published code uses them, and older versions of Triton have them",
}

# A part of each message that says what would be accepted, or what was given and what is wanted.
ADVICE = {
    "bad_arange_order": "end must be greater than start",
    "bad_arange_runtime": "must be a compile-time int (a literal, a tl.constexpr, or arithmetic on those)",
    "bad_arange_size": "round it up with triton.next_power_of_2 and mask",
    "bad_argmax_none": "needs an axis",
    "bad_attr": "has no attribute 'no_such_function'",
    "bad_break": "use `while` with the condition to go on",
    "bad_constexpr_loop": "Start from a run-time value (n = 0 makes an int32), or unroll with tl.static_range",
    "bad_constexpr_reassign": "use another name",
    "bad_continue": "put the rest of the loop's body under an `if`",
    "bad_dict": "use separate variables, a tuple, or a NamedTuple",
    "bad_float_range": "convert it with .to(tl.int32)",
    "bad_for_else": "put it after the loop",
    "bad_for_list": "for i in tl.static_range(len(t))",
    "bad_fstring": "print it with tl.device_print(",
    "bad_global": "GLOBAL_INT = tl.constexpr(...), or pass it as an argument",
    "bad_if_block": "reduce it first, as in tl.max(x, 0), or use tl.where",
    "bad_if_redefine": "makes it fp32 (line 44): a variable must keep its type",
    "bad_if_type": "Convert with .to(...)",
    "bad_if_undefined": "give it one before the `if` or in both branches (line 50)",
    "bad_int_index": "use tl.gather, tl.where with tl.sum, or load the element",
    "bad_kwargs": "it takes input, axis, keep_dims, dtype",
    "bad_lambda": "define a function with @triton.jit at module level",
    "bad_lib_types": "only (fp32) or (fp64); cast the arguments first",
    "bad_loop_type": "re-assigned to fp32 in loop (line 19): a variable that a loop carries must keep its type",
    "bad_missing_arg": "it takes x",
    "bad_multi_assign": "write two assignments",
    "bad_nested_def": "move it to module level and decorate it with @triton.jit",
    "bad_noinline_block": "pass pointers, or drop noinline",
    "bad_not_int_block": "compare first, as in x == 0",
    "bad_numpy_call": "use tl.abs(x)",
    "bad_pow": "multiply (x * x), or use tl.exp2",
    "bad_recursion": "write a loop",
    "bad_return_in_loop": "keep a flag, guard the rest of the body with `if`",
    "bad_return_types": "convert with .to(...), or return a constant of that type",
    "bad_setitem": "Make a new one with tl.where",
    "bad_slice": "None and ':' are what it may hold",
    "bad_starred": "unpack all elements, or index the tuple (t[1:])",
    "bad_static_assert": "B too small",
    "bad_static_assert_runtime": "use tl.device_assert for tensors",
    "bad_static_range": "Use range or tl.range for a run-time loop",
    "bad_ternary": "convert one of the values with .to(...), or use tl.where",
    "bad_try": "Check with tl.device_assert",
    "bad_undefined": "some_name is not defined",
    "bad_unpack": "unpacking 3 values into 2 names",
    "bad_while_type": "re-assigned to int64 in loop (line 27): a variable that a loop carries must keep its type",
}
# Other messages name both what is given and what is taken.
BOTH_SIDES = (
    *(" got ", "must ", " needs ", " takes ", " take ", "cannot ", " is for ", "not fit", "so it needs", "has no "),
    *("would change", "power of 2", "not supported", "keeps the bits", "more than the", "smaller than", "static "),
    *("make the", "is needed", "because they have", "Cannot ", "out of range"),
)
# What the caret points at, where that is not the start of the statement.
POINTED_AT = {
    "bad_arange_size": "tl.arange(0, 12)",
    "bad_attr": "tl.no_such_function(1)",
    "bad_break": "break",
    "bad_dot_shape": "tl.dot(a, a)",
    "bad_float_range": "range(0.0, n)",
    "bad_for_list": "[1, 2, 3]",
    "bad_if_block": "i > 3",
    "bad_lambda": "lambda x: x + 1",
    "bad_lib_types": "libdevice.tanh(tl.load(x_ptr))",
    "bad_loop_type": "for i in range(n):",
    "bad_pow": "tl.load(x_ptr)**2",
    "bad_shapes": "tl.arange(0, 16) + tl.arange(0, 8)",
    "bad_static_range": "tl.static_range(n)",
    "bad_ternary": "1 if n > 0 else 2.0",
    "bad_undefined": "some_name",
}


def of_stage(front_end: bool) -> list[tuple[str, str]]:
    """(kernel file, case) of what is turned down by the front end, or later."""
    return [
        (entry["file"].removesuffix(".py"), name)
        for name, entry in REJECTED.items()
        if (entry["stage"] == "front end") == front_end and name not in ACCEPTED_HERE
    ]


def accepted_oddities() -> list[tuple[str, str]]:
    files = ("x_statements", "x_operations")
    return [(file, name) for file in files for name in cases_of(file) if name not in REJECTED]


def compile_case(file: str, name: str) -> None:
    case = cases_of(file)[name]
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    triton.compile(source, options=case["options"])


@pytest.mark.parametrize(("file", "name"), of_stage(True), ids=lambda v: v)
def test_front_end_rejects(file: str, name: str) -> None:
    with pytest.raises(CLASSES[REJECTED[name]["error_class"]]) as caught:
        compile_case(file, name)
    error = caught.value
    assert isinstance(error, tiletwin.errors.CompilationError)
    assert error.file and error.file.endswith(".py") and error.line > 0
    assert len(error.error_message.strip()) > 10, error
    text = str(error)
    assert f"{error.file}:{error.line}:{error.column + 1}:" in text and "^" in text
    assert linecache.getline(error.file, error.line).rstrip("\n") == error.source_line.rstrip("\n")
    if name in ADVICE:
        assert ADVICE[name] in text
    else:
        assert any(part in error.error_message for part in BOTH_SIDES), error.error_message
    assert error.source_line[error.column :].startswith(POINTED_AT.get(name, error.source_line[error.column :]))


def test_the_tables_name_cases() -> None:
    names = {name for _, name in of_stage(True)}
    assert set(ADVICE) | set(POINTED_AT) <= names and set(ACCEPTED_HERE) <= set(REJECTED)


@pytest.mark.parametrize(("file", "name"), of_stage(False), ids=lambda v: v)
def test_front_end_accepts_what_only_a_gpu_cannot_do(file: str, name: str) -> None:
    compile_case(file, name)


@pytest.mark.parametrize("name", sorted(ACCEPTED_HERE))
def test_what_only_triton_rejects(name: str) -> None:
    assert REJECTED[name]["stage"] == "front end"
    compile_case(REJECTED[name]["file"].removesuffix(".py"), name)


@pytest.mark.parametrize(("file", "name"), accepted_oddities(), ids=lambda v: v)
def test_oddities_compile(file: str, name: str) -> None:
    compile_case(file, name)
