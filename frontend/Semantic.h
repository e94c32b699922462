// frontend/Semantic.h -- the rules of the language over typed values: promotion, broadcasting, casts, memory, shapes.
// Both modes call these; they call Builder::create. Rule numbers in comments are those of docs/semantics.md.
// Errors: an empty Value (or false) with a Python exception set; its text says what was given and what is accepted.
// Operands are PyObject* where a compile-time number may stand in for a tensor (weak types, rules 8 to 10).
#pragma once
#include "frontend/Builder.h"
#include "frontend/Objects.h"
#include <optional>

namespace mlir::arith {
enum class CmpIPredicate : uint64_t;
enum class CmpFPredicate : uint64_t;
} // namespace mlir::arith

namespace tiletwin::frontend {

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, And, Or, Xor, Shl, Shr, LogicalAnd, LogicalOr };
enum class CompareOp : uint8_t { LT, LE, GT, GE, EQ, NE };
enum class UnaryOp : uint8_t { Neg, Pos, Invert, Not };

/// A tensor, or a compile-time number turned into one by rule 10.
Value toTensor(Builder& b, PyObject* object);

Value binary(Builder& b, BinaryOp op, PyObject* lhs, PyObject* rhs);
Value compare(Builder& b, CompareOp op, PyObject* lhs, PyObject* rhs);
Value unary(Builder& b, UnaryOp op, PyObject* x);
/// Rounding: nullopt is the default (rtne); "rtne" or "rtz". Rules 20 to 25.
Value cast(Builder& b, Value x, Type element, std::optional<llvm::StringRef> rounding = std::nullopt);
Value bitcast(Builder& b, Value x, Type element);
/// Whether kernels may use the type: GPUs differ in their fp8 formats (option supported_fp8_dtypes). False with an error
/// set.
bool checkSupported(const Builder& b, const Type& type);
/// Whether `what` may compute with the type: fp8e4b15 is for storage only. False with an error set.
bool checkComputes(const Type& type, const llvm::Twine& what);
Value splat(Builder& b, Value scalar, llvm::ArrayRef<int64_t> shape);
Value broadcastTo(Builder& b, Value x, llvm::ArrayRef<int64_t> shape);
/// Compares x and y, which have one type.
Value compareInts(Builder& b, mlir::arith::CmpIPredicate predicate, Value x, Value y);
Value compareFloats(Builder& b, mlir::arith::CmpFPredicate predicate, Value x, Value y);
/// Same shape for both (rule 59): lower rank gains leading ones, ones stretch.
bool broadcastTogether(Builder& b, Value& x, Value& y);
/// The type + computes in (rules 1 to 9); `division` for / and %.
bool promote(Type x, Type y, bool division, Type& out);
/// `x[None, :, ...]`.
Value subscript(Builder& b, Value x, PyObject* index);
/// Whether the language has this index: it holds None and ':' only (or it is the 0 of `pid[0]`).
bool isLanguageIndex(const Type& type, PyObject* index);
/// A run-time condition as a scalar i1 (rule 50); an error for blocks.
Value truth(Builder& b, PyObject* condition);

/// `op` for add, sub, mul with the overflow check of rule 17 switched off if `sanitize` is false.
Value binary(Builder& b, BinaryOp op, PyObject* lhs, PyObject* rhs, bool sanitize);
/// Both operands in the type of rules 1 to 9, shapes as they are. A compile-time number takes the other's type where it
/// is weak. `pointers` allows two pointers of one type.
bool promoteOperands(Builder& b, PyObject* lhs, PyObject* rhs, bool division, Value& x, Value& y,
                     bool pointers = false);
/// ptr + offset, element by element; unsigned offsets are zero-extended (rule 29).
Value addPointer(Builder& b, Value pointer, Value offset);
/// `condition ? x : y`; condition is int1 already, shapes are made equal.
Value select(Builder& b, Value condition, Value x, Value y);

// Shapes. Axes count from 0.
Value expandDims(Builder& b, Value x, int64_t axis);
Value reshape(Builder& b, Value x, llvm::ArrayRef<int64_t> shape, bool allowReorder = false);
/// result dimension i is x's dimension order[i].
Value permute(Builder& b, Value x, llvm::ArrayRef<int32_t> order);
/// Powers of two, at most 1048576 elements (rule 59). `what` starts the message.
bool checkShape(llvm::ArrayRef<int64_t> shape, const llvm::Twine& what);

// Constants.
Value integerConstant(Builder& b, Type element, int64_t value); ///< a scalar; the low bits of value
Value floatConstant(Builder& b, Type element, double value);    ///< a scalar, rounded to the type
/// A compile-time number in every element of `type`; floats are truncated for integer types.
Value numberAs(Builder& b, PyObject* number, const Type& type);
/// True for Python and NumPy numbers and constexprs of them.
bool isNumber(PyObject* object);

} // namespace tiletwin::frontend
