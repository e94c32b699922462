// diff/bounds/ElementwiseOps.cpp -- bounds through arithmetic, comparison, selection, casts and functions, lane by lane.
// Notation:  x, y are the interpreter's numbers, ex, ey their shadows: any two right runs lie within x +- ex.
#include "diff/bounds/Builder.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;

namespace tiletwin::diff {
namespace {

using Predicate = arith::CmpFPredicate;

Value x(Operation* op) { return op->getOperand(0); }
Value y(Operation* op) { return op->getOperand(1); }

// ---- sums and products ----

/// A product that a sum may take up before it is rounded.
bool mayContract(const Builder& b, Operation* op) {
  return b.latitude().contracts &&
         llvm::any_of(op->getUsers(), [](Operation* user) { return isa<arith::AddFOp, arith::SubFOp>(user); });
}
bool always(const Builder&, Operation*) { return true; }
bool ifApproximate(const Builder& b, Operation*) { return b.latitude().approximates; }

Value sumF(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op)), ey = b.of(y(op));
  Value bound = b.add(b.rounded(r, b.add(ex, ey)), accumulatedInDot(b, op, r));
  return b.unlessInfinite(r, bound, {ex, ey});
}

/// |x| ey + |y| ex + ex ey
Value ofProduct(Builder& b, Value x, Value y) {
  Value ex = b.of(x), ey = b.of(y);
  return b.add(b.add(b.mul(b.magnitude(x), ey), b.mul(b.magnitude(y), ex)), b.mul(ex, ey));
}
Value mulF(Builder& b, Operation* op, OpResult r) {
  Value passedOn = ofProduct(b, x(op), y(op));
  Value bound = mayContract(b, op) ? b.add(passedOn, b.rounding(r)) : b.rounded(r, passedOn);
  return b.unlessInfinite(r, bound, {b.of(x(op)), b.of(y(op))});
}
Value fma(Builder& b, Operation* op, OpResult r) {
  Value z = op->getOperand(2);
  Value bound = b.rounded(r, b.add(ofProduct(b, x(op), y(op)), b.of(z)));
  return b.unlessInfinite(r, bound, {b.of(x(op)), b.of(y(op)), b.of(z)});
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
  return b.unlessInfinite(r, bound, {ex, ey});
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

// ---- functions ----

Value applied(Builder& b, Operation* op, ValueRange operands) {
  return b.cloneFor(op, operands, op->getResultTypes())->getResult(0);
}

/// An f32 shadow as a number of the type of `like`.
Value inTypeOf(Builder& b, Value shadow, Type like) {
  Type element = tt::elementTypeOf(like);
  if (element.isF32()) return shadow;
  Type type = tt::withShapeOf(like, element);
  if (element.getIntOrFloatBitWidth() > 32) return arith::ExtFOp::create(b.ops(), b.location(), type, shadow);
  OperationState state(b.location(), tt::FpToFpOp::getOperationName());
  state.addOperands(shadow);
  state.addTypes(type);
  return b.ops().create(state)->getResult(0);
}

/// The function at both ends of the operands' intervals: right where it is monotone. An interval is at least four units of
/// the operand's last place wide on each side, so that both ends are other numbers than the middle.
Value atEnds(Builder& b, Operation* op, OpResult r, double units) {
  SmallVector<SmallVector<Value>> corners{{}};
  SmallVector<Value> shadows;
  for (Value operand : op->getOperands()) {
    Value e = b.of(operand);
    SmallVector<SmallVector<Value>> next;
    if (!e || !isFloat(operand.getType())) {
      for (auto& corner : corners) {
        corner.push_back(operand);
        next.push_back(corner);
      }
    } else {
      shadows.push_back(e);
      Value width = inTypeOf(b, b.max(e, b.rounding(operand, 4)), operand.getType());
      for (bool up : {false, true})
        for (auto corner : corners) {
          corner.push_back(up ? Value(arith::AddFOp::create(b.ops(), b.location(), operand, width))
                              : Value(arith::SubFOp::create(b.ops(), b.location(), operand, width)));
          next.push_back(corner);
        }
    }
    corners = std::move(next);
  }
  Value bound, any;
  if (!shadows.empty())
    for (auto& corner : corners) {
      Value apart = arith::SubFOp::create(b.ops(), b.location(), applied(b, op, corner), r);
      bound = b.max(bound, b.magnitude(apart));
    }
  for (Value e : shadows) any = b.add(any, e);
  if (bound) bound = b.select(b.compare(Predicate::OEQ, any, b.zero(any.getType())), b.zero(any.getType()), bound);
  return b.unlessInfinite(r, b.add(bound, b.rounding(r, units)), shadows);
}

/// Units of the last place that two implementations of a function may be apart: libraries on the host are within 4, a
/// GPU's within 2, ours within 1.5.
constexpr double kFunctionUnits = 6;

Value function(Builder& b, Operation* op, OpResult r) { return atEnds(b, op, r, kFunctionUnits); }

/// e^x: r (e^ex - 1). The approximate unit computes 2^(x log2(e)), whose argument was rounded.
Value exponential(Builder& b, Operation* op, OpResult r, double scale, bool scaledArgument) {
  Value ex = b.of(x(op)), size = b.magnitude(r), bound;
  if (ex) {
    Value grown = math::Exp2Op::create(b.ops(), b.location(), b.mul(ex, scale * 1.0001));
    // 2^t - 1 loses digits where t is small; there it is at most t.
    Value exact = b.sub(grown, b.constant(r.getType(), 1)), small = b.mul(ex, scale);
    Value isSmall = b.compare(Predicate::OLT, ex, b.constant(r.getType(), 0x1p-8));
    bound = b.mul(size, b.select(isSmall, small, exact));
  }
  if (b.latitude().approximates && scaledArgument) {
    // Beyond 1024 the result is 0 or infinite, and 0 * infinity would be no bound.
    Value argument = arith::MinNumFOp::create(b.ops(), b.location(), b.magnitude(x(op)), b.constant(r.getType(), 1024));
    bound = b.add(bound, b.mul(b.mul(size, argument), 0x1p-23));
  }
  return b.unlessInfinite(r, b.add(bound, b.rounding(r, kFunctionUnits)), {ex});
}
Value exp(Builder& b, Operation* op, OpResult r) { return exponential(b, op, r, 1.4427, true); }
Value exp2(Builder& b, Operation* op, OpResult r) { return exponential(b, op, r, 1, false); }

/// ex / (x - ex), in the logarithm's base. Near 1 a logarithm is near 0 and its error is not.
Value logarithm(Builder& b, Operation* op, OpResult r, double scale) {
  Value ex = b.of(x(op)), bound;
  if (ex) bound = b.mul(b.div(ex, b.max(b.sub(b.number(x(op)), ex), b.zero(r.getType()))), scale * 1.0001);
  if (b.latitude().approximates) bound = b.add(bound, b.constant(r.getType(), 0x1p-22));
  return b.unlessInfinite(r, b.add(bound, b.rounding(r, kFunctionUnits)), {ex});
}
Value log(Builder& b, Operation* op, OpResult r) { return logarithm(b, op, r, 1); }
Value log2(Builder& b, Operation* op, OpResult r) { return logarithm(b, op, r, 1.4427); }

/// |sqrt(x) - sqrt(x')| <= min(ex / sqrt(x), sqrt(ex))
Value squareRoot(Builder& b, Operation* op, OpResult r, double units) {
  Value ex = b.of(x(op)), bound;
  if (ex)
    bound = arith::MinNumFOp::create(b.ops(), b.location(), b.div(ex, b.magnitude(r)),
                                     math::SqrtOp::create(b.ops(), b.location(), ex));
  if (ex) bound = b.add(bound, b.mul(ex, 0.0)); // an unknown argument stays unknown
  bound = units > 1 ? b.add(bound, b.rounding(r, units)) : b.rounded(r, bound);
  return b.unlessInfinite(r, bound, {ex});
}
Value sqrt(Builder& b, Operation* op, OpResult r) { return squareRoot(b, op, r, b.latitude().approximates ? 2 : 1); }
Value sqrtRounded(Builder& b, Operation* op, OpResult r) { return squareRoot(b, op, r, 1); }

/// r (sqrt(x / (x - ex)) - 1) <= r ex / (2 (x - ex))
Value reciprocalRoot(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op)), bound;
  if (ex) {
    Value least = b.max(b.sub(b.number(x(op)), ex), b.zero(r.getType()));
    bound = b.mul(b.mul(b.magnitude(r), b.div(ex, least)), 0.5);
  }
  return b.unlessInfinite(r, b.add(bound, b.rounding(r, kFunctionUnits)), {ex});
}

