"""The type objects: identity, questions, names, errors."""

from __future__ import annotations

import copy
import pickle

import pytest
import triton.language as tl
from triton.language.core import str_to_ty

SCALARS = [tl.dtype(name) for name in (*tl.dtype.SINT_TYPES, *tl.dtype.UINT_TYPES, *tl.dtype.FP_TYPES)]


def test_there_is_one_object_a_type() -> None:
    assert tl.dtype("fp32") is tl.float32
    assert tl.pointer_type(tl.int32) is tl.pi32_t
    assert tl.pointer_type(tl.int32, const=True) is not tl.pi32_t
    assert tl.block_type(tl.int8, [2, 4]) == tl.block_type(tl.int8, (2, 4))
    assert hash(tl.block_type(tl.int8, [2, 4])) == hash(tl.block_type(tl.int8, (2, 4)))


@pytest.mark.parametrize("t", [*SCALARS, tl.void, tl.pi32_t, tl.block_type(tl.bfloat16, (4, 8))], ids=str)
def test_copies_are_equal(t: tl.dtype) -> None:
    assert pickle.loads(pickle.dumps(t)) == t
    assert copy.deepcopy(t) == t
    assert t == tl.constexpr(t)


@pytest.mark.parametrize("t", SCALARS, ids=str)
def test_classes_of_types(t: tl.dtype) -> None:
    assert t.is_int() + t.is_floating() == 1
    assert t.is_int() == (t.is_int_signed() or t.is_int_unsigned())
    assert t.is_fp8() == t.name.startswith("fp8")
    assert t.scalar is t and not t.is_ptr() and not t.is_block()
    assert getattr(t, f"is_{t.name}")()
    assert sum(getattr(t, f"is_{other.name}")() for other in SCALARS) == 1
    assert getattr(tl, t.codegen_name()) is t
    assert str_to_ty(t.name) is t and str_to_ty(t.mangle()) is t


def test_integer_ranges() -> None:
    assert (tl.int8.get_int_min_value(), tl.int8.get_int_max_value()) == (-128, 127)
    assert (tl.uint64.get_int_min_value(), tl.uint64.get_int_max_value()) == (0, 2**64 - 1)
    assert (tl.int1.get_int_min_value(), tl.int1.get_int_max_value()) == (0, 1)
    with pytest.raises(ValueError, match="fp32 is not an integer type"):
        tl.float32.get_int_max_value()


def test_kinds_are_ordered_as_promotion_needs() -> None:
    assert tl.int1.kind().value < tl.uint8.kind().value < tl.float8e5.kind().value
    with pytest.raises(ValueError, match="neither"):
        tl.pi32_t.kind()


@pytest.mark.parametrize(
    ("t", "name", "mangled", "ir"),
    [
        (tl.int1, "int1", "u1", "i1"),
        (tl.uint16, "uint16", "u16", "i16"),
        (tl.float8e4nv, "fp8e4nv", "fp8e4nv", "f8E4M3FN"),
        (tl.pointer_type(tl.float16), "pointer<fp16>", "Pfp16", "!tt.ptr<f16>"),
        (tl.pointer_type(tl.pi32_t), "pointer<pointer<int32>>", "PPi32", "!tt.ptr<!tt.ptr<i32>>"),
        (tl.pointer_type(tl.int8, const=True), "const_pointer<int8>", "Pi8", '!tt.ptr<i8, "constant">'),
        (tl.block_type(tl.float32, [16, 8]), "<[16, 8], fp32>", "fp32S16_8S", "tensor<16x8xf32>"),
        (tl.block_type(tl.pi32_t, [4]), "<[4], pointer<int32>>", "Pi32S4S", "tensor<4x!tt.ptr<i32>>"),
    ],
)
def test_names(t: tl.dtype, name: str, mangled: str, ir: str) -> None:
    assert (str(t), t.mangle(), t.to_ir()) == (name, mangled, ir)


@pytest.mark.parametrize(
    ("text", "want"),
    [("i32", tl.int32), ("u1", tl.int1), ("*fp32", tl.pointer_type(tl.float32)), ("**i32", tl.pointer_type(tl.pi32_t)),
     ("*kbf16", tl.pointer_type(tl.bfloat16, const=True)), ("float8_e4m3fn", tl.float8e4nv)],
)  # fmt: skip
def test_signature_strings(text: str, want: tl.dtype) -> None:
    assert str_to_ty(text) is want


def test_block_types() -> None:
    t = tl.block_type(tl.float16, [2, 8])
    assert (t.numel, t.nbytes, t.scalar, t.get_block_shapes()) == (16, 32, tl.float16, (2, 8))
    assert t.with_element_ty(tl.int8) == tl.block_type(tl.int8, [2, 8])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tl.dtype("fp31"), ValueError, "unknown dtype name 'fp31'"),
        (lambda: tl.pointer_type(3), TypeError, "must be a dtype such as tl.float32, not int"),
        (lambda: tl.block_type(tl.int8, []), TypeError, "at least one dimension"),
        (
            lambda: tl.block_type(tl.int8, [3]),
            ValueError,
            r"Shape element 0 must be a power of 2, not 3, in \(3,\)",
        ),
        (
            lambda: tl.block_type(tl.int8, [2, 2.0]),
            TypeError,
            "dimension 1 of a block shape must be a compile-time",
        ),
        (lambda: tl.block_type(tl.int8, [2**11, 2**10]), ValueError, "2097152 elements; at most 1048576"),
        (lambda: str_to_ty("i7"), ValueError, "'i7' names no type"),
        (lambda: tl.core.get_int_dtype(24, True), ValueError, "no 24-bit integer type"),
    ],
)
def test_errors(make, error, text) -> None:
    with pytest.raises(error, match=text):
        make()


def test_tuples() -> None:
    t = tl.tuple((tl.constexpr(1), 2, 3))
    assert t[tl.constexpr(1)] == 2 and t[1:] == (2, 3) and list(t * 2) == [1, 2, 3, 1, 2, 3]
    assert isinstance(t + (4,), tl.tuple) and len(t + (4,)) == 4  # noqa: RUF005
    assert t.type.mangle() == "Tc1_c2_c3T"
    named = tl.tuple((1, 2), tl.tuple_type([tl.int32, tl.int8], ["a", "b"]))
    assert named.b == 2
    with pytest.raises(AttributeError, match="no field 'c'"):
        named.c


def test_what_counts_as_a_value_of_the_language() -> None:
    base = tl.core.base_value
    assert all(isinstance(v, base) for v in (tl.constexpr(1), tl.tuple(()), tl.range(3), tl.static_range(3)))
    assert not isinstance(3, base)
    assert [int(i) for i in tl.static_range(5, 0, -2)] == [5, 3, 1]
    with pytest.raises(TypeError, match="must be a compile-time int, not float"):
        tl.static_range(1.5)
    with pytest.raises(RuntimeError, match="inside a @jit function"):
        iter(tl.range(3))
