// diff/bounds/IntegerOps.cpp -- bounds through integers, lane by lane: arithmetic, comparison, and casts from them.
// Not here:  casts of floats to integers and selection (ElementwiseOps.cpp).
// Notation:  x, y are the interpreter's numbers, ex, ey their shadows.
// Idea:      sums, differences and products of n bits are right modulo 2^n, and so are their shadows: any two right runs differ
//            by at most ex modulo 2^n. What reads a number as one of a range (a wider integer, a float, an order) knows
//            nothing where x +- ex passes an end of that range: the two sides may be a whole range apart there.
#include "diff/bounds/Builder.h"
#include <cmath>

using namespace mlir;

namespace tiletwin::diff {
namespace {

// ---- sums and products ----

Value sum(Builder& b, Operation* op, OpResult r) {
  if (isBool(r.getType())) return b.either(b.of(x(op)), b.of(y(op)));
  return b.add(b.amount(x(op)), b.amount(y(op)));
}
Value product(Builder& b, Operation* op, OpResult r) {
  if (isBool(r.getType())) return b.either(b.of(x(op)), b.of(y(op)));
  return ofProduct(b, x(op), y(op));
}

// ---- order ----

/// True where the other side may find the opposite.
Value compare(Builder& b, arith::CmpIOp op, OpResult) {
  const arith::CmpIPredicate predicate = op.getPredicate();
  const bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
  const bool isOrder = predicate > arith::CmpIPredicate::ne;
  Value margin = b.add(b.amount(x(op)), b.amount(y(op)));
  if (!margin) return {};
  Value first = b.number(x(op), isUnsigned), second = b.number(y(op), isUnsigned), apart = b.abs(b.sub(first, second));
  Value size = b.add(b.abs(first), b.abs(second)); // integers beyond 2^24 are rounded here
  Value reach = b.add(margin, b.mul(size, 0x1p-23)), near = b.compare(Predicate::ULE, apart, reach);
  Value ends = b.either(apartByRange(b, x(op), isUnsigned), apartByRange(b, y(op), isUnsigned));
  if (ends && !isOrder) { // equal modulo the range
    const double range = std::ldexp(1.0, int(tt::elementTypeOf(x(op).getType()).getIntOrFloatBitWidth()));
    ends = b.compare(Predicate::UGE, b.add(apart, reach), b.constant(x(op).getType(), range));
  }
  return b.both(b.either(near, ends), b.compare(Predicate::UNE, margin, b.zero(margin.getType())));
}

Value chosen(Builder& b, Operation* op, OpResult r) {
  const bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(op);
  if (isBool(r.getType())) return b.either(b.of(x(op)), b.of(y(op)));
  Value ends = b.either(apartByRange(b, x(op), isUnsigned), apartByRange(b, y(op), isUnsigned));
  return b.unknownWhere(ends, Reason::NoRule, b.max(b.of(x(op)), b.of(y(op))), r.getType());
}
Value size(Builder& b, Operation* op, OpResult r) {
  return b.unknownWhere(apartByRange(b, x(op), false), Reason::NoRule, b.of(x(op)), r.getType());
}

// ---- casts ----

Value widened(Builder& b, Operation* op, OpResult r) {
  return b.unknownWhere(apartByRange(b, x(op), isa<arith::ExtUIOp>(op)), Reason::NoRule, b.amount(x(op)), r.getType());
}
Value toFloat(Builder& b, Operation* op, OpResult r) {
  Value bound = b.rounded(r, b.amount(x(op)));
  return b.unknownWhere(apartByRange(b, x(op), isa<arith::UIToFPOp>(op)), Reason::NoRule, bound, r.getType());
}
Value truncated(Builder& b, Operation* op, OpResult r) {
  return isBool(r.getType()) ? b.mayDiffer(x(op)) : b.amount(x(op));
}

// ---- bits ----

/// x & y (x | y): of i1, only where neither is certainly false (true).
Value andOr(Builder& b, Operation* op, OpResult r) {
  Value ex = b.mayDiffer(x(op)), ey = b.mayDiffer(y(op));
  if (!isBool(r.getType())) return b.exactBut(b.either(ex, ey), Reason::NoRule, r.getType());
  auto open = [&](Value i, Value e) { return b.either(isa<arith::OrIOp>(op) ? b.invert(i) : i, e); };
  Value first = ex ? b.both(ex, open(y(op), ey)) : Value();
  Value second = ey ? b.both(ey, open(x(op), ex)) : Value();
  return b.either(first, second);
}
Value xorI(Builder& b, Operation* op, OpResult r) {
  return b.exactBut(b.either(b.mayDiffer(x(op)), b.mayDiffer(y(op))), Reason::NoRule, r.getType());
}
/// Counts of other bits are anything from 0 to the width.
Value popcount(Builder& b, tt::PopcountOp op, OpResult r) {
  Value differs = b.mayDiffer(x(op));
  const unsigned width = tt::elementTypeOf(r.getType()).getIntOrFloatBitWidth();
  return differs ? b.select(differs, b.constant(r.getType(), width), b.zero(r.getType())) : Value();
}

} // namespace

Value apartByRange(Builder& b, Value x, bool isUnsigned) {
  if (!b.mayWrap(x) || isBool(x.getType())) return {};
  Value ex = b.of(x), number = b.number(x, isUnsigned);
  const double range = std::ldexp(1.0, int(tt::elementTypeOf(x.getType()).getIntOrFloatBitWidth()));
  const double least = isUnsigned ? 0 : -range / 2;
  Value reach = b.add(ex, b.mul(b.abs(number), 0x1p-23)); // integers beyond 2^24 are rounded here
  Value below = b.compare(Predicate::ULT, b.sub(number, reach), b.constant(x.getType(), least));
  Value above = b.compare(Predicate::UGT, b.add(number, reach), b.constant(x.getType(), least + range - 1));
  return b.both(b.mayDiffer(x), b.either(below, above));
}

BOUNDS_RULE(arith::AddIOp, sum)
BOUNDS_RULE(arith::AndIOp, andOr)
BOUNDS_RULE(arith::CmpIOp, compare)
BOUNDS_RULE(arith::ExtSIOp, widened)
BOUNDS_RULE(arith::ExtUIOp, widened)
BOUNDS_RULE(arith::MaxSIOp, chosen)
BOUNDS_RULE(arith::MaxUIOp, chosen)
BOUNDS_RULE(arith::MinSIOp, chosen)
BOUNDS_RULE(arith::MinUIOp, chosen)
BOUNDS_RULE(arith::MulIOp, product)
BOUNDS_RULE(arith::OrIOp, andOr)
BOUNDS_RULE(arith::SIToFPOp, toFloat)
BOUNDS_RULE(arith::SubIOp, sum)
BOUNDS_RULE(arith::TruncIOp, truncated)
BOUNDS_RULE(arith::UIToFPOp, toFloat)
BOUNDS_RULE(arith::XOrIOp, xorI)
BOUNDS_RULE(math::AbsIOp, size)
BOUNDS_RULE(tt::PopcountOp, popcount)

} // namespace tiletwin::diff