/// Functions of slope at most 1.
Value gentle(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op));
  Value bound = b.add(ex, b.rounding(r, kFunctionUnits));
  if (b.latitude().approximates) bound = b.add(bound, b.constant(r.getType(), 0x1p-21)); // sin.approx near its zeros
  return b.unlessInfinite(r, bound, {ex});
}

/// floor, ceil: exact of what they are given.
Value stepped(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op));
  return ex ? atEnds(b, op, r, 0) : Value();
}

Value external(Builder& b, Operation* op, OpResult r) {
  const bool floats = llvm::all_of(op->getOperands(), [&](Value v) { return isFloat(v.getType()); });
  if (isFloat(r.getType()) && floats && op->getNumOperands() <= 3) return atEnds(b, op, r, kFunctionUnits);
  Value any; // isnan, ilogb: of exact operands they are exact
  for (Value operand : op->getOperands()) any = b.either(any, b.mayDiffer(operand));
  if (any) b.without(op);
  Value bound = isFloat(r.getType()) ? b.rounding(r, kFunctionUnits) : Value();
  return b.unknownWhere(any, Reason::NoRule, bound, r.getType());
}
bool ifFloat(const Builder&, Operation* op) { return isFloat(op->getResult(0).getType()); }

/// x - trunc(x / y) y jumps where the quotient does.
Value remainder(Builder& b, Operation* op, OpResult r) {
  Value any = b.either(b.mayDiffer(x(op)), b.mayDiffer(y(op)));
  Value bound = b.latitude().approximates ? b.mul(b.magnitude(y(op)), 1.0) : Value();
  return b.unknownWhere(any, Reason::NoRule, bound, r.getType());
}

