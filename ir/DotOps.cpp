// ir/DotOps.cpp -- verifiers of the matrix products.
#include "ir/TT.h"

using namespace mlir;

namespace tiletwin::tt {

static bool isF8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

static InFlightDiagnostic& operands(InFlightDiagnostic&& diagnostic, Type a, Type b, Type d) {
  return diagnostic << ", got a " << shapeText(a) << ", b " << shapeText(b) << " and result " << shapeText(d);
}

// C1 of both products: one rank, one batch extent. M, N and K are the callers'.
static LogicalResult verifyDotShapes(Operation* op, RankedTensorType a, RankedTensorType b, RankedTensorType d) {
  int64_t rank = d.getRank();
  if (a.getRank() != rank || b.getRank() != rank || rank < 2 || rank > 3)
    return operands(op->emitOpError() << "needs operands of one rank, 2 or 3", a, b, d); // C1
  if (rank == 3 && (a.getDimSize(0) != d.getDimSize(0) || b.getDimSize(0) != d.getDimSize(0)))
    return operands(op->emitOpError() << "needs one batch extent", a, b, d);
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), d = getD().getType();
  if (failed(verifyDotShapes(*this, a, b, d))) return failure();
  int64_t rank = d.getRank();
  // Of CTAs that multiply together each has its share of b's columns (codegen/passes/Divide.h).
  const int64_t ctas = (*this)->hasAttr("twg.by_two_ctas") ? 2 : 1;
  if (a.getDimSize(rank - 1) != b.getDimSize(rank - 2) || a.getDimSize(rank - 2) != d.getDimSize(rank - 2) ||
      b.getDimSize(rank - 1) * ctas != d.getDimSize(rank - 1))
    return operands(emitOpError() << "needs a of MxK, b of KxN and a result of MxN", a, b, d); // C2
  Type x = a.getElementType(), y = b.getElementType(), z = d.getElementType();
  if (x != y && !(isF8(x) && isF8(y)))
    return emitOpError() << "needs operands of one element type (or f8 formats), got " << x << " and " << y; // C3
  bool integers = isa<IntegerType>(x);
  if (integers ? !(x.isInteger(8) && z.isInteger(32)) : !isa<FloatType>(z))
    return emitOpError() << "of " << x << " gives " << (integers ? "i32 (and takes i8)" : "floats") << ", not "
                         << z; // C4
  return success();
}

// Element types that may carry numbers of a format.
static bool carries(ScaleDotElemType format, Type type) {
  switch (format) {
  case ScaleDotElemType::E2M1: return type.isInteger(8);
  case ScaleDotElemType::E4M3: return type.isInteger(8) || isa<Float8E4M3FNType>(type);
  case ScaleDotElemType::E5M2: return type.isInteger(8) || isa<Float8E5M2Type>(type);
  case ScaleDotElemType::BF16: return type.isBF16();
  case ScaleDotElemType::FP16: return type.isF16();
  case ScaleDotElemType::E2M3:
  case ScaleDotElemType::E3M2: return type.isInteger(8);
  }
  return false;
}

static LogicalResult verifyScale(DotScaledOp op, Value scale, int64_t outer, int64_t k, const char* name) {
  if (!scale) return success();
  ArrayRef<int64_t> shape = shapeOf(scale.getType());
  int64_t rank = op.getD().getType().getRank();
  if (int64_t(shape.size()) != rank || shape[rank - 2] != outer ||
      (shape[rank - 1] * 32 != k && shape[rank - 1] * 16 != k))
    return op.emitOpError() << "needs " << name << " of shape " << outer << 'x' << k / 32 << " (or a group of 16), got "
                            << shapeText(scale.getType()); // C4
  if (Type type = elementTypeOf(scale.getType()); !type.isInteger(8) && !isa<Float8E4M3FNType>(type))
    return op.emitOpError() << "needs " << name << " of i8 (e8m0) or f8E4M3FN, got " << type; // C4
  return success();
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), d = getD().getType();
  if (failed(verifyDotShapes(*this, a, b, d))) return failure(); // C1
  int64_t rank = d.getRank();
  bool aPacked = getAElemType() == ScaleDotElemType::E2M1, bPacked = getBElemType() == ScaleDotElemType::E2M1;
  int64_t m = a.getDimSize(rank - 2) * (aPacked && !getLhsKPack() ? 2 : 1);
  int64_t n = b.getDimSize(rank - 1) * (bPacked && !getRhsKPack() ? 2 : 1);
  int64_t ka = a.getDimSize(rank - 1) * (aPacked && getLhsKPack() ? 2 : 1);
  int64_t kb = b.getDimSize(rank - 2) * (bPacked && getRhsKPack() ? 2 : 1);
  if (ka != kb) return emitOpError() << "needs one K, got " << ka << " of a and " << kb << " of b"; // C2
  if (d.getDimSize(rank - 2) != m || d.getDimSize(rank - 1) != n)
    return emitOpError() << "gives shape " << m << 'x' << n << ", but its result has " << shapeText(d); // C3
  if (failed(verifyScale(*this, getAScale(), m, ka, "a_scale")) ||
      failed(verifyScale(*this, getBScale(), n, kb, "b_scale")))
    return failure();
  if (!carries(getAElemType(), a.getElementType()))
    return emitOpError() << "reads a as " << stringifyScaleDotElemType(getAElemType()) << ", but it holds "
                         << a.getElementType(); // C5
  if (!carries(getBElemType(), b.getElementType()))
    return emitOpError() << "reads b as " << stringifyScaleDotElemType(getBElemType()) << ", but it holds "
                         << b.getElementType(); // C5
  return success();
}

} // namespace tiletwin::tt
