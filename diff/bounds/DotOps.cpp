// diff/bounds/DotOps.cpp -- matrix products: sums over K in any order, with the roundings of the units that compute them.
// Rule:      |A| eB + eA |B| + eA eB + eC + K ulp |A| |B| + (K/2 + 1) ulp (|C| + |D|): host libraries round every sum, and tensor
//            cores cut every product off at the last place of the largest of those that they add at a time, which may be
//            the accumulator. Where one side may take the sum of a product and C for that product's accumulator, the
//            last part belongs to the sum.
#include "diff/bounds/Builder.h"
#include "ir/DotSums.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// a . b + c in f32.
Value product(Builder& b, Value left, Value right, Value c) {
  return tt::DotOp::create(b, c.getType(), left, right, c);
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

/// What an operand may be off once its last 13 bits are dropped, if it may be off by `e` before: a number near a step of 2^-10
/// may lie on either side of it.
Value afterTf32(Builder& b, tt::DotOp dot, Value operand, Value e) {
  const bool drops = tt::elementTypeOf(operand.getType()).isF32() &&
                     dot.getInputPrecision() == tt::InputPrecision::TF32 && !b.latitude().tf32Differs;
  if (!e || !drops) return e;
  Type bits = tt::withShapeOf(operand.getType(), b.getI32Type());
  Value mask = b.integer(bits, 0xffffe000u);
  auto cut = [&](Value number) -> Value {
    Value held = arith::BitcastOp::create(b, bits, number);
    held = arith::AndIOp::create(b, held, mask);
    return arith::BitcastOp::create(b, number.getType(), held);
  };
  Value middle = cut(operand), above = b.sub(cut(b.add(operand, e)), middle),
        below = b.sub(middle, cut(b.sub(operand, e)));
  Value none = b.zero(operand.getType()), bound = b.add(b.max(above, below), b.mul(e, 0.0));
  return b.select(b.compare(Predicate::OEQ, e, none), none, bound);
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

double columnsOf(tt::DotOp dot) { return double(dot.getA().getType().getShape().back()); }
double columnsOf(tt::DotScaledOp dot) {
  const bool isPacked = dot.getAElemType() == tt::ScaleDotElemType::E2M1 && dot.getLhsKPack();
  return double(dot.getA().getType().getShape().back()) * (isPacked ? 2 : 1);
}

constexpr double kScaledUnit = 0x1p-23;

/// The share of the accumulator: partial sums that begin with c and end with the result.
Value accumulated(Builder& b, tt::DotOp dot, Value c, Value result) {
  return b.mul(b.add(b.magnitude(c), b.magnitude(result)), (columnsOf(dot) / 2 + 1) * unitOf(b, dot));
}
Value accumulated(Builder& b, tt::DotScaledOp dot, Value c, Value result) {
  return b.mul(b.add(b.magnitude(c), b.magnitude(result)), (columnsOf(dot) / 2 + 1) * kScaledUnit);
}

Value dotted(Builder& b, tt::DotOp dot, OpResult result) {
  Value left = dot.getA(), right = dot.getB(), eC = b.amount(dot.getC());
  Value eLeft = afterTf32(b, dot, left, b.amount(left)), eRight = afterTf32(b, dot, right, b.amount(right));
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
    Value terms = product(b, b.add(sizeLeft, eLeft), b.add(sizeRight, eRight), none);
    bound = b.add(bound, b.mul(terms, columnsOf(dot) * unitOf(b, dot) + operandUnit(b, dot)));
    bound = b.add(bound, accumulated(b, dot, dot.getC(), result));
  }
  return isFloat(type) ? b.unlessInfinite(result, bound, {eC, bound}) : bound;
}

// ---- scaled products ----

/// A tile of narrow numbers, held as integers of `mask`'s width, without their signs.
Value withoutSigns(Builder& b, Value tile, int64_t mask) {
  Type type = tile.getType(), bits = tt::withShapeOf(type, b.getI8Type());
  auto cast = [&](Value value, Type to) -> Value { return tt::BitcastOp::create(b, to, value); };
  Value held = arith::AndIOp::create(b, type == bits ? tile : cast(tile, bits), b.integer(bits, mask));
  return type == bits ? held : cast(held, type);
}

Value magnitudeOf(Builder& b, Value operand, tt::ScaleDotElemType format) {
  if (tt::elementTypeOf(operand.getType()).getIntOrFloatBitWidth() > 8) return math::AbsFOp::create(b, operand);
  return withoutSigns(b, operand, format == tt::ScaleDotElemType::E2M1 ? 0x77 : 0x7f);
}

/// The rows (columns) of the result in which an operand or its scales may differ; of an operand whose numbers are packed along
/// its rows, all.
Value linesInDoubt(Builder& b, Value tile, int along, int axis, bool isPacked, Type result) {
  Value lanes = tile ? b.mayDiffer(tile) : Value();
  if (!lanes) return {};
  if (!isPacked) return b.stretch(b.reduce<arith::OrIOp>(lanes, along), axis, result);
  return b.spread(b.anyLane(lanes), result);
}

/// The rule of tt.dot, with the sum of |terms| of the same operation. Both sides round scaled operands to bf16 or f16 alike.
/// Where an operand may differ nothing is known of its row or column.
Value scaledDot(Builder& b, tt::DotScaledOp dot, OpResult result) {
  Type type = result.getType();
  const int last = int(cast<RankedTensorType>(type).getRank()) - 1;
  const bool packedA = !dot.getLhsKPack(), packedB = !dot.getRhsKPack();
  Value doubt = linesInDoubt(b, dot.getA(), last, last, packedA, type);
  doubt = b.either(doubt, linesInDoubt(b, dot.getAScale(), last, last, false, type));
  doubt = b.either(doubt, linesInDoubt(b, dot.getB(), last - 1, last - 1, packedB, type));
  doubt = b.either(doubt, linesInDoubt(b, dot.getBScale(), last, last - 1, false, type));
  auto scales = [&](Value tile) { return tile && isFloat(tile.getType()) ? withoutSigns(b, tile, 0x7f) : tile; };
  SmallVector<Value> operands{magnitudeOf(b, dot.getA(), dot.getAElemType()),
                              magnitudeOf(b, dot.getB(), dot.getBElemType()), b.zero(type)};
  for (Value scale : {dot.getAScale(), dot.getBScale()})
    if (scale) operands.push_back(scales(scale));
  Value terms = b.cloneFor(dot, operands, tt::withShapeOf(type, b.getF32Type()))->getResult(0);
  Value eC = b.amount(dot.getC());
  Value bound = b.add(eC, b.mul(terms, columnsOf(dot) * kScaledUnit));
  bound = b.add(bound, accumulated(b, dot, dot.getC(), result));
  if (!tt::elementTypeOf(type).isF32()) bound = b.add(bound, b.rounding(result));
  bound = b.unlessInfinite(result, bound, {eC, bound});
  return b.unknownWhere(doubt, Reason::NoRule, bound, type);
}

} // namespace

Value accumulatedInDot(Builder& b, Operation* sum, OpResult result) {
  Operation* op = b.latitude().contracts ? tt::dotInSum(sum) : nullptr;
  if (!op) return {};
  Value c = sum->getOperand(sum->getOperand(0).getDefiningOp() == op ? 1 : 0);
  if (auto dot = dyn_cast<tt::DotOp>(op)) return accumulated(b, dot, c, result);
  return accumulated(b, cast<tt::DotScaledOp>(op), c, result);
}

BOUNDS_RULE(tt::DotOp, dotted, ofFloats)
BOUNDS_RULE(tt::DotScaledOp, scaledDot, ofFloats)

} // namespace tiletwin::diff
