// ir/CheckOverflow.cpp -- integers that do not fit: overflow of signed arithmetic, narrowing that loses the value, division by
// zero, shifts by the width or more.
// Here:      for each operation the condition under which its result is wrong; small ranges that prove that it never is.
// Not here:  how a wrong number gets to where it does harm (CheckShadows, CheckPaths .cpp).
// Rule:      unsigned numbers of 32 and 64 bits wrap around on purpose, and so does the language's own library (random numbers): neither is
//            reported. Signs come from the front end (tt.signs); operations without them are not looked at, but for divisions.
//            A wrong number counts when it reaches memory, an address, a mask or a branch: lanes that are thrown away may hold
//            anything.
#include "ir/CheckShadows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace tiletwin::tt {
namespace {

/// Bounds of an integer that are known while compiling.
struct Range {
  APInt low, high; // signed, 128 bits
};
constexpr unsigned kWide = 128;

class OverflowCheck final : public ShadowCheck {
public:
  StringRef name() const override { return "overflow"; }
  bool begins(Operation* op) override;
  bool follows(Operation*, OpResult) override { return true; }
  Value shadowOf(Shadows& s, Operation* op, OpResult result) override;
  void look(Shadows& s, Operation* op) override {
    lookAtAccess(s, op, /*atOrigin=*/true, "", /*onlyValues=*/false);
    lookAtControl(s, op, /*atOrigin=*/true, "");
  }
  OriginText textOf(Operation* origin) override;

private:
  std::optional<Range> rangeOf(Value value, int depth = 0);
  bool provablyFits(Operation* op);
  Value wrongLanes(Shadows& s, Operation* op);
};

int signsOf(Operation* op) {
  auto signs = op->getAttrOfType<IntegerAttr>(kSignsAttr);
  return signs ? int(signs.getInt()) : -1;
}
bool operandsSigned(Operation* op) { return signsOf(op) >= 0 && (signsOf(op) & 1); }
bool resultSigned(Operation* op) { return signsOf(op) >= 0 && (signsOf(op) & 2); }
unsigned widthOf(Value value) { return elementTypeOf(value.getType()).getIntOrFloatBitWidth(); }

std::string typeText(Value value, bool isSigned) {
  return (isSigned ? "int" : "uint") + std::to_string(widthOf(value));
}

/// A reduction of integers by addition, of one operand.
bool isIntegerSum(Operation* op) {
  auto reduction = dyn_cast<ReduceOp>(op);
  if (!reduction || op->getNumOperands() != 1 || !elementTypeOf(op->getOperand(0).getType()).isInteger(32))
    return false;
  Operation& first = reduction.getCombineBlock().front();
  return isa<arith::AddIOp>(first) && operandsSigned(&first) &&
         first.getNextNode() == reduction.getCombineBlock().getTerminator();
}

bool isDivision(Operation* op) { return isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op); }
bool isShift(Operation* op) { return isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op); }

bool OverflowCheck::begins(Operation* op) {
  if (isIntegerSum(op)) return true; // its place is where the kernel calls tl.sum
  if (op->getNumResults() != 1 || isInLibrary(op->getLoc())) return false;
  if (isDivision(op) || isShift(op)) return !provablyFits(op);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, math::AbsIOp>(op)) {
    const unsigned width = widthOf(op->getResult(0));
    if (operandsSigned(op)) return !provablyFits(op);
    return signsOf(op) >= 0 && (width == 8 || width == 16); // bytes that are added up: nobody hashes in 8 bits
  }
  if (isa<arith::TruncIOp>(op)) return signsOf(op) >= 0 && widthOf(op->getResult(0)) > 1 && !provablyFits(op);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) return widthOf(op->getResult(0)) > 1;
  if (isa<arith::TruncFOp, FpToFpOp>(op)) // to f16 and bf16; the f8 formats saturate
    return widthOf(op->getOperand(0)) > widthOf(op->getResult(0)) && widthOf(op->getResult(0)) >= 16;
  return false;
}

// ---- what is known while compiling ----