// ---- comparison and selection ----

/// True where |x - y| <= ex + ey: the other side may find the opposite.
Value compareF(Builder& b, Operation* op, OpResult) {
  Value margin = b.add(b.of(x(op)), b.of(y(op)));
  if (!margin) return {};
  Value apart = b.magnitude(arith::SubFOp::create(b.ops(), b.location(), x(op), y(op)));
  Value near = b.compare(Predicate::ULE, apart, margin);
  return b.both(near, b.compare(Predicate::UNE, margin, b.zero(margin.getType())));
}
Value compareI(Builder& b, Operation* op, OpResult) {
  Value ex = b.amount(x(op)), ey = b.amount(y(op)), margin = b.add(ex, ey);
  if (!margin) return {};
  Value apart = b.abs(b.sub(b.number(x(op)), b.number(y(op))));
  Value near = b.compare(Predicate::ULE, apart, margin);
  return b.both(near, b.compare(Predicate::UNE, margin, b.zero(margin.getType())));
}

Value choose(Builder& b, Operation* op, OpResult r) {
  auto select = cast<arith::SelectOp>(op);
  Type type = r.getType();
  Value condition = b.spread(select.getCondition(), type), doubt = b.spread(b.of(select.getCondition()), type);
  Value yes = select.getTrueValue(), no = select.getFalseValue(), eYes = b.of(yes), eNo = b.of(no);
  if (isAddress(type)) return eYes && eNo ? b.select(condition, eYes, eNo) : Value();
  if (isBool(type)) {
    Value chosen;
    auto orFalse = [&](Value e) {
      return e ? e : Value(arith::XOrIOp::create(b.ops(), b.location(), condition, condition));
    };
    if (eYes || eNo) chosen = b.select(condition, orFalse(eYes), orFalse(eNo));
    if (!doubt) return chosen;
    Value unlike = b.either(b.either(arith::XOrIOp::create(b.ops(), b.location(), yes, no), eYes), eNo);
    return b.either(chosen, b.both(doubt, unlike));
  }
  Value chosen;
  if (eYes || eNo) chosen = b.select(condition, b.orZero(eYes, type), b.orZero(eNo, type));
  if (!doubt) return chosen;
  // Either choice may be taken on either side: their distance, and what each may be off.
  Value apart = b.abs(isFloat(type) ? b.number(arith::SubFOp::create(b.ops(), b.location(), yes, no))
                                    : b.sub(b.number(yes), b.number(no)));
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
  Value bound, wide = inTypeOf(b, ex, x(op).getType()), same = b.number(r);
  for (bool up : {false, true}) {
    Value end = up ? Value(arith::AddFOp::create(b.ops(), b.location(), x(op), wide))
                   : Value(arith::SubFOp::create(b.ops(), b.location(), x(op), wide));
    bound = b.max(bound, b.abs(b.sub(b.number(applied(b, op, end)), same)));
  }
  return b.add(bound, b.mul(ex, 0.0));
}
Value fromInteger(Builder& b, Operation* op, OpResult r) {
  Value ex = b.amount(x(op));
  return b.rounded(r, ex);
}
Value widened(Builder& b, Operation* op, OpResult) { return b.amount(x(op)); }
Value truncated(Builder& b, Operation* op, OpResult r) {
  return isBool(r.getType()) ? b.mayDiffer(x(op)) : b.amount(x(op));
}
/// Bits looked at as something else.
Value bits(Builder& b, Operation* op, OpResult r) {
  if (isAddress(r.getType())) return b.of(x(op)); // elements of another type: the offsets that follow are other ones
  Value lanes = b.mayDiffer(x(op));
  return isBool(r.getType()) ? lanes : b.unknownWhere(lanes, Reason::NoRule, {}, r.getType());
}

