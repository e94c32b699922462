// frontend/MathBuiltins.cpp -- elementary functions and precise division (rules 13, 18, 60, 61).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"

namespace tiletwin::frontend {
namespace {

struct MathRow {
  llvm::StringLiteral name, op;
};
constexpr MathRow kMath[] = {
    {"ceil", "math.ceil"},   {"cos", "math.cos"},     {"erf", "math.erf"},   {"exp", "math.exp"},
    {"exp2", "math.exp2"},   {"floor", "math.floor"}, {"log", "math.log"},   {"log2", "math.log2"},
    {"rsqrt", "math.rsqrt"}, {"sin", "math.sin"},     {"sqrt", "math.sqrt"},
};

/// x in fp32 or fp64; `only32` for functions that have no fp64 form.
Value floatArgument(Builder& b, llvm::StringRef function, PyObject* arg, bool only32) {
  Value x = tensorArgument(b, arg, "tl." + function + ": x");
  if (!x) return x;
  if (x.type.isPointer() || !(x.type.scalar == Scalar::F32 || (!only32 && x.type.scalar == Scalar::F64)))
    return raiseValue("tl." + function + " takes fp32" + (only32 ? "" : " or fp64") + ", got " + x.type.str() +
                      "; cast first, as in x.to(tl.float32)");
  return x;
}

template <size_t index> PyRef buildUnary(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = floatArgument(b, kMath[index].name, args[0], false);
  return x ? result(b.create1(kMath[index].op, x, x.type)) : PyRef();
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

constexpr BuiltinRow kRows[] = {
    {"abs", buildAbs},        {"ceil", buildUnary<0>},  {"cos", buildUnary<1>},   {"div_rn", buildDivRn},
    {"erf", buildUnary<2>},   {"exp", buildUnary<3>},   {"exp2", buildUnary<4>},  {"fdiv", buildFdiv},
    {"floor", buildUnary<5>}, {"log", buildUnary<6>},   {"log2", buildUnary<7>},  {"rsqrt", buildUnary<8>},
    {"sin", buildUnary<9>},   {"sqrt", buildUnary<10>}, {"sqrt_rn", buildSqrtRn}, {"umulhi", buildUmulhi},
};
constexpr bool namesAgree() {
  constexpr size_t kAt[] = {1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13}; // rows of buildUnary<0>, <1>, ...
  for (size_t i = 0; i < std::size(kMath); ++i) {
    const char *a = kRows[kAt[i]].name.data(), *c = kMath[i].name.data();
    for (; *a && *a == *c; ++a, ++c) {}
    if (*a != *c) return false;
  }
  return true;
}
static_assert(namesAgree(), "a row of kRows names another function than its row of kMath");

} // namespace

llvm::ArrayRef<BuiltinRow> mathBuiltins() { return kRows; }

} // namespace tiletwin::frontend
