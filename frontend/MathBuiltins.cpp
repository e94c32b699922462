// frontend/MathBuiltins.cpp -- elementary functions and precise division (rules 13, 18, 60, 61).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tiletwin::frontend {

namespace math = mlir::math;

namespace {

/// x in fp32 or fp64; `only32` for functions that have no fp64 form.
Value floatArgument(Builder& b, llvm::StringRef function, PyObject* arg, bool only32) {
  Value x = tensorArgument(b, arg, "tl." + function + ": x");
  if (!x) return x;
  if (x.type.isPointer() || !(x.type.scalar == Scalar::F32 || (!only32 && x.type.scalar == Scalar::F64)))
    return raiseValue("tl." + function + " takes fp32" + (only32 ? "" : " or fp64") + ", got " + x.type.str() +
                      "; cast first, as in x.to(tl.float32)");
  return x;
}

/// The function that is called as its operation of math is.
template <class Op> PyRef buildUnary(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = floatArgument(b, llvm::StringRef(Op::getOperationName()).split('.').second, args[0], false);
  return x ? result(b.create1(Op::getOperationName(), x, x.type)) : PyRef();
}

PyRef buildSqrtRn(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = floatArgument(b, "sqrt_rn", args[0], true);
  return x ? result(b.create1("tt.precise_sqrt", x, x.type)) : PyRef();
}

PyRef buildAbs(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = tensorArgument(b, args[0], "tl.abs: x");
  if (!x) return {};
  if (x.type.scalar == Scalar::F8E4B15 && !x.type.isPointer()) {
    Value mask = splat(b, integerConstant(b, scalarType(Scalar::U8), 0x7f), x.type.shape);
    return mask ? result(b.create1("arith.andi", {x, mask}, x.type)) : PyRef();
  }
  if (x.type.isFloat()) return result(b.create1("math.absf", x, x.type));
  if (x.type.isSigned()) return result(b.create1("math.absi", x, x.type));
  if (x.type.isInt()) return result(x);
  return raiseType("tl.abs takes numbers, got " + x.type.str());
}

PyRef divide(Builder& b, llvm::StringRef function, llvm::StringRef op, bool only32, PyObject* lhs, PyObject* rhs) {
  Value x, y;
  if (!promoteOperands(b, lhs, rhs, true, x, y)) return {};
  if (!x.type.isFloat())
    return raiseType("tl." + function + " divides floats, got " + x.type.str() +
                     "; cast the operands first, as in x.to(tl.float32), or use /");
  if (only32 && x.type.scalar != Scalar::F32) return raiseValue("tl." + function + " takes fp32, got " + x.type.str());
  return broadcastTogether(b, x, y) ? result(b.create1(op, {x, y}, x.type)) : PyRef();
}
// fdiv(x, y, ieee_rounding, approx)
PyRef buildFdiv(Builder& b, llvm::ArrayRef<PyObject*> args) {
  bool ieee = false, approx = false;
  if (!constantBool(args[2], "tl.fdiv: ieee_rounding", ieee) || !constantBool(args[3], "tl.fdiv: approx", approx))
    return {};
  if (ieee && approx) return raiseValue("tl.fdiv: ieee_rounding and approx exclude each other");
  return divide(b, "fdiv",
                ieee     ? "tt.precise_divf"
                : approx ? "tt.approx_divf"
                         : "arith.divf",
                ieee || approx, args[0], args[1]);
}
PyRef buildDivRn(Builder& b, llvm::ArrayRef<PyObject*> args) {
  return divide(b, "div_rn", "tt.precise_divf", true, args[0], args[1]);
}

PyRef buildUmulhi(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x, y;
  if (!promoteOperands(b, args[0], args[1], false, x, y)) return {};
  if (!x.type.isInt() || x.type.bits() < 32)
    return raiseValue("tl.umulhi takes 32- or 64-bit integers, got " + x.type.str() +
                      "; cast first, as in x.to(tl.uint32)");
  return broadcastTogether(b, x, y) ? result(b.create1("tt.mulhiui", {x, y}, x.type)) : PyRef();
}

PyRef buildPopcount(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = tensorArgument(b, args[0], "tl.popcount: x");
  if (!x) return {};
  if (!x.type.isInt() || x.type.bits() < 8)
    return raiseValue("tl.popcount takes integers of 8 to 64 bits, got " + x.type.str() +
                      "; read a float's bits with x.to(tl.int32, bitcast=True)");
  return result(b.create1("tt.popcount", x, x.type));
}

constexpr BuiltinRow kRows[] = {
    {"abs", buildAbs},
    {"ceil", buildUnary<math::CeilOp>},
    {"cos", buildUnary<math::CosOp>},
    {"div_rn", buildDivRn},
    {"erf", buildUnary<math::ErfOp>},
    {"exp", buildUnary<math::ExpOp>},
    {"exp2", buildUnary<math::Exp2Op>},
    {"fdiv", buildFdiv},
    {"floor", buildUnary<math::FloorOp>},
    {"log", buildUnary<math::LogOp>},
    {"log2", buildUnary<math::Log2Op>},
    {"popcount", buildPopcount},
    {"rsqrt", buildUnary<math::RsqrtOp>},
    {"sin", buildUnary<math::SinOp>},
    {"sqrt", buildUnary<math::SqrtOp>},
    {"sqrt_rn", buildSqrtRn},
    {"umulhi", buildUmulhi},
};

} // namespace

llvm::ArrayRef<BuiltinRow> mathBuiltins() { return kRows; }

} // namespace tiletwin::frontend
