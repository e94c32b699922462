// diff/bounds/ElementwiseOps.cpp -- bounds through arithmetic of floats, comparison, selection and casts, lane by lane.
// Not here:  integers (IntegerOps.cpp), functions (FunctionOps.cpp).
// Notation:  x, y are the interpreter's numbers, ex, ey their shadows: any two right runs lie within x +- ex.
#include "diff/bounds/Builder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

// ---- sums and products ----

/// Whether a sum may take a product up before it is rounded: also one of another round of a loop, and those that functions
/// are made of.
bool reachesSum(Value product) {
  return llvm::any_of(product.getUsers(), [](Operation* user) {
    if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, arith::NegFOp>(user))
      return reachesSum(user->getResult(0));
    return isControl(user) || user->hasTrait<OpTrait::IsTerminator>() ||
           isa<arith::AddFOp, arith::SubFOp, tt::ExternElementwiseOp, tt::CallOp>(user) ||
           user->getDialect()->getNamespace() == "math";
  });
}
bool mayContract(const Builder& b, Operation* op) { return b.latitude().contracts && reachesSum(op->getResult(0)); }

/// Where one of two operands is infinite and the other may be 0 on one side: their product may be a NaN there. Null: nowhere.
Value zeroTimesInfinity(Builder& b, Operation* op) {
  Value zeroX = b.mayBeZero(x(op)), zeroY = b.mayBeZero(y(op)), first, second;
  if (zeroX) first = b.both(zeroX, b.invert(b.isFinite(y(op))));
  if (zeroY) second = b.both(zeroY, b.invert(b.isFinite(x(op))));
  return b.either(first, second);
}
Value unlessZeroTimesInfinity(Builder& b, Operation* op, OpResult r, Value bound) {
  return b.unknownWhere(zeroTimesInfinity(b, op), Reason::NoRule, bound, r.getType());
}

Value sumF(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op)), ey = b.of(y(op));
  Value bound = b.add(b.rounded(r, b.add(ex, ey)), accumulatedInDot(b, op, r));
  return b.unlessInfinite(r, bound, {ex, ey});
}

Value mulF(Builder& b, Operation* op, OpResult r) {
  Value passedOn = ofProduct(b, x(op), y(op));
  Value bound = mayContract(b, op) ? b.add(passedOn, b.rounding(r)) : b.rounded(r, passedOn);
  return unlessZeroTimesInfinity(b, op, r, b.unlessInfinite(r, bound, {b.of(x(op)), b.of(y(op))}));
}
Value fma(Builder& b, Operation* op, OpResult r) {
  Value z = op->getOperand(2);
  Value bound = b.rounded(r, b.add(ofProduct(b, x(op), y(op)), b.of(z)));
  return unlessZeroTimesInfinity(b, op, r, b.unlessInfinite(r, bound, {b.of(x(op)), b.of(y(op)), b.of(z)}));
}

/// (ex + |x/y| ey) / (|y| - ey); where the divisor may be 0, nothing is known.
Value quotient(Builder& b, Operation* op, OpResult r, double units) {
  Value ex = b.of(x(op)), ey = b.of(y(op));
  Value bound = b.add(ex, b.mul(b.magnitude(r), ey));
  if (bound) {
    Value least = b.max(b.sub(b.magnitude(y(op)), ey), b.zero(r.getType()));
    bound = b.div(bound, least);
  }
  bound = units > 1 ? b.add(bound, b.rounding(r, units)) : b.rounded(r, bound);
  bound = b.unlessInfinite(r, bound, {ex, ey});
  return b.unknownWhere(b.mayBeZero(y(op)), Reason::NoRule, bound, r.getType());
}
Value divF(Builder& b, Operation* op, OpResult r) { return quotient(b, op, r, b.latitude().approximates ? 3 : 1); }
Value divRounded(Builder& b, Operation* op, OpResult r) { return quotient(b, op, r, 1); }
Value divApproximate(Builder& b, Operation* op, OpResult r) { return quotient(b, op, r, 4); }

Value unchanged(Builder& b, Operation* op, OpResult) { return b.of(x(op)); }
Value larger(Builder& b, Operation* op, OpResult) {
  Value bound;
  for (Value operand : op->getOperands()) bound = b.max(bound, b.of(operand));
  return bound;
}

// ---- comparison and selection ----