std::optional<Range> OverflowCheck::rangeOf(Value value, int depth) {
  if (depth > 12 || !isa<IntegerType>(elementTypeOf(value.getType()))) return std::nullopt;
  const unsigned width = widthOf(value);
  Operation* op = value.getDefiningOp();
  if (!op) return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    APInt wide = width == 1 ? constant.zext(kWide) : constant.sext(kWide);
    return Range{wide, wide};
  }
  auto of = [&](unsigned i) { return rangeOf(op->getOperand(i), depth + 1); };
  auto number = [](int64_t n) { return APInt(kWide, uint64_t(n), true); };
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return Range{number(int32_t(range.getStart())), number(int32_t(range.getEnd()) - 1)};
  if (isa<GetNumProgramsOp, GetProgramIdOp>(op)) return Range{number(0), number(INT32_MAX)};
  if (isa<SplatOp, UnsplatOp, ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, arith::ExtSIOp>(op)) return of(0);
  if (isa<arith::ExtUIOp>(op)) {
    auto x = of(0);
    if (x && !x->low.isNegative()) return x;
    return Range{number(0), APInt::getLowBitsSet(kWide, widthOf(op->getOperand(0)))};
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    auto x = of(0), y = of(1);
    if (!x || !y) return std::nullopt;
    Range r = *x;
    if (isa<arith::AddIOp>(op)) r = {x->low + y->low, x->high + y->high};
    if (isa<arith::SubIOp>(op)) r = {x->low - y->high, x->high - y->low};
    if (isa<arith::MulIOp>(op)) {
      r = {x->low * y->low, x->low * y->low};
      for (const APInt& p : {x->low * y->high, x->high * y->low, x->high * y->high}) {
        r.low = p.slt(r.low) ? p : r.low;
        r.high = p.sgt(r.high) ? p : r.high;
      }
    }
    if (r.low.isSignedIntN(width) && r.high.isSignedIntN(width)) return r;
    return std::nullopt;
  }
  if (isa<arith::RemSIOp, arith::DivSIOp, arith::AndIOp>(op)) {
    auto x = of(0), y = of(1);
    if (isa<arith::AndIOp>(op)) {
      for (auto& side : {y, x})
        if (side && !side->low.isNegative()) return Range{number(0), side->high};
      return std::nullopt;
    }
    if (!y || !y->low.isStrictlyPositive()) return std::nullopt;
    if (isa<arith::DivSIOp>(op)) return x && !x->low.isNegative() ? x : std::nullopt;
    APInt most = y->high - number(1);
    return Range{x && !x->low.isNegative() ? number(0) : -most, most};
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    auto x = of(0), y = of(1);
    if (!x || !y) return std::nullopt;
    const bool isMin = isa<arith::MinSIOp>(op);
    auto pick = [&](const APInt& a, const APInt& b) { return a.slt(b) == isMin ? a : b; };
    return Range{pick(x->low, y->low), pick(x->high, y->high)};
  }
  return std::nullopt;
}

bool OverflowCheck::provablyFits(Operation* op) {
  Value result = op->getResult(0);
  const unsigned width = widthOf(result);
  if (isDivision(op)) {
    auto divisor = rangeOf(op->getOperand(1));
    return divisor && (divisor->low.isStrictlyPositive() ||
                       (divisor->high.isNegative() && divisor->high.sle(APInt(kWide, uint64_t(-2), true))));
  }
  if (isShift(op)) {
    auto by = rangeOf(op->getOperand(1));
    if (!by || by->low.isNegative() || by->high.uge(width)) return false;
    if (!isa<arith::ShLIOp>(op) || !operandsSigned(op)) return true;
    auto x = rangeOf(op->getOperand(0));
    if (!x) return false;
    const unsigned most = unsigned(by->high.getZExtValue());
    return x->low.shl(most).isSignedIntN(width) &&
           (x->low.isNegative() ? x->high.shl(most).isSignedIntN(width) : x->high.shl(most).isIntN(width));
  }
  if (isa<arith::TruncIOp>(op)) {
    auto x = rangeOf(op->getOperand(0));
    if (!x) return false;
    return resultSigned(op) ? x->low.isSignedIntN(width) && x->high.isSignedIntN(width)
                            : !x->low.isNegative() && x->high.isIntN(width);
  }
  if (isa<math::AbsIOp>(op)) {
    auto x = rangeOf(op->getOperand(0));
    return x && x->low.sgt(APInt::getSignedMinValue(width).sext(kWide));
  }
  return rangeOf(result).has_value();
}

// ---- conditions ----

class Conditions {
public:
  explicit Conditions(Shadows& s) : b_(s) {}

