// interp/plan/ElementwiseOps.h -- what other families need from ElementwiseOps.cpp.
#pragma once
#include "interp/plan/Builder.h"
#include <optional>

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

} // namespace tiletwin::interp
