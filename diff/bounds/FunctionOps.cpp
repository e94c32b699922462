// diff/bounds/FunctionOps.cpp -- bounds through functions: their own errors, and what their arguments may be off.
// Notation:  x, y are the interpreter's numbers, ex, ey their shadows: any two right runs lie within x +- ex.
// Not here:  what functions of libdevice (LibraryErrors.cpp) and instructions (AssemblyOps.cpp) are off themselves.
// Sources:   the tables of maximum errors in NVIDIA's CUDA Math API (functions, intrinsics) and PTX ISA (*.approx).
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

bool ifFloat(const Builder&, Operation* op) { return isFloat(op->getResult(0).getType()); }

Value applied(Builder& b, Operation* op, ValueRange operands) {
  return b.cloneFor(op, operands, op->getResultTypes())->getResult(0);
}

/// An f32 shadow as a number of the type of `like`, no smaller.
Value inTypeOf(Builder& b, Value shadow, Type like) {
  Type element = tt::elementTypeOf(like);
  if (element.isF32()) return shadow;
  Type type = tt::withShapeOf(like, element);
  if (element.getIntOrFloatBitWidth() > 32) return arith::ExtFOp::create(b, type, shadow);
  return tt::FpToFpOp::create(b, type, b.mul(shadow, 1 + 0x1p-6), tt::RoundingModeAttr()); // it is rounded
}

/// Every combination of ends of the operands' intervals, which are at least `least` units of the operand's last place wide on
/// each side; exact operands and integers stay what they are.
SmallVector<SmallVector<Value>> cornersOf(Builder& b, Operation* op, double least) {
  SmallVector<SmallVector<Value>> corners{{}};
  for (Value operand : op->getOperands()) {
    Value e = isFloat(operand.getType()) ? b.of(operand) : Value();
    SmallVector<Value> ends{operand};
    if (e) {
      Value width = inTypeOf(b, least > 0 ? b.max(e, b.rounding(operand, least)) : e, operand.getType());
      ends = {arith::SubFOp::create(b, operand, width), arith::AddFOp::create(b, operand, width)};
    }
    SmallVector<SmallVector<Value>> next;
    for (Value end : ends)
      for (auto corner : corners) {
        corner.push_back(end);
        next.push_back(std::move(corner));
      }
    corners = std::move(next);
  }
  return corners;
}

/// e^x: r (e^ex - 1). The approximate unit computes 2^(x log2(e)), whose argument was rounded.
Value exponential(Builder& b, Operation* op, OpResult r, double scale, bool scaledArgument) {
  Value ex = b.of(x(op)), size = b.magnitude(r), bound;
  if (ex) {
    Value grown = math::Exp2Op::create(b, b.mul(ex, scale * 1.0001));
    // 2^t - 1 loses digits where t is small; there it is at most t.
    Value exact = b.sub(grown, b.constant(r.getType(), 1)), small = b.mul(ex, scale);
    Value isSmall = b.compare(Predicate::OLT, ex, b.constant(r.getType(), 0x1p-8));
    bound = b.mul(size, b.select(isSmall, small, exact));
  }
  if (b.latitude().approximates && scaledArgument) {
    // Beyond 1024 the result is 0 or infinite, and 0 * infinity would be no bound.
    Value argument = arith::MinNumFOp::create(b, b.magnitude(x(op)), b.constant(r.getType(), 1024));
    bound = b.add(bound, b.mul(b.mul(size, argument), 0x1p-23));
  }
  return b.unlessInfinite(r, b.add(bound, b.rounding(r, kFunctionUnits)), {ex});
}
Value exp(Builder& b, Operation* op, OpResult r) { return exponential(b, op, r, 1.4427, true); }
Value exp2(Builder& b, Operation* op, OpResult r) { return exponential(b, op, r, 1, false); }

/// Where a GPU may take a number for a zero: numbers of f32 below the normal ones. Null: nowhere.
Value mayBeFlushed(Builder& b, Value number) {
  if (!b.latitude().approximates || !tt::elementTypeOf(number.getType()).isF32()) return {};
  Value size = b.magnitude(number), e = b.of(number);
  Value small = b.compare(Predicate::OLT, b.sub(size, e), b.constant(number.getType(), 0x1p-126));
  return b.both(small, b.compare(Predicate::UNE, b.max(size, e), b.zero(number.getType())));
}

/// `bound`, and all of the result where a zero may stand in its place.
Value unlessFlushed(Builder& b, OpResult r, Value bound, Value flushed) {
  return flushed ? b.add(bound, b.select(flushed, b.magnitude(r), b.zero(r.getType()))) : bound;
}

/// Near 0 erf is like a product of its argument.
Value erf(Builder& b, Operation* op, OpResult r) {
  Value own = b.rounding(r, kFunctionUnits), flushed = b.either(mayBeFlushed(b, x(op)), mayBeFlushed(b, r));
  return smooth(b, op, r, unlessFlushed(b, r, own, flushed));
}

