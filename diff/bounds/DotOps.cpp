// diff/bounds/DotOps.cpp -- matrix products: sums over K in any order, with the roundings of the units that compute them.
// Rule:      |A| eB + eA |B| + eA eB + eC + K ulp |A| |B| + (K/8 + 1) ulp (|C| + |D|): tensor cores add the products of 8 or 16
//            columns with the accumulator at a time and cut the sum off, host libraries round every sum.
#include "diff/bounds/Builder.h"
#include <cmath>

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// a . b + c in f32.
Value product(Builder& b, Value left, Value right, Value c) {
  OperationState state(b.location(), tt::DotOp::getOperationName());
  state.addOperands({left, right, c});
  state.addTypes(c.getType());
  return b.ops().create(state)->getResult(0);
}

bool ofFloats(const Builder&, Operation* op) { return isFloat(op->getResult(0).getType()); }

/// The relative rounding of each product and sum.
double unitOf(Builder& b, tt::DotOp dot) {
  Type from = tt::elementTypeOf(dot.getA().getType()), to = tt::elementTypeOf(dot.getType());
  if (to.isF64()) return 0x1p-52;
  if (to.isF16()) return 0x1p-10;
  if (b.latitude().fp8Sums && from.getIntOrFloatBitWidth() == 8) return 0x1p-12;
  return 0x1p-23;
}

/// What reading the operands costs on one side only, relative to the product of both.
double operandUnit(Builder& b, tt::DotOp dot) {
  if (!tt::elementTypeOf(dot.getA().getType()).isF32()) return 0;
  switch (dot.getInputPrecision()) {
  case tt::InputPrecision::TF32: return b.latitude().tf32Differs ? 0x1p-9 : 0;
  case tt::InputPrecision::TF32x3: return 0x1p-19;
  case tt::InputPrecision::BF16x3: return 0x1p-14;
  case tt::InputPrecision::BF16x6: return 0x1p-21;
  case tt::InputPrecision::IEEE: break;
  }
  return 0;
}

Value dotted(Builder& b, Operation* op, OpResult result) {
  auto dot = cast<tt::DotOp>(op);
  Value left = dot.getA(), right = dot.getB(), eLeft = b.amount(left), eRight = b.amount(right),
        eC = b.amount(dot.getC());
  Type type = result.getType();
  if (!isFloat(type)) {
    // Integers: only through what the operands may be off.
    if (!eLeft && !eRight) return eC;
  }
  Value sizeLeft = b.magnitude(left), sizeRight = b.magnitude(right), none = b.zero(type), bound;
  if (eRight) bound = product(b, sizeLeft, eRight, none);
  if (eLeft) bound = b.add(bound, product(b, eLeft, b.add(sizeRight, eRight), none));
  bound = b.add(bound, eC);
  if (isFloat(type)) {
    const auto shape = cast<RankedTensorType>(left.getType()).getShape();
    const double k = double(shape.back()), unit = unitOf(b, dot);
    Value terms = product(b, b.add(sizeLeft, eLeft), b.add(sizeRight, eRight), none);
    bound = b.add(bound, b.mul(terms, k * unit + operandUnit(b, dot)));
    Value outer = b.add(b.magnitude(dot.getC()), b.magnitude(result));
    bound = b.add(bound, b.mul(outer, (k / 8 + 1) * unit));
  }
  return isFloat(type) ? b.unlessInfinite(result, bound, {eC, bound}) : bound;
}

constexpr Rule kRules[] = {
    {"tt.dot", ofFloats, dotted},
};

} // namespace

ArrayRef<Rule> dotRules() { return kRules; }

} // namespace tiletwin::diff