/// True where |x - y| <= ex + ey: the other side may find the opposite.
Value compareF(Builder& b, Operation* op, OpResult) {
  Value margin = b.add(b.of(x(op)), b.of(y(op)));
  if (!margin) return {};
  Value apart = b.magnitude(arith::SubFOp::create(b, x(op), y(op)));
  Value near = b.compare(Predicate::ULE, apart, margin);
  return b.both(near, b.compare(Predicate::UNE, margin, b.zero(margin.getType())));
}

Value choose(Builder& b, arith::SelectOp select, OpResult r) {
  Type type = r.getType();
  Value condition = b.spread(select.getCondition(), type), doubt = b.spread(b.of(select.getCondition()), type);
  Value yes = select.getTrueValue(), no = select.getFalseValue(), eYes = b.of(yes), eNo = b.of(no);
  if (isAddress(type)) return eYes && eNo ? b.select(condition, eYes, eNo) : Value();
  if (isBool(type)) {
    Value chosen;
    auto orFalse = [&](Value e) { return e ? e : Value(arith::XOrIOp::create(b, condition, condition)); };
    if (eYes || eNo) chosen = b.select(condition, orFalse(eYes), orFalse(eNo));
    if (!doubt) return chosen;
    Value unlike = b.either(b.either(arith::XOrIOp::create(b, yes, no), eYes), eNo);
    return b.either(chosen, b.both(doubt, unlike));
  }
  Value chosen;
  if (eYes || eNo) chosen = b.select(condition, b.orZero(eYes, type), b.orZero(eNo, type));
  if (!doubt) return chosen;
  // Either choice may be taken on either side: their distance, and what each may be off.
  Value apart = b.abs(isFloat(type) ? b.number(arith::SubFOp::create(b, yes, no)) : b.sub(b.number(yes), b.number(no)));
  Value open = b.add(apart, b.max(eYes, eNo));
  return b.select(doubt, open, b.orZero(chosen, type));
}

// ---- casts ----

Value narrowed(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op));
  return b.unlessInfinite(r, b.rounded(r, ex), {ex});
}
Value toInteger(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op));
  if (!ex) return {};
  if (isBool(r.getType())) return b.mayDiffer(x(op));
  return atEnds(b, op, r);
}

/// Bits looked at as something else.
Value bits(Builder& b, Operation* op, OpResult r) {
  if (isAddress(r.getType())) return b.of(x(op)); // elements of another type: the offsets that follow are other ones
  return b.exactBut(b.mayDiffer(x(op)), Reason::NoRule, r.getType());
}

} // namespace

Value ofProduct(Builder& b, Value x, Value y) {
  Value ex = b.of(x), ey = b.of(y);
  return b.add(b.add(b.mul(b.magnitude(x), ey), b.mul(b.magnitude(y), ex)), b.mul(ex, ey));
}

BOUNDS_RULE(arith::AddFOp, sumF)
BOUNDS_RULE(arith::BitcastOp, bits)
BOUNDS_RULE(arith::CmpFOp, compareF)
BOUNDS_RULE(arith::DivFOp, divF, ifApproximate)
BOUNDS_RULE(arith::ExtFOp, unchanged)
BOUNDS_RULE(arith::FPToSIOp, toInteger)
BOUNDS_RULE(arith::FPToUIOp, toInteger)
BOUNDS_RULE(arith::MaximumFOp, larger)
BOUNDS_RULE(arith::MaxNumFOp, larger)
BOUNDS_RULE(arith::MinimumFOp, larger)
BOUNDS_RULE(arith::MinNumFOp, larger)
BOUNDS_RULE(arith::MulFOp, mulF, mayContract)
BOUNDS_RULE(arith::NegFOp, unchanged)
BOUNDS_RULE(arith::SelectOp, choose)
BOUNDS_RULE(arith::SubFOp, sumF)
BOUNDS_RULE(arith::TruncFOp, narrowed)
BOUNDS_RULE(math::AbsFOp, unchanged)
BOUNDS_RULE(math::FmaOp, fma)
BOUNDS_RULE(tt::ApproxDivFOp, divApproximate, always)
BOUNDS_RULE(tt::BitcastOp, bits)
BOUNDS_RULE(tt::ClampFOp, larger)
BOUNDS_RULE(tt::FpToFpOp, narrowed)
BOUNDS_RULE(tt::PreciseDivFOp, divRounded)

} // namespace tiletwin::diff
