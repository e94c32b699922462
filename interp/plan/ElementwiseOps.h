// interp/plan/ElementwiseOps.h -- what other families need from ElementwiseOps.cpp.
#pragma once
#include "interp/plan/Builder.h"
#include <optional>

namespace tiletwin::interp {

/// One strip function of a short chain; `extra` is a constant second operand.
struct StripStep {
  TwStripFn fn;
  DType type;                    ///< of the result
  std::optional<int64_t> extra;
};
/// The function for the plan's numerics; null if the combination does not exist.
TwStripFn stripFunction(PlanBuilder& plan, TwElementwise op, DType type);

} // namespace tiletwin::interp
