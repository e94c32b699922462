// frontend/BinaryOps.cpp -- operators on one and two operands, comparisons, pointer arithmetic (rules 5-7, 13-17, 29).
// Not here: maximum, where and the like (ElementwiseBuiltins.cpp); and, or, not of compile-time values (the walker).
#include "frontend/Emit.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tiletwin::frontend {
namespace {

struct OpRow {
  BinaryOp op;
  llvm::StringLiteral symbol, text; ///< text: for the overflow message
  llvm::StringLiteral floatName, signedName, unsignedName;
};
constexpr OpRow kOps[] = {
    {BinaryOp::Add, "+", "add", "arith.addf", "arith.addi", "arith.addi"},
    {BinaryOp::Sub, "-", "sub", "arith.subf", "arith.subi", "arith.subi"},
    {BinaryOp::Mul, "*", "mul", "arith.mulf", "arith.muli", "arith.muli"},
    {BinaryOp::Div, "/", "", "arith.divf", "", ""},
    {BinaryOp::FloorDiv, "//", "", "", "arith.divsi", "arith.divui"},
    {BinaryOp::Mod, "%", "", "arith.remf", "arith.remsi", "arith.remui"},
    {BinaryOp::And, "&", "", "", "arith.andi", "arith.andi"},
    {BinaryOp::Or, "|", "", "", "arith.ori", "arith.ori"},
    {BinaryOp::Xor, "^", "", "", "arith.xori", "arith.xori"},
    {BinaryOp::Shl, "<<", "", "", "arith.shli", "arith.shli"},
    {BinaryOp::Shr, ">>", "", "", "arith.shrsi", "arith.shrui"},
    {BinaryOp::LogicalAnd, "and", "", "", "arith.andi", "arith.andi"},
    {BinaryOp::LogicalOr, "or", "", "", "arith.ori", "arith.ori"},
};
const OpRow& row(BinaryOp op) { return kOps[size_t(op)]; }
/// `t`: the type that the operation computes in; `isSigned`: whether it takes integers for signed ones.
llvm::StringRef opName(const OpRow& r, const Type& t, bool isSigned) {
  return t.isFloat() ? r.floatName : isSigned ? r.signedName : r.unsignedName;
}

/// `>>` keeps the sign of what it shifts, although an unsigned amount makes the common type unsigned (rule 16).
bool computesSigned(BinaryOp op, const Type& common, PyObject* lhs, PyObject* rhs) {
  PyObject* shifted = isTensor(lhs) ? lhs : rhs;
  return (op == BinaryOp::Shr && isTensor(shifted) ? tensorValue(shifted).type : common).isSigned();
}

std::string operandText(PyObject* x) { return isTensor(x) ? tensorValue(x).type.str() : "a number"; }

/// Rule 17: the operation once more in i64, and an assertion that the result fits.
bool checkOverflow(Builder& b, const OpRow& r, const Value& x, const Value& y) {
  using mlir::arith::CmpIPredicate;
  const Type& t = x.type;
  Type wide = scalarType(Scalar::I64);
  int64_t high = t.isSigned() ? (int64_t(1) << (t.bits() - 1)) - 1 : (int64_t(1) << t.bits()) - 1;
  int64_t low = t.isSigned() ? -high - 1 : 0;
  auto constant = [&](int64_t value) { return splat(b, integerConstant(b, wide, value), t.shape); };
  Value exact = b.create1(r.signedName, {cast(b, x, wide), cast(b, y, wide)}, wide.withShape(t.shape));
  Value below = compareInts(b, CmpIPredicate::sle, exact, constant(high));
  Value above = compareInts(b, CmpIPredicate::sge, exact, constant(low));
  Value fits = b.create1("arith.andi", {below, above}, below.type);
  std::string message = "int" + std::to_string(t.bits()) + " overflow detected for operation " + r.text.str();
  return fits && emit(b, "tt.assert", fits, string(b, "message", message));
}

/// Operands of one type and shape.
Value emitBinary(Builder& b, const OpRow& r, llvm::StringRef name, Value x, Value y, bool sanitize) {
  bool wraps = r.op == BinaryOp::Add || r.op == BinaryOp::Sub || r.op == BinaryOp::Mul;
  if (!checkComputes(x.type, "'" + r.symbol + "'")) return raised();
  if (wraps && sanitize && b.options().debug && b.options().sanitizeOverflow && x.type.isInt() && x.type.bits() < 64)
    if (!checkOverflow(b, r, x, y)) return raised();
  Value made = b.create1(name, {x, y}, x.type);
  if (wraps && !sanitize && made.ir) // it wraps on purpose: no check needs to know its signs
    if (mlir::Operation* op = made.ir.getDefiningOp()) op->removeDiscardableAttr("tt.signs");
  return made;
}

Value negative(Builder& b, Value x, bool sanitize) {
  if (!checkComputes(x.type, "unary '-'")) return raised();
  if (x.type.isFloat()) return b.create1("arith.negf", x, x.type);
  Value zero = splat(b, integerConstant(b, x.type, 0), x.type.shape);
  const OpRow& r = row(BinaryOp::Sub);
  return zero ? emitBinary(b, r, r.signedName, zero, x, sanitize) : zero;
}

/// ptr + int, int + ptr, ptr - int.
Value pointerBinary(Builder& b, BinaryOp op, PyObject* lhs, PyObject* rhs, bool sanitize) {
  Value x = toTensor(b, lhs), y = x ? toTensor(b, rhs) : Value();
  if (!y) return y;
  bool both = x.type.isPointer() && y.type.isPointer();
  bool allowed = op == BinaryOp::Add || (op == BinaryOp::Sub && x.type.isPointer());
  if (both || !allowed)
    return raiseType("invalid operands of type " + x.type.str() + " and " + y.type.str() + ": '" + row(op).symbol +
                     "' does not take them; pointers take + and - with an integer offset" +
                     (both ? ", and x.to(tl.int64) gives an address as a number" : ""));
  if (y.type.isPointer()) std::swap(x, y);
  if (!y.type.isInt())
    return raiseType("invalid operands of type " + x.type.str() + " and " + y.type.str() +
                     ": a pointer's offset must be an integer");
  if (!broadcastTogether(b, x, y)) return raised();
  if (op == BinaryOp::Sub && !(y = negative(b, y, sanitize))) return raised();
  return addPointer(b, x, y);
}

/// `and`, `or`: both sides int1 already (rule 14).
Value logicalBinary(Builder& b, BinaryOp op, PyObject* lhs, PyObject* rhs) {
  Value x = toTensor(b, lhs), y = x ? toTensor(b, rhs) : Value();
  if (!y) return y;
  for (const Value* v : {&x, &y})
    if (!v->type.isBool())
      return raiseType("'" + row(op).symbol + "' takes conditions (int1), got " + x.type.str() + " and " +
                       y.type.str() + "; compare first, as in x != 0");
  return broadcastTogether(b, x, y) ? b.create1(row(op).signedName, {x, y}, x.type) : Value();
}

} // namespace