  Value constant(Value like, int64_t value) { return b_.integer(like.getType(), value); }
  Value compare(arith::CmpIPredicate how, Value a, Value b) { return b_.compare(how, a, b); }
  Value isNegative(Value a) { return compare(arith::CmpIPredicate::slt, a, constant(a, 0)); }
  template <class Op> Value make(Value a, Value b) { return Op::create(b_, a, b); }
  Value widened(Value a, unsigned width, bool isSigned) {
    Type type = withShapeOf(a.getType(), b_.getIntegerType(width));
    return isSigned ? Value(arith::ExtSIOp::create(b_, type, a)) : Value(arith::ExtUIOp::create(b_, type, a));
  }

  /// x + y: both have the sign that the sum has not.
  Value sum(Value x, Value y, Value r) {
    return isNegative(b_.both(make<arith::XOrIOp>(x, r), make<arith::XOrIOp>(y, r)));
  }
  Value difference(Value x, Value y, Value r) {
    return isNegative(b_.both(make<arith::XOrIOp>(x, y), make<arith::XOrIOp>(x, r)));
  }
  Value product(Value x, Value y, Value r) {
    const unsigned width = widthOf(r);
    if (width < 64) {
      const unsigned wide = width < 32 ? 32 : 64;
      Value exact = make<arith::MulIOp>(widened(x, wide, true), widened(y, wide, true));
      return compare(arith::CmpIPredicate::ne, exact, widened(r, wide, true));
    }
    // The upper half of the signed product must be the sign of the lower.
    Value upper = MulhiUIOp::create(b_, x, y), zero = constant(x, 0);
    Value subtractY = arith::SelectOp::create(b_, isNegative(x), y, zero);
    Value subtractX = arith::SelectOp::create(b_, isNegative(y), x, zero);
    upper = make<arith::SubIOp>(make<arith::SubIOp>(upper, subtractY), subtractX);
    return compare(arith::CmpIPredicate::ne, upper, make<arith::ShRSIOp>(r, constant(r, 63)));
  }
  /// Sums, differences and products of 8 or 16 unsigned bits: exact in 64.
  Value narrowUnsigned(Operation* op) {
    Value x = widened(op->getOperand(0), 64, false), y = widened(op->getOperand(1), 64, false), exact;
    if (isa<arith::AddIOp>(op)) exact = make<arith::AddIOp>(x, y);
    if (isa<arith::SubIOp>(op)) exact = make<arith::SubIOp>(x, y);
    if (isa<arith::MulIOp>(op)) exact = make<arith::MulIOp>(x, y);
    return compare(arith::CmpIPredicate::ne, exact, widened(op->getResult(0), 64, false));
  }
  Value shift(Operation* op, bool isSigned) {
    Value x = op->getOperand(0), by = op->getOperand(1), r = op->getResult(0);
    Value tooFar = compare(arith::CmpIPredicate::uge, by, constant(by, int64_t(widthOf(r))));
    if (!isa<arith::ShLIOp>(op) || !isSigned) return tooFar;
    // Bits get lost; into the sign bit they may go, as words are packed that way.
    auto isLost = [&](Value back) { return compare(arith::CmpIPredicate::ne, back, x); };
    return b_.either(tooFar, b_.both(isLost(make<arith::ShRSIOp>(r, by)), isLost(make<arith::ShRUIOp>(r, by))));
  }
  Value division(Operation* op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Value wrong = compare(arith::CmpIPredicate::eq, y, constant(y, 0));
    if (!isa<arith::DivSIOp, arith::RemSIOp>(op)) return wrong;
    Value least = b_.integer(x.getType(), APInt::getSignedMinValue(widthOf(x)));
    least = compare(arith::CmpIPredicate::eq, x, least);
    return b_.either(wrong, b_.both(least, compare(arith::CmpIPredicate::eq, y, constant(y, -1))));
  }
  Value narrowing(Value x, Value r, bool fromSigned, bool toSigned) {
    Value back = widened(r, widthOf(x), toSigned);
    Value wrong = compare(arith::CmpIPredicate::ne, back, x);
    // A number with the other sign does not fit although its bits come back.
    return toSigned && !fromSigned ? b_.either(wrong, isNegative(r)) : wrong;
  }
  /// Outside of (least - 1, most + 1), or NaN.
  Value toInteger(Value x, Value r, bool isSigned) {
    const double power = std::ldexp(1.0, int(widthOf(r)) - (isSigned ? 1 : 0));
    if (widthOf(x) < 32) x = arith::ExtFOp::create(b_, withShapeOf(x.getType(), b_.getF32Type()), x);
    Value fits = b_.compare(arith::CmpFPredicate::OLT, x, b_.floating(x.getType(), power));
    auto predicate = arith::CmpFPredicate::OGT;
    double least = isSigned ? -power : 0;
    // -2^31 - 0.5 is cut off to -2^31; where the format has no such numbers, -2^31 itself is the last.
    const bool fine = elementTypeOf(x.getType()).isF64() && widthOf(r) < 64;
    if (!isSigned || fine || widthOf(r) < 24)
      least -= 1;
    else
      predicate = arith::CmpFPredicate::OGE;
    return b_.invert(b_.both(fits, b_.compare(predicate, x, b_.floating(x.getType(), least))));
  }
  /// Infinite now, finite before.
  Value narrowFloat(Value x, Value r) {
    auto infinite = [&](Value a) { return Value(NonFiniteOp::create(b_, i1TypeLike(a.getType()), a)); };
    Value was = infinite(x);
    return b_.both(infinite(r), b_.invert(was));
  }

private:
  Shadows& b_;
};

