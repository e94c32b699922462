// interp/plan/CastOps.cpp -- conversions between types, and bits read as another type.
// Here:      uniform, affine and row results that stay so; joining a group otherwise.
// Not here:  arithmetic (interp/tile), other operations that work element by element (ElementwiseOps.cpp).
// Invariant: widening keeps an affine form only where a check proves that the narrow numbers do not wrap around.
#include "interp/plan/ElementwiseOps.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

LogicalResult planCast(PlanBuilder& plan, Operation* op) {
  const bool extendsSign = llvm::isa<arith::ExtSIOp>(op), extendsZero = llvm::isa<arith::ExtUIOp>(op);
  Value source = op->getOperand(0), result = op->getResult(0);
  DType from = plan.dtypeOf(source.getType()), to = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  bool isBody = plan.bodyGroup() >= 0 && shape.empty();
  if (plan.has(source) && isInteger(from) && isInteger(to)) {
    Rep r = plan.rep(source);
    int fromWidth = PlanBuilder::widthOf(from), toWidth = PlanBuilder::widthOf(to);
    auto convert = [&](Uniform u) {
      if (llvm::isa<arith::TruncIOp>(op))
        return to == DType::I1 ? plan.scalar(ScalarOp::And, 64, u, Uniform::of(1))
                               : plan.scalar(ScalarOp::SignExtend, toWidth, u);
      if (extendsZero) return from == DType::I1 ? u : plan.scalar(ScalarOp::ZeroExtend, fromWidth, u);
      return from == DType::I1 ? plan.sub(64, Uniform::of(0), u) : u;
    };
    if (r.isUniform()) {
      r.base = convert(r.base);
      r.type = to;
      r.strides.assign(shape.size(), Uniform::of(0));
      return plan.bind(result, r);
    }
    // Widening asks for a check. After a write it must not fail, so then only addresses and masks stay symbolic.
    int64_t unsignedMax = fromWidth >= 64 ? INT64_MAX : (int64_t(1) << (fromWidth - 1)) - 1;
    bool late = (extendsSign && plan.checkIsLate(r)) || (extendsZero && plan.checkIsLate(r, 0, unsignedMax));
    if (!isBody && plan.options().symbolic && r.kind == Rep::Affine && from != DType::I1 && to != DType::I1 &&
        !(late && !plan.feedsAccess(result))) {
      if (extendsSign)
        plan.checkRange(r);
      else if (extendsZero)
        plan.checkRange(r, 0, unsignedMax);
      else {
        r.base = convert(r.base);
        for (Uniform& s : r.strides) s = convert(s);
      }
      r.type = to;
      return plan.bind(result, r);
    }
  }
  if (plan.has(source) && plan.rep(source).kind == Rep::Rows && extendsSign) {
    Rep r = plan.rep(source);
    plan.checkRows(r);
    r.type = to;
    return plan.bind(result, r);
  }
  auto between = llvm::dyn_cast<tt::FpToFpOp>(op);
  const bool isSigned = llvm::isa<arith::ExtSIOp, arith::SIToFPOp, arith::FPToSIOp, arith::ExtFOp, arith::TruncFOp>(op);
  TwCastKind kind = isSigned ? TwCastKind::SignedInt : TwCastKind::UnsignedInt;
  if (between && between.getRounding() == tt::RoundingMode::RTZ) kind = TwCastKind::TruncateToward0;
  llvm::SmallVector<StripStep, 2> steps;
  if (llvm::isa<arith::TruncIOp>(op) && to == DType::I1)
    steps.push_back({plan.tiles().elementwise(TwElementwise::AndI, from), from, 1});
  if (from == to && between)
    steps.push_back({plan.tiles().elementwise(TwElementwise::Copy, from), to, std::nullopt});
  else
    steps.push_back({plan.tiles().cast(from, to, kind), to, std::nullopt});
  for (const StripStep& step : steps)
    if (!step.fn) return plan.unsupported(op, std::string("from ") + nameOf(from) + " to " + nameOf(to));
  return applyStrips(plan, op, op->getOperands(), steps);
}

LogicalResult planBitcast(PlanBuilder& plan, Operation* op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  DType from = plan.dtypeOf(source.getType()), to = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  if (sizeOf(from) != sizeOf(to))
    return plan.unsupported(op, std::string("from ") + nameOf(from) + " to " + nameOf(to));
  // An address that was a number may lie in any buffer.
  const int root = plan.has(source) && from == DType::Ptr && to == DType::Ptr ? plan.rep(source).root : -1;
  if (plan.has(source)) {
    Rep r = plan.rep(source);
    r.root = root;
    if (r.isUniform()) {
      // Integers must be canonical, whatever upper bits a float's cell holds.
      if (isInteger(to) && !isInteger(from) && from != DType::Ptr)
        r.base = plan.scalar(ScalarOp::SignExtend, PlanBuilder::widthOf(to), r.base);
      else if (to == DType::I1 && from != DType::I1)
        r.base = plan.scalar(ScalarOp::And, 64, r.base, Uniform::of(1));
      r.type = to;
      return plan.bind(result, r);
    }
    bool words = (from == DType::I64 || from == DType::Ptr) && (to == DType::I64 || to == DType::Ptr);
    if (r.kind == Rep::Affine && (words || from == to)) {
      r.type = to;
      return plan.bind(result, r);
    }
    if (r.kind == Rep::Tile && !r.pending()) {
      r.type = to;
      return plan.bind(result, r);
    }
  }
  StripStep step{plan.tiles().elementwise(TwElementwise::Copy, PlanBuilder::bitsOf(to)), to, std::nullopt};
  if (failed(applyStrips(plan, op, op->getOperands(), step))) return mlir::failure();
  plan.rep(result).root = root;
  return success();
}

} // namespace tiletwin::interp