// ---- integers ----

Value sumI(Builder& b, Operation* op, OpResult r) {
  if (isBool(r.getType())) return b.either(b.of(x(op)), b.of(y(op)));
  return b.add(b.amount(x(op)), b.amount(y(op)));
}
Value mulI(Builder& b, Operation* op, OpResult r) {
  if (isBool(r.getType())) return b.either(b.of(x(op)), b.of(y(op)));
  return ofProduct(b, x(op), y(op));
}
/// x & y of i1: only where neither is certainly false.
Value andI(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op)), ey = b.of(y(op));
  if (isBool(r.getType())) {
    Value first = ex ? b.both(ex, b.either(y(op), ey)) : Value(),
          second = ey ? b.both(ey, b.either(x(op), ex)) : Value();
    return b.either(first, second);
  }
  Value any = b.either(b.mayDiffer(x(op)), b.mayDiffer(y(op)));
  return b.unknownWhere(any, Reason::NoRule, {}, r.getType());
}
Value orI(Builder& b, Operation* op, OpResult r) {
  Value ex = b.of(x(op)), ey = b.of(y(op));
  if (isBool(r.getType())) {
    Value first = ex ? b.both(ex, b.either(b.invert(y(op)), ey)) : Value();
    Value second = ey ? b.both(ey, b.either(b.invert(x(op)), ex)) : Value();
    return b.either(first, second);
  }
  Value any = b.either(b.mayDiffer(x(op)), b.mayDiffer(y(op)));
  return b.unknownWhere(any, Reason::NoRule, {}, r.getType());
}
Value xorI(Builder& b, Operation* op, OpResult r) {
  Value any = b.either(b.mayDiffer(x(op)), b.mayDiffer(y(op)));
  return isBool(r.getType()) ? any : b.unknownWhere(any, Reason::NoRule, {}, r.getType());
}

constexpr Rule kRules[] = {
    {"arith.addf", nullptr, sumF},
    {"arith.addi", nullptr, sumI},
    {"arith.andi", nullptr, andI},
    {"arith.bitcast", nullptr, bits},
    {"arith.cmpf", nullptr, compareF},
    {"arith.cmpi", nullptr, compareI},
    {"arith.constant", nullptr, nullptr},
    {"arith.divf", ifApproximate, divF},
    {"arith.extf", nullptr, unchanged},
    {"arith.extsi", nullptr, widened},
    {"arith.extui", nullptr, widened},
    {"arith.fptosi", nullptr, toInteger},
    {"arith.fptoui", nullptr, toInteger},
    {"arith.maximumf", nullptr, larger},
    {"arith.maxnumf", nullptr, larger},
    {"arith.maxsi", nullptr, larger},
    {"arith.maxui", nullptr, larger},
    {"arith.minimumf", nullptr, larger},
    {"arith.minnumf", nullptr, larger},
    {"arith.minsi", nullptr, larger},
    {"arith.minui", nullptr, larger},
    {"arith.mulf", mayContract, mulF},
    {"arith.muli", nullptr, mulI},
    {"arith.negf", nullptr, unchanged},
    {"arith.ori", nullptr, orI},
    {"arith.remf", ifApproximate, remainder},
    {"arith.select", nullptr, choose},
    {"arith.sitofp", nullptr, fromInteger},
    {"arith.subf", nullptr, sumF},
    {"arith.subi", nullptr, sumI},
    {"arith.truncf", nullptr, narrowed},
    {"arith.trunci", nullptr, truncated},
    {"arith.uitofp", nullptr, fromInteger},
    {"arith.xori", nullptr, xorI},
    {"math.absf", nullptr, unchanged},
    {"math.absi", nullptr, unchanged},
    {"math.ceil", nullptr, stepped},
    {"math.cos", always, gentle},
    {"math.erf", always, function},
    {"math.exp", always, exp},
    {"math.exp2", always, exp2},
    {"math.floor", nullptr, stepped},
    {"math.fma", nullptr, fma},
    {"math.log", always, log},
    {"math.log2", always, log2},
    {"math.rsqrt", always, reciprocalRoot},
    {"math.sin", always, gentle},
    {"math.sqrt", ifApproximate, sqrt},
    {"tt.approx_divf", always, divApproximate},
    {"tt.bitcast", nullptr, bits},
    {"tt.clampf", nullptr, larger},
    {"tt.extern_elementwise", ifFloat, external},
    {"tt.fp_to_fp", nullptr, narrowed},
    {"tt.precise_divf", nullptr, divRounded},
    {"tt.precise_sqrt", nullptr, sqrtRounded},
};

} // namespace

ArrayRef<Rule> elementwiseRules() { return kRules; }

} // namespace tiletwin::diff
