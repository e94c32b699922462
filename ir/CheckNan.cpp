// ir/CheckNan.cpp -- NaN and infinity that the kernel makes itself: born where a result has one and no operand had.
// Here:      which operations may give birth; reductions and products, which are looked at closely only if their result is not
//            finite.
// Not here:  how a NaN gets on (CheckShadows, CheckPaths .cpp).
// Rule:      what comes out of memory, and constants such as float("-inf"), is not born here; NaN from infinities (-inf - -inf) is,
//            and so is an infinity from finite numbers (overflow, 1 / 0, log(0)). It counts when it reaches memory: exp(-x)
//            that overflows inside of 1 / (1 + exp(-x)) is right, and lanes that are thrown away may hold anything.
#include "ir/CheckShadows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

bool isFloat(Value value) { return isa<FloatType>(elementTypeOf(value.getType())); }
unsigned bitsOf(Value value) { return elementTypeOf(value.getType()).getIntOrFloatBitWidth(); }
/// f8 formats saturate, and some have neither infinity nor NaN: they are let through.
bool isWideFloat(Value value) { return isFloat(value) && bitsOf(value) >= 16; }

/// The combine function of a reduction or scan is one operation.
template <class Op> bool combinesBy(Operation* op) {
  if (op->getNumOperands() != 1 || !op->getRegion(0).hasOneBlock()) return false;
  Operation& first = op->getRegion(0).front().front();
  return isa<Op>(first) && first.getNextNode() == op->getRegion(0).front().getTerminator();
}

class NanCheck final : public ShadowCheck {
public:
  explicit NanCheck(bool narrowingIsReported) : narrowingIsReported_(narrowingIsReported) {}
  StringRef name() const override { return "nan"; }

  bool begins(Operation* op) override {
    if (op->getNumResults() != 1 || !isWideFloat(op->getResult(0))) return false;
    if (isa<ReduceOp, ScanOp>(op)) return combinesBy<arith::AddFOp>(op) || combinesBy<arith::MulFOp>(op);
    if (isa<DotOp>(op)) return isWideFloat(op->getOperand(0)) && isWideFloat(op->getOperand(1));
    if (isa<arith::TruncFOp, FpToFpOp>(op))
      return !narrowingIsReported_ && isWideFloat(op->getOperand(0)) &&
             elementTypeOf(op->getOperand(0).getType()) != elementTypeOf(op->getResult(0).getType());
    return isComputed(op);
  }

  /// Numbers only: a NaN that is compared, or cast to an integer, is gone.
  bool follows(Operation*, OpResult result) override { return isFloat(result); }

  OriginText textOf(Operation* op) override {
    static constexpr StringLiteral kWhere = "NaN or infinity begins here: no operand has one in these lanes";
    if (isa<arith::DivFOp, PreciseDivFOp, ApproxDivFOp, arith::RemFOp>(op))
      return {kWhere.str(), "look at the divisor: keep zeros out with tl.where"};
    if (isa<math::LogOp, math::Log2Op, math::SqrtOp, math::RsqrtOp, PreciseSqrtOp>(op))
      return {kWhere.str(), "look at the argument: it is zero or below in these lanes"};
    if (isa<math::ExpOp, math::Exp2Op>(op))
      return {kWhere.str(), "the result overflows: subtract the largest argument first"};
    if (isa<arith::TruncFOp, FpToFpOp>(op)) return {kWhere.str(), "the number is too large for the narrower type"};
    return {kWhere.str(), "numbers overflow, or infinities meet (-inf - -inf, 0 * inf)"};
  }

  Value shadowOf(Shadows& s, Operation* op, OpResult result) override {
    const bool isOrigin = s.idOf(op) != 0;
    if (isOrigin && isa<ReduceOp, DotOp>(op)) return lazily(s, op, result);
    Value on = s.passedOn(op, result);
    if (!isOrigin) {
      // What only moves or chooses elements needs no look at them.
      const bool moves = isa<arith::SelectOp, SplatOp, UnsplatOp, ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp, JoinOp,
                             CatOp, SplitOp, GatherOp, arith::NegFOp, math::AbsFOp, arith::ExtFOp>(op);
      if (!on || moves || !isWideFloat(result)) return on;
      return s.choose(nonfinite(s, result), on, {}, result.getType());
    }
    if (isa<ScanOp>(op)) return s.combine(kept(s, result, on), s.mark(bornInScan(s, op, result), op));
    return s.combine(kept(s, result, on), s.mark(bornIn(s, op, result), op));
  }

