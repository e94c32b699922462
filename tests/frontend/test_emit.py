"""The operations the semantic layer emits, rule by rule: names, operands' types, attributes."""

from __future__ import annotations

import re
from typing import Any

import emit_kernels as kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.compiler.compiler import ASTSource
from tiletwin.errors import CompilationError


def source(kernel: Any, types: str, options: dict | None = None, **constants: Any) -> str:
    """The module before any pass, without names of values: `arith.addi %, % : i32`."""
    given = iter(types.split())
    signature = {name: "constexpr" if name in constants else next(given) for name in kernel.arg_names}
    text = triton.compile(ASTSource(kernel, signature, constants), options=options or {}).asm["source"]
    text = re.sub(r"%[\w.#]+(:\d+)?", "%", re.sub(r" loc\(.*", "", text))
    return re.sub(r"tensor<([^<>]*(?:<\w+>)?)>", r"\1", text)


def has(text: str, *operations: str) -> None:
    for operation in operations:
        assert operation in text, f"{operation!r} is not in\n{text}"


def test_numbers_take_the_tensors_type() -> None:
    text = source(kernels.weak_numbers, "*fp16 *u8")
    has(text, "arith.constant 2.000000e+00 : f16", "arith.constant 1.500000e+00 : f16", "arith.constant 1 : i8")
    has(text, "arith.extf % : 16xf16 to 16xf32", "arith.constant 3.000000e+00 : f32", "arith.divf %, % : 16xf32")
    assert "sitofp" not in text


def test_tensor_comes_first_in_comparisons() -> None:
    has(source(kernels.mirrored_comparison, "*fp32 *i1"), "arith.cmpf ogt, %, % : 16xf32")


def test_pointer_offsets() -> None:
    text = source(kernels.offsets, "*fp32 u32 i32")
    has(text, "arith.extui % : i32 to i64", "tt.addptr %, % : !tt.ptr<f32>, i64", "arith.subi %, % : i32")
    assert text.count("tt.addptr") == 3


def test_int1_is_a_byte_in_memory() -> None:
    text = source(kernels.booleans, "*i1")
    has(text, "tt.bitcast % : 16x!tt.ptr<i1> -> 16x!tt.ptr<i8>")
    has(text, "arith.cmpi ne, %, % : 16xi8", "arith.xori %, % : 16xi1", "arith.extui % : 16xi1 to 16xi8")


def test_load_and_store_forms() -> None:
    text = source(kernels.load_forms, "*i32 i32")
    has(text, "tt.broadcast % : 8x1xi1 -> 8x16xi1", "arith.fptosi % : 8x16xf32 to 8x16xi32")
    has(text, "isVolatile = true", "cache_modifier = cg, eviction_policy = evict_last")
    has(text, "tt.store %, %, % {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_normal>}")


def test_overflow_checks_are_for_debugging() -> None:
    assert "tt.assert" not in source(kernels.sums, "*i32 *u8")
    text = source(kernels.sums, "*i32 *u8", {"debug": True})
    checks = re.findall(r'tt.assert %, "([^"]*)" : \S+', text)
    assert checks == [
        "int32 overflow detected for operation add",
        "int8 overflow detected for operation mul",
        "int32 overflow detected for operation sub",
    ]
    assert "tt.assert" not in source(kernels.sums, "*i32 *u8", {"debug": True, "sanitize_overflow": False})


def test_python_min_and_max() -> None:
    text = source(kernels.minimum_of_many, "*i32 i32 i32")
    assert text.count("arith.minsi") == 2 and "maxsi" not in text
    has(text, "arith.constant 7 : i32")


def test_selections_promote_all_operands() -> None:
    text = source(kernels.selections, "*fp16 fp32")
    has(text, "tt.splat % : i1 -> 16xi1", "arith.select %, %, % : 16xi1, 16xf16")
    has(
        text,
        "tt.clampf %, %, %, propagateNan = none : 16xf32",
        "math.fma %, %, % : 16xf32",
        "arith.maximumf %, % : 16xf16",
    )


def test_shapes() -> None:
    text = source(kernels.shapes, "*fp32")
    has(text, "tt.join %, % : 16xf32 -> 16x2xf32", "tt.trans % {order = array<i32: 1, 0>} : 16x2xf32 -> 2x16xf32")
    has(text, "tt.reshape % : 2x16xf32 -> 32xf32", "tt.split % : 16x2xf32 -> 16xf32")
    has(text, "tt.expand_dims % {axis = 0 : i32} : 16xf32 -> 1x16xf32", "tt.expand_dims % {axis = 2 : i32}")