Value compareInts(Builder& b, mlir::arith::CmpIPredicate predicate, Value x, Value y) {
  return b.create1("arith.cmpi", {x, y}, scalarType(Scalar::I1).withShape(x.type.shape),
                   named("predicate", mlir::arith::CmpIPredicateAttr::get(b.context(), predicate)));
}
Value compareFloats(Builder& b, mlir::arith::CmpFPredicate predicate, Value x, Value y) {
  return b.create1("arith.cmpf", {x, y}, scalarType(Scalar::I1).withShape(x.type.shape),
                   named("predicate", mlir::arith::CmpFPredicateAttr::get(b.context(), predicate)));
}

Value addPointer(Builder& b, Value pointer, Value offset) {
  if (!broadcastTogether(b, pointer, offset)) return raised();
  if (!offset.type.isSigned() && offset.type.bits() < 64 && !(offset = cast(b, offset, scalarType(Scalar::I64))))
    return raised();
  return b.create1("tt.addptr", {pointer, offset}, pointer.type);
}

Value binary(Builder& b, BinaryOp op, PyObject* lhs, PyObject* rhs) { return binary(b, op, lhs, rhs, true); }

Value binary(Builder& b, BinaryOp op, PyObject* lhs, PyObject* rhs, bool sanitize) {
  if (op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr) return logicalBinary(b, op, lhs, rhs);
  if ((isTensor(lhs) && tensorValue(lhs).type.isPointer()) || (isTensor(rhs) && tensorValue(rhs).type.isPointer()))
    return pointerBinary(b, op, lhs, rhs, sanitize);
  const OpRow& r = row(op);
  bool division = op == BinaryOp::Div || op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
  Value x, y;
  if (!promoteOperands(b, lhs, rhs, division, x, y)) return raised();
  if (op == BinaryOp::Div && x.type.isInt()) {
    x = cast(b, x, scalarType(Scalar::F32));
    y = x ? cast(b, y, scalarType(Scalar::F32)) : Value();
    if (!y) return y;
  }
  llvm::StringRef name = opName(r, x.type, computesSigned(op, x.type, lhs, rhs));
  if (name.empty())
    return op == BinaryOp::FloorDiv
               ? raiseType("unexpected type " + x.type.element().str() + ": '//' takes integers, got " +
                           operandText(lhs) + " and " + operandText(rhs) + "; use tl.floor(x / y) for floats")
               : raiseType("invalid operands of type " + operandText(lhs) + " and " + operandText(rhs) + ": '" +
                           r.symbol + "' takes integers; cast them first, as in x.to(tl.int32)");
  if (!broadcastTogether(b, x, y)) return raised();
  return emitBinary(b, r, name, x, y, sanitize);
}