  void look(Shadows& s, Operation* op) override { lookAtAccess(s, op, /*atOrigin=*/true, "", /*onlyValues=*/true); }

private:
  static bool isComputed(Operation* op) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, math::ExpOp, math::Exp2Op,
            math::LogOp, math::Log2Op, math::SinOp, math::CosOp, math::SqrtOp, math::RsqrtOp, math::FmaOp,
            PreciseDivFOp, ApproxDivFOp, PreciseSqrtOp>(op))
      return true;
    if (auto call = dyn_cast<ExternElementwiseOp>(op))
      return llvm::all_of(op->getOperands(), [&](Value x) { return x.getType() == op->getResult(0).getType(); });
    return false;
  }

  static Value nonfinite(Shadows& s, Value value) { return NonFiniteOp::create(s, i1TypeLike(value.getType()), value); }
  static Value born(Shadows& s, Value value, Value x, Value y) {
    return BornOp::create(s, i1TypeLike(value.getType()), value, x, y);
  }
  /// Bad lanes of operands count on only where the result is not finite.
  static Value kept(Shadows& s, Value result, Value on) {
    return on ? s.choose(nonfinite(s, result), on, {}, result.getType()) : Value();
  }

  static Value bornIn(Shadows& s, Operation* op, Value result) {
    OperandRange operands = op->getOperands();
    if (isa<arith::TruncFOp, FpToFpOp>(op)) { // in the wider type
      if (bitsOf(operands[0]) > bitsOf(result))
        return born(s, arith::ExtFOp::create(s, operands[0].getType(), result), operands[0], operands[0]);
      Value before = FpToFpOp::create(s, result.getType(), operands[0], RoundingModeAttr());
      return born(s, result, before, before);
    }
    if (operands.size() == 1) return born(s, result, operands[0], operands[0]);
    Value lanes = born(s, result, operands[0], operands[1]);
    if (operands.size() == 3) lanes = s.both(lanes, born(s, result, operands[2], operands[2]));
    return lanes;
  }

  /// |x| of the element that says most about a line: NaN if it has one, else infinity if it has one, else finite.
  static Value worstOf(Shadows& s, Value value, int axis) {
    return s.reduce<arith::MaximumFOp>(math::AbsFOp::create(s, value), axis);
  }

  /// As wide as the result; a line's worst element stretched along it again.
  static Value spread(Shadows& s, Value worst, int axis, Type like) {
    Type element = elementTypeOf(like), type = withShapeOf(worst.getType(), element);
    if (worst.getType() != type)
      worst = bitsOf(worst) < element.getIntOrFloatBitWidth() ? Value(arith::ExtFOp::create(s, type, worst))
                                                              : Value(arith::TruncFOp::create(s, type, worst));
    return s.stretch(worst, axis, like);
  }

  /// A prefix is born bad where no element so far was: looked at by the prefixes' worst elements.
  static Value bornInScan(Shadows& s, Operation* op, Value result) {
    Value worst = s.scan<arith::MaximumFOp>(math::AbsFOp::create(s, op->getOperand(0)), cast<ScanOp>(op));
    return born(s, result, worst, worst);
  }

  /// if (some lane of the result is not finite) { the whole look } else { zeros }
  Value lazily(Shadows& s, Operation* op, OpResult result) {
    Value before; // the accumulator is looked at in advance, so that the product may be added to it in place
    if (auto dot = dyn_cast<DotOp>(op)) {
      OpBuilder::InsertionGuard guard(s);
      s.setInsertionPoint(op);
      before = nonfinite(s, dot.getC());
    }
    Value any = nonfinite(s, result);
    if (auto type = dyn_cast<RankedTensorType>(any.getType())) {
      auto line = RankedTensorType::get({type.getNumElements()}, type.getElementType());
      if (line != type) any = ReshapeOp::create(s, line, any);
      any = s.reduce<arith::OrIOp>(any, 0);
    }
    auto branch = scf::IfOp::create(s, TypeRange{s.typeFor(result.getType())}, any, true);
    OpBuilder::InsertionGuard guard(s);
    s.setInsertionPointToStart(branch.thenBlock());
    Value on = kept(s, result, s.passedOn(op, result));
    Value lanes;
    if (auto reduction = dyn_cast<ReduceOp>(op)) {
      Value worst = worstOf(s, op->getOperand(0), int(reduction.getAxis()));
      lanes = s.mark(born(s, result, worst, worst), op);
    } else {
      auto dot = cast<DotOp>(op);
      const int rank = int(cast<RankedTensorType>(result.getType()).getRank());
      Value rows = spread(s, worstOf(s, dot.getA(), rank - 1), rank - 1, result.getType());
      Value columns = spread(s, worstOf(s, dot.getB(), rank - 2), rank - 2, result.getType());
      lanes = s.mark(born(s, result, rows, columns), op);
      lanes = s.choose(before, {}, lanes, result.getType());
    }
    scf::YieldOp::create(s, s.combine(on, lanes));
    s.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(s, s.zero(result.getType()));
    return branch.getResult(0);
  }

  bool narrowingIsReported_;
};

} // namespace

std::unique_ptr<ShadowCheck> makeNanCheck(bool narrowingIsReported) {
  return std::make_unique<NanCheck>(narrowingIsReported);
}

} // namespace tiletwin::tt