/// `bound`, infinite where the argument may be a zero: of a zero the result is infinite.
Value exceptAtPole(Builder& b, Operation* op, OpResult r, Value bound) {
  Value pole = b.either(mayBeFlushed(b, x(op)), b.mayBeZero(x(op)));
  return b.unknownWhere(pole, Reason::NoRule, bound, r.getType());
}

/// ex / (x - ex), in the logarithm's base. Near 1 a logarithm is near 0 and its error is not.
Value logarithm(Builder& b, Operation* op, OpResult r, double scale) {
  Value ex = b.of(x(op)), bound;
  if (ex) bound = b.mul(b.div(ex, b.max(b.sub(b.number(x(op)), ex), b.zero(r.getType()))), scale * 1.0001);
  if (b.latitude().approximates) bound = b.add(bound, b.constant(r.getType(), 0x1p-22));
  bound = b.unlessInfinite(r, b.add(bound, b.rounding(r, kFunctionUnits)), {ex});
  return exceptAtPole(b, op, r, bound);
}
Value log(Builder& b, Operation* op, OpResult r) { return logarithm(b, op, r, 1); }
Value log2(Builder& b, Operation* op, OpResult r) { return logarithm(b, op, r, 1.4427); }

/// |sqrt(x) - sqrt(x')| <= min(ex / sqrt(x), sqrt(ex))
Value squareRoot(Builder& b, Operation* op, OpResult r, double units) {
  Value ex = b.of(x(op)), bound;
  if (ex) bound = arith::MinNumFOp::create(b, b.div(ex, b.magnitude(r)), math::SqrtOp::create(b, ex));
  if (ex) bound = b.add(bound, b.mul(ex, 0.0)); // an unknown argument stays unknown
  bound = units > 1 ? b.add(bound, b.rounding(r, units)) : b.rounded(r, bound);
  return b.unlessInfinite(r, bound, {ex});
}
/// sqrt(0) for sqrt(x) is off by all of the result; below 0 it is a zero for a NaN.
Value sqrt(Builder& b, Operation* op, OpResult r) {
  Value bound = squareRoot(b, op, r, b.latitude().approximates ? 2 : 1), flushed = mayBeFlushed(b, x(op));
  if (!flushed) return bound;
  Value least = b.sub(b.number(x(op)), b.of(x(op)));
  Value negative = b.compare(Predicate::OLT, least, b.zero(r.getType()));
  bound = unlessFlushed(b, r, bound, flushed);
  return b.unknownWhere(b.both(flushed, negative), Reason::NoRule, bound, r.getType());
}
Value sqrtRounded(Builder& b, Operation* op, OpResult r) { return squareRoot(b, op, r, 1); }

/// r (sqrt(x / (x - ex)) - 1) <= r ex / (2 (x - ex))
Value reciprocalRoot(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op)), bound;
  if (ex) {
    Value least = b.max(b.sub(b.number(x(op)), ex), b.zero(r.getType()));
    bound = b.mul(b.mul(b.magnitude(r), b.div(ex, least)), 0.5);
  }
  bound = b.unlessInfinite(r, b.add(bound, b.rounding(r, kFunctionUnits)), {ex});
  return exceptAtPole(b, op, r, bound);
}

/// Functions of slope at most 1.
Value gentle(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op));
  Value bound = b.add(ex, b.rounding(r, kFunctionUnits));
  if (b.latitude().approximates) bound = b.add(bound, b.constant(r.getType(), 0x1p-21)); // sin.approx near its zeros
  return b.unlessInfinite(r, bound, {ex});
}

/// floor, ceil: exact of what they are given, and a step where an argument may lie on either side of one.
Value stepped(Builder& b, Operation* op, OpResult r) {
  Value bound = atEnds(b, op, r);
  return b.unlessInfinite(r, bound, {b.of(x(op))});
}

// ---- libdevice ----

/// Roundings to integers: 12 of float2int_rn and the like, llrint, llround.
bool roundsToInteger(StringRef symbol) {
  symbol.consume_front("__nv_");
  return symbol.starts_with("llr") || symbol.starts_with("float2") ||
         (symbol.starts_with("double2") && !symbol.contains("hi") && !symbol.contains("lo"));
}

/// Results that are integers may differ only where the library takes a number for a zero.
bool flushesForInteger(Operation* op) {
  StringRef symbol = cast<tt::ExternElementwiseOp>(op).getSymbol();
  return roundsToInteger(symbol) || symbol == "__nv_ilogbf";
}
bool externalBegins(const Builder& b, tt::ExternElementwiseOp op) {
  return ifFloat(b, op) || (b.latitude().approximates && flushesForInteger(op));
}