Value compare(Builder& b, CompareOp op, PyObject* lhs, PyObject* rhs) {
  using mlir::arith::CmpFPredicate;
  using mlir::arith::CmpIPredicate;
  struct Row {
    CmpFPredicate onFloats;
    CmpIPredicate onSigned, onUnsigned;
  };
  static constexpr Row kRows[] = {
      {CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult},
      {CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule},
      {CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt},
      {CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge},
      {CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq},
      {CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne},
  };
  Value x, y;
  if (!isTensor(lhs) && isTensor(rhs)) { // 1 < x is x > 1, so that the tensor comes first
    constexpr CompareOp kMirrored[] = {CompareOp::GT, CompareOp::GE, CompareOp::LT,
                                       CompareOp::LE, CompareOp::EQ, CompareOp::NE};
    std::swap(lhs, rhs);
    op = kMirrored[size_t(op)];
  }
  if ((isTensor(lhs) && tensorValue(lhs).type.isPointer()) || (isTensor(rhs) && tensorValue(rhs).type.isPointer()))
    return raiseType("invalid operands of type " + operandText(lhs) + " and " + operandText(rhs) +
                     ": pointers cannot be compared; compare addresses, as in p.to(tl.int64)");
  if (!promoteOperands(b, lhs, rhs, false, x, y) || !broadcastTogether(b, x, y)) return raised();
  const Row& r = kRows[size_t(op)];
  if (!checkComputes(x.type, "a comparison")) return raised();
  if (x.type.isFloat()) return compareFloats(b, r.onFloats, x, y);
  return compareInts(b, x.type.isSigned() ? r.onSigned : r.onUnsigned, x, y);
}

Value unary(Builder& b, UnaryOp op, PyObject* operand) {
  Value x = toTensor(b, operand);
  if (!x) return x;
  if (x.type.isPointer()) return raiseType("a pointer (" + x.type.str() + ") takes no unary operator");
  switch (op) {
  case UnaryOp::Pos: return x;
  case UnaryOp::Neg: return negative(b, x, true);
  case UnaryOp::Not:
    if (!x.type.isBool())
      return raiseType("'not' takes a condition (int1), got " + x.type.str() + "; compare first, as in x == 0");
    [[fallthrough]];
  case UnaryOp::Invert: {
    if (!x.type.isInt()) return raiseType("'~' takes integers, got " + x.type.str());
    return b.create1("arith.xori", {x, splat(b, integerConstant(b, x.type, -1), x.type.shape)}, x.type);
  }
  }
  return raised();
}

Value select(Builder& b, Value condition, Value x, Value y) {
  if (!broadcastTogether(b, x, y)) return raised();
  if (condition.type.isBlock() || x.type.isBlock()) {
    if (!broadcastTogether(b, condition, x) || !broadcastTogether(b, x, y)) return raised();
  }
  return b.create1("arith.select", {condition, x, y}, x.type);
}

} // namespace tiletwin::frontend
