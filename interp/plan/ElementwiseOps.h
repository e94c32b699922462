// interp/plan/ElementwiseOps.h -- what other families need from ElementwiseOps.cpp.
#pragma once
#include "interp/plan/Builder.h"
#include <algorithm>
#include <optional>
#include <string_view>

namespace tiletwin::interp {

/// One strip function of a short chain. The first one's operands are the operation's; a later one's are the result before it
/// and, if given, `operand` and the constant `extra`.
struct StripStep {
  TwStripFn fn;
  DType type; ///< of the result
  std::optional<int64_t> extra;
  mlir::Value operand = {};
};
/// The operation's result by the steps, the first of which takes `operands`: uniform, or a value of an elementwise group.
mlir::LogicalResult applyStrips(PlanBuilder& plan, mlir::Operation* op, mlir::ValueRange operands,
                                llvm::ArrayRef<StripStep> steps);
/// The function for the plan's numerics; null if the combination does not exist.
TwStripFn stripFunction(PlanBuilder& plan, TwElementwise op, DType type);

/// The strip function of the name that the operation has ("arith.addf": AddF); Count: none.
template <class Op> constexpr TwElementwise stripOf() {
  if (std::is_same_v<Op, tt::ClampFOp>) return TwElementwise::Count; // two, by its attribute
  if (std::is_same_v<Op, tt::ApproxDivFOp> || std::is_same_v<Op, tt::PreciseDivFOp>) return TwElementwise::DivF;
  if (std::is_same_v<Op, tt::PreciseSqrtOp>) return TwElementwise::Sqrt;
  constexpr std::string_view full = Op::getOperationName(), name = full.substr(full.find('.') + 1);
  auto isNamed = [&](std::string_view strip) {
    auto matches = [](char lower, char any) { return lower == (any >= 'A' && any <= 'Z' ? any - 'A' + 'a' : any); };
    return std::ranges::equal(name, strip, matches);
  };
#define X(Strip)                                                                                                       \
  if (isNamed(#Strip)) return TwElementwise::Strip;
  TILETWIN_ELEMENTWISE_OPS(X)
#undef X
  return TwElementwise::Count;
}
/// Operations with a strip function, which is `what` for all elements.
mlir::LogicalResult planElementwise(PlanBuilder& plan, mlir::Operation* op, TwElementwise what);

using Casts = OpList<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::FPToSIOp, arith::FPToUIOp, arith::SIToFPOp,
                     arith::TruncFOp, arith::TruncIOp, arith::UIToFPOp, tt::FpToFpOp>;
mlir::LogicalResult planCast(PlanBuilder& plan, mlir::Operation* op);
using Bitcasts = OpList<arith::BitcastOp, tt::BitcastOp, tt::IntToPtrOp, tt::PtrToIntOp>;
mlir::LogicalResult planBitcast(PlanBuilder& plan, mlir::Operation* op);
using Approximations = OpList<tw::DivApproxOp, tw::DivFullOp, tw::Ex2ApproxOp, tw::RsqrtApproxOp, tw::SqrtApproxOp>;
mlir::LogicalResult planApproximation(PlanBuilder& plan, mlir::Operation* op);

} // namespace tiletwin::interp