def test_float_atomic_max_is_two_integer_atomics() -> None:
    text = source(kernels.float_maximum, "*fp64 fp64")
    has(text, "tt.atomic_rmw max, relaxed, cta, %, %, % : (!tt.ptr<i64>, i64, i1) -> i64")
    has(text, "tt.atomic_rmw umin, relaxed, cta", "arith.constant 63 : i64")


def test_dot_types_and_precision() -> None:
    text = source(kernels.products, "*fp16 *fp32", PREC="bf16x3")
    dots = [line.split("tt.dot ")[1] for line in text.splitlines() if "tt.dot " in line]
    assert [d.split(" : ")[0] for d in dots] == [
        "%, %, %, inputPrecision = tf32",
        "%, %, %, inputPrecision = bf16x3",
        "%, %, %",
    ]
    assert [d.split(" -> ")[1] for d in dots] == ["16x16xf16", "16x16xf32", "16x16xf32"]


def test_promises_become_attributes() -> None:
    text = source(kernels.promises, "*fp32 i32")
    has(
        text,
        "tt.contiguity = dense<16> : 1xi32",
        "tt.divisibility = dense<8> : 1xi32",
        "tt.constancy = dense<4> : 1xi32",
    )
    has(text, "llvm.intr.assume % : i1")


def test_descriptors() -> None:
    text = source(kernels.descriptors, "*fp32 i64 i32 i32")
    has(text, "arith.trunci % : i64 to i32", "arith.extsi % : i32 to i64", "{padding = 2 : i32} : <f32>, <2x16xf32>")
    has(text, "tt.descriptor_load %[%, %]", "tt.descriptor_store %[%, %], %", "tt.descriptor_reduce add, %[%, %], %")


def test_messages() -> None:
    text = source(kernels.messages, "*fp32")
    has(text, 'tt.print " x: " {hex = true, isSigned = array<i32: 0, 0>}', 'tt.print " only text" {hex = false')
    assert "tt.assert" not in text
    has(source(kernels.messages, "*fp32", {"debug": True}), 'tt.assert %, "positive" : 16xi1')


def test_map_elementwise_takes_its_results_types_from_the_function() -> None:
    has(source(kernels.mapped, "*fp32"), '"tt.map_elementwise"(%, %) <{pack = 1 : i32}>', "-> (16xf32, 16xf32)")


def test_keywords_of_other_front_ends_are_ignored() -> None:
    has(source(kernels.ignored_keywords, "*fp32"), "tt.store")


def test_attributes_that_other_libraries_have() -> None:
    with pytest.raises(CompilationError, match=r"has no attribute 'astype'; use x\.to\(dtype\)"):
        source(kernels.wrong_attribute, "*fp32")


def test_full_takes_every_type() -> None:
    has(source(kernels.full_of, "*i64", VALUE=1.5, DTYPE=tl.float16), "arith.constant 1.500000e+00 : f16")
    has(source(kernels.full_of, "*i64", VALUE=2.9, DTYPE=tl.uint8), "arith.constant 2 : i8")
    has(source(kernels.full_of, "*i64", VALUE=-0.5, DTYPE=tl.int1), "arith.constant true")
    has(source(kernels.full_of, "*i64", VALUE=16, DTYPE=tl.pointer_type(tl.float32)), "tt.int_to_ptr % : i64")
    with pytest.raises(CompilationError, match="inf has no value of type int32"):
        source(kernels.full_of, "*i64", VALUE=float("inf"), DTYPE=tl.int32)
    with pytest.raises(CompilationError, match="a number cannot be of type"):
        source(kernels.full_of, "*i64", VALUE=1, DTYPE=tl.void)


def test_fp8e4b15_in_integer_operations() -> None:
    codes = np.arange(256, dtype=np.uint8)
    values, back = np.zeros(256, np.float32), np.zeros(256, np.uint8)
    kernels.fp8e4b15_round_trip[(1,)](codes, values, back)
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7) / 8
    want = np.where(exponent == 0, mantissa * 2.0**-14, (1 + mantissa) * 2.0 ** (exponent - 15.0))
    want = np.where(codes < 128, want, -want).astype(np.float32)
    np.testing.assert_array_equal(values, want)
    # The largest code is not produced: 1.875 saturates to 1.75.
    np.testing.assert_array_equal(back, np.where(codes & 127 == 127, codes - 1, codes))