Value external(Builder& b, tt::ExternElementwiseOp op, OpResult r) {
  // Of integers that may differ nothing is known.
  Value any;
  for (Value operand : op->getOperands())
    if (!isFloat(operand.getType())) any = b.either(any, b.mayDiffer(operand));
  if (isFloat(r.getType())) {
    if (any) b.without(op);
    // The library is compiled to take such numbers for zeros, and to give zeros in their place.
    for (Value operand : op->getOperands())
      any = b.either(any, isFloat(operand.getType()) ? mayBeFlushed(b, operand) : Value());
    auto [own, unknown] = errorOfLibrary(b, op, r);
    any = b.either(any, unknown);
    own = unlessFlushed(b, r, own, mayBeFlushed(b, r));
    return b.unknownWhere(any, Reason::NoRule, smooth(b, op, r, own), r.getType());
  }
  Value flushed;
  if (flushesForInteger(op)) flushed = mayBeFlushed(b, x(op));
  if (roundsToInteger(op.getSymbol())) return b.unknownWhere(flushed, Reason::NoRule, atEnds(b, op, r), r.getType());
  any = b.either(any, flushed);
  for (Value operand : op->getOperands()) // isnan, ilogb: of exact operands they are exact
    if (isFloat(operand.getType())) any = b.either(any, b.mayDiffer(operand));
  if (any) b.without(op);
  return b.unknownWhere(any, Reason::NoRule, {}, r.getType());
}

/// x - trunc(x / y) y jumps where the quotient does. A GPU computes just that, with a quotient that is rounded: it may be off
/// by one, and by more where not all whole numbers are floats. Where it is infinite, nothing is known.
Value remainder(Builder& b, Operation* op, OpResult r) {
  Value any = b.either(b.mayDiffer(x(op)), b.mayDiffer(y(op)));
  if (!b.latitude().approximates) return b.unknownWhere(any, Reason::NoRule, {}, r.getType());
  Value sizeX = b.magnitude(x(op)), sizeY = b.magnitude(y(op));
  Value bound = b.add(b.mul(sizeY, 1.0), b.mul(sizeX, 0x1p-22));
  // By a product, since a quotient of subnormal numbers may itself be flushed.
  Value isLarge = b.compare(Predicate::OGT, b.mul(sizeX, 0x1p-24), b.mul(sizeY, 0x1p100));
  return b.unknownWhere(b.either(any, isLarge), Reason::NoRule, bound, r.getType());
}

} // namespace

Value smooth(Builder& b, Operation* op, OpResult r, Value own) {
  Value any, apart, nearPole;
  SmallVector<Value> shadows;
  for (Value operand : op->getOperands())
    if (Value e = isFloat(operand.getType()) ? b.of(operand) : Value()) {
      any = b.add(any, e);
      shadows.push_back(e);
    }
  if (!any) return b.unlessInfinite(r, own, shadows);
  for (auto& corner : cornersOf(b, op, 4)) { // four units: both ends are other numbers than the middle
    Value end = applied(b, op, corner);
    apart = b.max(apart, b.magnitude(arith::SubFOp::create(b, end, r)));
    nearPole = b.either(nearPole, b.isFinite(end));
  }
  Value zero = b.zero(any.getType()), isExact = b.compare(Predicate::OEQ, any, zero);
  Value bound = b.unlessInfinite(r, b.add(b.select(isExact, zero, apart), own), shadows);
  nearPole = b.both(nearPole, b.both(b.invert(isExact), b.invert(b.isFinite(r))));
  return b.unknownWhere(nearPole, Reason::NoRule, bound, r.getType());
}

Value atEnds(Builder& b, Operation* op, OpResult r) {
  const bool isUnsigned = isa<arith::FPToUIOp>(op);
  Value any, bound, same = b.number(r, isUnsigned);
  for (Value operand : op->getOperands())
    if (isFloat(operand.getType())) any = b.add(any, b.of(operand));
  if (!any) return {};
  for (auto& corner : cornersOf(b, op, 0))
    bound = b.max(bound, b.abs(b.sub(b.number(applied(b, op, corner), isUnsigned), same)));
  bound = b.add(bound, b.mul(any, 0.0)); // an unknown argument stays unknown
  return b.select(b.compare(Predicate::OEQ, any, b.zero(any.getType())), b.zero(any.getType()), bound);
}

BOUNDS_RULE(arith::RemFOp, remainder, ifApproximate)
BOUNDS_RULE(math::CeilOp, stepped)
BOUNDS_RULE(math::CosOp, gentle, always)
BOUNDS_RULE(math::ErfOp, erf, always)
BOUNDS_RULE(math::ExpOp, exp, always)
BOUNDS_RULE(math::Exp2Op, exp2, always)
BOUNDS_RULE(math::FloorOp, stepped)
BOUNDS_RULE(math::LogOp, log, always)
BOUNDS_RULE(math::Log2Op, log2, always)
BOUNDS_RULE(math::RsqrtOp, reciprocalRoot, always)
BOUNDS_RULE(math::SinOp, gentle, always)
BOUNDS_RULE(math::SqrtOp, sqrt, ifApproximate)
BOUNDS_RULE(tt::ExternElementwiseOp, external, externalBegins)
BOUNDS_RULE(tt::PreciseSqrtOp, sqrtRounded)

} // namespace tiletwin::diff