/// The sum over 64 bits is another one.
Value wrongSum(Shadows& s, ReduceOp op) {
  Conditions c(s);
  Value exact = s.reduce<arith::AddIOp>(c.widened(op->getOperand(0), 64, true), int(op.getAxis()));
  return c.compare(arith::CmpIPredicate::ne, exact, c.widened(op->getResult(0), 64, true));
}

Value OverflowCheck::wrongLanes(Shadows& s, Operation* op) {
  Conditions c(s);
  Value x = op->getOperand(0), r = op->getResult(0);
  if (auto reduction = dyn_cast<ReduceOp>(op)) return wrongSum(s, reduction);
  if (isDivision(op)) return c.division(op);
  if (isShift(op)) return c.shift(op, operandsSigned(op));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && !operandsSigned(op)) return c.narrowUnsigned(op);
  if (isa<arith::AddIOp>(op)) return c.sum(x, op->getOperand(1), r);
  if (isa<arith::SubIOp>(op)) return c.difference(x, op->getOperand(1), r);
  if (isa<arith::MulIOp>(op)) return c.product(x, op->getOperand(1), r);
  if (isa<math::AbsIOp>(op)) return c.isNegative(r);
  if (isa<arith::TruncIOp>(op)) return c.narrowing(x, r, operandsSigned(op), resultSigned(op));
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) return c.toInteger(x, r, isa<arith::FPToSIOp>(op));
  return c.narrowFloat(x, r);
}

Value OverflowCheck::shadowOf(Shadows& s, Operation* op, OpResult result) {
  Value shadow = s.passedOn(op, result);
  if (!s.idOf(op)) return shadow;
  return s.combine(shadow, s.mark(wrongLanes(s, op), op));
}

ShadowCheck::OriginText OverflowCheck::textOf(Operation* op) {
  Value r = op->getResult(0);
  const std::string wider = "compute in a wider type, for example with .to(tl.int64)";
  if (isa<ReduceOp>(op))
    return {"the sum does not fit " + typeText(r, true) + " and wraps around", "give tl.sum dtype=tl.int64"};
  if (isDivision(op))
    return {isa<arith::DivSIOp, arith::RemSIOp>(op) ? "divides by zero (or the smallest number by -1)"
                                                    : "divides by zero",
            "keep such lanes out with tl.where on the divisor"};
  if (isShift(op)) {
    const bool left = isa<arith::ShLIOp>(op) && operandsSigned(op);
    return {"shifts by " + std::to_string(widthOf(r)) + " or more" + (left ? ", or bits get lost at the top" : ""),
            left ? "shift a wider or an unsigned type" : "limit the distance"};
  }
  if (isa<arith::TruncIOp, arith::FPToSIOp, arith::FPToUIOp>(op)) {
    const bool isSigned = isa<arith::TruncIOp>(op) ? resultSigned(op) : isa<arith::FPToSIOp>(op);
    return {"the value does not fit " + typeText(r, isSigned), "clamp it, or cast to a wider type"};
  }
  if (isa<arith::TruncFOp, FpToFpOp>(op))
    return {"the value is too large for " +
                std::string(elementTypeOf(r.getType()).isBF16() ? "bfloat16"
                            : widthOf(r) == 16                  ? "float16"
                                                                : "float32") +
                " and becomes infinite",
            "clamp it, or keep the wider type"};
  return {"the result does not fit " + typeText(r, operandsSigned(op)) + " and wraps around",
          wider + ", or in an unsigned one if it is meant to wrap around"};
}

} // namespace

std::unique_ptr<ShadowCheck> makeOverflowCheck() { return std::make_unique<OverflowCheck>(); }

} // namespace tiletwin::tt
